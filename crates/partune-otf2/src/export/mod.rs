//! From a trace to an OTF2 archive, whatever format the trace was read from.
//!
//! What the event model holds is written; what it does not (arguments of calls that no analysis asks for) cannot be. Between two OTF2 archives
//! [`crate::copy`] loses nothing and is what `partune convert` uses. Lines of calls are left out, since OTF2 has them in chains of callers
//! only, and so are attempts to get a lock of threads. What ties the ends of messages together, and objects and what ran on them, are attributes of partune's own
//! ([`crate::objects`]): other readers tie messages by their order.

mod definitions;
mod events;

use std::io;

use partune_base::{GroupId, PeId, Table, Time};
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::{GroupKind, PeKind, Trace};
use rayon::prelude::*;
use thiserror::Error;

use crate::codec::{Anchor, CodecError, DefinitionWriter, EventWriter};
use crate::copy::Sink;
use crate::write::{COMMAND, DEFINITION_CHUNK, Definitions};
use events::Skipped;

/// Why a trace cannot be written.
#[derive(Debug, Error)]
pub enum ExportError {
    #[error("it is a profile: there are no events to write\n  remedy: record without --profile")]
    Profile,
    #[error("cannot write {name}: {error}")]
    Write { name: String, error: io::Error },
    #[error("{name}: {error}")]
    Codec { name: String, error: CodecError },
}

/// What was written.
#[derive(Debug)]
pub struct Exported {
    pub events: u64,
    pub definitions: u64,
    pub locations: u64,
    /// What could not be written.
    pub quality: Quality,
}

const EVENT_CHUNK: u64 = 1 << 20;

/// Writes a trace as the archive with this anchor file.
///
/// Cost: linear in events, parallel over PEs. Memory: about 80 bytes per fact, and 8 per visit, of the PEs that are being written.
pub fn export(trace: &Trace, sink: &dyn Sink, anchor_name: &str) -> Result<Exported, ExportError> {
    if trace.profile().is_some() {
        return Err(ExportError::Profile);
    }
    let name = anchor_name.strip_suffix(".otf2").unwrap_or(anchor_name);
    let layout = Layout::of(trace);
    let written: Vec<Result<(u64, Skipped), ExportError>> = (0..trace.pes().len())
        .into_par_iter()
        .map(|pe| {
            let pe = PeId(pe as u32);
            // Readers expect a file of local definitions, even if there is none.
            file(sink, &format!("{name}/{}.def", pe.0), |chunks| {
                Ok(DefinitionWriter::new(DEFINITION_CHUNK, chunks)?.finish())
            })?;
            let mut skipped = Skipped::default();
            let events = file(sink, &format!("{name}/{}.evt", pe.0), |chunks| {
                let mut writer = EventWriter::new(EVENT_CHUNK, chunks)?;
                skipped = events::write(&layout, pe, &mut writer)?;
                Ok(writer.finish())
            })?;
            Ok((events, skipped))
        })
        .collect();
    let (mut counts, mut skipped) = (Vec::new(), Skipped::default());
    for written in written {
        let (events, of_pe) = written?;
        counts.push(events);
        skipped.add(of_pe);
    }
    let definitions = file(sink, &format!("{name}.def"), |chunks| {
        let mut to = Definitions::new(chunks)?;
        definitions::write(&layout, &counts, &mut to)?;
        Ok(to.finish())
    })?;
    let anchor = Anchor {
        event_chunk_size: EVENT_CHUNK,
        definition_chunk_size: DEFINITION_CHUNK,
        locations: counts.len() as u64,
        global_definitions: definitions,
        creator: concat!("partune ", env!("CARGO_PKG_VERSION")).to_owned(),
        properties: trace.command().map(|command| (COMMAND.to_owned(), command.to_owned())).into_iter().collect(),
        ..Anchor::default()
    };
    let anchor_file = format!("{name}.otf2");
    let put = sink.create(&anchor_file).and_then(|mut to| to.write_all(&anchor.write()).and_then(|()| to.flush()));
    put.map_err(|error| ExportError::Write { name: anchor_file, error })?;
    let mut quality = Quality::default();
    skipped.report(&mut quality);
    let sites = trace.paths().ids().filter(|path| trace.paths().site(*path).is_some()).count() as u64;
    let remedy = "where the source is an OTF2 archive, convert copies it whole";
    quality.add(Diagnostic::info(Code::LeftOutCallLines, "lines of calls were left out", remedy).times(sites));
    Ok(Exported { events: counts.iter().sum(), definitions, locations: counts.len() as u64, quality })
}

/// Writes a file through a callback for chunks.
fn file(
    sink: &dyn Sink,
    name: &str,
    write: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<u64, CodecError>,
) -> Result<u64, ExportError> {
    let failed = |error| ExportError::Write { name: name.to_owned(), error };
    let mut to = sink.create(name).map_err(failed)?;
    let mut outcome = Ok(());
    let written = write(&mut |chunk| {
        if outcome.is_ok() {
            outcome = to.write_all(chunk);
        }
    });
    outcome.and_then(|()| to.flush()).map_err(failed)?;
    written.map_err(|error| ExportError::Codec { name: name.to_owned(), error })
}

/// Where things of the trace are in the archive: everything has its own number, except what is here.
struct Layout<'a> {
    trace: &'a Trace,
    /// The time that is zero in the archive, which knows no negative ones.
    zero: Time,
    /// The group that messages without one are in; made if the trace has no world.
    world: GroupId,
    /// Main PEs of CPUs, in order of process: the world that is made.
    main: Vec<PeId>,
    /// The list of members of each group; of one with two sides, of the first.
    lists: Table<GroupId, u32>,
}

impl<'a> Layout<'a> {
    fn of(trace: &'a Trace) -> Layout<'a> {
        let is_main = |pe: &PeId| trace.pes()[*pe].thread == 0 && trace.pes()[*pe].kind == PeKind::Cpu;
        let world = trace.groups().iter_ids().find(|(_, group)| group.kind == GroupKind::World);
        Layout {
            trace,
            zero: trace.begin().min(Time::ZERO),
            world: world.map_or(GroupId(trace.groups().len() as u32), |(world, _)| world),
            main: trace.pes().ids().filter(is_main).collect(),
            lists: definitions::lists(trace),
        }
    }

    fn stamp(&self, time: Time) -> u64 {
        time.since(self.zero).0.max(0).cast_unsigned()
    }

    /// The communicator of a group, and the rank of a PE in it as another PE sees it.
    fn rank(&self, group: GroupId, of: PeId, seen_by: PeId) -> (u32, u32) {
        let group = if group.is_some() || !of.is_some() { group } else { self.world };
        let rank = match self.trace.groups().get(group) {
            None if group == self.world => self.main.binary_search(&of).ok(),
            None => None,
            Some(row) if row.kind == GroupKind::SelfOnly => Some(0),
            Some(row) => {
                let member = |pe: PeId| row.member(pe, self.trace.main_of(pe));
                let rank = row.members.rank(member(of));
                rank.map(|rank| rank.saturating_sub(row.first_peer(member(seen_by))))
            }
        };
        (group.0, rank.map_or(u32::MAX, |rank| rank as u32))
    }
}
