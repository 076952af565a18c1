//! Waits of known length, at a known line, with known causes; and the same programs when everybody comes in time.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::expect::{Wait, line_of};
use super::launch::{Built, MPICH, Mpi, OPEN_MPI, Recorded};

/// Two tests for each program and MPI: late, and balanced.
macro_rules! waits {
    ($($name:ident $file:literal)*) => {
        mod openmpi { $(mod $name {
            use super::super::*;
            #[test] fn late() { check_late(&OPEN_MPI, $file); }
            #[test] fn balanced() { check_balanced(&OPEN_MPI, $file); }
        })* }
        mod mpich { $(mod $name {
            use super::super::*;
            #[test] fn late() { check_late(&MPICH, $file); }
            #[test] fn balanced() { check_balanced(&MPICH, $file); }
        })* }
    };
}

waits! {
    late_sender "late_sender.c"
    late_receiver "late_receiver.c"
    wait_at_barrier "wait_at_barrier.c"
    wait_at_nxn "wait_at_nxn.c"
    late_broadcast "late_broadcast.c"
    early_reduce "early_reduce.c"
    late_fence "late_fence.c"
    waitall "waitall.c"
    persistent "persistent.c"
    subcomm "subcomm.c"
    master "master.c"
    two_places "two_places.c"
    collectives "collectives.c"
    fortran "fortran.f90"
    called_in_turns "called_in_turns.c"
    second_thread "second_thread.c"
    neighbours "neighbours.c"
    window_lock "window_lock.c"
    window_test "window_test.c"
    file_together "file_together.c"
    mpi4 "mpi4.c"
}

#[test]
fn many_wait_for_one() {
    for mpi in [&OPEN_MPI, &MPICH] {
        check_late(mpi, "many_wait.c");
    }
}

/// Sleep and start are at the mercy of a machine that may be busy, so a run has this many tries.
const TRIES: usize = 3;

fn check_late(mpi: &Mpi, file: &str) {
    check_waits(mpi, file, &[]);
}

/// Every wait of the program is found: pattern, line, seconds within 5 % of those that the program measured, who waits, who causes it.
pub(super) fn check_waits(mpi: &Mpi, file: &str, flags: &[&str]) {
    check(mpi, file, flags, &[], |built, recorded, document| {
        assert!(!built.expected.waits.is_empty(), "the program says what it waits for");
        let told = Told::of(&String::from_utf8_lossy(&recorded.output.stdout));
        built.expected.waits.iter().try_for_each(|wait| check_wait(wait, &told, document))
    });
}

type Check = fn(&Built<'_>, &Recorded, &Value) -> Result<(), String>;

fn check(mpi: &Mpi, file: &str, flags: &[&str], arguments: &[&str], is_right: Check) {
    let Some(built) = Built::new(mpi, &format!("waits/{file}"), flags) else { return };
    let mut last = Ok(());
    for _ in 0..TRIES {
        let recorded = built.record(&[], arguments);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        last = is_right(&built, &recorded, &recorded.analysis());
        if last.is_ok() {
            return;
        }
    }
    last.unwrap_or_else(|problem| panic!("{problem}"));
}

/// What ranks tell of the parts of a program, as `work.h` has it.
#[derive(Debug, Default)]
struct Told {
    /// How many times longer than asked for the work of a rank took.
    worked: BTreeMap<(String, u64), f64>,
    /// When a rank came to each call at which one waits for another, and when it left.
    met: BTreeMap<(String, u64), Vec<(f64, f64)>>,
}

impl Told {
    fn of(stdout: &str) -> Self {
        let mut told = Self::default();
        for line in stdout.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let of = |rank: &str, part: Option<&&str>| {
                (part.copied().unwrap_or_default().to_owned(), rank.parse().expect("a rank"))
            };
            let number = |word: &str| -> f64 { word.parse().expect("a number") };
            match words.as_slice() {
                ["worked", rank, ratio, part @ ..] => {
                    told.worked.insert(of(rank, part.first()), number(ratio));
                }
                ["met", rank, came, left, part @ ..] => {
                    told.met.entry(of(rank, part.first())).or_default().push((number(came), number(left)));
                }
                _ => {}
            }
        }
        told
    }

    /// The names of all parts.
    fn parts(&self) -> BTreeSet<&str> {
        self.met.keys().map(|(part, _)| part.as_str()).collect()
    }

    /// Of a rank in the part with this name, or in the only one.
    fn in_part<'a, T>(of: &'a BTreeMap<(String, u64), T>, part: &str, rank: u64) -> Option<&'a T> {
        of.get(&(part.to_owned(), rank)).or_else(|| of.get(&(String::new(), rank)))
    }

    /// Seconds that a rank spent in its calls of a part before it was met there: in the first until the first of the others came, and so on.
    fn waited(&self, part: &str, rank: u64, others: &[u64]) -> f64 {
        let met = |rank| Self::in_part(&self.met, part, rank).into_iter().flatten();
        let mut others: Vec<f64> = others.iter().flat_map(|&other| met(other)).map(|&(came, _)| came).collect();
        others.sort_by(f64::total_cmp);
        met(rank).zip(others).map(|(&(came, left), other)| (other.min(left) - came).max(0.0)).sum()
    }

    /// Seconds that the causes of a wait worked, on average.
    fn worked(&self, wait: &Wait) -> f64 {
        let longer = |&rank: &u64| Self::in_part(&self.worked, &wait.mark, rank).copied().unwrap_or(1.0);
        wait.seconds * wait.causes.iter().map(longer).sum::<f64>() / wait.causes.len() as f64
    }
}

fn check_wait(wait: &Wait, told: &Told, document: &Value) -> Result<(), String> {
    let expected: Vec<f64> = wait.ranks.iter().map(|&rank| told.waited(&wait.mark, rank, &wait.causes)).collect();
    let (least, most) =
        (expected.iter().copied().fold(f64::MAX, f64::min), expected.iter().copied().fold(0.0, f64::max));
    if least < 0.25 * wait.seconds {
        return Err(format!("nobody could wait on so busy a machine: {wait:?}, {told:?}"));
    }
    let findings = || document["findings"].as_array().into_iter().flatten();
    let path = |it: &Value| match &wait.path {
        None => true,
        Some(path) => it["callpath"].as_array().into_iter().flatten().any(|region| region == path.as_str()),
    };
    let is_it = |it: &&Value| {
        it["pattern"] == wait.pattern.as_str()
            && it["construct"] == wait.construct.as_str()
            && it["location"]["line"] == wait.line
            && path(it)
    };
    let Some(found) = findings().find(is_it) else {
        let all: Vec<_> =
            findings().map(|it| (&it["pattern"], &it["construct"], &it["location"], &it["seconds"])).collect();
        return Err(format!("{wait:?} is not among {all:#?}"));
    };
    // On a busy machine a part in which nobody should wait may be in the same finding: it is another path to the same line.
    let is_merged = wait.path.is_some() && found["callpaths"].as_array().is_some_and(|paths| paths.len() > 1);
    let in_all = |rank: u64| told.parts().iter().map(|part| told.waited(part, rank, &wait.causes)).sum();
    let expected = if is_merged { wait.ranks.iter().map(|&rank| in_all(rank)).collect() } else { expected };
    let of_pe = |list: &str, pe: u64| -> f64 {
        let entries = found[list].as_array().into_iter().flatten();
        entries.filter(|it| it["pe"] == pe).filter_map(|it| it["seconds"].as_f64()).sum()
    };
    // Where the machine is busy, those who are late may wait for once for the others.
    let back: f64 = wait.causes.iter().map(|&rank| told.waited(&wait.mark, rank, &wait.ranks)).sum();
    for pe in 0..4 {
        let (waits, blame) = (of_pe("pes", pe), of_pe("causes", pe));
        let is_near = match wait.ranks.iter().position(|&rank| rank == pe) {
            Some(at) => (waits / expected[at] - 1.0).abs() < 0.05,
            None => waits < 0.05 * most + back,
        };
        let is_blamed = if wait.causes.contains(&pe) { blame > 0.05 * least } else { blame <= 0.05 * least + back };
        if !is_near || !is_blamed {
            let text = format!("PE {pe} waits {waits} s of {expected:?} s and is blamed for {blame} s");
            return Err(format!("{text}: {wait:?}, {told:?}, {found:#}"));
        }
    }
    let Some(origin) = &wait.origin else { return Ok(()) };
    let causes = found["causes"].as_array().into_iter().flatten();
    let elsewhere = causes.filter(|it| it["origin"]["construct"] != origin.as_str());
    let elsewhere: f64 = elsewhere.filter_map(|it| it["seconds"].as_f64()).sum();
    // Who was late by more than its work was so for want of a processor, wherever it was then.
    let worked = told.worked(wait);
    let may: f64 = expected.iter().map(|&it| 0.05 * it + (it - worked).max(0.0)).sum();
    if elsewhere > may {
        return Err(format!("{elsewhere} s are not caused in {origin}: {wait:?}, {told:?}, {found:#}"));
    }
    Ok(())
}

/// Nothing above 1 % of the run is said of a program in which nobody is late, but for what its start and its end cost:
/// `MPI_Init`, the first meeting (marked `START`), and `MPI_Finalize`. Where the work of a rank took longer than asked for, on a busy machine,
/// somebody was late by that much, and where processes waited for a processor, each of them was.
pub(super) fn check_balanced(mpi: &Mpi, file: &str) {
    check(mpi, file, &[], &["balanced"], |built, recorded, document| {
        let told = Told::of(&String::from_utf8_lossy(&recorded.output.stdout));
        let longest = told.worked.values().copied().fold(1.0, f64::max);
        let findings = || document["findings"].as_array().into_iter().flatten();
        let is_for_processor = |it: &&Value| it["pattern"] == "wait_for_processor";
        let ready: f64 = findings().filter(is_for_processor).filter_map(|it| it["fraction"].as_f64()).sum();
        let limit = 0.01 + 2.0 * (longest - 1.0) + built.expected.ranks as f64 * ready;
        let start = line_of(&built.source, "START");
        let said = findings().filter(|it| {
            let is_start = start.is_some_and(|line| it["location"]["line"] == line);
            let is_edge = ["MPI_Init", "MPI_Finalize", "shmem_init", "shmem_finalize", "caf init", "caf finalize"]
                .iter()
                .any(|name| it["construct"] == *name);
            // What an operation costs by itself, and how long processes wait for a processor, says nothing of who is late, and is much on a busy machine.
            let is_cost = ["operation_cost", "wait_for_processor"].iter().any(|pattern| it["pattern"] == *pattern);
            it["fraction"].as_f64().is_some_and(|share| share > limit) && !is_start && !is_edge && !is_cost
        });
        let said: Vec<_> = said.collect();
        if said.is_empty() { Ok(()) } else { Err(format!("{said:#?}")) }
    });
}
