//! The file: what is written comes back, and what is wrong is told with its place.

use crate::{baseline, machine};
use partune_machine::{ReadError, read, write};
use proptest::prelude::*;

#[test]
fn what_is_written_comes_back() {
    let machine = machine(vec![baseline("MPI_Barrier", "group_sync", 4, &[(0, 1.5e-6)])]);
    let text = write(&machine);
    assert_eq!(read(&text).unwrap(), machine);
    let mut alone = machine;
    // As files were before caches were measured.
    alone.caches = None;
    (alone.links, alone.baselines, alone.notes) = (Vec::new(), Vec::new(), Vec::new());
    alone.provenance.mpi = None;
    assert_eq!(read(&write(&alone)).unwrap(), alone);
}

#[test]
fn a_fault_is_told_with_line_and_remedy() {
    let text = write(&machine(Vec::new()));
    let fault = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} is in {text}");
        read(&text.replacen(from, to, 1)).unwrap_err()
    };
    let error = fault("timer_s = ", "timer_s = fast # ");
    assert!(matches!(error, ReadError::Syntax { line, .. } if line > 10), "{error}");
    assert!(error.to_string().contains("remedy"));
    let error = fault("flops_one", "flops_won");
    assert!(error.to_string().contains("flops_won"), "{error}");
    assert_eq!(fault("partune_machine = 1", "partune_machine = 7"), ReadError::Version { found: 7 });
    let error = fault("bandwidth = 1000000000.0", "bandwidth = 0.0");
    assert!(error.to_string().contains("link 1 (Node), bandwidth: must be a positive number"), "{error}");
    let error = fault("cycle_s = ", "cycle_s = 0.0 # ");
    assert!(error.to_string().contains("caches.cycle_s: must be a positive number"), "{error}");
    let error = fault("load_s = 0.0000000006", "load_s = -6e-10");
    assert!(error.to_string().contains("caches.level 2.load_s: must be a positive number"), "{error}");
    let error = fault("bytes = 1048576", "bytes = 16384");
    assert!(error.to_string().contains("caches.level 2: must be larger"), "{error}");
    let error = fault("ways = 8", "ways = 0");
    assert!(error.to_string().contains("caches.level 1: must have whole sets"), "{error}");
    let error = fault("line = 64", "line = 63");
    assert!(error.to_string().contains("power of two"), "{error}");
    let error = fault("event_s = ", "event_s = nan # ");
    assert!(error.to_string().contains("overheads.event_s"), "{error}");
    assert!(matches!(read(""), Err(ReadError::Syntax { .. })));
}

#[test]
fn points_must_ascend_and_exist() {
    let good = machine(vec![baseline("MPI_Recv", "recv", 2, &[(8, 1e-6), (16, 2e-6)])]);
    assert!(read(&write(&good)).is_ok());
    let wrong = |points: &[(u64, f64)], pes: u32| {
        let text = write(&machine(vec![baseline("MPI_Recv", "recv", pes, points)]));
        read(&text).unwrap_err().to_string()
    };
    assert!(wrong(&[(16, 1e-6), (8, 2e-6)], 2).contains("must ascend"));
    assert!(wrong(&[], 2).contains("at least one point"));
    assert!(wrong(&[(8, 1e-6)], 0).contains("without a PE"));
    assert!(wrong(&[(8, -1e-6)], 2).contains("not negative"));
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC*") {
        let _ = read(&text);
    }

    #[test]
    fn no_damage_panics(at in 0_usize..2000, byte in 32_u8..127) {
        let machine = machine(vec![baseline("MPI_Barrier", "group_sync", 4, &[(0, 1.5e-6)])]);
        let mut bytes = write(&machine).into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = read(&String::from_utf8_lossy(&bytes));
    }
}
