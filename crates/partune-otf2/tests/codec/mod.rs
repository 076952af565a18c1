//! The codec against real archives and against `otf2-print`, the C library's printer.

pub(crate) mod archives;
mod convert;
mod damage;
pub(crate) mod foreign;
mod mutations;
mod printed;
mod printer;
mod records;
mod written;
