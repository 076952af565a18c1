//! What an address turned out to be: rows of dense ids, text in the caller's [`Strings`].

use std::ops::Range;

use partune_base::StringId;
#[cfg(doc)]
use partune_base::Strings;
use partune_diag::Quality;

/// An address of a module, and where it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// A program counter: the instruction itself.
    Exact(u64),
    /// A return address: the call ends right before it, and a call that never returns may be the last of its function.
    Return(u64),
}

impl Address {
    /// The address that is looked up.
    pub fn lookup(self) -> u64 {
        match self {
            Address::Exact(address) => address,
            Address::Return(address) => address.saturating_sub(1),
        }
    }
}

/// Where an answer comes from, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// Debug data (`-g`): inlined functions, files, lines.
    Debug,
    /// The symbol table: the name of the function.
    Symbols,
    /// The dynamic symbol table, which stripped modules still have: only exported functions.
    DynamicSymbols,
    /// None of them; the name is `~solve+0x1f` after the function before it, or `module+0x1234`: where the function begins by the index of
    /// unwind tables, else the address.
    Nothing,
}

/// One function at an address: real, or inlined into the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Demangled; never empty.
    pub function: StringId,
    /// The file of the code at the address; [`StringId::NONE`] if not known.
    pub file: StringId,
    /// 0 if not known.
    pub line: u32,
}

/// The function that holds an address, as it was declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// The name of the last frame.
    pub name: StringId,
    /// The file it was declared in; [`StringId::NONE`] if not known.
    pub file: StringId,
    /// The line of its declaration; 0 if not known.
    pub line: u32,
}

impl Frame {
    pub(crate) const NONE: Self = Self { function: StringId::NONE, file: StringId::NONE, line: 0 };
}

impl Function {
    pub(crate) const NONE: Self = Self { name: StringId::NONE, file: StringId::NONE, line: 0 };
}

/// The answer to one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub function: Function,
    pub origin: Origin,
    pub(crate) frames: Range<u32>,
}

/// The answers to a list of addresses, in the order of that list.
#[derive(Clone, Debug, Default)]
pub struct Places {
    pub(crate) rows: Vec<Place>,
    pub(crate) frames: Vec<Frame>,
    /// Debug data that could not be read.
    pub quality: Quality,
}

impl Places {
    /// The answer to the address at `index` of the list.
    pub fn get(&self, index: usize) -> Option<&Place> {
        self.rows.get(index)
    }

    /// The frames of an answer, innermost first; at least one.
    pub fn frames(&self, place: &Place) -> &[Frame] {
        self.frames.get(place.frames.start as usize..place.frames.end as usize).unwrap_or_default()
    }

    /// How many addresses were asked for.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All answers with their frames, in the order of the list.
    pub fn iter(&self) -> impl Iterator<Item = (&Place, &[Frame])> {
        self.rows.iter().map(|place| (place, self.frames(place)))
    }
}
