//! A simulated run as an OTF2 archive: lanes are threads of one process, servers of resources are POSIX mutexes.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use partune_model::trace::{Events, REGION_LOCK, REGION_UNLOCK, What};
use partune_otf2::codec::numbers::role;
use partune_otf2::codec::{Anchor, CodecError, DefinitionWriter, Event, EventWriter};
use partune_otf2::paradigms::{PTHREAD, USER};
use partune_otf2::write::{ANCHOR, DEFINITION_CHUNK, DEFINITIONS, Definitions, RegionRow, location_file};

const CHUNK: u64 = 1 << 20;

/// Writes `traces.otf2` and its files into a new folder.
pub(super) fn write(events: &Events, folder: &Path) -> anyhow::Result<()> {
    let anchor = folder.join(ANCHOR);
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
        put(folder, &location_file(lane as u64, "evt"), &bytes)?;
        let mut bytes = Vec::new();
        DefinitionWriter::new(DEFINITION_CHUNK, |chunk: &[u8]| bytes.extend_from_slice(chunk))?.finish();
        put(folder, &location_file(lane as u64, "def"), &bytes)?;
    }
    let mut bytes = Vec::new();
    let definitions = define(events, &counts, |chunk: &[u8]| bytes.extend_from_slice(chunk))?;
    put(folder, DEFINITIONS, &bytes)?;
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
    put(folder, ANCHOR, &anchor.write())
}

fn define(events: &Events, counts: &[u64], sink: impl FnMut(&[u8])) -> Result<u64, CodecError> {
    let mut to = Definitions::new(sink)?;
    to.clock(1_000_000_000, 0, events.end.unsigned_abs() + 1, None)?;
    to.paradigm(PTHREAD, "Pthread")?;
    to.machine("model")?;
    to.process(0, "model", 0)?;
    for (lane, &count) in counts.iter().enumerate() {
        to.thread(lane as u64, &format!("lane {lane}"), 0, count)?;
    }
    let file = to.text("")?;
    for (name, id) in events.regions.iter().zip(0..) {
        let name = to.text(name)?;
        let paradigm = if [REGION_LOCK, REGION_UNLOCK].contains(&id) { PTHREAD } else { USER };
        to.region(id, RegionRow { name, whole: name, file, role: role::FUNCTION, paradigm, ..RegionRow::default() })?;
    }
    Ok(to.finish())
}
