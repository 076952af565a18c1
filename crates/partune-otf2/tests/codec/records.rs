//! Every kind of record, written and read again, with any values.

use partune_otf2::codec::definitions::Outcome;
use partune_otf2::codec::idmap::IdMapView;
use partune_otf2::codec::marker::{MarkerRecord, MarkerWriter, read_markers};
use partune_otf2::codec::snapshot::{Found, Snapshot, SnapshotWriter, read_snapshots};
use partune_otf2::codec::thumbnail::{ThumbnailRecord, ThumbnailWriter, read_thumbnail};
use partune_otf2::codec::view::{Array, Metric, Metrics};
use partune_otf2::codec::{
    Anchor, Attribute, AttributeList, Definition, DefinitionWriter, EndKind, Event, EventVisitor, EventWriter, IdMap,
    Scope, Value, chunks, definition, read_chunk, read_definitions,
};
use proptest::prelude::*;

const CHUNK: u64 = 1 << 18;
const SINGLETONS: [u8; 10] = [12, 13, 16, 17, 20, 21, 24, 28, 29, 30];

/// Attributes of any record: each byte is a sound length of a compressed integer, a small count, and the mode of an id map, so any layout
/// finds what it looks for; the zeros after them end strings. Large values are the matter of another test.
fn any_attributes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0u8..=1, 0..60).prop_map(|mut bytes| {
        bytes.extend([0; 140]);
        bytes
    })
}

fn header() -> Vec<u8> {
    let mut bytes = vec![3, 0x42];
    bytes.extend([0; 16]);
    bytes
}

fn framed(id: u8, attributes: &[u8]) -> Vec<u8> {
    let mut bytes = vec![id, attributes.len() as u8];
    bytes.extend(attributes);
    bytes
}

/// What was read, in words, and the same written again.
#[derive(Default)]
struct Copy {
    words: Vec<String>,
    bytes: Vec<u8>,
}

struct Visitor<W> {
    words: Vec<String>,
    attributes: Vec<Attribute>,
    writer: W,
}

impl<S: FnMut(&[u8])> Visitor<EventWriter<S>> {
    fn write(&mut self, time: u64, event: &Event<'_>) {
        self.words.push(format!("{time} {event:?} {:?}", self.attributes));
        self.writer.write_with(time, &AttributeList::new(&self.attributes), event).unwrap();
        self.attributes.clear();
    }
}

impl<S: FnMut(&[u8])> EventVisitor for Visitor<EventWriter<S>> {
    fn enter(&mut self, time: u64, region: u32) {
        self.write(time, &Event::Enter { region });
    }
    fn leave(&mut self, time: u64, region: u32) {
        self.write(time, &Event::Leave { region });
    }
    fn event(&mut self, time: u64, event: &Event<'_>) {
        self.write(time, event);
    }
    fn attributes(&mut self, attributes: AttributeList<'_>) {
        self.attributes.extend(&attributes);
    }
}

fn copy_events(bytes: &[u8]) -> Copy {
    let mut copy = Copy::default();
    let writer = EventWriter::new(CHUNK, |chunk: &[u8]| copy.bytes.extend_from_slice(chunk)).unwrap();
    let mut visitor = Visitor { words: Vec::new(), attributes: Vec::new(), writer };
    for chunk in chunks(bytes, CHUNK).unwrap() {
        let outcome = read_chunk(&chunk.unwrap(), &mut visitor);
        assert_eq!((outcome.end, outcome.unknown), (EndKind::EndOfFile, 0));
    }
    copy.words = visitor.words;
    visitor.writer.finish();
    copy
}

fn copy_snapshots(bytes: &[u8]) -> Copy {
    let mut copy = Copy::default();
    let mut writer = SnapshotWriter::new(CHUNK, |chunk: &[u8]| copy.bytes.extend_from_slice(chunk)).unwrap();
    for chunk in chunks(bytes, CHUNK).unwrap() {
        let outcome = read_snapshots(&chunk.unwrap(), &mut |time, attributes, found| {
            assert!(matches!(found, Found::Known(_)));
            copy.words.push(format!("{time} {found:?} {attributes:?}"));
            writer.write(time, &attributes, &found).unwrap();
        });
        assert_eq!(outcome.end, EndKind::EndOfFile);
    }
    writer.finish();
    copy
}

fn copy_definitions(bytes: &[u8], scope: Scope) -> Copy {
    let mut copy = Copy::default();
    let mut writer = DefinitionWriter::new(CHUNK, |chunk: &[u8]| copy.bytes.extend_from_slice(chunk)).unwrap();
    let outcome = read_definitions(bytes, CHUNK, scope, &mut |one| {
        copy.words.push(format!("{one:?}"));
        writer.write(one).unwrap();
    })
    .unwrap();
    assert_sound(outcome, copy.words.len());
    writer.finish();
    copy
}

fn assert_sound(outcome: Outcome, records: usize) {
    assert_eq!(outcome.definitions, records as u64);
    assert_eq!(
        (outcome.damage.unknown_records, outcome.damage.damaged_chunks, outcome.damage.truncated_chunks),
        (0, 0, 0)
    );
}

/// Reads, writes, reads and writes again: nothing may change after the first time.
fn assert_stable(first: &Copy, again: impl Fn(&[u8]) -> Copy, kinds: usize) -> Result<(), TestCaseError> {
    let second = again(&first.bytes);
    prop_assert_eq!(first.words.len(), kinds);
    prop_assert_eq!(&first.words, &second.words);
    prop_assert!(first.bytes == second.bytes);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn events_of_all_kinds(attributes in any_attributes(), time in 1u64.., list in any_attributes()) {
        let mut file = header();
        for (id, _) in Event::TYPES {
            file.push(5);
            file.extend(time.wrapping_add(u64::from(id / 3)).to_le_bytes());
            if id % 2 == 0 {
                file.extend(framed(6, &list));
            }
            if SINGLETONS.contains(id) {
                file.extend([*id, 3, attributes[0], attributes[1], attributes[2]]);
            } else {
                file.extend(framed(*id, &attributes));
            }
        }
        file.push(2);
        assert_stable(&copy_events(&file), copy_events, Event::TYPES.len())?;
    }

    #[test]
    fn snapshots_of_all_kinds(attributes in any_attributes(), time in any::<u64>()) {
        let mut file = header();
        file.push(5);
        file.extend(time.to_le_bytes());
        file.extend(Snapshot::TYPES.iter().flat_map(|(id, _)| framed(*id, &attributes)));
        file.push(2);
        assert_stable(&copy_snapshots(&file), copy_snapshots, Snapshot::TYPES.len())?;
    }

    #[test]
    fn definitions_of_all_kinds(attributes in any_attributes()) {
        for scope in [Scope::Global, Scope::Local] {
            let mut file = header();
            // The first two of the table are local, the next four global, the others both.
            let (local, global) = Definition::TYPES.split_at(2);
            let table = if scope == Scope::Local { [local, &global[4..]].concat() } else { global.to_vec() };
            let kinds: Vec<u8> = table.iter().map(|(id, _)| *id).collect();
            file.extend(kinds.iter().flat_map(|id| framed(*id, &attributes)));
            file.push(2);
            assert_stable(&copy_definitions(&file, scope), |bytes| copy_definitions(bytes, scope), kinds.len())?;
        }
    }

    #[test]
    fn markers_and_thumbnails_of_all_kinds(attributes in any_attributes()) {
        let copy_markers = |bytes: &[u8]| {
            let mut copy = Copy::default();
            let mut writer = MarkerWriter::new(CHUNK, |chunk: &[u8]| copy.bytes.extend_from_slice(chunk)).unwrap();
            let outcome = read_markers(bytes, CHUNK, &mut |one| {
                copy.words.push(format!("{one:?}"));
                writer.write(one).unwrap();
            });
            assert_sound(outcome.unwrap(), copy.words.len());
            writer.finish();
            copy
        };
        let copy_thumbnail = |bytes: &[u8]| {
            let mut copy = Copy::default();
            let mut writer = ThumbnailWriter::new(|chunk: &[u8]| copy.bytes.extend_from_slice(chunk)).unwrap();
            let outcome = read_thumbnail(bytes, &mut |one| {
                copy.words.push(format!("{one:?}"));
                writer.write(one).unwrap();
            });
            assert_sound(outcome.unwrap(), copy.words.len());
            writer.finish();
            copy
        };
        let file = |types: &[(u8, &str)]| {
            let mut file = header();
            file.extend(types.iter().flat_map(|(id, _)| framed(*id, &attributes)));
            file.push(2);
            file
        };
        assert_stable(&copy_markers(&file(MarkerRecord::TYPES)), copy_markers, MarkerRecord::TYPES.len())?;
        assert_stable(&copy_thumbnail(&file(ThumbnailRecord::TYPES)), copy_thumbnail, ThumbnailRecord::TYPES.len())?;
    }

    /// Integers and floats of any size, in every encoding.
    #[test]
    fn any_values(a in any::<u32>(), b in any::<u64>(), c in any::<i64>(), d in any::<f64>(), e in any::<(u8, u16, i8, i16, i32, f32)>(), shift in 0u32..64) {
        let (small, wide) = (a >> (shift / 2), b >> shift);
        let values = [
            Value::U8(e.0), Value::U16(e.1), Value::U32(small), Value::U64(wide), Value::I8(e.2), Value::I16(e.3), Value::I32(e.4),
            Value::I64(c >> shift), Value::F32(e.5), Value::F64(d), Value::String(small), Value::Attribute(a), Value::Location(b),
            Value::LocationGroup(a), Value::Other(77, wide),
        ];
        let attributes: Vec<Attribute> = values.iter().map(|value| Attribute { attribute: small, value: *value }).collect();
        let metrics: Vec<Metric> = (0..shift).map(|n| Metric { kind: 4, bits: b >> n }).collect();
        let arguments: Vec<u32> = (0..shift).map(|n| a >> (n / 2)).collect();
        let events = [
            Event::Enter { region: small },
            Event::BufferFlush { stop_time: b },
            Event::MpiIsend { receiver: a, communicator: small, msg_tag: a, msg_length: wide, request_id: b },
            Event::ParameterInt { parameter: a, value: c >> shift },
            Event::Metric { metric: a, values: Metrics::new(&metrics) },
            Event::ProgramBegin { program_name: a, program_arguments: Array::new(&arguments) },
            Event::MpiIsendComplete { request_id: wide },
        ];
        let mut file = Vec::new();
        let mut writer = EventWriter::new(CHUNK, |chunk: &[u8]| file.extend_from_slice(chunk)).unwrap();
        for event in &events {
            writer.write_with(b, &AttributeList::new(&attributes), event).unwrap();
        }
        prop_assert_eq!(writer.finish(), events.len() as u64);
        let expected: Vec<String> = events.iter().map(|event| format!("{b} {event:?} {attributes:?}")).collect();
        prop_assert_eq!(copy_events(&file).words, expected);
    }

    /// A map that is read looks up what a plain list of its entries would.
    #[test]
    fn id_maps_look_up_their_entries(ids in prop::collection::btree_map(prop_oneof![0u64..20, any::<u64>()], any::<u64>(), 0..30), asked in any::<u64>()) {
        let pairs: Vec<(u64, u64)> = ids.iter().map(|(local, global)| (*local, *global)).collect();
        let mut file = Vec::new();
        let mut writer = DefinitionWriter::new(CHUNK, |chunk: &[u8]| file.extend_from_slice(chunk)).unwrap();
        writer.write(definition::MappingTable { mapping_type: 3, id_map: IdMapView::Sparse(&pairs) }).unwrap();
        writer.finish();
        let mut map = IdMap::Identity;
        read_definitions(&file, CHUNK, Scope::Local, &mut |one| if let Definition::MappingTable(table) = one { map = IdMap::new(&table.id_map) }).unwrap();
        for id in ids.keys().copied().chain(0..25).chain([asked, u64::MAX]) {
            prop_assert_eq!(map.get(id), ids.get(&id).copied().unwrap_or(id));
        }
    }

    #[test]
    fn anchors(chunk_size in any::<u64>(), locations in any::<u64>(), text in "[^\0]{0,20}", properties in prop::collection::vec(("[^\0]{0,9}", "[^\0]{0,9}"), 0..5), id in any::<u64>()) {
        let anchor = Anchor {
            event_chunk_size: chunk_size, locations, machine: text.clone(), creator: text.clone(), description: text, properties, trace_id: id,
            snapshots: 3, thumbnails: 4, ..Anchor::default()
        };
        prop_assert_eq!(Anchor::read(&anchor.write()), Ok(anchor.clone()));
    }
}

/// Lengths and counts that promise more than there is must neither be believed nor be paid for.
#[test]
fn lying_lengths_cost_nothing() {
    let outcome = |record: &[u8], scope| {
        let mut file = header();
        file.extend(record);
        read_definitions(&file, CHUNK, scope, &mut |one| panic!("{one:?}")).unwrap()
    };
    let huge = [8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    let long_record = [&[10u8, 0xff][..], &u64::MAX.to_le_bytes()].concat();
    let many_members = [&[18u8, 9, 0, 0, 0][..], &[4, 0xfe, 0xff, 0xff, 0xff], &[0]].concat();
    let many_ids = [&[5u8, 11, 3][..], &huge, &[0]].concat();
    let many_pairs = [&[5u8, 11, 3][..], &huge, &[1]].concat();
    for (record, scope) in [
        (long_record, Scope::Global),
        (many_members, Scope::Global),
        (many_ids, Scope::Local),
        (many_pairs, Scope::Local),
    ] {
        let damage = outcome(&record, scope).damage;
        assert_eq!(damage.truncated_chunks + damage.damaged_chunks, 1, "{record:?}");
    }
    let mut anchor = Anchor::default().write();
    let at = anchor.len() - 4 - 4 - 8 - 4 - 3;
    anchor[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(Anchor::read(&anchor).is_err());
}

/// What a newer version adds is skipped, and said so.
#[test]
fn records_of_the_future_are_skipped_by_their_length() {
    let mut file = header();
    file.extend([5, 9, 0, 0, 0, 0, 0, 0, 0]);
    file.extend(framed(200, &[1, 2, 3]));
    file.extend(framed(6, &[1, 1, 0, 99, 1, 7])); // one attribute of an unknown type
    file.extend(framed(85, &[1, 7, 42, 42])); // a known record with more attributes
    file.extend([2]);
    let mut visitor =
        Visitor { words: Vec::new(), attributes: Vec::new(), writer: EventWriter::new(CHUNK, |_: &[u8]| {}).unwrap() };
    let outcome = read_chunk(&chunks(&file, CHUNK).unwrap().next().unwrap().unwrap(), &mut visitor);
    assert_eq!((outcome.events, outcome.unknown, outcome.extended, outcome.end), (1, 1, 1, EndKind::EndOfFile));
    assert_eq!(visitor.words.len(), 1);
}

/// Records that do not fit into a chunk are refused, not cut.
#[test]
fn a_record_larger_than_a_chunk_is_refused() {
    let mut writer = DefinitionWriter::new(64, |_: &[u8]| {}).unwrap();
    assert!(writer.write(definition::Text { id: 0, string: &[b'x'; 64] }).is_err());
    assert!(writer.write(definition::Text { id: 0, string: b"short" }).is_ok());
    assert!(EventWriter::new(18, |_: &[u8]| {}).is_err());
}
