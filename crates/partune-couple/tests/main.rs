//! Real programs, measured: sleeping kernels with planted interactions and faults, on no MPI and on one, and the examples. What is expected is made from
//! what the program itself measured, so that a busy machine changes nothing.

mod examples;
mod faults;
mod planted;
mod support;
mod synthetic;
