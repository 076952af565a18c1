//! Samples find a program where it spends its time, and disturb nothing.

use super::launch::{Built, MPICH, Mpi, OPEN_MPI};
use super::printed;

/// What a rank printed: the CPU time of each function, and how many sleeps were interrupted or signals came that nobody sent.
fn printed_by(rank: usize, said: &str) -> ([f64; 3], u64) {
    let line =
        said.lines().find_map(|line| line.strip_prefix(&format!("rank {rank} used "))).expect("each rank prints");
    let words: Vec<&str> = line.split(' ').collect();
    let seconds = |at: usize| words[at].parse().expect("seconds");
    let count = |at: usize| words[at].parse::<u64>().expect("a number");
    ([seconds(0), seconds(1), seconds(2)], count(4) + count(6))
}

/// Whether this user's events of the kernel's task clock may count the kernel's own time.
pub(super) fn task_clock_is_for_all() -> bool {
    let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    let capabilities = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let of = |line: &str| u64::from_str_radix(line.strip_prefix("CapEff:")?.trim(), 16).ok();
    let effective = capabilities.lines().find_map(of).unwrap_or(0);
    // CAP_SYS_ADMIN, CAP_PERFMON.
    paranoid.trim().parse::<i32>().is_ok_and(|level| level <= 1) || effective & (1 << 21 | 1 << 38) != 0
}

/// What a comparison of an archive with itself says.
fn compared_with_itself(anchor: &std::path::Path) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_partune"))
        .arg("compare")
        .args([anchor, anchor])
        .output()
        .expect("the binary runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn check(mpi: &Mpi, arguments: &[&str]) {
    let is_at_the_kernel_s_ticks = !arguments.is_empty() || !task_clock_is_for_all();
    let Some(built) = Built::new(mpi, "sampled/functions.c", &[]) else { return };
    let recorded = built.record(&[], arguments);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    let mut on_processors = 0.0;
    for (rank, counts) in printed::samples(&recorded.anchor).into_iter().enumerate() {
        let (used, broken) = printed_by(rank, &recorded.said());
        let of = |name: &str| counts.get(name).copied().unwrap_or(0) as f64;
        let found = ["first", "second", "third"].map(of);
        let (all, sum): (f64, f64) = (found.iter().sum(), used.iter().sum());
        on_processors += sum;
        let about = format!("{}, rank {rank}: {counts:?} of {used:?}", mpi.name);
        // Two seconds of CPU time; the kernel's ticks may be 100 a second, and those of a busy machine often meet somebody else.
        assert!(all >= 40.0 && all >= 0.9 * of("main"), "{about}");
        for (found, used) in found.into_iter().zip(used) {
            assert!(found > 0.0, "{about}");
            if is_at_the_kernel_s_ticks {
                // Other processes take turns at these, which makes shares wrong.
                continue;
            }
            let share = used / sum;
            let sigma = (share * (1.0 - share) / all).sqrt();
            assert!((found / all - share).abs() < 4.0 * sigma, "{about}");
        }
        // What sleeps takes no CPU time, and is not woken.
        assert!(of("rest") < 0.05 * all && broken == 0, "{about}, {broken} broken");
    }
    let said = compared_with_itself(&recorded.anchor);
    assert!(said.contains("times of functions come from samples (A "), "{}: {said}", mpi.name);
    // What the functions take is their time on processors and waiting for them, and not that of sleeping beside it.
    let document = recorded.analysis();
    let paths = document["callpaths"].as_array().into_iter().flatten();
    let working = paths.filter(|it| {
        let last = it["callpath"].as_array().and_then(|path| path.last()).and_then(|name| name.as_str());
        last.is_some_and(|name| ["first", "second", "third"].contains(&name))
    });
    let time: f64 = working.filter_map(|it| it["inclusive"].as_f64()).sum();
    // A second on a processor takes longer where others want it too.
    let node = &document["nodes"][0];
    let of_node = |name: &str| node[name].as_f64().unwrap_or(0.0);
    let waits = of_node("waited") / of_node("on_processor").max(1e-9);
    let is_near = (time / on_processors / (1.0 + waits) - 1.0).abs() < 0.05 + 0.5 * waits;
    assert!(is_near || is_at_the_kernel_s_ticks, "{}: {time} s of {on_processors} s", mpi.name);
}

#[test]
fn samples_are_where_time_was_spent() {
    check(&OPEN_MPI, &[]);
    check(&MPICH, &[]);
}

/// Then it ticks by another clock, if it did by the one of that signal.
#[test]
fn a_program_may_use_the_sampler_s_signal() {
    check(&OPEN_MPI, &["own"]);
}

#[test]
fn nothing_is_sampled_where_that_is_not_wanted() {
    let Some(built) = Built::new(&OPEN_MPI, "sampled/functions.c", &[]) else { return };
    for options in [&["--sample", "off"][..], &["--depth", "0"]] {
        let recorded = built.record(options, &[]);
        assert!(printed::samples(&recorded.anchor).iter().all(std::collections::BTreeMap::is_empty), "{options:?}");
        let said = compared_with_itself(&recorded.anchor);
        assert!(said.contains("places") && !said.contains("samples"), "{options:?}: {said}");
    }
}
