//! Data followed through models: counts to the unit, signs of the published study, silence where nothing is shared, errors with their place.
#![allow(clippy::float_cmp, reason = "times are sums of a few exact numbers")]

mod calibrate;
mod errors;
mod extract;
mod flow;
mod goldens;
mod laws;
mod support;
mod tune;
