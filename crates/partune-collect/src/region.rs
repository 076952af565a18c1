//! Regions: constructs of a paradigm and marked parts of the user's program.
//!
//! A region is a static, or leaked, value, so that events can name it by address until the log has named it by number.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use crate::choice;
use crate::path::Path;

/// What a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A construct of the paradigm with this name, as partune's table of paradigms spells it.
    Construct(&'static str),
    /// A part of the program that its author marked.
    Code,
    /// A phase of the program.
    Phase,
    /// A loop whose iterations are marked.
    Loop,
    /// One iteration of it.
    Iteration,
    /// A function that tells of itself, by the address of its first instruction.
    Function(usize),
    /// A construct of a paradigm whose code is a function that the compiler made, by the address of its first instruction.
    Body(&'static str, usize),
    /// A construct or a function, by the word in the log, at a place in the source that the program's runtime tells.
    Told { word: &'static str, file: &'static str, line: u32 },
}

impl Kind {
    /// The word in the log.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Kind::Construct(word) | Kind::Body(word, _) | Kind::Told { word, .. } => word,
            Kind::Code => "code",
            Kind::Phase => "phase",
            Kind::Loop => "loop",
            Kind::Iteration => "iteration",
            Kind::Function(_) => "function",
        }
    }

    /// Whether it is a construct of a paradigm, and not the program's code.
    fn is_construct(self) -> bool {
        match self {
            Kind::Construct(_) | Kind::Body(..) => true,
            Kind::Told { word, .. } => ![Kind::Code.word(), Kind::Function(0).word()].contains(&word),
            Kind::Code | Kind::Phase | Kind::Loop | Kind::Iteration | Kind::Function(_) => false,
        }
    }
}

const UNKNOWN: u8 = 0;
const RECORDED: u8 = 1;
const LEFT_OUT: u8 = 2;

/// A construct or a marked part of the program.
#[derive(Debug)]
pub struct Region {
    pub name: &'static str,
    pub kind: Kind,
    /// What it is one of, as partune's table of paradigms spells it, where that has one row for several functions; else its name.
    family: &'static str,
    /// Whether the user wants its calls: not known, yes, no.
    choice: AtomicU8,
    /// Its number in the log plus one; 0 while it has none.
    number: AtomicU32,
    /// The path of this region alone, plus one; 0 while there is none.
    flat: AtomicU32,
}

impl Region {
    pub const fn new(name: &'static str, kind: Kind) -> Region {
        Region::of_family(name, name, kind)
    }

    /// One function of a family.
    pub const fn of_family(name: &'static str, family: &'static str, kind: Kind) -> Region {
        Region {
            name,
            kind,
            family,
            choice: AtomicU8::new(UNKNOWN),
            number: AtomicU32::new(0),
            flat: AtomicU32::new(0),
        }
    }

    /// Whether the user does not want its calls. For a process that is recorded.
    #[inline]
    pub fn is_left_out(&self) -> bool {
        match self.choice.load(Ordering::Relaxed) {
            UNKNOWN => self.choose(),
            choice => choice == LEFT_OUT,
        }
    }

    /// Allocates nothing: the first call may be in a signal's handler.
    #[cold]
    fn choose(&self) -> bool {
        let is_left_out = self.kind.is_construct() && choice::has_left_out(self.name, self.family);
        self.choice.store(if is_left_out { LEFT_OUT } else { RECORDED }, Ordering::Relaxed);
        is_left_out
    }

    /// Its number, if the log has it already.
    pub(crate) fn number(&self) -> Option<u32> {
        self.number.load(Ordering::Relaxed).checked_sub(1)
    }

    pub(crate) fn set_number(&self, number: u32) {
        self.number.store(number + 1, Ordering::Relaxed);
    }

    /// The path of this region without frames, if it has one already.
    #[inline]
    pub(crate) fn flat(&self) -> Option<Path> {
        self.flat.load(Ordering::Relaxed).checked_sub(1).map(Path)
    }

    pub(crate) fn set_flat(&self, path: Path) {
        self.flat.store(path.0 + 1, Ordering::Relaxed);
    }
}
