//! Every family of constructs, and every way to end: what was recorded is what the program did.

use std::collections::BTreeSet;
use std::path::Path;

use super::expect::Status;
use super::launch::{Built, MPICH, Mpi, OPEN_MPI, Recorded, complaints};
use super::printed::counts;

/// One test for each program and MPI, and one that none is forgotten.
macro_rules! programs {
    ($($name:ident $file:literal)*) => {
        mod openmpi { $(#[test] fn $name() { super::check(&super::OPEN_MPI, $file); })* }
        mod mpich { $(#[test] fn $name() { super::check(&super::MPICH, $file); })* }
        const FILES: &[&str] = &[$($file),*];
    };
}

programs! {
    modes "modes.c"
    master_worker "master_worker.c"
    requests "requests.c"
    persistent "persistent.c"
    probes "probes.c"
    partitioned "partitioned.c"
    collectives "collectives.c"
    bytes "bytes.c"
    nonblocking "nonblocking.c"
    neighbours "neighbours.c"
    communicators "communicators.c"
    intercomm "intercomm.c"
    rma_fence "rma_fence.c"
    rma_pscw "rma_pscw.c"
    rma_passive "rma_passive.c"
    rma_addresses "rma_addresses.c"
    files "files.c"
    sessions "sessions.c"
    threads "threads.c"
    threads_locks "threads_locks.c"
    short_threads "short_threads.c"
    exceptions "exceptions.cpp"
    f08 "f08.f90"
    use_mpi "use_mpi.f90"
    mpifh "mpifh.f"
    templates "templates.cpp"
    pcontrol "pcontrol.c"
    spawn "spawn.c"
    ports "ports.c"
    recursion "recursion.c"
    varied "varied.c"
    many "many.c"
    fork "fork.c"
    library "library.c"
    plugin "plugin.c"
    dlopen_mpi "dlopen_mpi.c"
    dlopen_handle "dlopen_handle.c"
    symbols "symbols.c"
    symbols_opened "symbols_opened.c"
    abort "abort.c"
    exit "exit.c"
    handles "handles.c"
    kill "kill.c"
    stuck "stuck.c"
    segfault "segfault.c"
}

fn check(mpi: &Mpi, file: &str) {
    if let Some(built) = Built::new(mpi, &format!("programs/{file}"), &[]) {
        check_counts(&built, &[], &[]);
    }
}

/// Records it and holds the archive against what the program says about itself.
pub(super) fn check_counts(built: &Built<'_>, options: &[&str], arguments: &[&str]) -> Recorded {
    let expected = &built.expected;
    let recorded = built.record(options, arguments);
    let code = recorded.output.status.code();
    let is_right = match expected.status {
        Status::Good => code == Some(0),
        Status::Is(number) => code == Some(number),
        Status::Bad => code != Some(0),
        Status::Any => true,
    };
    assert!(is_right, "status {code:?}:\n{}", recorded.said());
    let ends_well = expected.status == Status::Good;
    let added = !recorded.output.stdout.is_empty();
    assert!(!ends_well || !added, "nothing is added to what a program prints:\n{}", recorded.said());

    let found = counts(&recorded.anchor);
    assert!(found.len() >= expected.ranks, "{} ranks in the archive:\n{}", found.len(), recorded.said());
    for (rank, counts) in expected.counts.iter().enumerate() {
        for (name, number) in counts {
            let here = found[rank].get(name).copied().unwrap_or(0);
            assert_eq!(here, *number, "{name} of rank {rank}: {:#?}\n{}", found[rank], recorded.said());
        }
    }
    let document = recorded.analysis();
    let complaints = complaints(&document);
    assert!(!ends_well || complaints.is_empty(), "{complaints:#?}");
    recorded
}

/// What the program's comment says of where elements lie: of twelve, six are read where they are, and dealt out one by one all would be.
/// The window with holes has no address, so nothing is said of it.
#[test]
fn accesses_have_addresses() {
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "programs/rma_addresses.c", &[]) else { continue };
        let document = built.record(&[], &[]).analysis();
        let rows = document["shared_data"].as_array().unwrap_or_else(|| panic!("no addresses: {document:#}"));
        assert_eq!(rows.len(), 1, "{rows:#?}");
        let values = ["local", "best_local", "best_block", "element_bytes"].map(|name| rows[0][name].as_f64());
        assert_eq!(values, [Some(0.5), Some(1.0), Some(1.0), Some(8.0)], "{rows:#?}");
    }
}

#[test]
fn every_program_is_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record/programs");
    let files = std::fs::read_dir(folder).expect("the programs are here").flatten();
    let here: BTreeSet<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
    let run: BTreeSet<String> = FILES.iter().map(|&it| it.to_owned()).collect();
    let parts: Vec<&String> = here.difference(&run).collect();
    assert_eq!(parts, ["library_part.c", "symbols_part.c"], "the rest is part of others");
    assert!(run.is_subset(&here));
}
