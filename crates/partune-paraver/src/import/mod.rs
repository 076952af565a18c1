//! From a Paraver trace to a trace of the event model.
//!
//! Three steps. The text is read once, piece by piece, and each record goes to the [`lanes`] of the threads it is about, as marks (something
//! began or ended) and facts; what its numbers mean is decided when a number is first seen ([`kinds`], [`names`]). The trace is a source then
//! ([`source`]) whose parts are threads: in parallel, each lane becomes a segment of visits and rows ([`decode`], [`messages`]), and gets the
//! visits of functions around its calls ([`weave`]). At the end the roots of collectives are filled in, which only the whole run knows
//! ([`collectives`]).
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
//! Nothing here fails on damage: what cannot be read is reported in the trace's [`Quality`]. Only a file that cannot be opened, or that is no
//! Paraver trace, is an error.

mod collectives;
mod decode;
mod kinds;
mod labels;
mod lanes;
mod messages;
mod names;
mod people;
mod reader;
mod report;
mod source;
mod states;
mod text;
mod weave;

use std::sync::Mutex;

use partune_import::{Advance, Files, Format, ImportError};
use partune_trace::{Trace, TraceBuilder};

use crate::codec::{Pcf, Row};
use decode::Context;
use people::People;
use reader::{Read, Reader};
use source::Threads;

/// Paraver traces, by their `.prv`.
pub const FORMAT: Format = Format {
    name: "Paraver",
    endings: &[".prv", ".prv.gz"],
    others: &[],
    detect: text::is_trace,
    open: import,
    slices: None,
    around: None,
};

/// Imports the trace with this name; the `.pcf` and `.row` are those beside it with the same stem. `progress` gets bytes of the file
/// done and in all.
///
/// Cost: linear in records, but for the sorting of those that are out of order. Memory: that of the trace, and as much again while
/// it is made; of the text only a piece at a time. The result does not depend on the number of threads.
pub fn import(files: &dyn Files, name: &str, progress: Advance<'_>) -> Result<Trace, ImportError> {
    let mut builder = TraceBuilder::default();
    let stem = text::stem(name);
    let pcf = text::beside(files, &format!("{stem}.pcf"), report::NO_PCF, &mut builder.quality);
    let row = text::beside(files, &format!("{stem}.row"), report::NO_ROW, &mut builder.quality);
    let (pcf, row) = (Pcf::read(&pcf), Row::read(&row));

    let mut reader = Reader::new(&pcf, &mut builder);
    let end = text::read(files, name, &mut reader, progress)?;
    let Read { header, communicators, lanes, chains, actions, nestings, states, faults } = reader.finish();
    builder.resolution = header.resolution;
    report::lines(name, &end, &header, &faults, &mut builder.quality);

    let people = People::build(&header, &communicators, &row, &lanes, &mut builder);
    let mut lanes: Vec<Option<lanes::Lane>> = lanes.into_iter().map(Some).collect();
    let lanes = people.lanes_of_pes().iter().map(|lane| Mutex::new(lane.and_then(|lane| lanes[lane].take()))).collect();
    let regions = builder.regions.clone();
    let context = Context { people, actions, nestings, states, regions };
    Ok(partune_import::read(Threads { context, chains, lanes }, builder, &|_, _| {}))
}
