//! `--profile`: the same program recorded both ways gives the same figures, as far as a profile knows them, and what it cannot know it
//! says.
//!
//! Numbers of calls, visits of functions, transfers and bytes are equal at every call path; times are held where the program
//! makes them known.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use partune_testkit::outside;

use serde_json::Value;

use super::launch::{Built, MPICH, Mpi, OPEN_MPI, Recorded, run};

macro_rules! programs {
    ($($name:ident $file:literal)*) => {
        mod openmpi { $(#[test] fn $name() { super::is_the_same(&super::OPEN_MPI, $file); })* }
        mod mpich { $(#[test] fn $name() { super::is_the_same(&super::MPICH, $file); })* }
    };
}

programs! {
    requests "programs/requests.c"
    collectives "programs/collectives.c"
    nonblocking "programs/nonblocking.c"
    persistent "programs/persistent.c"
    communicators "programs/communicators.c"
    rma_fence "programs/rma_fence.c"
    files "programs/files.c"
    threads "programs/threads.c"
    recursion "programs/recursion.c"
    library "programs/library.c"
    use_mpi "programs/use_mpi.f90"
    regions "profile/regions.c"
}

fn include() -> String {
    format!("-I{}", std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include").display())
}

/// None if this MPI is not here.
fn record(mpi: &Mpi, file: &str, flags: &[&str], options: &[&str]) -> Option<Recorded> {
    let include = include();
    let recorded = Built::new(mpi, file, &[&[include.as_str()], flags].concat())?.record(options, &[]);
    let ends_well = !file.ends_with("killed.c");
    assert_eq!(recorded.output.status.code() == Some(0), ends_well, "{}", recorded.said());
    Some(recorded)
}

/// The document of a profile.
fn profile(mpi: &Mpi, file: &str, flags: &[&str]) -> Option<Value> {
    Some(record(mpi, file, flags, &["--profile"])?.analysis())
}

/// Rows of a table by call path and role, those of one path together: the named columns, summed.
fn table(document: &Value, name: &str, columns: &[&str]) -> BTreeMap<String, Vec<u64>> {
    let mut rows: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for row in document[name].as_array().unwrap_or_else(|| panic!("there is no table {name}")) {
        let path: Vec<&str> = row["callpath"].as_array().expect("a path").iter().filter_map(Value::as_str).collect();
        let sums = rows.entry(path.join(" > ")).or_insert_with(|| vec![0; columns.len()]);
        for (sum, column) in sums.iter_mut().zip(columns) {
            *sum += row[column].as_f64().unwrap_or_else(|| panic!("{column} is no number in {row}")) as u64;
        }
    }
    rows
}

pub(super) fn is_the_same(mpi: &Mpi, file: &str) {
    // Samples divide what lies between two operations further.
    let Some(trace) = record(mpi, file, &[], &["--sample", "off"]) else { return };
    let Some(profile) = record(mpi, file, &[], &["--profile"]) else { return };
    let said = profile.said();
    let (trace, profile) = (trace.analysis(), profile.analysis());
    assert_eq!(trace["pes"], profile["pes"], "{said}");
    assert_eq!(profile["events"], 0);
    // How often a program tests for completion is up to chance, and so is the number of times that the function that does is seen.
    let by_chance = ["Test", "Iprobe", "Improbe", "Wait", "get_status"];
    let tests: BTreeSet<String> = table(&trace, "operations", &["count"])
        .into_keys()
        .filter_map(|path| {
            path.rsplit_once(" > ").filter(|it| by_chance.iter().any(|by| it.1.contains(by))).map(|it| it.0.to_owned())
        })
        .collect();
    let regular = |rows: BTreeMap<String, Vec<u64>>| -> BTreeMap<String, Vec<u64>> {
        // So is who begins first and ends last, and has nothing outside of its regions.
        let is_regular =
            |path: &str| !path.is_empty() && !tests.contains(path) && !by_chance.iter().any(|it| path.contains(it));
        rows.into_iter().filter(|(path, _)| is_regular(path)).collect()
    };
    for (name, columns) in [("operations", &["count", "transfers", "bytes"][..]), ("callpaths", &["visits", "pes"])] {
        let [of_trace, of_profile] = [&trace, &profile].map(|it| regular(table(it, name, columns)));
        assert!(!of_trace.is_empty());
        assert_eq!(of_trace, of_profile, "{name}: trace and profile");
    }
    assert_eq!(trace["sizes"], profile["sizes"]);
    assert!(profile["quality"].as_array().expect("a list").iter().any(is_about_profiles));
    assert!(!trace["quality"].as_array().expect("a list").iter().any(is_about_profiles));
    for unknown in ["wait_states", "critical_path", "delay"] {
        assert!(profile.get(unknown).is_none(), "{unknown} cannot be known");
    }
}

fn is_about_profiles(entry: &Value) -> bool {
    entry["message"].as_str().is_some_and(|it| it.starts_with("this is a profile"))
}

/// What both ranks of `unbalanced.c` measured themselves, in seconds.
struct Measured {
    run: f64,
    worked: [f64; 2],
    /// Outside of MPI.
    useful: [f64; 2],
    /// In barriers, together.
    met: f64,
}

impl Measured {
    fn by(recorded: &Recorded) -> Self {
        let said = recorded.said();
        let [of_first, of_second] = ["rank 0 from ", "rank 1 from "].map(|begin| {
            let line = said.lines().find_map(|line| line.strip_prefix(begin)).expect("each rank prints");
            let words: Vec<&str> = line.split(' ').collect();
            [0, 2, 4, 6].map(|at| words[at].parse::<f64>().expect("seconds"))
        });
        let useful = |[begin, end, _, met]: [f64; 4]| end - begin - met;
        Self {
            run: of_first[1].max(of_second[1]) - of_first[0].min(of_second[0]),
            worked: [of_first[2], of_second[2]],
            useful: [useful(of_first), useful(of_second)],
            met: of_first[3] + of_second[3],
        }
    }

    fn mean(&self) -> f64 {
        0.5 * (self.useful[0] + self.useful[1])
    }

    fn most(&self) -> f64 {
        self.useful[0].max(self.useful[1])
    }
}

#[track_caller]
fn is_near(found: f64, measured: f64) {
    assert!((found - measured).abs() < 0.03 * measured + 0.003, "{found} and not {measured}");
}

/// Rank 0 works 300 ms in `work`, the others 100 ms, or as much longer as they say; then all meet.
#[test]
fn times_are_those_of_the_program() {
    for mpi in [&OPEN_MPI, &MPICH] {
        let file = "profile/unbalanced.c";
        let Some(profile) = record(mpi, file, &[], &["--profile"]) else { continue };
        let Some(trace) = record(mpi, file, &[], &[]) else { continue };
        let measured = Measured::by(&profile);
        let profile = profile.analysis();
        for (measured, document) in [(&Measured::by(&trace), &trace.analysis()), (&measured, &profile)] {
            let value = |section: &str, name: &str| document[section][name].as_f64().expect("a number");
            let run = value("efficiency", "run_seconds");
            is_near(run, measured.run);
            is_near(value("efficiency", "load_balance"), measured.mean() / measured.most());
            is_near(value("efficiency", "parallel"), measured.mean() / measured.run);
            let waiting = document["operations"].as_array().expect("a table").iter();
            let barrier: f64 =
                waiting.filter(|row| row["role"] == "group_sync").filter_map(|row| row["seconds"].as_f64()).sum();
            is_near(barrier, measured.met);
            let work = document["regions"].as_array().expect("a table").iter().find(|row| row["region"] == "work");
            let work = work.expect("the function is known by the calls in it");
            is_near(work["exclusive"].as_f64().expect("seconds"), measured.worked.iter().sum());
            assert_eq!(work["visits"], 2);
        }
        let findings = profile["findings"].as_array().expect("a list").iter();
        let mut findings = findings.filter(|it| !is_of_the_machine(it));
        let finding = findings.next().expect("a finding");
        assert_eq!(
            (finding["pattern"].as_str(), finding["construct"].as_str()),
            (Some("load_imbalance"), Some("work"))
        );
        is_near(finding["seconds"].as_f64().expect("seconds"), measured.worked[0] - measured.worked[1]);
        assert!(profile["operations"][0].get("waiting").is_none(), "nothing is said of waiting");
    }
}

/// How long processes wait for a processor is the machine's.
fn is_of_the_machine(finding: &Value) -> bool {
    finding["pattern"] == "wait_for_processor"
}

#[test]
fn a_balanced_program_has_no_findings() {
    let balanced = |it| record(it, "profile/unbalanced.c", &["-DBALANCED"], &["--profile"]);
    for recorded in [&OPEN_MPI, &MPICH].into_iter().filter_map(balanced) {
        let (measured, document) = (Measured::by(&recorded), recorded.analysis());
        // A busy machine lets them come to each other one after the other.
        let apart = measured.most() - measured.mean() + measured.met;
        let limit = 0.03 + 2.0 * apart / measured.run;
        let considerable = document["findings"].as_array().expect("a list").iter();
        let considerable = considerable.filter(|it| !is_of_the_machine(it) && it["fraction"].as_f64() > Some(limit));
        let considerable: Vec<_> = considerable.collect();
        assert!(considerable.is_empty(), "{considerable:#?}");
    }
}

/// A process that is killed keeps its profile, with the call it was in.
#[test]
fn a_killed_process_keeps_its_profile() {
    for document in [&OPEN_MPI, &MPICH].into_iter().filter_map(|it| profile(it, "profile/killed.c", &[])) {
        let counts = table(&document, "operations", &["count", "transfers"]);
        let of = |name: &str| counts.iter().filter(|(path, _)| path.ends_with(name)).map(|it| it.1[0]).sum::<u64>();
        assert_eq!((of("MPI_Send"), of("MPI_Recv")), (100, 101), "{counts:#?}");
        let phase = document["regions"].as_array().expect("a table").iter().find(|row| row["region"] == "all of it");
        let phase = phase.expect("a phase that was open");
        assert!(phase["inclusive"].as_f64() > Some(0.05), "{phase}");
    }
}

/// Other readers of OTF2 see an archive with definitions and no events.
#[test]
fn a_profile_is_an_archive_for_others() {
    let Some(recorded) = record(&OPEN_MPI, "profile/unbalanced.c", &[], &["--profile"]) else { return };
    if Command::new("otf2-print").arg("--version").output().is_err() {
        return outside::missing("otf2-print");
    }
    let printed = run(Command::new("otf2-print").arg("-G").arg(&recorded.anchor));
    let definitions = String::from_utf8_lossy(&printed.stdout);
    assert!(definitions.contains("CALLING_CONTEXT") && definitions.contains("MPI_Barrier"), "{definitions}");
    let printed = run(Command::new("otf2-print").arg(&recorded.anchor));
    let events = String::from_utf8_lossy(&printed.stdout);
    assert!(!events.contains("ENTER"), "{events}");
}

/// Seconds of a bound.
fn bound(document: &Value, name: &str) -> f64 {
    let rows = document["bounds"].as_array().expect("a table of bounds");
    let row = rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no bound {name} in {rows:?}"));
    row["seconds"].as_f64().expect("seconds")
}

/// Rank 0 works 300 ms before the second barrier, rank 1 100 ms: on average 200, at most 300, or as much longer as they say. Asleep, nobody is on a processor; spinning for so
/// much CPU time, all are for that long, and the work takes longer where others have the processor.
#[test]
fn bounds_are_known_by_the_synchronisation_that_ends_a_block() {
    for mpi in [&OPEN_MPI, &MPICH] {
        let file = "profile/unbalanced.c";
        let options = ["--profile", "--counters", "cpu-time"];
        let Some(asleep) = record(mpi, file, &[], &options) else { continue };
        let measured = Measured::by(&asleep);
        let asleep = asleep.analysis();
        let [mean, most, by_region] = ["IPCO", "IPCOL", "IPCOLM"].map(|name| bound(&asleep, name));
        is_near(mean, measured.mean());
        is_near(most, measured.most());
        assert!(by_region >= most && by_region <= bound(&asleep, "actual"), "{by_region}");
        assert!(bound(&asleep, "IPC") < 0.1 * mean, "{}", bound(&asleep, "IPC"));
        let Some(spinning) = record(mpi, file, &["-DSPINNING"], &options).map(|it| it.analysis()) else { continue };
        let on_processor = bound(&spinning, "IPC");
        assert!((on_processor - 0.2).abs() < 0.03 && on_processor <= bound(&spinning, "IPCO"), "{on_processor}");
        let Some(without) = record(mpi, file, &[], &["--profile"]).map(|it| it.analysis()) else { continue };
        let names = without["bounds"].as_array().expect("a table").iter().filter_map(|row| row["name"].as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["IP", "IPC", "IPCO", "IPCOL", "IPCOLM", "actual"]);
    }
}

/// What is not kept is refused, not forgotten.
#[test]
fn other_counters_than_cpu_time_are_no_part_of_a_profile() {
    let refused = Command::new(env!("CARGO_BIN_EXE_partune"))
        .args(["record", "--profile", "--counters", "cpu-time,cycles", "--", "true"])
        .output()
        .expect("it runs");
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--counters cpu-time"));
}

#[test]
fn an_analysis_that_needs_events_says_so() {
    let archive = crate::archives::workspace().join("examples/archives/ring_profile");
    let only = |name: &str| {
        let mut analyze = Command::new(env!("CARGO_BIN_EXE_partune"));
        let output = run(analyze.args(["analyze", "--only", name]).arg(&archive));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(only("critical_path").contains("critical_path needs events"));
    assert!(!only("balance").contains("needs events"));
}
