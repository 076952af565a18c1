//! Instructions as the bounds see them, whatever processor they are for.

use crate::class::Class;

/// A register by number: parts of one (`eax`, `rax`) have the same.
pub type Register = u32;

/// A register, as it was somewhere, and a constant; without one the constant alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value {
    pub of: Option<Register>,
    pub offset: i64,
}

/// What an instruction does to the order of things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// The next one follows.
    Next,
    /// Another one follows, always or perhaps.
    Jump { to: u64, is_conditional: bool },
    /// Nothing that is known: a return, a jump through a register.
    Away,
}

/// Memory that an instruction reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Memory {
    pub base: Option<Register>,
    pub index: Option<Register>,
    pub scale: u8,
    /// With the address itself where there is no base register, as in code that finds its data by its own place.
    pub offset: i64,
    pub bytes: u32,
    /// Elements lie anywhere (gather, scatter).
    pub is_scattered: bool,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub address: u64,
    pub length: u8,
    pub class: Class,
    /// What it is called, without what tells versions of the same apart: who is the result, and how it is encoded.
    pub name: &'static str,
    /// Bytes of its operands.
    pub bytes: u32,
    /// Bytes of an element, where it works on values of the program; else 0.
    pub element: u32,
    /// Elements that it works on.
    pub lanes: u32,
    /// Bytes of the elements that it takes and of those that it makes of them, where it converts or widens them.
    pub converts: Option<(u32, u32)>,
    /// It puts floating-point numbers to other places of a vector, or does different things to neighbours.
    pub mixes: bool,
    pub reads: Vec<Register>,
    pub writes: Vec<Register>,
    /// Registers that only its addresses need.
    pub addresses: Vec<Register>,
    pub load: Option<Memory>,
    pub store: Option<Memory>,
    /// What it adds to a register, and does nothing else to it: how loops count.
    pub step: Option<(Register, i64)>,
    /// What it sets a register to, where that is another register, or none, and a constant.
    pub sets: Option<(Register, Value)>,
    /// By how many bits it shifts a register to the left, and does nothing else to it; to the right if that is negative.
    pub shifts: Option<(Register, i8)>,
    /// The number that it has in the code as its second operand.
    pub constant: Option<i64>,
    /// It may become one with a conditional branch after it, on cores that can.
    pub fuses: Fusible,
    pub flow: Flow,
}

/// What an instruction is to a conditional branch after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusible {
    Never,
    /// It compares, and leaves no result.
    Comparison,
    Arithmetic,
}

impl Instruction {
    /// Floating-point operations, on all its elements.
    pub fn flops(&self) -> u32 {
        self.class.flops() * self.lanes
    }

    /// Whether it adds to some of its elements, and subtracts from their neighbours.
    pub fn alternates(&self) -> bool {
        ["addsub", "fmaddsub", "fmsubadd"].contains(&self.name)
    }

    /// Whether what it does takes more than one operand that is no number of the code.
    pub fn is_of_two(&self) -> bool {
        self.reads.len() + usize::from(self.load.is_some()) > 1
    }

    /// The address after it.
    pub fn end(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.length))
    }
}
