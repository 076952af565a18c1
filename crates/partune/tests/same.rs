//! The same input gives the same bytes: on any number of threads, and after a round trip through our writer.

use std::path::Path;

use partune_engine::Request;

use crate::archives::archives;

/// The JSON document of an archive, made on so many threads.
fn document(anchor: &Path, threads: usize) -> String {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
    pool.install(|| {
        let trace = partune_engine::open(anchor, &()).expect("the archive opens");
        partune_report::document(&partune_engine::analyze(trace, &Request::default(), &()), "archive")
    })
}

#[test]
fn one_thread_and_eight_give_the_same_bytes() {
    for archive in archives() {
        assert!(document(&archive.anchor, 1) == document(&archive.anchor, 8), "{}", archive.name);
    }
}

#[test]
fn a_copy_has_the_same_findings() {
    for archive in archives() {
        let folder = tempfile::tempdir().expect("there is room for a copy");
        let copy =
            partune_engine::convert(&archive.anchor, &folder.path().join("copy"), &()).expect("the archive is copied");
        assert!(document(&archive.anchor, 2) == document(&copy.anchor, 2), "{}", archive.name);
    }
}
