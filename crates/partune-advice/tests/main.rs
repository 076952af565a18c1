//! Tests of the advice: the data files, the steps by hand, candidates of made and of analysed runs.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

mod analysed;
mod candidates;
mod files;
mod steps;

use partune_advice::{Action, knowledge};
use partune_analysis::Gap;

fn gaps(of: &[(&'static str, f64)]) -> Vec<Gap> {
    of.iter().map(|&(name, fraction)| Gap { name, seconds: 10.0 * fraction, fraction }).collect()
}

fn action(id: &str) -> &'static Action {
    knowledge().action(id).unwrap_or_else(|| panic!("there is no action {id}"))
}
