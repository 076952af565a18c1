//! From an address inside an ELF module (executable or shared library) to functions, files and lines.
//!
//! For the engine, which turns recorded program counters into regions and call paths. No file system: a [`Module`] is
//! given bytes, and asks its caller for separate debug files by path ([`Files`]).
//!
//! # What it promises
//!
//! * **Inlined calls are kept**: one address gives several [`Frame`]s, the innermost first, the function that really
//!   exists last.
//! * **Best effort, and it says which**: debug data, else the symbol table, else the dynamic one, else what a stub calls (`fmax@plt`), else the
//!   function before it (`~solve+0x1f`), else `module+0x1234` ([`Origin`]).
//! * **Damage is data**: bytes that lie give diagnostics and poorer answers, never a panic.
//! * **Many addresses at once**: [`Module::resolve`] sorts them, answers equal ones once, and interns all text.
//!
//! # What it leaves to its caller
//!
//! Addresses are those of the file (what `objdump -d` prints). [`Module::address_of`] makes one from an offset in the
//! file, which is what `/proc/self/maps` gives. Addresses found on a stack are return addresses and must be said to be
//! ([`Address::Return`]): the call is before them.
//!
//! Split debug data (`-gsplit-dwarf`) is not followed; such units have lines but no inlined functions.

mod debug;
mod debug_file;
mod elf;
mod entry;
mod filter;
mod module;
mod names;
mod place;
mod starts;
mod stubs;
mod symbols;

pub use debug_file::{Files, NoFiles};
pub use elf::Storage;
pub use filter::{Filter, FilterError};
pub use module::{Error, Module};
pub use names::demangle;
pub use place::{Address, Frame, Function, Origin, Place, Places};
pub use symbols::{Symbol, defines};
