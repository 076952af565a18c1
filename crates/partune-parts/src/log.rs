//! The definition log: what events of a process refer to, one line each, written when it is first seen.
//!
//! A line is words between single spaces: that of its kind, then its fields as [`Line`] declares them. `-` stands for none, and in texts `%`, spaces and
//! control characters are `%XX`. Numbers of modules, regions, paths and so on count from 0 in each process. A process may be killed while it writes, so
//! only complete lines count.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::str::{FromStr, Split};

use crate::clock::{Reading, Source};
use crate::machine::Ran;

mod fields;
mod members;
mod text;

pub use members::Members;
pub use text::Text;

/// Part of a line: some words.
trait Field<'a>: Sized {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
    /// Takes its words; none if they are not understood.
    fn read(words: &mut Split<'a, char>) -> Option<Self>;
}

macro_rules! lines {
    ($($(#[$about:meta])* $word:literal $line:ident { $($(#[$of:meta])* $field:ident: $kind:ty,)* })*) => {
        /// A line of the log.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Line<'a> {
            $($(#[$about])* $line { $($(#[$of])* $field: $kind,)* },)*
        }

        impl fmt::Display for Line<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Line::$line { $($field,)* } => {
                        f.write_str($word)?;
                        $(f.write_char(' ')?; $field.write(f)?;)*
                        Ok(())
                    })*
                }
            }
        }

        impl<'a> Line<'a> {
            /// What a line says; none if it is not understood. Words after its fields are left for a later version to explain.
            pub fn parse(line: &'a str) -> Option<Line<'a>> {
                let mut words = line.split(' ');
                match words.next()? {
                    $($word => Some(Line::$line { $($field: <$kind>::read(&mut words)?,)* }),)*
                    _ => None,
                }
            }
        }
    };
}

lines! {
    /// The first line: who wrote this.
    "partune" Partune { version: u32, }
    "process" Process {
        pid: u32,
        host: Text<'a>,
        /// Tells machines apart, see [`crate::machine::boot`].
        boot: Hex,
        clock: Source,
        mode: Mode,
    }
    "program" Program { path: Text<'a>, arguments: Vec<Text<'a>>, }
    /// The clocks read together: at begin, at synchronisations, at the end.
    "calibrate" Calibrate { reading: Reading, }
    /// PEs of one paradigm, of which this process or its threads are some. A process may be in a world of each paradigm. Ranks are in a world.
    "world" World {
        number: u32,
        paradigm: Text<'a>,
        of: Unit,
        /// That of this process; 0 where PEs are threads, whose ranks are their numbers.
        rank: u32,
        size: u32,
        /// The same for all of the world, and for nobody else of the paradigm: jobs may meet at run time.
        key: Hex,
    }
    /// The library that was intercepted.
    "paradigm" Paradigm { name: Text<'a>, version: Text<'a>, }
    "thread" Thread {
        /// Its lane is `NAME-NUMBER.lane`.
        number: u32,
        tid: i64,
        name: Text<'a>,
    }
    "module" Module {
        number: u32,
        /// Where its code is in memory.
        begin: Hex,
        end: Hex,
        /// An address in the file is one in memory less this.
        bias: Hex,
        path: Text<'a>,
    }
    "region" Region {
        number: u32,
        /// A paradigm, or code, phase, loop, iteration.
        kind: Text<'a>,
        name: Text<'a>,
    }
    /// Where a region is in the source, by the word of the program's runtime: what lies between that and the region is the runtime's.
    "told" Told { region: u32, file: Text<'a>, line: u32, }
    "path" Path { number: u32, parent: Option<u32>, step: Step, }
    "group" Group { number: u32, world: u32, members: Members<'a>, }
    /// A communicator or team. Equal sequence and lists on all members make one.
    "comm" Comm {
        number: u32,
        world: u32,
        /// How many communicators with the same members the process saw before.
        sequence: u32,
        /// Ranks in the world, in order of their rank in the communicator.
        members: Members<'a>,
        /// The other group of an intercommunicator; none otherwise.
        remote: Members<'a>,
        parent: Option<u32>,
        name: Text<'a>,
    }
    /// The other side of an intercommunicator is not in the world: it was spawned, was the parent, or came by a port. Its processes are
    /// the members from `first` on, wherever members are ranks in the world; the world itself ends before the first of them.
    "meeting" Meeting {
        comm: u32,
        first: u32,
        size: u32,
        /// When both sides were under way to it: nanoseconds since 1970.
        begin: u64,
        end: u64,
    }
    /// The program named a communicator.
    "name" Name { of: Named, number: u32, name: Text<'a>, }
    /// Memory that the members of a communicator or team can access: a window, a symmetric heap, a coarray.
    "window" Window { number: u32, sequence: u32, comm: u32, kind: Text<'a>, name: Text<'a>, }
    /// What PEs meet at: a lock, an event. Its number is that in events, which is made of where it is, so that all processes have the same.
    "object" Object { number: u32, world: u32, kind: Text<'a>, name: Text<'a>, }
    /// A handle of a file.
    "file" File {
        number: u32,
        name: Text<'a>,
        by: Interface,
        /// How many handles of the file by this interface the process had open already when this one was opened first.
        again: u32,
    }
    "metric" Metric {
        number: u32,
        /// Whether values grow from the start of the run, and are integers; else they are those of a moment.
        grows: bool,
        unit: Text<'a>,
        name: Text<'a>,
    }
    /// The time of rank 0 is ticks plus offset.
    "sync" Sync { ticks: u64, offset: i64, deviation: f64, }
    /// What was sampled so far; the last of these lines counts.
    "sampled" Sampled {
        /// How often it was looked where threads are.
        ticks: u64,
        /// Of these threads meanwhile, in nanoseconds.
        cpu_time: u64,
        /// How often there was no room for the answer.
        missed: u64,
        /// What looking took, in ticks of the clock of events.
        spent: u64,
    }
    /// A thread's call paths have at most so many frames from now on, since those before took more than so many millionths of its time. The last of
    /// these lines of a thread counts.
    "shallow" Shallow { thread: u32, frames: u32, share: u32, ticks: u64, }
    /// The processors that this process may use: a list as the kernel writes it (`0-3,8`), of how many that are there, what they are, and for how
    /// many thousandths of one it may run at a time, where that is limited. The last of these lines counts.
    "cpus" Cpus { allowed: Text<'a>, online: u32, model: Text<'a>, quota: Option<u32>, }
    /// The most memory that this process had at a time, what buffers of the recorder are of it at most, and what it may have: bytes, 0 if unknown. The last
    /// of these lines counts.
    "memory" Memory { peak: u64, recorder: u64, limit: u64, }
    /// What a thread did since its first event, or since its process was in a world; the last of these lines counts.
    "ran" Ran { thread: u32, ran: Ran, }
    /// Something that whoever reads the archive should know.
    "note" Note { text: Text<'a>, }
    /// Calls of some functions are not recorded, by choice of the user; in what words.
    "choice" Choice { text: Text<'a>, }
    "end" End { how: How, }
    /// A signal is about to end it.
    "died" Died {
        signal: u32,
        ticks: u64,
        /// Where it struck, and the return addresses from there, in memory: hexadecimal, with commas between; 0 if not known.
        frames: Text<'a>,
    }
}

/// A number that is written hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hex(pub u64);

/// What is kept of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every event.
    Trace,
    /// Statistics of call paths.
    Profile,
}

/// What a path adds to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A return address in a module's file; without a module, in memory.
    Frame {
        module: Option<u32>,
        address: Hex,
    },
    /// The first instruction of an instrumented function.
    Function {
        module: Option<u32>,
        address: Hex,
    },
    /// An instruction that was found to run, in a module's file; without a module, in memory.
    Sample {
        module: Option<u32>,
        address: Hex,
    },
    Region(u32),
    /// A region whose code is a function of its own, which the compiler made: also the first instruction of that.
    Body {
        region: u32,
        module: Option<u32>,
        address: Hex,
    },
}

/// What the PEs of a world are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Processes, of which this is one.
    Process,
    /// The threads of this process, which has such a world for itself.
    Thread,
}

/// By what a program uses a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interface {
    /// The system's descriptors.
    Posix,
    /// Streams of the C library.
    Streams,
    Mpi,
}

/// How a process ends, or a paradigm in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Finalize,
    Abort,
    Exit,
}

/// What the program can give a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    Comm,
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Text<'a> {
        Text(Cow::Borrowed(text))
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Text(Cow::Owned(text))
    }
}

fn number<T: FromStr>(words: &mut Split<'_, char>) -> Option<T> {
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests;
