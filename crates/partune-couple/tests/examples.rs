//! The examples compute the same on every number of ranks, and what was measured of them has no faults but those of a busy machine.

use std::process::Command;

use partune_couple::judge::Fault;

use crate::support::{MPI, MPIRUN, alone, built, measured, plan, root};

#[track_caller]
fn check(name: &str, kernels: usize) {
    let Some(folder) = built(MPI, &root().join("examples/coupling").join(name).with_extension("c")) else { return };
    let means: Vec<String> = [1, 2, 4]
        .map(|ranks: u32| {
            let _alone = alone();
            let command = format!("{} ./app 16", MPIRUN.replace("{pes}", &ranks.to_string()));
            let output =
                Command::new("sh").args(["-c", &command]).current_dir(folder.path()).output().expect("a shell");
            String::from_utf8_lossy(&output.stdout).into_owned()
        })
        .to_vec();
    assert!(means[0].starts_with(&format!("{name}: mean 0.")), "{means:?}");
    assert!(means.iter().all(|it| *it == means[0]), "{means:?}");
    let plan = plan(
        &folder,
        &format!("{MPIRUN} ./app {{size}}"),
        "sizes = [12, 16]\npes = [1, 2]\nlaunches = 1\nlengths = [2]\nbudget_s = 3.0\npredict = [{ size = 20, pes = 1 }]\n",
    );
    let outcome = measured(&plan).0.expect("something is said");
    assert_eq!(outcome.order.len(), kernels);
    for it in &outcome.problems {
        let is_busy = matches!(it.fault, Fault::Noise { .. } | Fault::Few { .. } | Fault::Drift { .. });
        assert!(is_busy, "{it:?}");
    }
    for row in &outcome.predictions {
        let (low, high) = row.interval();
        assert!(low <= row.predicted.value && row.predicted.value <= high && row.summation > 0.0, "{row:?}");
    }
}

#[test]
fn adi() {
    check("adi", 5);
}

#[test]
fn sweep() {
    check("sweep", 5);
}

#[test]
fn wavefront() {
    check("wavefront", 4);
}
