//! What kinds of work a core tells apart, and what one core does for each.

use serde::Deserialize;

/// What an instruction asks of a core, loads and stores apart. The names are those in `cores/*.toml`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Nothing but a place in the instruction stream: no-ops, moves between registers and zeroing that cost no unit.
    Nothing,
    IntAlu,
    IntShift,
    IntMul,
    IntDiv,
    Branch,
    FpAdd,
    FpMul,
    FpFma,
    FpDiv32,
    FpDiv64,
    FpSqrt32,
    FpSqrt64,
    /// Comparisons, minimum, maximum of floating-point numbers.
    FpCompare,
    Convert,
    VectorLogic,
    VectorAdd,
    VectorMul,
    VectorShift,
    /// Within 128 bits.
    Shuffle,
    /// Across 128 bits.
    Cross,
    /// Between a vector register and an integer one, or flags.
    Transfer,
    Mask,
    /// A call, a system call, a fence, a string operation: the loop's time is not its own.
    Call,
    /// What no table here knows.
    Unknown,
}

impl Class {
    /// Floating-point operations per element.
    pub fn flops(self) -> u32 {
        match self {
            Class::FpFma => 2,
            Class::FpAdd | Class::FpMul | Class::FpDiv32 | Class::FpDiv64 | Class::FpSqrt32 | Class::FpSqrt64 => 1,
            Class::Nothing
            | Class::IntAlu
            | Class::IntShift
            | Class::IntMul
            | Class::IntDiv
            | Class::Branch
            | Class::FpCompare
            | Class::Convert
            | Class::VectorLogic
            | Class::VectorAdd
            | Class::VectorMul
            | Class::VectorShift
            | Class::Shuffle
            | Class::Cross
            | Class::Transfer
            | Class::Mask
            | Class::Call
            | Class::Unknown => 0,
        }
    }

    /// Whether its result is a value of the program rather than an address or a decision.
    pub fn is_floating(self) -> bool {
        self.flops() > 0 || matches!(self, Class::FpCompare | Class::Convert)
    }
}
