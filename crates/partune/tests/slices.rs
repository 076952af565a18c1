//! A run that is looked at slice by slice has the figures and findings that it has as a whole.

use std::path::{Path, PathBuf};
use std::process::Command;

use partune_engine::{Request, Sliced};
use partune_testkit::mutate::{self, Random};
use serde_json::{Map, Value};

use crate::archives::archives;

/// Makes a synthetic archive.
fn synth(to: &Path, options: &[&str]) -> PathBuf {
    let made = Command::new(env!("CARGO_BIN_EXE_partune")).arg("synth").args(options).arg("-o").arg(to).output();
    let made = made.expect("the binary runs");
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    to.join("traces.otf2")
}

fn request() -> Request {
    Request { predicts: false, ..Request::default() }
}

pub(crate) fn whole(anchor: &Path) -> Value {
    let opened = partune_engine::open(anchor, &()).expect("the archive opens");
    parsed(&partune_report::document(&partune_engine::analyze(opened, &request(), &()), "archive"))
}

pub(crate) fn sliced(anchor: &Path, slice: u64) -> Option<Value> {
    in_slices(anchor, slice).ok()
}

/// The document, or why there is none.
fn in_slices(anchor: &Path, slice: u64) -> Result<Value, Option<String>> {
    match partune_engine::analyze_in_slices(anchor, &request(), slice, &()).expect("the archive opens") {
        Sliced::Diagnosed(diagnosis) => Ok(parsed(&partune_report::document(&diagnosis, "archive"))),
        Sliced::Whole(why) => Err(why),
    }
}

fn parsed(document: &str) -> Value {
    serde_json::from_str(document).expect("a document is JSON")
}

/// The same but for rounding, and who is to blame: of the waiting of groups each slice is divided among causes of its own. In runs that are so short that all waits are looked at.
pub(crate) fn same(whole: &Value, sliced: &Value, at: &str) {
    match (whole, sliced) {
        (Value::Object(whole), Value::Object(sliced)) => {
            assert!(whole.keys().eq(sliced.keys()), "{at}");
            for (key, value) in whole.iter().filter(|(key, _)| !["causes", "other_causes_s"].contains(&key.as_str())) {
                same(value, &sliced[key], &format!("{at}.{key}"));
            }
            if whole.contains_key("causes") {
                let (whole, sliced) = (caused(whole), caused(sliced));
                assert!((whole - sliced).abs() <= 1e-6 * whole.abs().max(1e-3), "{at}: {whole} is {sliced}");
            }
        }
        (Value::Array(whole), Value::Array(sliced)) => {
            assert_eq!(whole.len(), sliced.len(), "{at}");
            (0_usize..).zip(whole.iter().zip(sliced)).for_each(|(i, (a, b))| same(a, b, &format!("{at}[{i}]")));
        }
        (Value::Number(a), Value::Number(b)) if at.contains("delay") => {
            let (a, b) = (a.as_f64().expect("it is finite"), b.as_f64().expect("it is finite"));
            assert!((a - b).abs() <= 1e-9 * a.abs(), "{at}: {a} is {b}");
        }
        _ => assert_eq!(whole, sliced, "{at}"),
    }
}

/// The document without what is said of delays, which are looked for within a slice: where not all came to a meeting at about the same time, it matters on which side of it.
pub(crate) fn without_delays(mut document: Value) -> Value {
    let object = document.as_object_mut().expect("a document is an object");
    ["delay", "delays"].iter().for_each(|name| _ = object.remove(*name));
    document
}

/// What all causes of a finding cost.
fn caused(finding: &Map<String, Value>) -> f64 {
    let causes = finding["causes"].as_array().into_iter().flatten();
    let told: f64 = causes.filter_map(|cause| cause["seconds"].as_f64()).sum();
    told + finding["other_causes_s"].as_f64().unwrap_or(0.0)
}

#[test]
fn archives_say_the_same() {
    let archives = archives();
    let mut cut = 0;
    for archive in &archives {
        for slice in [1, 400] {
            if let Some(sliced) = sliced(&archive.anchor, slice) {
                same(&whole(&archive.anchor), &sliced, &archive.name);
                cut += 1;
            }
        }
    }
    assert!(cut >= 2, "an example at least is cut twice");
}

/// What is found does not depend on the number of threads.
#[test]
fn one_thread_and_eight_say_the_same() {
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let anchor = synth(&folder.path().join("run"), &["--ranks", "8", "--events", "60K", "--slow", "5:2"]);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        pool.install(|| sliced(&anchor, 3000))
    };
    let one = on(1);
    assert!(one.is_some() && one == on(8));
}

#[test]
fn faults_are_found_the_same() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let faults: [&[&str]; 5] = [
        &["--slow", "5:2", "--jitter", "0.3"],
        &["--inject", "late-sender:2:2000000:100"],
        &["--inject", "late-broadcast:0:500000:50", "--ranks", "3"],
        &["--inject", "early-reduce:0:500000:50"],
        &["--inject", "late-receiver:1:500000:30", "--skew", "0.6"],
    ];
    for (number, fault) in faults.iter().enumerate() {
        let ranks: &[&str] = if fault.contains(&"--ranks") { &[] } else { &["--ranks", "8"] };
        let options = [&["--events", "8K"], *fault, ranks].concat();
        let anchor = synth(&folder.path().join(number.to_string()), &options);
        let whole = whole(&anchor);
        for slice in [1, 500, 3000] {
            same(&whole, &sliced(&anchor, slice).expect("it can be cut"), &format!("{fault:?} {slice}"));
        }
        assert_eq!(sliced(&anchor, 5000), None, "it is small");
    }
}

/// Threads, accesses to memory of others, and clocks that disagree: they are repaired for the whole run.
#[test]
fn what_goes_across_is_looked_at_as_a_whole() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let made = |name: &str, options: &[&str]| {
        let ranks = ["--ranks", "4", "--events", "20K"];
        synth(&folder.path().join(name), &[&ranks[..], options].concat())
    };
    let plain = made("plain", &[]);
    assert!(sliced(&plain, 1000).is_some());
    let why = |anchor: &Path| in_slices(anchor, 1000).expect_err("it is not cut").expect("it is said why");
    assert_eq!(why(&made("threads", &["--threads", "2"])), "it has other PEs than the main threads of processes");
    assert_eq!(why(&made("shmem", &["--model", "shmem"])), "PEs access memory of each other");
    let skewed = made("skewed", &["--clock-offset-ns", "1000000"]);
    forget_offsets(&plain, &skewed, 4);
    assert_eq!(why(&skewed), "its clocks disagree too much to be repaired in slices");
}

/// Takes what was measured of the offsets of clocks out of an archive, by that of one whose clocks agree.
fn forget_offsets(plain: &Path, skewed: &Path, ranks: usize) {
    for rank in 0..ranks {
        let of = |anchor: &Path| anchor.with_file_name("traces").join(format!("{rank}.def"));
        std::fs::copy(of(plain), of(skewed)).expect("definitions of a location are a file");
    }
}

/// Clocks that are a bit off are repaired in each slice, from where they were in the one before. What precedes an effect at the begin of a slice is stretched within it, so times are not the very same.
#[test]
fn clocks_are_repaired_as_in_the_whole() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let made = |name: &str, options: &[&str]| {
        let all = ["--ranks", "8", "--events", "60K", "--slow", "5:2"];
        synth(&folder.path().join(name), &[&all[..], options].concat())
    };
    let plain = made("plain", &[]);
    for (offset, tolerance) in [("3000", 1e-9), ("20000", 5e-3)] {
        let skewed = made(offset, &["--clock-offset-ns", offset]);
        forget_offsets(&plain, &skewed, 8);
        let all = whole(&skewed);
        let disagree = |document: &Value| {
            let notes = document["quality"].as_array().expect("a list").iter();
            let message =
                notes.clone().find(|note| note["code"] == "clocks-disagree").map(|note| note["message"].clone());
            let message = message.expect("clocks disagree").as_str().unwrap_or_default().to_owned();
            message.split_once("; a controlled logical clock moved").expect("they are repaired").0.to_owned()
        };
        for slice in [1, 10_000] {
            let cut = sliced(&skewed, slice).expect("it can be cut");
            assert_eq!(disagree(&all), disagree(&cut));
            for (name, figure) in [
                ("time", "waiting"),
                ("time", "run"),
                ("balance", "lost_seconds"),
                ("efficiency", "parallel"),
                ("critical_path", "length_s"),
            ] {
                let of = |document: &Value| {
                    document[name][figure].as_f64().unwrap_or_else(|| panic!("{name}.{figure}: {}", document[name]))
                };
                let (all, cut) = (of(&all), of(&cut));
                assert!((all - cut).abs() <= tolerance * all, "{offset} {slice} {name}.{figure}: {all} {cut}");
            }
        }
    }
}

/// Records that are lost, doubled, moved, or say something else keep a run whole, or are cut around.
#[test]
fn changed_records_do_no_harm() {
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let anchor = synth(&folder.path().join("run"), &["--ranks", "4", "--events", "4K", "--slow", "2:2"]);
    let beside = std::fs::read_dir(anchor.with_file_name("traces")).expect("files of locations are in a folder");
    let mut files: Vec<PathBuf> = beside.map(|file| file.expect("it can be listed").path()).collect();
    files.push(anchor.with_extension("def"));
    files.sort();
    let (mut changed, mut cut) = (0, 0);
    for round in 0..300 {
        let mut random = Random::new(round);
        let file = &files[random.below(files.len())];
        let bytes = std::fs::read(file).expect("it is there");
        let Some(other) = mutate::records(&bytes, 4 << 20, &mut random) else { continue };
        std::fs::write(file, other).expect("it can be written");
        changed += 1;
        let found = partune_engine::analyze_in_slices(&anchor, &request(), 100, &());
        if let Ok(Sliced::Diagnosed(diagnosis)) = found {
            parsed(&partune_report::document(&diagnosis, "archive"));
            cut += 1;
        }
        std::fs::write(file, bytes).expect("it can be written");
    }
    assert!(changed > 200 && cut > 0, "{changed} {cut}");
}
