//! Records what a program does with files: descriptors (POSIX) and streams of the C library, by taking the place of these functions.
//!
//! For `partune record`, which preloads it. A process is recorded because of what else it is (MPI, OpenMP, OpenSHMEM); before that, and in all
//! others, a call costs a load and a branch. Only regular files count, and only what the program does: not what MPI and its like do for themselves
//! ([`callers`]), nor what is called inside of a recorded call, nor the recorder's own files. Libraries that are the program's (of Fortran, C++, HDF5)
//! come through as the calls that they make.
//!
//! What is known of a descriptor is found once, when it is opened or first used ([`table`]); an access looks it up, and adds its bytes to where the next
//! one begins. Formatted output and input pass on exactly what they were given ([`formatted`]); functions of one character are not recorded, since
//! each would cost more than it does. Nothing that is called here changes `errno`.
#![allow(unsafe_code, reason = "arguments of the program and functions of the C library")]
#![allow(unreachable_pub, clippy::missing_safety_doc, reason = "they are the C library's")]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments of the program, given on as they came")]

mod access;
mod descriptors;
mod formatted;
mod function;
mod locks;
mod names;
mod streams;
mod table;
