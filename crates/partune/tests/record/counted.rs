//! The chain of bounds from the peak of the core on: a run whose work can be counted by hand, and counts that cannot be its.

use std::path::Path;
use std::process::{Command, Output};

use partune_testkit::outside;
use serde_json::Value;

use super::launch::{Built, LAUNCHED, OPEN_MPI, alone};
use crate::kernel::{CACHES, MACHINE};

/// Of all calls of `product`, 500 on each rank and then 15,000 on rank 0, with 1,000 turns each.
const PRODUCTS: f64 = (2.0 * 500.0 + 15000.0) * 1000.0;

fn partune(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_partune")).args(words).output().expect("the binary runs")
}

fn levels(document: &Value, table: &str) -> Vec<(String, f64)> {
    let row = |it: &Value| Some((it["name"].as_str()?.to_owned(), it["seconds"].as_f64()?));
    document[table].as_array().into_iter().flatten().filter_map(row).collect()
}

#[test]
fn one_chain_leads_from_the_peak_to_the_run() {
    if !cfg!(target_arch = "x86_64")
        || !Command::new("valgrind").arg("--version").output().is_ok_and(|it| it.status.success())
    {
        return outside::missing("valgrind for x86-64");
    }
    let Some(built) = Built::new(&OPEN_MPI, "counted/peak.c", &[]) else { return };
    let recorded = built.record(&[], &[]);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let folder = tempfile::tempdir().expect("there is room for counts");
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("machine.toml"), format!("{MACHINE}{CACHES}")).expect("there is room for a machine");
    let alone = alone();
    let counted = Command::new(OPEN_MPI.command("mpirun"))
        .envs(LAUNCHED)
        .args(["-n", "2", "valgrind", "--tool=callgrind", "--dump-instr=yes", "--quiet"])
        .arg(format!("--callgrind-out-file={}.%p", at("counts")))
        .arg(built.program())
        .output()
        .expect("mpirun is here");
    drop(alone);
    assert!(counted.status.success(), "{}", String::from_utf8_lossy(&counted.stderr));
    let files = std::fs::read_dir(folder.path())
        .expect("it is there")
        .filter_map(|it| Some(it.ok()?.path().display().to_string()));
    let counts: Vec<String> = files
        .filter(|it| Path::new(it).file_name().is_some_and(|it| it.to_string_lossy().starts_with("counts.")))
        .collect();
    let (anchor, machine) = (recorded.anchor.display().to_string(), at("machine.toml"));
    let analyze = |counts: &[&str]| {
        let words =
            [&["analyze", &anchor, "--json", "--machine", &machine, "--core", "zen4", "--kernels"], counts].concat();
        partune(&words)
    };
    let both: Vec<&str> = counts.iter().map(String::as_str).collect();
    assert_eq!(both.len(), 2);
    let output = analyze(&both);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");

    let (bounds, gaps) = (levels(&document, "bounds"), levels(&document, "gaps"));
    let names = |of: &[(String, f64)]| of.iter().map(|it| it.0.clone()).collect::<Vec<_>>().join(" ");
    assert_eq!(names(&bounds), "M MA MAC MACS I IP IPC IPCO IPCOL IPCOLM IPCOLMD W S' actual");
    assert_eq!(names(&gaps), "A C S $ P C' O L M' D W S' X");
    for (pair, gap) in bounds.windows(2).zip(&gaps) {
        assert!((pair[1].1 - pair[0].1 - gap.1).abs() < 1e-9, "{gap:?} of {pair:?}");
    }
    // A cycle is a nanosecond there. An addition waits for the one before for three cycles, or four where the compiler made two of them one; on two ranks.
    let of = |name: &str| bounds.iter().find(|it| it.0 == name).expect("it is there").1;
    let (peak, macs) = (PRODUCTS * 2.0 / 24.0 * 1e-9 / 2.0, PRODUCTS * 3.0 * 1e-9 / 2.0);
    assert!((of("M") - peak).abs() < 0.02 * peak, "{} for {peak}", of("M"));
    assert!((of("MACS") - macs).abs() < 0.02 * macs, "{} for {macs}", of("MACS"));
    assert!(of("M") <= of("MA") && of("MA") <= of("MAC") && of("MAC") <= of("MACS"), "{bounds:?}");
    // Rank 0 does nearly all alone, half of which the other could have done. A region is serial by a hundredth of its length, which must
    // be longer than a first call takes to record.
    assert!(of("IP") > 1.5 * of("I"), "{bounds:?}");
    let in_loops = document["kernels"]["in_loops"].as_f64().expect("it is a share");
    assert!(in_loops > 0.95 && document["kernels"]["processes"].as_f64() == Some(2.0), "{:#}", document["kernels"]);

    // On a core of 50 MHz the work takes longer than the run did: what is below nothing is in the sum of the first screen, too.
    let slow = at("slow.toml");
    let text = std::fs::read_to_string(&machine).expect("it was written");
    std::fs::write(&slow, text.replace("cycle_s = 1e-9", "cycle_s = 2e-8")).expect("there is room for a machine");
    let output =
        partune(&[&["analyze", &anchor, "--machine", &slow, "--core", "zen4", "--kernels"], &both[..]].concat());
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = told.lines().skip_while(|line| !line.starts_with("bounds")).take_while(|line| !line.is_empty());
    let row = lines.flat_map(str::split_whitespace).skip(1).collect::<Vec<_>>().join(" ");
    let (terms, run) = row.split_once(" = ").unwrap_or_else(|| panic!("{told}"));
    assert!(terms.contains(" − caches and the rest of the core "), "{told}");
    let number = |of: &str| of.split(' ').find_map(|word| word.parse::<f64>().ok()).unwrap_or_else(|| panic!("{of}"));
    let terms = terms.replace(" − ", " + −");
    let terms =
        terms.split(" + ").map(|term| term.strip_prefix('−').map_or_else(|| number(term), |term| -number(term)));
    let terms: Vec<f64> = terms.collect();
    let (sum, rounded) = (terms.iter().sum::<f64>(), terms.iter().map(|term| 0.005 * term.abs()).sum::<f64>());
    assert!((sum - number(run)).abs() <= rounded, "{sum} ± {rounded}: {row}");

    let kernel = partune(
        &[
            &[
                "kernel",
                &built.program().display().to_string(),
                "--core",
                "zen4",
                "--function",
                "product",
                "--json",
                "--counts",
            ],
            &both[..],
        ]
        .concat(),
    );
    let document: Value = serde_json::from_slice(&kernel.stdout).expect("it is JSON");
    assert_eq!(document["loops"][0]["executed"].as_f64(), Some(PRODUCTS), "{document:#}");

    let refused = |output: Output, said: &str| {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && message.contains(said), "{message}");
    };
    refused(analyze(&both[..1]), "counts are of 1 processes, and the run has 2");
    let begin = ["analyze", &anchor, "--to", "99%", "--machine", &machine, "--core", "zen4", "--kernels"];
    refused(partune(&[&begin[..], &both[..]].concat()), "this is a part of one");
    std::fs::write(at("other"), "# callgrind format\ncmd: ./app\npositions: line\n").expect("there is room");
    refused(analyze(&[&at("other")]), "--dump-instr=yes");
    refused(analyze(&[&machine]), "it is no file of callgrind");
}
