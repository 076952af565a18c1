//! A run that is looked at slice by slice has the figures and findings that it has as a whole.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use partune_engine::job::{Alone, Job, Traffic};
use partune_engine::{Diagnosis, Mode, OpenError, Request, Sliced};
use partune_report::NamedRun;
use partune_testkit::mutate::{self, Random};
use serde_json::{Map, Value};

use crate::archives::archives;

/// Makes a synthetic archive.
pub(crate) fn synth(to: &Path, options: &[&str]) -> PathBuf {
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
    match partune_engine::analyze_in_slices(anchor, &request(), slice, &Alone, &()).expect("the archive opens") {
        Sliced::Diagnosed(diagnosis) => Ok(parsed(&partune_report::document(&diagnosis, "archive"))),
        Sliced::Whole(why) => Err(why),
        Sliced::Elsewhere => panic!("there is one process"),
    }
}

/// A run for comparisons; in slices, if their size is given and that is possible.
fn to_compare(anchor: &Path, slice: Option<u64>) -> Option<Diagnosis> {
    let request = Request { compares: true, ..request() };
    let Some(slice) = slice else {
        let opened = partune_engine::open(anchor, &()).expect("the archive opens");
        return Some(partune_engine::analyze(opened, &request, &()));
    };
    match partune_engine::analyze_in_slices(anchor, &request, slice, &Alone, &()).expect("the archive opens") {
        Sliced::Diagnosed(diagnosis) => Some(*diagnosis),
        Sliced::Whole(_) | Sliced::Elsewhere => None,
    }
}

/// What is said of two runs beside each other, and of how a program scales if they are on different numbers of PEs.
fn compared(runs: [&Diagnosis; 2]) -> Value {
    let named = runs.map(|diagnosis| NamedRun { archive: "archive", diagnosis });
    let comparison = partune_engine::compare(&runs).expect("there are two");
    let scaling = partune_engine::scale(&runs, Mode::Strong);
    let scaling = scaling.map_or(Value::Null, |it| parsed(&partune_report::scaling_document(&it, &named)));
    serde_json::json!([parsed(&partune_report::compare_document(&comparison, &named, None, &[])), scaling])
}

pub(crate) fn parsed(document: &str) -> Value {
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
                let (mut whole, mut sliced) = (whole(&archive.anchor), sliced);
                if disagree(&whole) {
                    // How many time stamps are moved is a matter of each slice, and delays of those of all.
                    (whole, sliced) = (without_delays(whole), without_delays(sliced));
                    (whole["quality"], sliced["quality"]) = (Value::Null, Value::Null);
                }
                same(&whole, &sliced, &archive.name);
                cut += 1;
            }
        }
    }
    assert!(cut >= 2, "an example at least is cut twice");
}

/// How much single visits and waits differ, by which a difference is told from chance, adds up too.
#[test]
fn runs_compare_the_same() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let made = [("16", "8K", "5:2"), ("16", "12K", "5:2.5"), ("8", "8K", "5:2")].map(|(ranks, events, slow)| {
        let options = ["--ranks", ranks, "--events", events, "--slow", slow, "--jitter", "0.3"];
        synth(&folder.path().join(format!("{ranks}{events}")), &options)
    });
    let archives = archives();
    let all = || made.iter().chain(archives.iter().map(|it| &it.anchor));
    let mut cut: Vec<(Diagnosis, Diagnosis)> = Vec::new();
    for anchor in all() {
        if let Some(sliced) = to_compare(anchor, Some(500)) {
            cut.push((to_compare(anchor, None).expect("it is whole"), sliced));
        }
    }
    assert!(cut.len() > made.len(), "an example at least is cut");
    let told = |document: &Value| document.to_string().matches("\"noise_s\":").count();
    for (number, (whole, sliced)) in cut.iter().enumerate() {
        for (other, (other_whole, other_sliced)) in [&cut[number], &cut[0]].into_iter().enumerate() {
            let of_wholes = compared([whole, other_whole]);
            assert!(told(&of_wholes) > 0, "{number} {of_wholes}");
            let at = format!("{number} {other}");
            same(&of_wholes, &compared([sliced, other_sliced]), &at);
            same(&of_wholes, &compared([whole, other_sliced]), &at);
        }
    }
}

/// Whether its clocks do.
fn disagree(document: &Value) -> bool {
    document["quality"].as_array().is_some_and(|notes| notes.iter().any(|note| note["code"] == "clocks-disagree"))
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

/// Threads are cut where they are in no team, next to where their processes met.
#[test]
fn teams_are_found_the_same() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let faults: [&[&str]; 4] = [
        &["--threads", "2"],
        &["--threads", "3", "--slow", "2:2", "--jitter", "0.3"],
        &["--threads", "2", "--inject", "late-sender:2:2000000:100"],
        &["--threads", "4", "--skew", "0.6"],
    ];
    for (number, fault) in faults.iter().enumerate() {
        let options = [&["--events", "16K", "--ranks", "4"], *fault].concat();
        let anchor = synth(&folder.path().join(number.to_string()), &options);
        let whole = without_delays(whole(&anchor));
        for slice in [1, 700, 3000] {
            let sliced = without_delays(sliced(&anchor, slice).expect("it can be cut"));
            same(&whole, &sliced, &format!("{fault:?} {slice}"));
        }
    }
}

/// A run of two processes with threads, of which each does `thread` in a turn, and what is around that.
fn with_threads(around: [&str; 2], thread: &str) -> String {
    let rank = |rank: u32| {
        format!(
            "pe {rank}: main 0..900 {{
                 MPI_Init 0..10 init
                 repeat 8 every 100 {{ turn 10..105 {{
                     solve 12..60 {{
                         \"!$omp parallel @s.c:4\" 20..{join} fork team(of{rank}) {{
                             work 22..{done}
                             \"!$omp implicit barrier @s.c:9\" {done}..45
                         }}
                     }}
                     MPI_Allreduce {came}..80 allreduce(bytes=8)
                 }} }}
                 MPI_Finalize 890..900 finalize
             }}
             pe {rank}.1: {} repeat 8 every 100 {{ {} }} {}",
            around[0],
            thread.replace("TEAM", &format!("of{rank}")),
            around[1],
            join = 50 + 2 * rank,
            done = 30 + 4 * rank,
            came = 61 + 3 * rank,
        )
        .replace("fork team", "fork join team")
    };
    format!("team of0 = 0 0.1\nteam of1 = 1 1.1\n{}\n{}", rank(0), rank(1))
}

/// A runtime may tell late that a thread has left a team: when it is asked for the next one. Such a run is not cut, and neither is one in which a thread is in a function of its own between its parts.
#[test]
fn ends_of_parts_may_be_told_late() {
    let part = |end: u32, around: u32| {
        format!(
            "\"!$omp parallel @s.c:4\" 22..{around} team(TEAM) {{
                 work 24..39
                 \"!$omp implicit barrier @s.c:9\" 39..{end}
             }}"
        )
    };
    let serve = ["serve 5..880 {", "}"];
    let cases = [
        ("on time", ["", ""], part(45, 46)),
        ("late", ["", ""], part(92, 94)),
        ("in a function", serve, part(45, 46)),
        ("late in a function", serve, part(92, 94)),
        ("work between teams", serve, format!("{} watch 50..95", part(45, 46))),
    ];
    let folder = tempfile::tempdir().expect("there is room for archives");
    for (number, (name, around, part)) in cases.into_iter().enumerate() {
        let anchor = folder.path().join(number.to_string());
        let trace = partune_testkit::trace(&with_threads(around, &part));
        partune_engine::write(&trace, &anchor).expect("it can be written");
        let anchor = anchor.join("traces.otf2");
        match in_slices(&anchor, 1) {
            Ok(sliced) => same(&without_delays(whole(&anchor)), &without_delays(sliced), name),
            Err(why) => assert!(name != "on time" && why.is_some(), "{name}: {why:?}"),
        }
    }
}

/// Four processes in turns, with what there is to find about files: all read the same in small accesses, each from where it was in the turn before, the first writes and synchronises while others wait for it.
pub(crate) fn with_files(alone: bool) -> String {
    let rank = |rank: u32| {
        let writes = if rank == 0 || !alone {
            format!(
                "repeat 5 every 25 {{ pwrite64 {w}..{v} write(bytes=100, file=out{rank}, at=next) }}
                 fwrite 730..740 write(bytes=5000, file=out, by=stream) fsync 740..895 sync(file=out{rank})",
                w = 600 + rank,
                v = 622 + rank,
            )
        } else {
            String::new()
        };
        format!(
            "pe {rank}: main 0..45000 {{
                 MPI_Init 0..10 init
                 open64 10..20 opened(file=in)
                 repeat 40 every 1000 {{ turn 20..1010 {{
                     load 20..100 {{ repeat 3 every 20 {{ pread64 {r}..{q} read(bytes=64, file=in, at=next) }} }}
                     lseek 100..101 seek(at=7, file=in)
                     work 101..600
                     {writes}
                     MPI_Allreduce {came}..1000 allreduce(bytes=8)
                 }} }}
                 fclose 43000..43010 closed(file=in)
                 MPI_Finalize 44000..45000 finalize
             }}",
            r = 30 + rank,
            q = 31 + rank + rank / 3,
            came = 900 + rank,
        )
        .replace("MPI_Allreduce 90", if alone && rank > 0 { "MPI_Allreduce 61" } else { "MPI_Allreduce 90" })
    };
    (0..4).map(rank).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_is_done_with_files_is_found_the_same() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    for alone in [true, false] {
        let anchor = folder.path().join(alone.to_string());
        partune_engine::write(&partune_testkit::trace(&with_files(alone)), &anchor).expect("it can be written");
        let anchor = anchor.join("traces.otf2");
        let whole = without_delays(whole(&anchor));
        let patterns = ["small_accesses", "same_file_read_by_all", "sync_in_loop", "serial_io"];
        for pattern in patterns.iter().filter(|pattern| alone || **pattern != "serial_io") {
            let findings = whole["findings"].as_array().expect("a list");
            assert!(findings.iter().any(|finding| finding["pattern"] == **pattern), "{pattern}: {findings:?}");
        }
        for slice in [1, 50, 700] {
            let sliced = without_delays(sliced(&anchor, slice).expect("it can be cut"));
            same(&whole, &sliced, &format!("{alone} {slice}"));
        }
    }
}

/// Counters and gauges of a run of four processes, of which one begins late to count; they are sampled before and behind meetings, and when they begin and end.
fn with_metrics(meeting: &str, counter: &str) -> String {
    let name = counter.split(' ').next().expect("it has a name");
    let rank = |rank: u32| {
        let late = if rank == 3 { String::new() } else { format!("metric({name}=0)@5") };
        let cycles = |turn: u32, at: u32| 90 * (turn + 1) + at * (rank + 5) / 10;
        let turn = |turn: u32| {
            let at = |time: u32| 100 * (turn + 1) + time;
            let is_late = rank == 3 && turn < 3;
            let meeting = if is_late { meeting.split(" metric").next().unwrap_or(meeting) } else { meeting };
            let counts = |of: &[u32]| {
                of.iter()
                    .map(|time| format!("metric({name}={})@{} ", cycles(turn, *time), at(*time)))
                    .collect::<Vec<String>>()
                    .concat()
            };
            format!(
                "turn {}..{} {} metric(MISS={rank}.5)@{} metric(TEMP=4{turn})@{} metric(CLOCK={turn})@{} {{
                    work {}..{}
                    {}
                }}",
                at(0),
                at(90),
                counts(if is_late { &[] } else { &[10, 30, 85] }),
                at(50),
                at(20),
                at(88),
                at(10),
                at(30),
                meeting
                    .replace("CAME", &at(60 + 3 * rank).to_string())
                    .replace("LEFT", &at(80).to_string())
                    .replace("CYCLES", &cycles(turn, 80).to_string()),
            )
        };
        let turns: String = (0..8).map(turn).collect();
        format!("pe {rank}: main 0..1000 {late} {{ MPI_Init 0..10 init {turns} MPI_Finalize 950..1000 finalize }}\n")
    };
    let ranks: String = (0..4).map(rank).collect();
    let ranks = ranks.replace("COUNTER", name);
    format!("resolution 1000000\nmetric {counter}\nmetric MISS last\nmetric TEMP point\nmetric CLOCK next\n{ranks}")
}

const PLAIN: &str = "MPI_Allreduce CAME..LEFT allreduce(bytes=8)";
/// As Score-P and `partune record` sample.
const SAMPLED: &str = "MPI_Allreduce CAME..LEFT allreduce(bytes=8) metric(COUNTER=CYCLES)@LEFT metric(MISS=3)@LEFT";
const CYCLES: &str = "CYC accumulated cycles";
const CPU_TIME: &str = "utime accumulated us";
const UNREAD: &str = "CPU time is counted in it, but hardly ever where all processes have met";

fn written(to: &Path, counter: &str, meeting: &str) -> PathBuf {
    partune_engine::write(&partune_testkit::trace(&with_metrics(meeting, counter)), to).expect("it can be written");
    to.join("traces.otf2")
}

#[test]
fn metrics_are_found_the_same() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    for (counter, meeting) in [(CYCLES, PLAIN), (CYCLES, SAMPLED), (CPU_TIME, SAMPLED)] {
        let anchor = written(&folder.path().join(format!("{}{}", counter.len(), meeting.len())), counter, meeting);
        let whole = without_delays(whole(&anchor));
        assert!(["counters", "gauges"].iter().all(|name| whole[*name].is_array()), "{whole}");
        for slice in [1, 50, 100] {
            let sliced = without_delays(sliced(&anchor, slice).expect("it can be cut"));
            same(&whole, &sliced, &format!("{counter} {meeting} {slice}"));
        }
    }
    // How much each slice would have of it follows from both.
    let unread = written(&folder.path().join("unread"), CPU_TIME, PLAIN);
    let why = in_slices(&unread, 1).expect_err("it is not cut");
    assert_eq!(why.as_deref(), Some(UNREAD));
    for (number, options) in [&["--slow", "2:2"][..], &["--threads", "2"]].into_iter().enumerate() {
        let options = [&["--metrics", "--events", "16K", "--ranks", "4"], options].concat();
        let anchor = synth(&folder.path().join(format!("made{number}")), &options);
        let whole = without_delays(whole(&anchor));
        for slice in [1, 700, 3000] {
            let sliced = without_delays(sliced(&anchor, slice).expect("it can be cut"));
            same(&whole, &sliced, &format!("{options:?} {slice}"));
        }
    }
}

/// Threads do not meet, so their CPU time has to be known from when their parts in teams end to when the next ones begin.
#[test]
fn cpu_time_of_threads_is_found_the_same() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let cases = [("begin and end", &[22, 46][..]), ("inside", &[30]), ("end", &[46]), ("begin", &[22])];
    for (name, times) in cases {
        let sample = |time: &i32| format!(" metric(utime={})@{time}", 7 + time / 2);
        let samples = times.iter().map(sample).collect::<Vec<String>>().concat();
        let part = format!(
            "\"!$omp parallel @s.c:4\" 22..46 team(TEAM){samples} {{
                 work 24..39
                 \"!$omp implicit barrier @s.c:9\" 39..45
             }}"
        );
        let text = with_threads(["", ""], &part)
            .replace("turn 10..105", "turn 10..105 metric(utime=5)@10")
            .replace("allreduce(bytes=8)", "allreduce(bytes=8) metric(utime=55)@80");
        let anchor = folder.path().join(name);
        let trace = partune_testkit::trace(&format!("resolution 1000000\nmetric {CPU_TIME}\n{text}"));
        partune_engine::write(&trace, &anchor).expect("it can be written");
        let anchor = anchor.join("traces.otf2");
        match in_slices(&anchor, 1) {
            Ok(sliced) if name == "begin and end" => {
                same(&without_delays(whole(&anchor)), &without_delays(sliced), name);
            }
            why => assert_eq!(why, Err(Some(UNREAD.to_owned())), "{name}"),
        }
    }
}

/// One process with threads, accesses to memory of others, and clocks that disagree: they are repaired for the whole run.
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
    let threads = synth(&folder.path().join("threads"), &["--ranks", "1", "--threads", "4", "--events", "20K"]);
    assert_eq!(why(&threads), "it is one process with threads");
    assert_eq!(why(&made("shmem", &["--model", "shmem"])), "PEs access memory of each other");
    let skewed = made("skewed", &["--clock-offset-ns", "1000000"]);
    forget_offsets(&plain, &skewed, 4);
    assert_eq!(why(&skewed), "its clocks disagree too much to be repaired in slices");
}

/// Takes what was measured of the offsets of clocks out of an archive, by that of one whose clocks agree.
pub(crate) fn forget_offsets(plain: &Path, skewed: &Path, ranks: usize) {
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
            assert!(message.contains("; a controlled logical clock moved"), "{message}");
            message
        };
        for slice in [1, 10_000] {
            let cut = sliced(&skewed, slice).expect("it can be cut");
            let violations =
                |message: String| message.split_once("; a controlled").expect("so it goes on").0.to_owned();
            assert_eq!(violations(disagree(&all)), violations(disagree(&cut)));
            // Where nothing was stretched across a cut, the same time stamps were moved.
            assert!(tolerance > 1e-6 || disagree(&all) == disagree(&cut), "{} {}", disagree(&all), disagree(&cut));
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
    let options = ["--ranks", "4", "--events", "4K", "--slow", "2:2"];
    for (number, more) in [&[][..], &["--metrics"]].into_iter().enumerate() {
        let anchor = synth(&folder.path().join(number.to_string()), &[&options[..], more].concat());
        change_records(&anchor);
    }
}

fn change_records(anchor: &Path) {
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
        let found = partune_engine::analyze_in_slices(anchor, &request(), 100, &Alone, &());
        if let Ok(Sliced::Diagnosed(diagnosis)) = found {
            parsed(&partune_report::document(&diagnosis, "archive"));
            cut += 1;
        }
        std::fs::write(file, bytes).expect("it can be written");
    }
    assert!(changed > 200 && cut > 0, "{changed} {cut}");
}

/// A job whose processes are threads.
struct Threads<'a> {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
    received: AtomicUsize,
    /// What happens in this process after so much has come to it.
    then: &'a (dyn Fn(usize, usize) + Sync),
}

impl Job for Threads<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn name(&self) -> String {
        format!("process {} on here", self.rank)
    }

    fn send(&self, to: usize, bytes: Vec<u8>) {
        self.to[to].send(bytes).expect("all processes are there until the last is done");
    }

    fn receive(&self, from: usize) -> Vec<u8> {
        let bytes = self.from[from].lock().expect("one asks").recv_timeout(Duration::from_secs(100)).expect("it sends");
        (self.then)(self.rank, self.received.fetch_add(1, Ordering::Relaxed) + 1);
        bytes
    }

    fn traffic(&self) -> Traffic {
        Traffic::default()
    }
}

/// What so many processes say of an archive, each of that at its own path; nothing of what they sent is left.
fn of_processes(
    anchors: &[PathBuf],
    slice: u64,
    then: &(dyn Fn(usize, usize) + Sync),
) -> Result<Result<String, Option<String>>, OpenError> {
    let size = anchors.len();
    let mut from: Vec<Vec<Mutex<Receiver<Vec<u8>>>>> = (0..size).map(|_| Vec::new()).collect();
    let mut jobs: Vec<Threads<'_>> = Vec::new();
    for rank in 0..size {
        let (to, ends): (Vec<_>, Vec<_>) = (0..size).map(|_| channel()).unzip();
        ends.into_iter().zip(&mut from).for_each(|(end, of)| of.push(Mutex::new(end)));
        jobs.push(Threads { rank, to, from: Vec::new(), received: AtomicUsize::new(0), then });
    }
    jobs.iter_mut().zip(from).for_each(|(job, from)| job.from = from);
    let said = std::thread::scope(|scope| {
        let mut running = Vec::new();
        for (job, anchor) in jobs.iter().zip(anchors) {
            running.push(scope.spawn(|| partune_engine::analyze_in_slices(anchor, &request(), slice, job, &())));
        }
        let mut all = running.into_iter().map(|it| it.join().expect("no process panics"));
        let first = all.next().expect("there is a process");
        assert!(all.all(|other| matches!(other, Ok(Sliced::Elsewhere))));
        first
    });
    for job in &jobs {
        assert!(
            job.from.iter().all(|from| from.lock().expect("nobody has it").try_recv().is_err()),
            "all was received"
        );
    }
    Ok(match said? {
        Sliced::Diagnosed(diagnosis) => Ok(partune_report::document(&diagnosis, "archive")),
        Sliced::Whole(why) => Err(why),
        Sliced::Elsewhere => panic!("process 0 has the answer"),
    })
}

#[test]
fn any_number_of_processes_says_the_same() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let mut anchors: Vec<PathBuf> = archives().into_iter().map(|archive| archive.anchor).collect();
    let faults: [&[&str]; 4] = [
        &["--threads", "2", "--ranks", "4"],
        &["--slow", "5:2", "--jitter", "0.3", "--ranks", "8"],
        &["--inject", "late-broadcast:0:500000:50", "--ranks", "3"],
        &["--inject", "late-receiver:1:500000:30", "--skew", "0.6", "--ranks", "8"],
    ];
    for (number, fault) in faults.iter().enumerate() {
        anchors.push(synth(&folder.path().join(number.to_string()), &[&["--events", "8K"], *fault].concat()));
    }
    let files = folder.path().join("files");
    partune_engine::write(&partune_testkit::trace(&with_files(true)), &files).expect("it can be written");
    anchors.push(files.join("traces.otf2"));
    anchors.push(written(&folder.path().join("metrics"), CPU_TIME, SAMPLED));
    let mut cut = 0;
    for anchor in &anchors {
        for slice in [1, 500] {
            let one = of_processes(std::slice::from_ref(anchor), slice, &|_, _| ()).expect("it opens");
            for size in [2, 3, 7] {
                let several = of_processes(&vec![anchor.clone(); size], slice, &|_, _| ()).expect("it opens");
                assert!(one == several, "{}: {size} processes, {slice}", anchor.display());
            }
            cut += usize::from(one.is_ok());
        }
    }
    assert!(cut >= 8, "{cut}");
}

/// One that has no archive, another one, or one that changes while it is read: all end, and process 0 says which and why.
#[test]
fn what_goes_wrong_in_one_process_is_known_to_all() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let made = |name: &str, options: &[&str]| {
        let ranks = ["--ranks", "4", "--events", "20K"];
        synth(&folder.path().join(name), &[&ranks[..], options].concat())
    };
    let (plain, copy, other) = (made("plain", &[]), made("copy", &[]), made("other", &["--slow", "1:2"]));
    let said = |of_two: &Path, then: &(dyn Fn(usize, usize) + Sync)| {
        let anchors = [&plain, &plain, of_two, &plain].map(Path::to_owned);
        match of_processes(&anchors, 1000, then) {
            Ok(Ok(document)) => document,
            Ok(Err(why)) => why.expect("it is said why"),
            Err(error) => error.to_string(),
        }
    };
    let text = said(&folder.path().join("none"), &|_, _| ());
    assert!(text.contains("process 2 on here cannot take part") && text.contains("No such file"), "{text}");
    let text = said(&other, &|_, _| ());
    assert!(text.contains("process 2 on here cannot take part"), "{text}");
    assert_eq!(parsed(&said(&copy, &|_, _| ())), sliced(&plain, 1000).expect("it is cut"));
    // Process 0 alone has no archive, or a small one: nobody waits for it.
    let first = |anchor: &Path| of_processes(&[anchor, &plain, &plain].map(Path::to_owned), 10_000, &|_, _| ());
    let none = first(&folder.path().join("none")).expect_err("it is not there").to_string();
    assert!(none.contains("No such file"), "{none}");
    let small = synth(&folder.path().join("small"), &["--ranks", "4", "--events", "400"]);
    assert_eq!(first(&small).expect("it opens"), Err(None));
    // After what was found is brought together, or the first slices are asked, its last events are lost.
    for after in [3, 5, 6] {
        let beside = copy.with_file_name("traces").join("1.evt");
        let bytes = std::fs::read(&beside).expect("events of a location are a file");
        let text = said(&copy, &|rank, received| {
            if (rank, received) == (2, after) {
                std::fs::write(&beside, &bytes[..bytes.len() / 9]).expect("it can be written");
            }
        });
        assert_eq!(text, "it changed while process 2 on here read it", "{after}");
        std::fs::write(&beside, &bytes).expect("it can be written");
    }
}
