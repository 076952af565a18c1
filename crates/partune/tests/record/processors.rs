//! Processes that share a processor wait for it, and are told so; and how much memory they had.

use std::fs;

use super::launch::{Built, MPICH, OPEN_MPI};

/// The first processor that this process may use.
pub(super) fn first() -> Option<u32> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    list.trim().split(['-', ',']).next()?.parse().ok()
}

/// Whether the kernel counts how long threads wait for processors.
pub(super) fn has_counts() -> bool {
    fs::read_to_string("/proc/self/schedstat").is_ok_and(|text| !text.starts_with("0 0"))
}

#[test]
fn processes_that_share_a_processor_are_told_so() {
    let Some(processor) = first().filter(|_| has_counts()) else { return };
    for mpi in [&OPEN_MPI, &MPICH] {
        // It binds itself, whatever the launcher does.
        let Some(built) = Built::new(mpi, "processors/busy.c", &[]) else { continue };
        let recorded = built.record(&[], &[&processor.to_string()]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let document = recorded.analysis();
        let [node] = document["nodes"].as_array().expect("a table").as_slice() else { panic!("{document:#}") };
        assert_eq!((&node["pes"], &node["processors"]), (&3.into(), &1.into()), "{document:#}");
        // Three took turns, for at least a second of CPU time each: two thirds of the time is waiting, and more on a busy machine.
        let [on, waited] = ["on_processor", "waited"].map(|name| node[name].as_f64().expect("a number"));
        assert!(on >= 2.5 && waited > 1.5 * on, "{}: {on} s, {waited} s", mpi.name);
        let findings = document["findings"].as_array().expect("a list");
        let found = findings.iter().find(|it| it["pattern"] == "wait_for_processor").expect("a finding");
        let slowdown = found["facts"]["slowdown"].as_f64().expect("a number");
        assert!((slowdown - (on + waited) / on).abs() < 1e-6, "{slowdown}");
        assert_eq!(found["facts"]["processors"], 1.0);
    }
}

/// What processes do when MPI has ended is no part of the run.
#[test]
fn what_follows_the_end_of_mpi_does_not_count() {
    let Some(processor) = first().filter(|_| has_counts()) else { return };
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "processors/afterwards.c", &[]) else { continue };
        let recorded = built.record(&[], &[&processor.to_string()]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let document = recorded.analysis();
        let on = document["nodes"][0]["on_processor"].as_f64().expect("a number");
        // All together they had two seconds each. How long they waited is read with it, and a matter of who else is on the machine.
        assert!(on < 1.0, "{}: {on} s", mpi.name);
    }
}

/// The one that had 64 MiB for a while has them in its peak, and nothing else that the other has not.
#[test]
fn the_most_memory_that_processes_had_is_recorded() {
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "processors/memory.c", &[]) else { continue };
        let document = built.record(&[], &[]).analysis();
        let table = document["memory_of_processes"].as_array().expect("a table");
        let peaks: Vec<f64> = table.iter().map(|row| row["peak"].as_f64().expect("a number")).collect();
        let [small, large] = peaks[..] else { panic!("{document:#}") };
        let mebibytes = (large - small) / f64::from(1 << 20);
        assert!((60.0..72.0).contains(&mebibytes), "{}: {mebibytes} MiB more: {peaks:?}", mpi.name);
        let node = &document["memory_of_nodes"][0];
        assert_eq!((&node["processes"], node["peaks"].as_f64()), (&2.into(), Some(small + large)), "{document:#}");
        assert!(node["limit"].as_f64() > Some(small + large), "{node:#}");
    }
}
