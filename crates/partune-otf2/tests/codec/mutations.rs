//! The fuzz targets' functions over mutations of small inputs, so that they run without a nightly compiler.

#[path = "../../../../fuzz/otf2.rs"]
mod otf2;

use partune_otf2::codec::definition::{Group, MappingTable, SourceCodeLocation, SystemTreeNode, Text};
use partune_otf2::codec::idmap::IdMapView;
use partune_otf2::codec::marker::{DefMarker, Marker, MarkerWriter};
use partune_otf2::codec::thumbnail::{ThumbnailHeader, ThumbnailSample, ThumbnailWriter};
use partune_otf2::codec::view::{Array, Metric, Metrics};
use partune_otf2::codec::{Anchor, Attribute, AttributeList, DefinitionWriter, Event, EventWriter, Value};

/// A small generator of random numbers (splitmix64), seeded by any bytes.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: &[u8]) -> Random {
        Random(seed.iter().fold(0x9e37_79b9, |seed, byte| seed.wrapping_mul(31).wrapping_add(u64::from(*byte))))
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound.max(1)
    }
}

fn corpus() -> Vec<Vec<u8>> {
    let mut anchor = Anchor { creator: "me".into(), ..Anchor::default() };
    anchor.properties.push(("NAME::OF".into(), "value".into()));
    let mut files = vec![anchor.write()];

    let mut events = Vec::new();
    let mut writer = EventWriter::new(512, |chunk: &[u8]| events.extend_from_slice(chunk)).unwrap();
    let attributes = [
        Attribute { attribute: 3, value: Value::F64(0.5) },
        Attribute { attribute: 4, value: Value::Location(1 << 40) },
    ];
    let values = [Metric { kind: 4, bits: u64::MAX }, Metric { kind: 10, bits: 1.5f64.to_bits() }];
    for time in 0..60 {
        writer.write(time / 3, &Event::Enter { region: 300 }).unwrap();
        writer
            .write_with(
                time,
                &AttributeList::new(&attributes),
                &Event::Metric { metric: 1, values: Metrics::new(&values) },
            )
            .unwrap();
        writer
            .write(time, &Event::ProgramBegin { program_name: 1, program_arguments: Array::new(&[1, 2, 70_000]) })
            .unwrap();
        writer.write(time, &Event::Leave { region: u32::MAX }).unwrap();
    }
    writer.finish();
    files.push(events);

    let mut definitions = Vec::new();
    let mut writer = DefinitionWriter::new(512, |chunk: &[u8]| definitions.extend_from_slice(chunk)).unwrap();
    for id in 0..40 {
        let members = [0, 1, u64::from(id)];
        writer.write(Text { id, string: b"a name" }).unwrap();
        let group = Group {
            id,
            name: id,
            group_type_pre12: 4,
            members: Array::new(&members),
            group_type: Some(5),
            paradigm: Some(4),
            group_flags: Some(0),
        };
        writer.write(group).unwrap();
        writer.write(MappingTable { mapping_type: 3, id_map: IdMapView::Sparse(&[(1, 2), (300, 1)]) }).unwrap();
        writer.write(MappingTable { mapping_type: 3, id_map: IdMapView::Dense(&[1, 0, 2]) }).unwrap();
    }
    writer.finish();
    files.push(definitions);

    // Without a name, with one that nobody defines, with one that is defined after it, and with a text in the place of no name.
    let mut unnamed = Vec::new();
    let mut writer = DefinitionWriter::new(512, |chunk: &[u8]| unnamed.extend_from_slice(chunk)).unwrap();
    writer.write(Text { id: u32::MAX, string: b"no name" }).unwrap();
    for (id, name) in [(1, u32::MAX), (2, 70_000), (3, 50_000)] {
        writer.write(SystemTreeNode { id, name, class_name: name, parent: 0 }).unwrap();
    }
    writer.write(SourceCodeLocation { id: 0, file: 80_000, line_number: 7 }).unwrap();
    writer.write(Text { id: 50_000, string: b"late" }).unwrap();
    writer.finish();
    files.push(unnamed);

    let mut markers = Vec::new();
    let mut writer = MarkerWriter::new(512, |chunk: &[u8]| markers.extend_from_slice(chunk)).unwrap();
    writer.write(DefMarker { id: 1, marker_group: b"group", marker_category: b"category", severity: 2 }).unwrap();
    writer.write(Marker { time: 10, duration: 2, marker: 1, scope: 1, scope_ref: 0, text: b"here" }).unwrap();
    writer.finish();
    files.push(markers);

    let mut thumbnail = Vec::new();
    let mut writer = ThumbnailWriter::new(|chunk: &[u8]| thumbnail.extend_from_slice(chunk)).unwrap();
    let header = ThumbnailHeader {
        name: b"n",
        description: b"d",
        thumbnail_type: 1,
        number_of_samples: 1,
        metrics: Array::new(&[1, 2]),
    };
    writer.write(header).unwrap();
    writer.write(ThumbnailSample { baseline: 7, metric_samples: Array::new(&[5, 6]) }).unwrap();
    writer.finish();
    files.push(thumbnail);
    files
}

fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() as u64) as usize;
        match random.below(5) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes[at] = [0, 1, 2, 5, 6, 0xff, 0x7f, 0x80][random.below(8) as usize],
            2 => bytes.truncate(at.max(1)),
            3 => bytes.insert(at, random.below(256) as u8),
            _ if bytes.len() > 1 => bytes[1] = 0x23,
            _ => {}
        }
    }
    bytes
}

#[test]
fn fuzz_targets_hold_on_mutations() {
    let targets = [otf2::anchor, otf2::definitions, otf2::events, otf2::blocks, otf2::others];
    let mut random = Random::new(b"mutations");
    for file in corpus() {
        for target in targets {
            target(&file);
            for _ in 0..300 {
                target(&mutated(&file, &mut random));
            }
        }
    }
    for target in targets {
        target(&[]);
    }
}
