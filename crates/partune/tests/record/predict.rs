//! Predictions against the truth: programs in which something costs time, and the same programs with that repaired. `partune whatif` on the one says how
//! long the other takes.
//!
//! Work is sleep, so times are known by design; what a busy machine adds to a run is what it took beyond that. Decoys are changes at places with long
//! waits that others do not wait for: they save nothing, and the repaired program shows it.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::expect::line_of;
use super::launch::{self, Mpi, OPEN_MPI, OSHMEM, Recorded, run};
use super::openmp::{self, TRIES};
use super::processors::{first, has_counts};

/// A program with the seconds that it takes by design, as an MPI program unless it has none.
struct Program {
    file: &'static str,
    mpi: Option<&'static Mpi>,
    flags: &'static [&'static str],
    seconds: f64,
    /// Where it is to be mended: a function, an operation, or a line by its mark.
    planted: &'static str,
    repairs: &'static [Repair],
}

/// Changes, and the seconds that the program takes with them, which it has where its argument is the number of the repair, from 1. `file.c:MARK` is the
/// line with the mark.
struct Repair(&'static [&'static str], f64);

macro_rules! pairs {
    ($($name:ident: $file:literal $mpi:expr, $flags:expr, $seconds:expr, $planted:literal => [$($repair:expr),* $(,)?];)*) => {$(
        #[test]
        fn $name() {
            let repairs = &[$($repair),*];
            check(&Program { file: $file, mpi: $mpi, flags: &$flags, seconds: $seconds, planted: $planted, repairs });
        }
    )*};
}

const MPI: Option<&Mpi> = Some(&OPEN_MPI);
const SHMEM: Option<&Mpi> = Some(&OSHMEM);

pairs! {
    uneven_work: "uneven.c" MPI, [], 10.0 * 0.150, "solve" => [
        Repair(&["balance solve"], 10.0 * 0.105),
        Repair(&["scale pe:3 time*0.75"], 10.0 * 0.120),
        Repair(&["scale pe:0 time*0.1"], 10.0 * 0.150),
        Repair(&["balance solve", "scale other time*0.5"], 10.0 * 0.090),
    ];
    serial_part: "serial.c" MPI, [], 7.0 * 0.180, "prepare" => [
        Repair(&["balance prepare"], 7.0 * 0.090),
        Repair(&["scale prepare time*0.5"], 7.0 * 0.120),
    ];
    barrier_that_could_go: "barrier.c" MPI, [], 12.0 * 0.090, "barrier.c:BETWEEN" => [
        Repair(&["remove barrier.c:BETWEEN"], 3.0 * 0.090 + 9.0 * 0.030),
    ];
    late_sender: "late.c" MPI, [], 10.0 * 0.120 + 0.060, "produce" => [
        Repair(&["scale produce time*0.25"], 0.030 + 10.0 * 0.060),
        Repair(&["scale consume time*0.1"], 10.0 * 0.120 + 0.006),
    ];
    receive_too_early: "receive.c" MPI, [], 8.0 * 0.165, "MPI_Recv" => [
        Repair(&["nonblocking MPI_Recv"], 8.0 * 0.120),
    ];
    waits_away_from_the_path: "away.c" MPI, [], 9.0 * 0.135, "heavy" => [
        Repair(&["scale produce time*0.05"], 9.0 * 0.135),
        Repair(&["remove away.c:BETWEEN"], 9.0 * 0.135),
        Repair(&["scale heavy time*0.2"], 9.0 * 0.060),
        Repair(&["scale heavy time*0.2", "scale produce time*0.5"], 9.0 * 0.030),
    ];
    slow_neighbour: "ring.c" MPI, [], 10.0 * 0.120, "solve" => [
        Repair(&["scale pe:2 time*0.5"], 10.0 * 0.060),
        Repair(&["balance solve"], 10.0 * 0.075),
    ];
    master_that_computes: "master.c" MPI, [], 12.0 * 0.090, "compute" => [
        Repair(&["dedicate pe:0"], 12.0 * 0.060),
    ];
    slow_stage: "pipeline.c" MPI, [], 8.0 * 0.120 + 3.0 * 0.048, "stage" => [
        Repair(&["balance stage"], 11.0 * 0.066),
        Repair(&["scale pe:2 time*0.4"], 11.0 * 0.048),
    ];
    sum_too_early: "sum.c" MPI, [], 6.0 * 0.240, "MPI_Allreduce" => [
        Repair(&["nonblocking MPI_Allreduce"], 6.0 * 0.150),
    ];
    synchronous_send: "send.c" MPI, [], 8.0 * 0.150, "MPI_Ssend" => [
        Repair(&["nonblocking MPI_Ssend"], 8.0 * 0.090),
    ];
    long_send: "send.c" MPI, ["-DLONG"], 8.0 * 0.150, "MPI_Send" => [
        Repair(&["nonblocking MPI_Send"], 8.0 * 0.090),
        Repair(&["set network eager=1Mi"], 8.0 * 0.090),
    ];
    adjacent_barriers: "barriers.c" MPI, [], 12.0 * 0.090, "MPI_Barrier" => [
        Repair(&["merge barriers.c:AGAIN"], 12.0 * 0.075),
        Repair(&["scale network latency*0.2"], 12.0 * 0.066),
    ];
    many_messages: "messages.c" MPI, [], 8.0 * 0.150 + 0.015, "MPI_Send" => [
        Repair(&["combine MPI_Send 8"], 8.0 * 0.045 + 0.015),
    ];
    critical_section_held_too_long: "critical.c" None, [], 8.0 * 0.144 + 0.045, "update" => [
        Repair(&["scale update time*0.25"], 8.0 * 0.054 + 0.027),
    ];
    lock_that_nobody_waits_for: "mutex.c" None, [], 8.0 * 0.180, "solve" => [
        Repair(&["balance solve"], 8.0 * 0.2025),
        Repair(&["scale update time*0.25"], 8.0 * 0.1575),
        Repair(&["balance solve", "scale update time*0.25"], 8.0 * 0.1125),
    ];
    uneven_loop: "loop.c" None, [], 8.0 * 0.150, "solve" => [
        Repair(&["balance solve"], 8.0 * 0.105),
        Repair(&["balance prepare"], 8.0 * 0.1275),
        Repair(&["balance solve", "balance prepare"], 8.0 * 0.0825),
    ];
    blocking_gets: "gets.c" SHMEM, [], 9.0 * 0.120, "shmem_getmem" => [
        Repair(&["nonblocking shmem_getmem"], 9.0 * 0.060),
    ];
    whole_messages: "stages.c" MPI, [], 8.0 * 0.080, "MPI_Recv" => [
        Repair(&["split MPI_Recv 4"], 23.0 * 0.020),
    ];
    wait_before_it_must: "inner.c" MPI, [], 9.0 * 0.120, "MPI_Recv" => [
        Repair(&["delay-wait MPI_Wait past inner"], 9.0 * 0.075),
        Repair(&["delay-wait MPI_Wait past inner", "scale border time*0.5"], 9.0 * 0.060),
    ];
    barrier_of_neighbours: "signals.c" SHMEM, [], 12.0 * 0.060, "solve" => [
        Repair(&["p2p shmem_barrier_all"], 12.0 * 0.040),
    ];
    transpose_of_blocking_gets: "ft.c" SHMEM, [], 6.0 * (0.1633 + 0.045), "shmem_getmem" => [
        Repair(&["nonblocking shmem_getmem"], 6.0 * (0.1633 + 0.015)),
    ];
    master_that_reads: "sar.c" SHMEM, [], 8.0 * 0.165, "read_piece" => [
        Repair(&["dedicate pe:0"], 8.0 * 0.198),
        Repair(&["delay-wait sar.c:END past read_piece"], 8.0 * 0.165),
        Repair(&["dedicate pe:0", "delay-wait sar.c:END past read_piece"], 0.066 + 8.0 * 0.132),
    ];
    late_flag: "flag.c" SHMEM, [], 9.0 * 0.120, "produce" => [
        Repair(&["scale produce time*0.4"], 9.0 * 0.066),
    ];
}

/// A program on several numbers of ranks: its first argument, and the milliseconds that it takes on some by design.
struct OnRanks(&'static str, fn(f64) -> f64);

macro_rules! on_ranks {
    ($($name:ident: $argument:literal $law:expr;)*) => {$(
        #[test]
        fn $name() {
            check_ranks(&OnRanks($argument, $law));
        }
    )*};
}

on_ranks! {
    even_work_on_more_ranks: "1" |ranks| 8.0 * 960.0 / ranks;
    a_serial_part_on_more_ranks: "2" |ranks| 8.0 * (60.0 + 480.0 / ranks);
    a_wave_over_more_ranks: "3" |ranks| (8.0 + ranks - 1.0) * 30.0;
    work_that_gets_more_uneven_on_more_ranks: "4" |ranks| 8.0 * (20.0 + 10.0 * (ranks - 1.0));
    weak_scaling_to_more_ranks: "5" |_| 8.0 * 80.0;
}

/// From runs on 2, 4 and 8 ranks the run on 12 is predicted within 5 %, and within what is said to be possible, but for what the machine added.
fn check_ranks(OnRanks(argument, law): &OnRanks) {
    let Some(mut built) = launch::Built::new(&OPEN_MPI, "predict/pes.c", &["-finstrument-functions", "-fno-inline"])
    else {
        return;
    };
    let try_once = || {
        let mut record = |ranks: usize| {
            built.expected.ranks = ranks;
            built.record(&[], &[argument])
        };
        let (runs, truth) = ([8, 2, 4].map(&mut record), record(12));
        let design = |ranks: f64| law(ranks) / 1000.0;
        let recorded = what_if(&truth, &[])["run_s"].as_f64().ok_or_else(|| truth.said())?;
        let said = on_pes(&runs.each_ref().map(|run| run.anchor.as_path()), 12);
        let number = |of: &Value, name: &str| of[name].as_f64().ok_or_else(|| format!("no {name} in {said:#}"));
        let other = &said["other_pes"];
        let mut added = (recorded - design(12.0)).max(0.0);
        for run in other["runs"].as_array().into_iter().flatten() {
            added += (number(run, "run_s")? - design(number(run, "pes")?)).max(0.0);
        }
        let predicted = number(&said, "predicted_run_s")?;
        let (low, high) = (number(other, "predicted_low_s")?, number(other, "predicted_high_s")?);
        let is_near = (predicted - recorded).abs() < 0.05 * recorded + added;
        let is_within = low - added <= recorded && recorded <= high + added;
        // What is predicted is not only what the machine added.
        let is_as_designed = (predicted - design(12.0)).abs() < 0.05 * design(12.0) + added && added < 0.5 * recorded;
        if is_near && is_within && is_as_designed { Ok(()) } else { Err(format!("truth {recorded}: {said:#}")) }
    };
    tried(try_once);
}

/// Three processes that compute share a processor: a law of that would be the scheduler's.
#[test]
fn runs_without_processors_of_their_own_say_nothing_of_other_numbers() {
    let Some(processor) = first().filter(|_| has_counts()) else { return };
    let Some(mut built) = launch::Built::new(&OPEN_MPI, "processors/busy.c", &[]) else { return };
    let runs = [2, 3].map(|ranks| {
        built.expected.ranks = ranks;
        built.record(&[], &[&processor.to_string()])
    });
    let said = on_pes(&runs.each_ref().map(|run| run.anchor.as_path()), 4);
    let reason = said["refused"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("share 1 processor of a node"), "{said:#}");
}

/// Of runs that gave up nobody knows how long they would have taken.
#[test]
fn runs_that_ended_early_say_nothing_of_other_numbers() {
    let Some(mut built) = launch::Built::new(&OPEN_MPI, "programs/abort.c", &[]) else { return };
    let runs = [2, 3].map(|ranks| {
        built.expected.ranks = ranks;
        built.record(&[], &[])
    });
    let said = on_pes(&runs.each_ref().map(|run| run.anchor.as_path()), 4);
    let reason = said["refused"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("is not known as a whole"), "{said:#}");
}

/// The document of several runs, in this order, on another number of PEs.
pub(super) fn on_pes(runs: &[&Path], pes: u32) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
    command.args(["whatif", "--json", "--change", &format!("set pes ={pes}")]).args(runs);
    let output = command.output().expect("the binary runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// Sleep and start are at the mercy of a machine that may be busy, so a check has some tries.
pub(super) fn tried(mut check: impl FnMut() -> Result<(), String>) {
    let problems: Vec<String> = (0..TRIES).map_while(|_| check().err()).collect();
    assert!(problems.len() < TRIES, "{problems:#?}");
}

fn check(program: &Program) {
    let file = format!("predict/{}", program.file);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record").join(&file);
    let source = std::fs::read_to_string(&path).expect("the program is here");
    // Functions are known to the recorder. What GCC says of inlined ones can be wrong about the calls after them.
    let flags = [&["-finstrument-functions", "-fno-inline"], program.flags].concat();
    let record: Box<dyn Fn(&str) -> Recorded> = if let Some(mpi) = program.mpi {
        let Some(built) = launch::Built::new(mpi, &file, &flags) else { return };
        Box::new(move |argument| built.record(&[], &[argument]))
    } else {
        let Some(built) = openmp::Built::of("gcc", &path, &[&flags[..], &["-fopenmp"]].concat()) else { return };
        Box::new(move |argument| built.record(&[argument]))
    };
    tried(|| predict(program, &source, &*record));
}

/// Every repair takes as long as was said, but for what the machine added to either run: within 3 % of it.
#[allow(clippy::print_stdout, reason = "`bench/predictions.sh` reads it")]
fn predict(program: &Program, source: &str, record: &dyn Fn(&str) -> Recorded) -> Result<(), String> {
    let faulty = record("0");
    names_the_place(program, source, &faulty)?;
    for (at, Repair(changes, seconds)) in program.repairs.iter().enumerate() {
        let truth = what_if(&record(&(at + 1).to_string()), &[])["run_s"].as_f64();
        let changes: Vec<String> = changes.iter().map(|change| with_line(change, source)).collect();
        let said = what_if(&faulty, &changes);
        let number = |name: &str| said[name].as_f64();
        let (Some(run), Some(predicted), Some(truth)) = (number("run_s"), number("predicted_run_s"), truth) else {
            return Err(format!("{changes:?}: {said:#}\n{}", faulty.said()));
        };
        let (added, added_then) = (run - program.seconds, truth - seconds);
        let text = format!(
            "{} {changes:?}: {run:.3} s of {:.3}, predicted {predicted:.3}, truth {truth:.3} of {seconds:.3}, {:+.1} %",
            program.file,
            program.seconds,
            100.0 * (predicted / truth - 1.0)
        );
        let bounds = ["saves_low_s", "saves_high_s"].map(|name| number(name).unwrap_or(f64::NAN));
        let [low, high] = bounds.map(|bound| bound / run);
        let [designed, realised] = [program.seconds - seconds, run - truth].map(|saved| saved / run);
        println!("prediction {} {changes:?} {low:.4} {high:.4} {designed:.4} {realised:.4}", program.file);
        // A program that takes less than by design is not the one that was designed, nor is one that takes much more.
        let is_as_designed =
            [(added, run), (added_then, truth)].iter().all(|(added, of)| (-0.01 * of..0.3 * of).contains(added));
        let is_near = (predicted - truth).abs() < 0.03 * truth + added.max(0.0) + added_then.max(0.0);
        let gain = program.seconds - seconds;
        let least = if gain > 0.0 { 0.5 * gain } else { gain };
        let saves_what_it_can = predicted > 0.97 * seconds && run - predicted >= least - 0.01 * run;
        if !is_as_designed || !is_near || !saves_what_it_can {
            return Err(format!("{text}\n{said:#}"));
        }
    }
    Ok(())
}

/// Of all advice for a run nothing saves clearly more than what mends the place.
fn names_the_place(program: &Program, source: &str, faulty: &Recorded) -> Result<(), String> {
    let said = json(Command::new(env!("CARGO_BIN_EXE_partune")).args(["advise", "--json"]).arg(&faulty.anchor));
    let planted = with_line(program.planted, source);
    let is_there = |advice: &&Value| {
        let place = &advice["place"];
        let line =
            place["file"].as_str().and_then(|file| Some(format!("{}:{}", file.rsplit('/').next()?, place["line"])));
        place["function"] == planted || place["construct"] == planted || line.is_some_and(|line| line == planted)
    };
    let saves = |advice: &Value| advice["saves_s"].as_f64();
    let all = said["advice"].as_array().ok_or("no list")?;
    let there = all.iter().find(is_there).and_then(saves);
    let most = all.iter().filter_map(saves).fold(0.0, f64::max);
    match (there, said["run_s"].as_f64()) {
        (Some(there), Some(run)) if there > 0.0 && there >= most - 0.03 * run => Ok(()),
        _ => Err(format!("{}: {planted} saves {there:?} of {most}\n{said:#}", program.file)),
    }
}

/// The document of `partune whatif --json`.
pub(super) fn what_if(recorded: &Recorded, changes: &[String]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
    command.args(["whatif", "--json"]).arg(&recorded.anchor);
    json(command.args(changes.iter().flat_map(|change| ["--change", change.as_str()])))
}

pub(super) fn json(command: &mut Command) -> Value {
    serde_json::from_slice(&run(command).stdout).expect("it is JSON")
}

/// A change with the lines of the marks in it.
fn with_line(change: &str, source: &str) -> String {
    let line = |word: &str| {
        let (file, mark) = word.rsplit_once(':')?;
        Some(format!("{file}:{}", line_of(source, mark)?))
    };
    let words: Vec<String> = change.split(' ').map(|word| line(word).unwrap_or_else(|| word.to_owned())).collect();
    words.join(" ")
}
