//! Synthetic archives of any size with known answers: OTF2 as Score-P writes it, of a program that could have run.
//!
//! For tests and benches, and for `partune synth`. A virtual machine runs an iterative solver (see `program`) and records it:
//! no receive ends before its message could arrive and no barrier is left before the last one came, so the waits in the archive
//! are exactly those in [`Answers`]. The same options give the same bytes.
//!
//! Files go through a [`Sink`]; the library opens none. Memory is a chunk for each location and does not grow with events.
//!
//! ```
//! use partune_synth::{Injection, InjectionKind, Memory, SynthOptions, write};
//! let late = Injection { kind: InjectionKind::LateAtBarrier, rank: 2, delay_ns: 1_000_000, percent: 50 };
//! let options = SynthOptions { ranks: 4, events: 20_000, inject: vec![late], ..SynthOptions::default() };
//! let files = Memory::default();
//! let answers = write(&options, &mut files.clone())?;
//! assert!(answers.events.abs_diff(20_000) < 50);
//! let barrier = answers.waits.iter().find(|wait| wait.construct == "MPI_Barrier").unwrap();
//! assert_eq!(barrier.path, "main/time_step/MPI_Barrier");
//! assert!(barrier.total.ns >= 3 * 1_000_000 * answers.injected[0].times);
//! assert!(files.files().contains_key("traces.otf2"));
//! # Ok::<(), partune_synth::SynthError>(())
//! ```

mod answers;
mod archive;
mod clock;
mod collectives;
mod definitions;
mod messages;
mod openmp;
mod options;
mod plan;
mod program;
mod regions;
mod rng;
mod shmem;
mod sink;
mod world;

use std::io;

use partune_otf2::codec::CodecError;

pub use answers::{Answers, Injected, PeTally, Tally, Wait};
pub use options::{Every, Injection, InjectionKind, Model, Skew, SynthOptions};
pub use sink::{Memory, Sink};

use crate::archive::Archive;
use crate::world::World;

/// Why an archive could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SynthError {
    #[error("{path} cannot be written: {error}")]
    Write { path: String, error: io::Error },
    #[error("{0}")]
    Options(&'static str),
    #[error(transparent)]
    Codec(CodecError),
}

/// Writes the archive `traces.otf2` with its files and returns what is known about it.
///
/// Cost: some 60 ns an event.
pub fn write(options: &SynthOptions, sink: &mut dyn Sink) -> Result<Answers, SynthError> {
    write_with_progress(options, sink, &mut |_, _| ())
}

/// The same; `progress` is told iterations done and of all, now and then.
pub fn write_with_progress(
    options: &SynthOptions,
    sink: &mut dyn Sink,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Answers, SynthError> {
    options.check()?;
    let plan = plan::plan(options)?;
    let options = &SynthOptions { kernel_ns: plan.kernel_ns, ..options.clone() };
    let mut world = World::new(options, Archive::create(options, sink)?, plan.extra);
    program::begin(&mut world);
    for turn in 1..=plan.iterations {
        program::iterate(&mut world, turn, turn == plan.iterations);
        if turn % 64 == 0 {
            world.recorder.check()?;
            progress(turn, plan.iterations);
        }
    }
    program::end(&mut world);
    let (begin, end) = world.extent();
    let mut answers = Answers { iterations: plan.iterations, duration_ns: end - begin, ..Answers::default() };
    world.tallies.finish(options, &mut answers);
    world.recorder.finish(options, end, sink, &mut answers)?;
    progress(plan.iterations, plan.iterations);
    Ok(answers)
}
