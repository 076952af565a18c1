//! Tests of the crate as its users see it, in one program.

#[cfg(test)]
mod codec;
mod import;
