//! Programs of OpenSHMEM: what is recorded is what a counter of its own counts; waits of known length are found at their line; addresses are told; and
//! however they end, nothing is lost.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use super::expect::{Wait, line_of};
use super::launch::{Built, LAUNCHED, Mpi, OSHMEM, Recorded, SANDIA, alone, complaints, run};
use super::one_sided;
use super::printed::{Counts, counts};
use super::profile::is_the_same;
use super::programs::check_counts;
use super::waits::check_balanced;

/// Each wait is found: pattern, line, who waits, who causes it and in which function, and seconds by the program's own clock.
#[test]
fn late() {
    check_late(&OSHMEM, "shmem/late.c");
    check_late(&SANDIA, "shmem/late.c");
}

/// Signals, waits for several values, teams and their contexts.
#[test]
fn late_in_what_is_newer() {
    check_late(&SANDIA, "shmem/newer_late.c");
}

/// With Sandia's, whose PEs do not let others run while they wait, what is said at these lines is no more than what the PEs really waited there, and little.
#[test]
fn balanced_in_what_is_newer() {
    check_twin(&SANDIA, "shmem/newer_late.c");
    check_twin(&SANDIA, "shmem/late.c");
}

/// Each wait of a program that says when its PEs came, and when others could go on.
pub(super) fn check_late(mpi: &Mpi, file: &str) {
    let Some(built) = Built::new(mpi, file, &[]) else { return };
    let mut last = Ok(());
    // On a busy machine a PE may lose its processor between a look at its clock and the call.
    for _ in 0..3 {
        let recorded = built.record(&[], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let measured = Measured::of(&String::from_utf8_lossy(&recorded.output.stdout));
        let document = recorded.analysis();
        last = built.expected.waits.iter().try_for_each(|wait| check_wait(wait, &measured, &document));
        if last.is_ok() {
            break;
        }
    }
    last.unwrap_or_else(|problem| panic!("{problem}"));
}

/// What the program says of its own waits, by mark and turn.
#[derive(Debug, Default)]
struct Measured {
    /// When each PE came.
    came: BTreeMap<(String, u64), BTreeMap<u64, f64>>,
    /// When others could go on, where that is not when the last one came.
    gave: BTreeMap<(String, u64), f64>,
}

impl Measured {
    fn of(said: &str) -> Measured {
        let mut measured = Measured::default();
        for line in said.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [what @ ("in" | "gives"), mark, turn, rank, time, _] = words[..] else { continue };
            let key = (mark.to_owned(), turn.parse().expect("a turn"));
            let time: f64 = time.parse().expect("a time");
            if what == "in" {
                measured.came.entry(key).or_default().insert(rank.parse().expect("a rank"), time);
            } else {
                measured.gave.insert(key, time);
            }
        }
        measured
    }

    /// For how long a PE waited at a mark, in all turns.
    fn seconds(&self, mark: &str, pe: u64) -> f64 {
        let turns = self.came.iter().filter(|((at, _), _)| at == mark);
        let waits = turns.map(|(key, came)| {
            let last = || came.values().copied().fold(f64::MIN, f64::max);
            let ready = self.gave.get(key).copied().unwrap_or_else(last);
            came.get(&pe).map_or(0.0, |came| (ready - came).max(0.0))
        });
        waits.sum()
    }
}

/// The finding of a wait.
fn found<'a>(wait: &Wait, document: &'a Value) -> Option<&'a Value> {
    let is_it = |it: &&Value| {
        let has_path = |path: &String| it["callpath"].as_array().into_iter().flatten().any(|region| region == path);
        it["pattern"] == wait.pattern.as_str()
            && it["construct"] == wait.construct.as_str()
            && it["location"]["line"] == wait.line
            && wait.path.as_ref().is_none_or(has_path)
    };
    document["findings"].as_array().into_iter().flatten().find(is_it)
}

/// Turns of a part, and what each may be off by.
const TURNS: f64 = 3.0;

/// Within 5 % and a millisecond for each turn; of whoever does not wait, 5 % of what others wait, since a busy machine makes all of them wait a little. What somebody
/// was late for is known of what they slept; a busy machine makes them later, and anybody late.
fn check_wait(wait: &Wait, measured: &Measured, document: &Value) -> Result<(), String> {
    let found = found(wait, document).ok_or_else(|| format!("{wait:?} is not found: {document:#}"))?;
    let seconds = |list: &str, is_one: &dyn Fn(&Value) -> bool| -> f64 {
        let entries = found[list].as_array().into_iter().flatten();
        entries.filter(|it| is_one(it)).filter_map(|it| it["seconds"].as_f64()).sum()
    };
    let mut all = 0.0;
    for pe in 0..4 {
        let (here, there) = (seconds("pes", &|it| it["pe"] == pe), measured.seconds(&wait.mark, pe));
        let is_near = (here - there).abs() <= 0.05 * there.max(wait.seconds) + 0.001 * TURNS;
        if !is_near || wait.ranks.contains(&pe) != (there > 0.5 * wait.seconds) {
            return Err(format!("PE {pe} waits {here} s of {there} s: {wait:?}, {measured:#?}, {found:#}"));
        }
        all += there;
    }
    let blamed = seconds("causes", &|it| wait.causes.iter().any(|pe| it["pe"] == *pe));
    let function = wait.origin.as_deref().expect("the program says where its work is");
    let there = seconds("causes", &|it| it["origin"]["construct"] == function);
    let slept = (wait.seconds * wait.ranks.len() as f64).min(all);
    if blamed < 0.9 * slept || there < 0.9 * slept {
        return Err(format!(
            "{blamed} s are blamed on them, {there} s on {function}, of {slept} s slept and {all} s waited: {wait:?}, {found:#}"
        ));
    }
    Ok(())
}

/// Where all work alike, nobody is said to wait for longer than the program says, and that is less than half of what it is for someone late.
fn check_twin(mpi: &Mpi, file: &str) {
    let Some(built) = Built::new(mpi, file, &[]) else { return };
    let check = |wait: &Wait, measured: &Measured, document: &Value| {
        let pes = found(wait, document).and_then(|found| found["pes"].as_array()).into_iter().flatten();
        let mut all = 0.0;
        for entry in pes {
            let [Some(pe), Some(seconds)] = [entry["pe"].as_f64(), entry["seconds"].as_f64()] else { continue };
            let there = measured.seconds(&wait.mark, pe as u64);
            if seconds > 1.05 * there + 0.001 * TURNS {
                return Err(format!("PE {pe} waits {seconds} s of {there} s: {wait:?}, {measured:#?}"));
            }
            all += seconds;
        }
        let little = 0.5 * wait.seconds * wait.ranks.len() as f64;
        if all < little { Ok(()) } else { Err(format!("{all} s: {wait:?}, {measured:#?}")) }
    };
    let mut last = Ok(());
    for _ in 0..3 {
        let recorded = built.record(&[], &["balanced"]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let measured = Measured::of(&String::from_utf8_lossy(&recorded.output.stdout));
        let document = recorded.analysis();
        last = built.expected.waits.iter().try_for_each(|wait| check(wait, &measured, &document));
        if last.is_ok() {
            break;
        }
    }
    last.unwrap_or_else(|problem| panic!("{problem}"));
}

/// Three PEs want a lock that a fourth one has, turn by turn: each waits for the one before it, and that is the fourth one's doing.
#[test]
fn a_lock_that_all_want() {
    check_contended(&OSHMEM);
    check_contended(&SANDIA);
}

fn check_contended(mpi: &Mpi) {
    /// When a PE came, got the lock and gave it back.
    type Had = (u64, f64, f64, f64);
    let Some(built) = Built::new(mpi, "shmem/contended.c", &[]) else { return };
    let line = line_of(&built.source, "LOCK").expect("it is there");
    let check = |recorded: &Recorded| -> Result<(), String> {
        let said = String::from_utf8_lossy(&recorded.output.stdout).into_owned();
        let mut turns: BTreeMap<u64, Vec<Had>> = BTreeMap::new();
        for line in said.lines() {
            let ["had", turn, rank, came, got, gave] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
            let [turn, rank] = [turn, rank].map(|word| word.parse().expect("a number"));
            let [came, got, gave] = [came, got, gave].map(|word| word.parse().expect("a time"));
            turns.entry(turn).or_default().push((rank, came, got, gave));
        }
        let mut waited: BTreeMap<u64, f64> = BTreeMap::new();
        for all in turns.values_mut() {
            all.sort_by(|a, b| a.2.total_cmp(&b.2));
            for two in all.windows(2) {
                *waited.entry(two[1].0).or_default() += (two[0].3 - two[1].1).max(0.0);
            }
        }
        let document = recorded.analysis();
        let findings = document["findings"].as_array().into_iter().flatten();
        let found: Vec<&Value> = findings
            .filter(|it| it["pattern"] == "wait_on_lock" && it["location"]["line"] == line)
            .filter(|it| it["construct"] == "shmem_set_lock")
            .collect();
        let told = format!("{waited:?} {said} {found:#?}");
        let seconds = |list: &str, is_one: &dyn Fn(&Value) -> bool| -> f64 {
            let entries = found.iter().flat_map(|it| it[list].as_array().into_iter().flatten());
            entries.filter(|it| is_one(it)).filter_map(|it| it["seconds"].as_f64()).sum()
        };
        for (pe, waited) in &waited {
            let found = seconds("pes", &|it| it["pe"] == *pe);
            if (found - waited).abs() > 0.05 * waited + 0.001 * turns.len() as f64 {
                return Err(format!("PE {pe} waits {found} s of {waited} s: {told}"));
            }
        }
        // It has the lock for 0.3 s in each turn, for which all three wait; on a busy machine they wait for each other too.
        let all: f64 = waited.values().sum();
        let held = seconds("causes", &|it| it["pe"] == 0 && it["origin"]["construct"] == "hold");
        if waited.keys().ne([1, 2, 3].iter()) || all < 3.0 * 0.2 * turns.len() as f64 || held < 0.6 * all {
            return Err(format!("{held} s of {all} s are the holder's: {told}"));
        }
        Ok(())
    };
    let mut last = Ok(());
    for _ in 0..3 {
        let recorded = built.record(&[], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        last = check(&recorded);
        if last.is_ok() {
            break;
        }
    }
    last.unwrap_or_else(|problem| panic!("{problem}"));
    // Who has it for no time keeps nobody waiting.
    let recorded = built.record(&[], &["balanced"]);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let document = recorded.analysis();
    let held = |it: &&Value| it["origin"]["construct"] == "hold" && it["pe"] == 0;
    let locks = document["findings"].as_array().into_iter().flatten().filter(|it| it["pattern"] == "wait_on_lock");
    let causes = locks.flat_map(|it| it["causes"].as_array().into_iter().flatten());
    let seconds: f64 = causes.filter(held).filter_map(|it| it["seconds"].as_f64()).sum();
    assert!(seconds < 0.3, "{document:#}");
}

#[test]
fn balanced() {
    check_balanced(&OSHMEM, "../shmem/late.c");
}

/// A library that is loaded after the recorder's counts calls, of functions of every family: the archive has as many, on each PE.
#[test]
fn calls_are_as_many_as_another_counter_counts() {
    check_counted(&OSHMEM, "shmem/counts.c", 45);
    check_counted(&SANDIA, "shmem/counts.c", 81);
    for (rank, found) in check_counted(&SANDIA, "shmem/newer_counts.c", 81).iter().enumerate() {
        let calls = ASKED.map(|name| found.get(name).copied());
        assert_eq!(calls, [Some(1 + rank as u64), Some(3 + rank as u64)], "of PE {rank}: {found:#?}");
    }
}

/// By these the recorder learns who is in a team, so the counter, which comes after it, counts more than the program's calls.
const ASKED: [&str; 2] = ["shmem_team_n_pes", "shmem_team_translate_pe"];

/// What was counted, by PE; nothing where there is no such implementation.
fn check_counted(mpi: &Mpi, file: &str, functions: usize) -> Vec<Counts> {
    let Some(built) = Built::new(mpi, file, &[]) else { return Vec::new() };
    let folder = tempfile::tempdir().expect("there is room for a library");
    let library = folder.path().join("libcounter.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/record/shmem/counter.c");
    run(Command::new(mpi.command("mpicc")).args(["-O2", "-w", "-shared", "-fPIC", "-o"]).arg(&library).arg(source));
    let built = built.with("LD_PRELOAD", library.display().to_string());
    let recorded = built.record(&["--exact-polls"], &[]);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let said = String::from_utf8_lossy(&recorded.output.stdout);
    let counted = said.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let ["counted", rank, name, calls] = words[..] else { panic!("not said by the counter: {line}") };
        let [rank, calls] = [rank, calls].map(|number| number.parse::<u64>().expect("a number"));
        (rank as usize, name, calls)
    });
    let counted: Vec<(usize, &str, u64)> = counted.collect();
    assert_eq!(counted.len(), 4 * functions, "{said}");
    let found = counts(&recorded.anchor);
    for &(rank, name, calls) in counted.iter().filter(|it| !ASKED.contains(&it.1)) {
        assert_eq!(found[rank].get(name).copied().unwrap_or(0), calls, "{name} of PE {rank}: {:#?}", found[rank]);
    }
    // Each access is told once.
    let of = |rank: usize, parts: &[&str]| -> u64 {
        let is_one = |name: &str| !name.contains("atomic") && parts.iter().any(|part| name.ends_with(part));
        counted.iter().filter(|it| it.0 == rank && is_one(it.1)).map(|it| it.2).sum()
    };
    let is_atomic = |name: &str| ["atomic", "_finc", "double_set", "signal_add"].iter().any(|part| name.contains(part));
    let atomics: Vec<u64> =
        (0..4).map(|rank| counted.iter().filter(|it| it.0 == rank && is_atomic(it.1)).map(|it| it.2).sum()).collect();
    for (rank, found) in found.iter().enumerate() {
        let signals = of(rank, &["_signal", "_signal_nbi"]);
        let expected = [
            ("puts", of(rank, &["_put", "_putmem", "_put32", "_iput", "_p", "_put_nbi", "_putmem_nbi"]) + signals),
            ("gets", of(rank, &["_get", "_getmem", "_get64_nbi", "_g"])),
            ("atomics", atomics[rank] + signals),
        ];
        for (name, calls) in expected {
            assert_eq!(found.get(name).copied().unwrap_or(0), calls, "{name} of PE {rank}: {found:#?}");
        }
    }
    let document = recorded.analysis();
    assert!(complaints(&document).is_empty(), "{document:#}");
    found
}

#[test]
fn accesses_have_addresses() {
    one_sided::addresses(&OSHMEM, "shmem/addresses.c");
    one_sided::addresses(&SANDIA, "shmem/addresses.c");
}

#[test]
fn many_small_puts_are_found() {
    one_sided::small_puts(&OSHMEM, "shmem/small.c");
    one_sided::small_puts(&SANDIA, "shmem/small.c");
}

#[test]
fn puts_to_a_hot_spot_compete() {
    one_sided::hot_spot(&OSHMEM, "shmem/hot.c");
}

/// Both worlds are in one archive, each with its operations.
#[test]
fn a_program_of_mpi_and_openshmem() {
    let Some(built) = Built::new(&OSHMEM, "shmem/hybrid.c", &[]) else { return };
    let recorded = check_counts(&built, &[], &[]);
    let text = run(Command::new(env!("CARGO_BIN_EXE_partune")).arg("analyze").arg(&recorded.anchor)).stdout;
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("4 PEs in 4 processes, MPI + OpenSHMEM"), "{text}");
}

/// Two launches in one recording are two worlds: nobody of one puts into the memory of the other.
#[test]
fn launches_are_apart() {
    let Some(built) = Built::new(&OSHMEM, "shmem/small.c", &[]) else { return };
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let (archive, program) = (folder.path().join("archive"), built.program());
    let twice = format!("oshrun -n 2 {0} && oshrun -n 2 {0}", program.display());
    let _alone = alone();
    let mut record = Command::new("timeout");
    record.args(["60", env!("CARGO_BIN_EXE_partune"), "record", "-o"]).arg(&archive);
    run(record.args(["--", "sh", "-c", &twice]).envs(LAUNCHED));
    let mut found: Vec<u64> =
        counts(&archive.join("traces.otf2")).iter().map(|it| *it.get("puts").unwrap_or(&0)).collect();
    found.sort_unstable();
    assert_eq!(found, [0, 0, 500, 500]);
}

#[test]
fn a_profile_has_the_same_calls() {
    is_the_same(&OSHMEM, "shmem/counts.c");
    is_the_same(&SANDIA, "shmem/newer_counts.c");
}

/// What was told before a process was killed, aborted or left is there, and the status is that of the run as it is without the recorder.
#[test]
fn an_end_that_is_none_loses_nothing() {
    let Some(built) = Built::new(&OSHMEM, "shmem/ends.c", &[]) else { return };
    for (end, status) in [("kill", 137), ("abort", 134), ("exit", 3), ("global", 3)] {
        let recorded: Recorded = check_counts(&built, &[], &[end]);
        assert_eq!(recorded.output.status.code(), Some(status), "{end}: {}", recorded.said());
        let found: Vec<Counts> = counts(&recorded.anchor);
        assert!(found.iter().all(|it| it.get("puts") == Some(&10)), "{end}: {found:#?}");
    }
}
