//! The line through measured times.

use crate::point;
use partune_machine::{Scope, fit};
use proptest::prelude::*;

#[test]
fn a_line_is_found_again() {
    let points: Vec<_> = [0_u64, 64, 1024, 65536, 1 << 20].map(|s| point(s, 2e-6 + s as f64 * 1e-10)).to_vec();
    let line = fit(&points).unwrap();
    assert!((line.latency_s - 2e-6).abs() < 1e-12, "{line:?}");
    assert!((line.seconds_per_byte - 1e-10).abs() < 1e-16, "{line:?}");
    assert!(line.worst < 1e-9);
}

#[test]
fn nothing_gives_nothing_and_one_point_a_level() {
    assert_eq!(fit(&[]), None);
    assert_eq!(fit(&[point(8, 0.0)]), None);
    let line = fit(&[point(8, 3e-6)]).unwrap();
    assert_eq!((line.latency_s, line.seconds_per_byte), (3e-6, 0.0));
}

#[test]
fn a_falling_line_is_level_and_latency_is_not_negative() {
    let line = fit(&[point(0, 2e-6), point(1000, 1e-6)]).unwrap();
    assert!(line.seconds_per_byte.abs() < 1e-30);
    let line = fit(&[point(1000, 1e-6), point(2000, 4e-6)]).unwrap();
    assert!(line.latency_s.abs() < 1e-30);
    assert!(line.seconds_per_byte > 0.0);
}

#[test]
fn a_link_follows_its_line() {
    let machine = crate::machine(Vec::new());
    let link = machine.link(Scope::Network).unwrap();
    assert_eq!(link.scope, Scope::Node, "the only link there is");
    assert!((link.transfer(1_000_000) - 1.001e-3).abs() < 1e-12);
}

proptest! {
    #[test]
    fn no_line_leaves_the_first_quadrant(times in prop::collection::vec((0_u64..1 << 30, 1e-9_f64..10.0), 1..20)) {
        let points: Vec<_> = times.iter().map(|&(bytes, seconds)| point(bytes, seconds)).collect();
        let line = fit(&points).unwrap();
        prop_assert!(line.latency_s >= 0.0 && line.seconds_per_byte >= 0.0 && line.worst.is_finite(), "{:?}", line);
    }
}
