//! How the plain fields of lines are written and read: numbers, choices, and those of several words.

use std::fmt::{self, Write as _};
use std::str::Split;

use super::{Field, Hex, How, Interface, Mode, Named, Step, Text, Unit, number};
use crate::clock::{Reading, Source};
use crate::machine::Ran;

macro_rules! numbers {
    ($($kind:ty)*) => {
        $(impl Field<'_> for $kind {
            fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }

            fn read(words: &mut Split<'_, char>) -> Option<Self> {
                number(words)
            }
        })*
    };
}

numbers! { u32 u64 i64 f64 bool }

/// A field that is one of a few words.
macro_rules! words {
    ($($kind:ident { $($word:literal $choice:ident)* })*) => {
        $(impl Field<'_> for $kind {
            fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($kind::$choice => $word,)* })
            }

            fn read(words: &mut Split<'_, char>) -> Option<Self> {
                match words.next()? { $($word => Some($kind::$choice),)* _ => None }
            }
        })*
    };
}

words! {
    How { "finalize" Finalize "abort" Abort "exit" Exit }
    Interface { "posix" Posix "streams" Streams "mpi" Mpi }
    Mode { "trace" Trace "profile" Profile }
    Named { "comm" Comm }
    Source { "counter" Counter "monotonic" Monotonic }
    Unit { "process" Process "thread" Thread }
}

impl Field<'_> for Hex {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }

    fn read(words: &mut Split<'_, char>) -> Option<Self> {
        u64::from_str_radix(words.next()?, 16).ok().map(Hex)
    }
}

/// `-` for none.
impl Field<'_> for Option<u32> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Some(number) => number.write(f),
            None => f.write_char('-'),
        }
    }

    fn read(words: &mut Split<'_, char>) -> Option<Self> {
        match words.next()? {
            "-" => Some(None),
            word => word.parse().ok().map(Some),
        }
    }
}

/// The rest of the line.
impl<'a> Field<'a> for Vec<Text<'a>> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, text) in self.iter().enumerate() {
            if at > 0 {
                f.write_char(' ')?;
            }
            text.write(f)?;
        }
        Ok(())
    }

    fn read(words: &mut Split<'a, char>) -> Option<Self> {
        // Nothing after the space is no text.
        Some(words.filter(|word| !word.is_empty()).map(Text::of_word).collect())
    }
}

impl Field<'_> for Reading {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.ticks, self.monotonic, self.wall)
    }

    fn read(words: &mut Split<'_, char>) -> Option<Self> {
        Some(Reading { ticks: number(words)?, monotonic: number(words)?, wall: number(words)? })
    }
}

impl Field<'_> for Ran {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.on, self.waited, self.gave_up, self.lost)
    }

    fn read(words: &mut Split<'_, char>) -> Option<Self> {
        let mut next = || number(words);
        Some(Ran { on: next()?, waited: next()?, gave_up: next()?, lost: next()? })
    }
}

impl Field<'_> for Step {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, module, address) = match self {
            Step::Region(number) => return write!(f, "region {number}"),
            Step::Body { region, module, address } => {
                write!(f, "body {region} ")?;
                module.write(f)?;
                f.write_char(' ')?;
                return address.write(f);
            }
            Step::Frame { module, address } => ("frame", module, address),
            Step::Function { module, address } => ("function", module, address),
            Step::Sample { module, address } => ("sample", module, address),
        };
        f.write_str(word)?;
        f.write_char(' ')?;
        module.write(f)?;
        f.write_char(' ')?;
        address.write(f)
    }

    fn read(words: &mut Split<'_, char>) -> Option<Self> {
        Some(match words.next()? {
            "region" => Step::Region(number(words)?),
            "body" => Step::Body { region: number(words)?, module: Field::read(words)?, address: Field::read(words)? },
            "frame" => Step::Frame { module: Field::read(words)?, address: Field::read(words)? },
            "function" => Step::Function { module: Field::read(words)?, address: Field::read(words)? },
            "sample" => Step::Sample { module: Field::read(words)?, address: Field::read(words)? },
            _ => return None,
        })
    }
}
