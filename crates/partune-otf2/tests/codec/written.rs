//! An archive with every kind of event and of definition, written here: the C library must read it without a warning.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use partune_otf2::codec::definition::*;
use partune_otf2::codec::idmap::IdMapView;
use partune_otf2::codec::marker::{DefMarker, Marker, MarkerWriter};
use partune_otf2::codec::thumbnail::{ThumbnailHeader, ThumbnailSample, ThumbnailWriter};
use partune_otf2::codec::view::{Array, Metric, Metrics, Properties};
use partune_otf2::codec::{
    Anchor, Attribute as Attr, AttributeList, Definition, DefinitionWriter, Event, EventVisitor, EventWriter, Value,
    chunks, read_chunk, transcode,
};

use super::archives::{otf2_print, records};

const NONE: u32 = u32::MAX;
const CHUNK: u64 = 1 << 18;
const ROUNDS: u64 = 1000;

fn definitions() -> Vec<Definition<'static>> {
    let string = |id, string: &'static str| Text { id, string: string.as_bytes() }.into();
    let group = |id, group_type, paradigm, members| {
        let kind = partune_otf2::codec::attic::GroupKind { group_type, paradigm, flags: 0 };
        Group {
            id,
            name: 0,
            group_type_pre12: Group::type_before_1_2(kind),
            members: Array::new(members),
            group_type: Some(group_type),
            paradigm: Some(paradigm),
            group_flags: Some(0),
        }
        .into()
    };
    let member = |id| {
        MetricMember {
            id,
            name: 1,
            description: 0,
            metric_type: 0,
            metric_mode: 0,
            value_type: 4,
            base: 1,
            exponent: -3,
            unit: 1,
        }
        .into()
    };
    vec![
        ClockProperties {
            timer_resolution: 1_000_000_000,
            global_offset: 1,
            trace_length: 1000,
            realtime_timestamp: Some(u64::MAX),
        }
        .into(),
        string(0, ""),
        string(1, "name"),
        string(2, "POSIX"),
        Paradigm { paradigm: 4, name: 1, paradigm_class: 1 }.into(),
        ParadigmProperty { paradigm: 4, property: 0, value: Value::String(1) }.into(),
        IoParadigm {
            id: 0,
            identification: 2,
            name: 2,
            io_paradigm_class: 1,
            io_paradigm_flags: 0,
            properties: Properties::new(&[(0, Value::String(1))]),
        }
        .into(),
        Attribute { id: 0, name: 1, value_type: 4, description: Some(0) }.into(),
        SystemTreeNode { id: 0, name: 1, class_name: 1, parent: NONE }.into(),
        SystemTreeNodeProperty { system_tree_node: 0, name: 1, string_value: 1, value: Some(Value::String(1)) }.into(),
        SystemTreeNodeDomain { system_tree_node: 0, system_tree_domain: 0 }.into(),
        LocationGroup {
            id: 0,
            name: 1,
            location_group_type: 1,
            system_tree_parent: 0,
            creating_location_group: Some(NONE),
        }
        .into(),
        LocationGroupProperty { location_group: 0, name: 1, string_value: 1, value: Some(Value::String(1)) }.into(),
        Location { id: 0, name: 1, location_type: 1, number_of_events: ROUNDS * 79, location_group: 0 }.into(),
        LocationProperty { location: 0, name: 1, string_value: 1, value: Some(Value::String(1)) }.into(),
        Region {
            id: 0,
            name: 1,
            description: 0,
            region_type: 1,
            source_file: 1,
            begin_line_number: 3,
            end_line_number: 300,
            canonical_name: Some(1),
            region_role: Some(1),
            paradigm: Some(1),
            region_flags: Some(0),
        }
        .into(),
        Callsite { id: 0, source_file: 1, line_number: 7, entered_region: 0, left_region: 0 }.into(),
        Callpath { id: 0, parent: NONE, region: 0 }.into(),
        Parameter { id: 0, name: 1, parameter_type: 2 }.into(),
        CallpathParameter { callpath: 0, parameter: 0, value: Value::I64(-5) }.into(),
        group(0, 4, 4, &[0]),
        group(1, 5, 4, &[0]),
        Comm { id: 0, name: 1, group: 1, parent: NONE, flags: Some(0) }.into(),
        InterComm { id: 1, name: 1, group_a: 1, group_b: 1, common_communicator: 0, flags: 0 }.into(),
        RmaWin { id: 0, name: 1, comm: 0, flags: Some(1) }.into(),
        member(0),
        member(1),
        MetricClass { id: 0, metric_members: Array::new(&[0, 1]), metric_occurrence: 0, recorder_kind: Some(1) }.into(),
        MetricInstance { id: 1, metric_class: 0, recorder: 0, metric_scope: 0, scope: 0 }.into(),
        MetricClassRecorder { metric: 0, recorder: 0 }.into(),
        CartDimension { id: 0, name: 1, size: 1, cart_periodicity: 0 }.into(),
        CartTopology { id: 0, name: 1, communicator: 0, cart_dimensions: Array::new(&[0]) }.into(),
        CartCoordinate { cart_topology: 0, rank: 0, coordinates: Array::new(&[0]) }.into(),
        SourceCodeLocation { id: 0, file: 1, line_number: 12 }.into(),
        CallingContext { id: 0, region: 0, source_code_location: 0, parent: NONE }.into(),
        CallingContextProperty { calling_context: 0, name: 1, value: Value::U64(9) }.into(),
        InterruptGenerator { id: 0, name: 1, interrupt_generator_mode: 0, base: 1, exponent: -9, period: 100 }.into(),
        IoRegularFile { id: 0, name: 1, scope: 0 }.into(),
        IoDirectory { id: 1, name: 1, scope: 0 }.into(),
        IoFileProperty { io_file: 0, name: 1, value: Value::String(1) }.into(),
        IoHandle { id: 0, name: 1, file: 0, io_paradigm: 0, io_handle_flags: 0, comm: NONE, parent: NONE }.into(),
        IoPreCreatedHandleState { io_handle: 0, mode: 1, status_flags: 0 }.into(),
    ]
}

/// One event of each kind, from attributes that are zeros.
fn every_event(write: &mut dyn FnMut(&Event<'_>)) {
    struct Each<'a>(&'a mut dyn FnMut(&Event<'_>));
    impl EventVisitor for Each<'_> {
        fn enter(&mut self, _: u64, region: u32) {
            (self.0)(&Event::Enter { region });
        }
        fn leave(&mut self, _: u64, region: u32) {
            (self.0)(&Event::Leave { region });
        }
        fn event(&mut self, _: u64, event: &Event<'_>) {
            match event {
                Event::Metric { metric, .. } => {
                    let values = [Metric { kind: 4, bits: 7 }, Metric { kind: 4, bits: u64::MAX }];
                    (self.0)(&Event::Metric { metric: *metric, values: Metrics::new(&values) });
                }
                Event::ProgramBegin { program_name, .. } => {
                    // 60 arguments: by its upper bound a record that takes the long form of length.
                    (self.0)(&Event::ProgramBegin {
                        program_name: *program_name,
                        program_arguments: Array::new(&[1; 60]),
                    });
                }
                other => (self.0)(other),
            }
        }
    }
    let mut file = vec![3, 0x42];
    file.extend([0; 16]);
    for (id, _) in Event::TYPES {
        let singleton = [12, 13, 16, 17, 20, 21, 24, 28, 29, 30].contains(id);
        file.push(*id);
        file.extend(if singleton { vec![0] } else { [vec![20], vec![0; 20]].concat() });
    }
    file.push(2);
    let chunk = chunks(&file, CHUNK).unwrap().next().unwrap().unwrap();
    assert_eq!(read_chunk(&chunk, &mut Each(write)).events, Event::TYPES.len() as u64);
}

fn file(fill: impl FnOnce(&mut dyn FnMut(&[u8]))) -> Vec<u8> {
    let mut bytes = Vec::new();
    fill(&mut |chunk| bytes.extend_from_slice(chunk));
    bytes
}

fn write_archive(folder: &Path) -> PathBuf {
    let base = folder.join("all");
    std::fs::create_dir_all(&base).unwrap();
    let mut count = 0;
    let global = file(|sink| {
        let mut writer = DefinitionWriter::new(CHUNK, sink).unwrap();
        for one in definitions() {
            writer.write(one).unwrap();
        }
        count = writer.finish();
    });
    let local = file(|sink| {
        let mut writer = DefinitionWriter::new(CHUNK, sink).unwrap();
        writer.write(MappingTable { mapping_type: 3, id_map: IdMapView::Dense(&[0]) }).unwrap();
        writer.write(MappingTable { mapping_type: 6, id_map: IdMapView::Sparse(&[(0, 0)]) }).unwrap();
        writer.write(ClockOffset { time: 1, offset: -3, standard_deviation: 0.5 }).unwrap();
        writer.finish();
    });
    let events = file(|sink| {
        let mut writer = EventWriter::new(CHUNK, sink).unwrap();
        let attributes = [Attr { attribute: 0, value: Value::U64(5) }];
        let mut time = 1;
        for round in 0..ROUNDS {
            every_event(&mut |event| {
                time += u64::from(event.id() % 2);
                let list: &[Attr] = if event.id() % 3 == round as u8 % 3 { &attributes } else { &[] };
                writer.write_with(time, &AttributeList::new(list), event).unwrap();
            });
        }
        assert_eq!(writer.finish(), ROUNDS * Event::TYPES.len() as u64);
    });
    assert!(events.len() as u64 > 2 * CHUNK, "several chunks");
    let markers = file(|sink| {
        let mut writer = MarkerWriter::new(CHUNK, sink).unwrap();
        writer.write(DefMarker { id: 0, marker_group: b"group", marker_category: b"category", severity: 1 }).unwrap();
        writer.write(Marker { time: 5, duration: 3, marker: 0, scope: 1, scope_ref: 0, text: b"look" }).unwrap();
        writer.finish();
    });
    let thumbnail = file(|sink| {
        let mut writer = ThumbnailWriter::new(sink).unwrap();
        let metrics = Array::new(&[0]);
        writer
            .write(ThumbnailHeader {
                name: b"thumb",
                description: b"nail",
                thumbnail_type: 1,
                number_of_samples: 1,
                metrics,
            })
            .unwrap();
        writer.write(ThumbnailSample { baseline: 1, metric_samples: Array::new(&[300]) }).unwrap();
        writer.finish();
    });
    let anchor = Anchor {
        event_chunk_size: CHUNK,
        definition_chunk_size: CHUNK,
        locations: 1,
        global_definitions: count,
        thumbnails: 1,
        creator: "a test".into(),
        properties: vec![("TEST::NAME".into(), "value".into())],
        ..Anchor::default()
    };
    let path = folder.join("all.otf2");
    let files: [(&Path, Vec<u8>); 6] = [
        (&path, anchor.write()),
        (&folder.join("all.def"), global),
        (&folder.join("all.marker"), markers),
        (&folder.join("all.0.thumb"), thumbnail),
        (&base.join("0.def"), local),
        (&base.join("0.evt"), events),
    ];
    for (path, bytes) in files {
        std::fs::write(path, bytes).unwrap();
    }
    path
}

#[test]
fn the_library_reads_what_the_writers_write() {
    let folder = tempfile::tempdir().unwrap();
    let anchor = write_archive(folder.path());
    let Some(events) = otf2_print(&anchor, &["-Werror"]) else { return };
    assert_eq!(events.errors, "");
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    records(&events.text)
        .filter(|(name, _)| *name != "Event")
        .for_each(|(name, _)| *found.entry(name).or_insert(0) += 1);
    let expected: BTreeMap<&str, u64> = Event::TYPES.iter().map(|(_, name)| (*name, ROUNDS)).collect();
    assert_eq!(found, expected);
    let attributes =
        events.text.lines().filter(|line| line.contains("ADDITIONAL ATTRIBUTES: (\"name\" <0>; UINT64; 5)")).count();
    assert!(attributes as u64 > ROUNDS * 20, "{attributes} attribute lists");
    assert!(events.text.contains("60 Arguments: \"name\" <1>"));
    assert!(events.text.contains("UINT64; 18446744073709551615)"));

    let all = otf2_print(&anchor, &["-G", "-Werror"]).unwrap();
    assert_eq!(all.errors, "");
    let mut expected: Vec<&str> = definitions().iter().map(Definition::name).collect();
    expected.retain(|name| *name != "METRIC_CLASS_RECORDER"); // the printer shows it within its class
    let found: Vec<&str> = records(&all.text)
        .map(|(name, _)| name)
        .filter(|name| Definition::TYPES.iter().any(|(_, one)| one == name))
        .collect();
    for name in expected {
        assert!(found.contains(&name), "{name} is not printed");
    }
    assert!(all.text.contains("\"name\" <1>"));
    for (options, texts) in [
        (&["-M", "-C", "-Werror"][..], &["Offset: -3", "Type: COMM, {0=>0}"][..]),
        (&["-I"], &["a test", "TEST::NAME", "Number of thumbnails           1"]),
    ] {
        let printed = otf2_print(&anchor, options).unwrap();
        assert_eq!(printed.errors, "");
        for text in texts {
            assert!(printed.text.contains(text), "{text} is not printed");
        }
    }
}

/// Files that the C library 3.0.2 wrote: a snapshot, a marker and its definition, a thumbnail. (It cannot read its own thumbnails.)
#[test]
fn snapshots_markers_and_thumbnails_come_out_as_the_library_writes_them() {
    const HEADER: [u8; 10] = [3, 0x42, 1, 0, 0, 0, 0, 0, 0, 0];
    let file =
        |last: u8, records: &[&[u8]]| [&HEADER[..], &[last, 0, 0, 0, 0, 0, 0, 0], &records.concat(), &[2, 1]].concat();
    let snapshot =
        file(3, &[&[5, 7, 0, 0, 0, 0, 0, 0, 0], &[10, 2, 1, 1], &[13, 9, 5, 0, 0, 0, 0, 0, 0, 0, 0], &[11, 2, 1, 1]]);
    let markers = file(0, &[b"\x05\x11\0group\0category\0\x01", b"\x06\x0c\x01\x05\x01\x03\0\0\0look\0"]);
    let thumbnail =
        file(0, &[b"\x0a\x13thumb\0nail\0\0\x01\x01\x01\x02\0\x01\x01", &[11, 9, 1, 1, 1, 2, 2, 0x2c, 1, 1, 7]]);

    let mut copy = Vec::new();
    let copied = transcode::snapshots(&snapshot, CHUNK, CHUNK, &mut |chunk| copy.extend_from_slice(chunk)).unwrap();
    assert_eq!((copied.records, copied.damage.is_none(), &copy), (3, true, &snapshot));
    copy.clear();
    let copied = transcode::markers(&markers, CHUNK, CHUNK, &mut |chunk| copy.extend_from_slice(chunk)).unwrap();
    assert_eq!((copied.records, copied.damage.is_none(), &copy), (2, true, &markers));
    copy.clear();
    let copied = transcode::thumbnail(&thumbnail, &mut |chunk| copy.extend_from_slice(chunk)).unwrap();
    assert_eq!((copied.records, copied.damage.is_none(), &copy), (2, true, &thumbnail));
}
