//! From a Paraver trace to a trace of the event model.
//!
//! Three steps. The text is read once, piece by piece, and each record goes to the [`lanes`] of the threads it is about, as marks (something
//! began or ended) and facts; what its numbers mean is decided when a number is first seen ([`kinds`], [`names`]). Then each lane becomes a
//! stream: visits, the functions around them, and rows ([`assemble`], [`messages`]); in parallel. At the end what only the whole run knows
//! is filled in: the order of call paths, and the roots of collectives ([`collectives`]).
//!
//! # Messages
//!
//! A line of the trace has both ends of a message, each with two times. What Extrae writes there:
//!
//! | call | logical | physical |
//! |---|---|---|
//! | `MPI_Send` and others that block | begin of the call | its end |
//! | `MPI_Isend` and others that do not | begin of the call | its end |
//! | `MPI_Sendrecv`, its send | begin of the call | begin of the call |
//! | `MPI_Recv`, `MPI_Sendrecv` | begin of the call | its end |
//! | `MPI_Irecv` and the call that completed it | end of `MPI_Irecv` | in `MPI_Wait…` or `MPI_Test…` |
//!
//! So a send belongs to the operation around its logical time. A receive belongs to the operation around its physical time; where the one
//! around its logical time is another, that one posted it, and the receive is non-blocking. That holds for every kind of call, persistent
//! ones too. Which call completed a non-blocking send is not recorded, so it is left open: nothing is said of how long it waited.
//!
//! Nothing here fails on damage: what cannot be read is told in the trace's [`Quality`]. Only a file that cannot be opened, or that is no
//! Paraver trace, is an error.

mod assemble;
mod collectives;
mod kinds;
mod labels;
mod lanes;
mod messages;
mod names;
mod people;
mod reader;
mod report;
mod states;
mod text;

use std::io;

use partune_base::{CallPathId, RegionId};
use partune_diag::Quality;
use partune_trace::{CallPaths, CallSite, Trace, TraceBuilder};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use thiserror::Error;

pub use partune_otf2::import::{Bytes, Contents, Files};

use crate::codec::{Pcf, Row};
use assemble::Assembled;
use people::People;
use reader::Reader;

/// Why a trace cannot be imported at all.
#[derive(Debug, Error)]
pub enum ImportError {
    #[error("cannot read {name}: {error}\n  remedy: check that the file is there and readable")]
    Read { name: String, error: io::Error },
    #[error(
        "{name} is not a Paraver trace: its first line does not begin with #Paraver\n  remedy: give the .prv or .prv.gz file"
    )]
    NotParaver { name: String },
}

/// Imports the trace with this name; the `.pcf` and `.row` are those beside it with the same stem. `progress` is told bytes of the file
/// done and in all.
///
/// Cost: linear in records, but for the sorting of those that are out of order. Memory: that of the trace, and as much again while
/// it is made; of the text only a piece at a time.
pub fn import(files: &dyn Files, name: &str, progress: &(dyn Fn(u64, u64) + Sync)) -> Result<Trace, ImportError> {
    let mut quality = Quality::default();
    let stem = text::stem(name);
    let pcf = text::beside(files, &format!("{stem}.pcf"), report::NO_PCF, &mut quality);
    let row = text::beside(files, &format!("{stem}.row"), report::NO_ROW, &mut quality);
    let (pcf, row) = (Pcf::read(&pcf), Row::read(&row));

    let mut builder = TraceBuilder::default();
    let mut reader = Reader::new(&pcf, &mut builder);
    let counts = text::read(files, name, &mut reader, &mut quality, progress)?;
    let reader::Read { header, communicators, lanes, chains, actions, nestings, states, faults } = reader.finish();
    let Some(header) = header else { return Err(ImportError::NotParaver { name: name.to_owned() }) };
    builder.resolution = header.resolution;
    report::lines(&counts, &header, &faults, &mut quality);

    let people = People::build(&header, &communicators, &row, &lanes, &mut builder, &mut quality);
    let context = assemble::Context {
        people: &people,
        chains: &chains,
        actions: &actions,
        nestings: &nestings,
        states: &states,
        regions: &builder.regions,
    };
    let pes = people.lanes_of_pes();
    let mut lanes: Vec<Option<lanes::Lane>> = lanes.into_iter().map(Some).collect();
    let lanes: Vec<lanes::Lane> =
        pes.iter().map(|lane| lane.and_then(|lane| lanes[lane].take()).unwrap_or_default()).collect();
    let mut assembled: Vec<Assembled> = lanes.into_par_iter().map(|lane| assemble::assemble(lane, &context)).collect();
    report::assembled(&assembled, &mut quality);

    let mut paths = CallPaths::default();
    let maps = merge_paths(&assembled, &mut paths);
    assembled.par_iter_mut().zip(&maps).for_each(|(assembled, map)| {
        for path in &mut assembled.stream.visits.path {
            *path = map[path.0 as usize];
        }
    });
    let mut streams: Vec<_> = assembled.into_iter().map(|assembled| assembled.stream).collect();
    collectives::name_roots(&mut streams, &mut quality);
    builder.streams = streams.into();
    builder.paths = paths;
    builder.quality = quality;
    Ok(builder.seal())
}

/// Gives the paths of all lanes one order, and returns for each lane where its paths went.
fn merge_paths(assembled: &[Assembled], paths: &mut CallPaths) -> Vec<Vec<CallPathId>> {
    let mut known: FxHashMap<(CallPathId, RegionId, CallSite), CallPathId> = FxHashMap::default();
    let of_lane = |assembled: &Assembled| {
        let mut map: Vec<CallPathId> = Vec::with_capacity(assembled.nodes.len());
        for node in &assembled.nodes {
            let parent = node.parent.map_or(CallPathId::NONE, |parent| map[parent as usize]);
            let key = (parent, node.region, node.site);
            map.push(*known.entry(key).or_insert_with(|| paths.push_at(parent, node.region, node.site)));
        }
        map
    };
    assembled.iter().map(of_lane).collect()
}
