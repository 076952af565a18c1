//! Tests of synthetic archives: that the C library reads them, that the program could have run, that analyses find what is known.

mod findings;
mod otf2_print;
mod program;
mod support;
