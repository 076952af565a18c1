//! The same input gives the same bytes: on any number of threads, and after a round trip through our writer.

use std::path::Path;

use partune_engine::Request;

use crate::archives::{archives, shared, workspace};

/// The JSON document of an archive, made on so many threads.
fn document(anchor: &Path, threads: usize) -> String {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
    pool.install(|| {
        let opened = partune_engine::open(anchor, &()).expect("the archive opens");
        partune_report::document(&partune_engine::analyze(opened, &Request::default(), &()), "archive")
    })
}

#[test]
fn one_thread_and_eight_give_the_same_bytes() {
    let paraver = workspace().join("examples/archives/paraver/trace.prv");
    let epoch = shared("paraver/pypop-epoch-mpi-1to16").map(|folder| folder.join("epoch_8proc.prv.gz"));
    let logs = [workspace().join("examples/archives/projections/steps.sts")];
    let recorded = shared("projections/charm-local-jacobi2d-8-gz").map(|folder| folder.join("jacobi2d.prj.sts"));
    let anchors = archives().into_iter().map(|archive| archive.anchor);
    for anchor in anchors.chain([paraver]).chain(epoch).chain(logs).chain(recorded) {
        assert!(document(&anchor, 1) == document(&anchor, 8), "{}", anchor.display());
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
