//! Small archives with calling contexts, written here: definitions from lists, events as they come.

#![allow(clippy::unwrap_used, reason = "a helper of tests fails as tests do")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use partune_otf2::codec::definition::*;
use partune_otf2::codec::idmap::IdMapView;
use partune_otf2::codec::view::Array;
use partune_otf2::codec::{Anchor, Definition, DefinitionWriter, Event, EventWriter, Value};

pub(super) const NONE: u32 = u32::MAX;

/// Names, roles, paradigms and flags of regions, by number.
pub(super) const MAIN: u32 = 0;
pub(super) const EXCHANGE: u32 = 1;
pub(super) const SEND: u32 = 2;
pub(super) const RECV: u32 = 3;
pub(super) const INIT: u32 = 4;
pub(super) const FINALIZE: u32 = 5;
pub(super) const SOLVE: u32 = 6;
pub(super) const STEP: u32 = 7;
pub(super) const COMPUTE: u32 = 8;
pub(super) const FORCE: u32 = 10;
pub(super) const START: u32 = 11;
const REGIONS: [(&str, u8, u8, u32); 12] = [
    ("main", 1, 1, 0),
    ("exchange", 1, 1, 0),
    ("MPI_Send", 28, 4, 0),
    ("MPI_Recv", 28, 4, 0),
    ("MPI_Init", 1, 4, 0),
    ("MPI_Finalize", 1, 4, 0),
    ("solve", 4, 1, 2),
    ("step", 3, 1, 3),
    ("compute", 1, 1, 0),
    ("lines", 4, 1, 0),
    ("force", 1, 1, 0),
    ("__libc_start_main", 1, 1, 0),
];

/// A place in the source: file and line; `HERE` is unknown.
pub(super) type Place = (&'static str, u32);
pub(super) const HERE: Place = ("", 0);

/// An archive to be.
pub(super) struct Program {
    /// Region, place and parent.
    pub(super) contexts: Vec<(u32, Place, u32)>,
    /// Time and event.
    pub(super) locations: Vec<Vec<(u64, Event<'static>)>>,
    /// Global ids of the local contexts of each location, if it has its own.
    pub(super) maps: Vec<Vec<u64>>,
    pub(super) lost: Vec<u64>,
    /// Contexts and where they are in the code of their module.
    pub(super) offsets: Vec<(u32, u64)>,
    /// Ticks between two samples, as mode, base, exponent and period.
    pub(super) generator: Option<(u8, u8, i64, u64)>,
    pub(super) event_chunk: u64,
}

pub(super) fn enter(time: u64, calling_context: u32, unwind_distance: u32) -> (u64, Event<'static>) {
    (time, Event::CallingContextEnter { calling_context, unwind_distance })
}

pub(super) fn leave(time: u64, calling_context: u32) -> (u64, Event<'static>) {
    (time, Event::CallingContextLeave { calling_context })
}

pub(super) fn sample(time: u64, calling_context: u32, unwind_distance: u32) -> (u64, Event<'static>) {
    (time, Event::CallingContextSample { calling_context, unwind_distance, interrupt_generator: 0 })
}

/// Enter and leave of contexts that do nothing else.
pub(super) fn calls(calls: &[(u64, u64, u32, u32)]) -> Vec<(u64, Event<'static>)> {
    calls
        .iter()
        .flat_map(|(begin, end, context, unwind)| [enter(*begin, *context, *unwind), leave(*end, *context)])
        .collect()
}

impl Program {
    pub(super) fn new(contexts: &[(u32, Place, u32)], locations: Vec<Vec<(u64, Event<'static>)>>) -> Program {
        Program {
            contexts: contexts.to_vec(),
            locations,
            maps: Vec::new(),
            lost: Vec::new(),
            offsets: Vec::new(),
            generator: None,
            event_chunk: 1 << 18,
        }
    }

    /// The files of the archive `traces.otf2`.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut counts = Vec::new();
        for (location, events) in self.locations.iter().enumerate() {
            let bytes = Rc::new(RefCell::new(Vec::new()));
            let mut writer = EventWriter::new(self.event_chunk, sink(&bytes)).unwrap();
            for (time, event) in events {
                writer.write(*time, event).unwrap();
            }
            counts.push(writer.finish());
            files.insert(format!("traces/{location}.evt"), bytes.take());
            let bytes = Rc::new(RefCell::new(Vec::new()));
            let mut writer = DefinitionWriter::new(1 << 18, sink(&bytes)).unwrap();
            if let Some(map) = self.maps.get(location) {
                writer.write(MappingTable { mapping_type: 10, id_map: IdMapView::Dense(map) }).unwrap();
            }
            writer.finish();
            files.insert(format!("traces/{location}.def"), bytes.take());
        }
        let bytes = Rc::new(RefCell::new(Vec::new()));
        let mut writer = DefinitionWriter::new(1 << 18, sink(&bytes)).unwrap();
        self.define(&counts, &mut |definition| writer.write(definition).unwrap());
        let definitions = writer.finish();
        files.insert("traces.def".to_owned(), bytes.take());
        let anchor = Anchor {
            event_chunk_size: self.event_chunk,
            definition_chunk_size: 1 << 18,
            locations: counts.len() as u64,
            global_definitions: definitions,
            ..Anchor::default()
        };
        files.insert("traces.otf2".to_owned(), anchor.write());
        files
    }

    fn define(&self, counts: &[u64], write: &mut dyn FnMut(Definition<'_>)) {
        let mut strings: Vec<&str> = vec!["", "node", "rank", "PARTUNE::LOST_EVENTS", "PARTUNE::OFFSET"];
        strings.extend(REGIONS.iter().map(|region| region.0));
        let first_file = strings.len();
        let mut places: Vec<Place> = self.contexts.iter().map(|context| context.1).filter(|it| *it != HERE).collect();
        places.sort_unstable();
        places.dedup();
        strings.extend(places.iter().map(|place| place.0));
        let end = self.locations.iter().flatten().map(|(time, _)| *time).max().unwrap_or(0);
        write(
            ClockProperties { timer_resolution: 1, global_offset: 0, trace_length: end + 1, realtime_timestamp: None }
                .into(),
        );
        for (id, string) in strings.iter().enumerate() {
            write(Text { id: id as u32, string: string.as_bytes() }.into());
        }
        write(SystemTreeNode { id: 0, name: 1, class_name: 1, parent: NONE }.into());
        for (id, (_, role, paradigm, flags)) in REGIONS.iter().enumerate() {
            write(
                Region {
                    id: id as u32,
                    name: id as u32 + 5,
                    description: 0,
                    region_type: 1,
                    source_file: 0,
                    begin_line_number: 0,
                    end_line_number: 0,
                    canonical_name: Some(id as u32 + 5),
                    region_role: Some(*role),
                    paradigm: Some(*paradigm),
                    region_flags: Some(*flags),
                }
                .into(),
            );
        }
        for (id, place) in places.iter().enumerate() {
            let file = (first_file + id) as u32;
            write(SourceCodeLocation { id: id as u32, file, line_number: place.1 }.into());
        }
        for (id, (region, place, parent)) in self.contexts.iter().enumerate() {
            let at = places.iter().position(|it| it == place).map_or(NONE, |at| at as u32);
            write(CallingContext { id: id as u32, region: *region, source_code_location: at, parent: *parent }.into());
        }
        for (calling_context, offset) in &self.offsets {
            let (calling_context, value) = (*calling_context, Value::U64(*offset));
            write(CallingContextProperty { calling_context, name: 4, value }.into());
        }
        if let Some((interrupt_generator_mode, base, exponent, period)) = self.generator {
            write(InterruptGenerator { id: 0, name: 0, interrupt_generator_mode, base, exponent, period }.into());
        }
        for (rank, events) in counts.iter().enumerate() {
            let rank = rank as u32;
            write(
                LocationGroup {
                    id: rank,
                    name: 2,
                    location_group_type: 1,
                    system_tree_parent: 0,
                    creating_location_group: Some(NONE),
                }
                .into(),
            );
            let id = u64::from(rank);
            write(Location { id, name: 2, location_type: 1, number_of_events: *events, location_group: rank }.into());
            if let Some(lost) = self.lost.get(rank as usize) {
                write(
                    LocationProperty { location: id, name: 3, string_value: 0, value: Some(Value::U64(*lost)) }.into(),
                );
            }
        }
        let ranks: Vec<u64> = (0..counts.len() as u64).collect();
        for (id, group_type) in [(0, 4), (1, 5)] {
            let kind = partune_otf2::codec::attic::GroupKind { group_type, paradigm: 4, flags: 0 };
            write(
                Group {
                    id,
                    name: 0,
                    group_type_pre12: Group::type_before_1_2(kind),
                    members: Array::new(&ranks),
                    group_type: Some(group_type),
                    paradigm: Some(4),
                    group_flags: Some(0),
                }
                .into(),
            );
        }
        write(Comm { id: 0, name: 0, group: 1, parent: NONE, flags: Some(0) }.into());
    }
}

pub(super) fn sink(bytes: &Rc<RefCell<Vec<u8>>>) -> impl FnMut(&[u8]) + use<> {
    let bytes = Rc::clone(bytes);
    move |chunk| bytes.borrow_mut().extend_from_slice(chunk)
}
