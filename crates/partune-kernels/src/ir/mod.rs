//! What the source asks for: loops of LLVM's intermediate representation as its front ends write it, before anything is optimised but for variables in registers.
//!
//! `clang -O0 -Xclang -disable-O0-optnone -g -S -emit-llvm`, then `opt -S -passes=mem2reg,sroa`: each operation of the source is there once, none was moved,
//! shared or left out, and each turn of a loop is one of the source's. Text of LLVM 14 to 21 is read, and of that only what is needed; what is not known is passed over.
//!
//! | question | module |
//! |---|---|
//! | what lines say | `text`, `types` |
//! | which file and line they are of | `places` |
//! | where accesses are, from turn to turn | `addresses` |
//! | what a turn asks for | `asked` |

mod addresses;
mod asked;
mod places;
mod text;
mod types;

pub use asked::{Asked, SourceLoop, source_loops};

/// Why a text has no loops that could be tied to code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IrError {
    #[error("it is no text of LLVM's intermediate representation: no function is defined in it")]
    NoFunctions,
    #[error("it does not say which lines its loops are of\n  remedy: compile with -g")]
    NoLines,
    #[error(
        "its variables are in memory, so that steps of loops cannot be seen\n  remedy: clang with -Xclang -disable-O0-optnone, then opt -passes=mem2reg,sroa"
    )]
    InMemory,
}
