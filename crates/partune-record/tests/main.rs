//! What a recorded process leaves becomes an archive that holds everything, whatever became of the process.
//!
//! The collector is a library: a test runs itself again as the process that is recorded, with the act to play in the environment.

mod damage;
mod ends;
mod faults;
mod folder;
mod maps;
mod old;
mod process;
mod worlds;
