//! A simulated run as an OTF2 archive: lanes are threads of one process, servers of resources are POSIX mutexes.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use partune_model::trace::{Events, REGION_LOCK, REGION_UNLOCK, What};
use partune_otf2::codec::definition::{
    ClockProperties, Definition, Location, LocationGroup, Paradigm, Region, SystemTreeNode, Text,
};
use partune_otf2::codec::{Anchor, CodecError, DefinitionWriter, Event, EventWriter};

const CHUNK: u64 = 1 << 20;
const DEFINITION_CHUNK: u64 = 4 << 20;
const NONE: u32 = u32::MAX;
/// OTF2's numbers.
const PTHREAD: u8 = 7;
const USER: u8 = 1;
const FUNCTION: u8 = 1;
const PROCESS: u8 = 1;
const CPU_THREAD: u8 = 1;
const CREATE_WAIT: u8 = 1;

/// Writes `traces.otf2` and its files into a new folder.
pub(super) fn write(events: &Events, folder: &Path) -> anyhow::Result<()> {
    let anchor = folder.join("traces.otf2");
    if anchor.exists() {
        bail!("{}: there is an archive already\n  remedy: give a folder that does not exist", anchor.display());
    }
    write_files(events, folder).with_context(|| format!("cannot write {}", folder.display()))
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let mut file = partune_engine::create(folder, name)?;
    file.write_all(bytes)?;
    Ok(file.flush()?)
}

fn write_files(events: &Events, folder: &Path) -> anyhow::Result<()> {
    let mut counts = Vec::new();
    for (lane, list) in events.lanes.iter().enumerate() {
        let mut bytes = Vec::new();
        let mut writer = EventWriter::new(CHUNK, |chunk: &[u8]| bytes.extend_from_slice(chunk))?;
        for (order, (time, what)) in list.iter().enumerate() {
            let acquisition_order = order as u32;
            let event = match *what {
                What::Enter(region) => Event::Enter { region },
                What::Leave(region) => Event::Leave { region },
                What::Acquire(lock_id) => Event::ThreadAcquireLock { model: PTHREAD, lock_id, acquisition_order },
                What::Release(lock_id) => Event::ThreadReleaseLock { model: PTHREAD, lock_id, acquisition_order },
            };
            writer.write(time.unsigned_abs(), &event)?;
        }
        counts.push(writer.finish());
        put(folder, &format!("traces/{lane}.evt"), &bytes)?;
        let mut bytes = Vec::new();
        DefinitionWriter::new(DEFINITION_CHUNK, |chunk: &[u8]| bytes.extend_from_slice(chunk))?.finish();
        put(folder, &format!("traces/{lane}.def"), &bytes)?;
    }
    let mut bytes = Vec::new();
    let writer = DefinitionWriter::new(DEFINITION_CHUNK, |chunk: &[u8]| bytes.extend_from_slice(chunk))?;
    let definitions = define(events, &counts, writer)?;
    put(folder, "traces.def", &bytes)?;
    let anchor = Anchor {
        event_chunk_size: CHUNK,
        definition_chunk_size: DEFINITION_CHUNK,
        locations: counts.len() as u64,
        global_definitions: definitions,
        machine: "a model".to_owned(),
        creator: concat!("partune model ", env!("CARGO_PKG_VERSION")).to_owned(),
        description: "a simulated run".to_owned(),
        ..Anchor::default()
    };
    put(folder, "traces.otf2", &anchor.write())
}

/// Definitions, and the strings they name, each with its own number.
struct Definitions<S> {
    writer: DefinitionWriter<S>,
    strings: u32,
}

impl<S: FnMut(&[u8])> Definitions<S> {
    fn put<'a>(&mut self, definition: impl Into<Definition<'a>>) -> Result<(), CodecError> {
        self.writer.write(definition)
    }

    fn text(&mut self, text: &str) -> Result<u32, CodecError> {
        let id = self.strings;
        self.strings += 1;
        self.put(Text { id, string: text.as_bytes() })?;
        Ok(id)
    }
}

fn define<S: FnMut(&[u8])>(events: &Events, counts: &[u64], writer: DefinitionWriter<S>) -> Result<u64, CodecError> {
    let mut to = Definitions { writer, strings: 0 };
    to.put(ClockProperties {
        timer_resolution: 1_000_000_000,
        global_offset: 0,
        trace_length: events.end.unsigned_abs() + 1,
        realtime_timestamp: None,
    })?;
    let empty = to.text("")?;
    let name = to.text("Pthread")?;
    to.put(Paradigm { paradigm: PTHREAD, name, paradigm_class: CREATE_WAIT })?;
    let (name, class_name) = (to.text("model")?, to.text("machine")?);
    to.put(SystemTreeNode { id: 0, name, class_name, parent: NONE })?;
    to.put(LocationGroup {
        id: 0,
        name,
        location_group_type: PROCESS,
        system_tree_parent: 0,
        creating_location_group: Some(NONE),
    })?;
    for (lane, &number_of_events) in counts.iter().enumerate() {
        let name = to.text(&format!("lane {lane}"))?;
        to.put(Location { id: lane as u64, name, location_type: CPU_THREAD, number_of_events, location_group: 0 })?;
    }
    for (region, name) in events.regions.iter().enumerate() {
        let id = region as u32;
        let name = to.text(name)?;
        let lock = [REGION_LOCK, REGION_UNLOCK].contains(&id);
        to.put(Region {
            id,
            name,
            description: empty,
            region_type: 0,
            source_file: empty,
            begin_line_number: 0,
            end_line_number: 0,
            canonical_name: Some(name),
            region_role: Some(FUNCTION),
            paradigm: Some(if lock { PTHREAD } else { USER }),
            region_flags: Some(0),
        })?;
    }
    Ok(to.writer.finish())
}
