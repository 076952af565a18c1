//! What is found in programs that access memory of others, whatever their model: each has the same ones.

use super::expect::line_of;
use super::launch::{Built, Mpi};
use super::programs::check_counts;

/// Of twelve elements six are read where they are, and dealt out one by one all would be.
pub(super) fn addresses(mpi: &Mpi, file: &str) {
    let Some(built) = Built::new(mpi, file, &[]) else { return };
    let document = check_counts(&built, &[], &[]).analysis();
    let rows = document["shared_data"].as_array().unwrap_or_else(|| panic!("no addresses: {document:#}"));
    assert_eq!(rows.len(), 1, "{rows:#?}");
    let values = ["local", "best_local", "best_block", "element_bytes"].map(|name| rows[0][name].as_f64());
    assert_eq!(values, [Some(0.5), Some(1.0), Some(1.0), Some(8.0)], "{rows:#?}");
}

pub(super) fn small_puts(mpi: &Mpi, file: &str) {
    let Some(built) = Built::new(mpi, file, &[]) else { return };
    let document = check_counts(&built, &[], &[]).analysis();
    let line = line_of(&built.source, "HERE").expect("it is marked");
    let findings = document["findings"].as_array().into_iter().flatten();
    let mut found = findings.filter(|it| it["pattern"] == "small_transfers" && it["location"]["line"] == line);
    assert!(found.next().is_some_and(|it| it["pes"][0]["pe"] == 0), "{document:#}");
}

/// Of a transfer's time, what competitors cost it: on a busy machine the first tries may see too little of it.
pub(super) fn hot_spot(mpi: &Mpi, file: &str) {
    let Some(built) = Built::new(mpi, file, &[]) else { return };
    let line = line_of(&built.source, "HERE").expect("it is marked");
    let competes = |arguments: &[&str]| {
        let document = check_counts(&built, &[], arguments).analysis();
        let findings = document["findings"].as_array().into_iter().flatten();
        findings.filter(|it| it["pattern"] == "competing_put_get" && it["location"]["line"] == line).count()
    };
    assert!((0..3).any(|_| competes(&[]) == 1), "four put into one at a time");
    assert_eq!(competes(&["ring"]), 0, "nobody puts where another does");
}
