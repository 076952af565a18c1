//! What cannot be right is said, and no number is made of it.

use partune_couple::judge::Fault;
use partune_couple::outcome::check_launch;
use partune_couple::results::{Ending, Head, Sampled, Timed, Why};
use partune_couple::{Ended, Plan, Recorded, launch, outcome, read};

use crate::support::{GCC, MPI, MPIRUN, alone, measured, naps, plan};

const LITTLE: &str = "launches = 1\nlengths = [2]\nbudget_s = 4.0\n";

/// What is said of the kernel b alone in this mode of the program; and nothing is predicted.
fn of_b(mode: &str) -> Option<Fault> {
    let folder = naps(GCC)?;
    let outcome = measured(&plan(&folder, &format!("./app {mode}"), LITTLE)).0.expect("something is said");
    let fault = outcome.problems.iter().find(|it| it.chain == ["b"]).map(|it| it.fault);
    let fault = fault.unwrap_or_else(|| panic!("nothing is said of b: {:?}", outcome.problems));
    assert!(outcome.predictions.is_empty() && outcome.chains.is_empty(), "{outcome:?}");
    Some(fault)
}

#[test]
fn a_state_that_becomes_infinite() {
    let Some(fault) = of_b("nan") else { return };
    assert!(matches!(fault, Fault::NotFinite { values: 1.0, .. }), "{fault:?}");
}

/// As in SP of the NAS Parallel Benchmarks, where one kernel takes back what another one does: in a chain without it they are executed fewer times.
#[test]
fn a_state_that_stays_finite_for_few_executions() {
    let Some(folder) = naps(GCC) else { return };
    let plan = plan(&folder, "./app grows", LITTLE);
    let outcome = measured(&plan).0.expect("something is said");
    let infinite = outcome.problems.iter().filter(|it| matches!(it.fault, Fault::NotFinite { .. }));
    assert_eq!(infinite.count(), 0, "{:?}", outcome.problems);
    let recorded = read(&plan.results).expect("results are read");
    let chains = &recorded[&plan.launches()[0].label].chains;
    let many = |kernels: &[&str]| {
        chains[&kernels.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()[..]].timed.executions()
    };
    assert!(chains.values().all(|it| !it.timed.is_one_by_one()), "{chains:?}");
    assert!(many(&["b"]) < 4 && many(&["a", "b"]) < 4 && many(&["b", "c"]) >= 4, "{chains:?}");
}

/// Not even one execution leaves finite numbers, though the loop does: nothing is executed one by one then.
#[test]
fn a_state_that_is_never_finite() {
    let Some(folder) = naps(GCC) else { return };
    let plan = plan(&folder, "./app lost", LITTLE);
    let outcome = measured(&plan).0.expect("something is said");
    let infinite: Vec<_> =
        outcome.problems.iter().filter(|it| matches!(it.fault, Fault::NotFinite { values: 1.0, .. })).collect();
    let chains: Vec<String> = infinite.iter().map(|it| it.chain.join(" ")).collect();
    assert_eq!(chains, ["b", "a b"], "{:?}", outcome.problems);
    assert!(outcome.predictions.is_empty(), "{outcome:?}");
    let recorded = read(&plan.results).expect("results are read");
    let mut all = recorded[&plan.launches()[0].label].chains.values();
    assert!(all.all(|it| !it.timed.is_one_by_one()), "{recorded:?}");
}

/// Kernel c only takes back what b did: executed one by one, it is shorter than what the clock tells.
#[test]
fn a_kernel_too_short_to_be_executed_one_by_one() {
    let Some(folder) = naps(GCC) else { return };
    let plan = plan(&folder, "./app back_short", LITTLE);
    let outcome = measured(&plan).0.expect("something is said");
    let of_c: Vec<_> = outcome.problems.iter().filter(|it| it.chain == ["c"]).map(|it| it.fault).collect();
    assert!(matches!(of_c[..], [Fault::TooShort { seconds, least }] if seconds < least), "{:?}", outcome.problems);
    let recorded = read(&plan.results).expect("results are read");
    let c = &recorded[&plan.launches()[0].label].chains[&["c".to_owned()][..]];
    assert!(matches!(c.timed, Timed::OneByOne { one_by_one: 99, empty_s } if empty_s < 1e-5), "{c:?}");
}

#[test]
fn a_state_that_becomes_subnormal() {
    let Some(fault) = of_b("subnormal") else { return };
    assert!(matches!(fault, Fault::Subnormal { share, .. } if share > 0.9), "{fault:?}");
}

#[test]
fn a_state_that_is_not_named() {
    let Some(fault) = of_b("hidden") else { return };
    assert!(matches!(fault, Fault::HiddenState { differs } if differs > 0.01), "{fault:?}");
}

#[test]
fn a_kernel_that_drifts() {
    let Some(fault) = of_b("drift") else { return };
    assert!(matches!(fault, Fault::Drift { halves } if halves < 0.9), "{fault:?}");
}

/// After ranks have met, the first turn takes 32 ms, and each later one 19: what one rank is late in a kernel it makes up for in the next.
#[test]
fn ranks_that_make_up_for_each_other_do_not_drift() {
    let Some(folder) = naps(MPI) else { return };
    let plan =
        plan(&folder, &format!("{MPIRUN} ./app turns"), "pes = [2]\nlaunches = 1\nlengths = [3]\nbudget_s = 8.0\n");
    let outcome = measured(&plan).0.expect("something is said");
    // Alone, c is nothing but a meeting: ranks that come together find it at once, and after a nap where the machine has parted them.
    let works = |chain: &[String]| chain != ["c"];
    let drifts = outcome.problems.iter().filter(|it| matches!(it.fault, Fault::Drift { .. }) && works(&it.chain));
    assert_eq!(drifts.count(), 0, "{:?}", outcome.problems);
    let recorded = read(&plan.results).expect("results are read");
    let chain = &recorded[&plan.launches()[0].label].chains[&["b", "c", "a"].map(str::to_owned)[..]];
    // Disturbed, it may have had no time for more rounds.
    let enough = |rounds: usize| rounds >= 5 || chain.disturbed > 0.0;
    assert!(matches!(&chain.timed, Timed::InARow { many: 4, halves, .. } if enough(halves.len())), "{chain:?}");
}

#[test]
fn a_kernel_too_short_for_the_clock() {
    let Some(fault) = of_b("short") else { return };
    assert!(matches!(fault, Fault::TooShort { seconds, least } if seconds.abs() < least), "{fault:?}");
}

#[test]
fn what_the_program_says_wrong() {
    let Some(folder) = naps(GCC) else { return };
    for (mode, more, said) in [
        ("unsaid", "", "nothing is said of the state that kernels change"),
        ("bad_loop", "", "the loop has a kernel that was not named before"),
        ("alone", "loop = ['a', 'c', 'b']\n", "size 1 on 1 PE: the loop is a b c, and in the plan it is a c b"),
        ("alone", "loop = ['a', 'b', 'x']\n", "x of `loop` in the plan is no kernel of the program, which has a b c"),
        ("alone", "pes = [2]\n", "size 1 on 2 PEs: 2 PEs were asked for, and the program ran on 1 rank with 1 thread"),
    ] {
        let plan =
            plan(&folder, &format!("./app {mode}"), &format!("launches = 1\nlengths = [2]\nbudget_s = 0.3\n{more}"));
        let _ = std::fs::remove_file(&plan.results);
        let error = measured(&plan).0.expect_err(mode).to_string();
        assert!(error.contains(said) && error.contains("\n  remedy: "), "{error}");
    }
    let plan = plan(&folder, "./app alone", "launches = 1\nlengths = [2, 4]\nbudget_s = 0.3\n");
    let error = measured(&plan).0.expect_err("too long").to_string();
    assert!(error.starts_with("the loop has 3 kernels, so there are no chains of 4"), "{error}");
}

/// PEs are ranks everywhere, or threads everywhere.
#[test]
fn pes_are_the_same_everywhere() {
    let head = |ranks, threads| {
        let order = vec!["a".to_owned(), "b".to_owned()];
        let whole = Sampled { seconds: vec![1.0], ..Sampled::default() };
        let head = Head { ranks, threads, order, ..Head::default() };
        let ended = Some(Ending { why: Why::Rounds, asked: None });
        Recorded { head, whole, ended, ..Recorded::default() }
    };
    let folder = tempfile::tempdir().expect("there is room for a plan");
    let plan = plan(&folder, "app {pes}", "pes = [2, 4]");
    let launches = plan.launches();
    let checked = |two: &Recorded, four: &Recorded| check_launch(&plan, &launches[1], four, &(&launches[0], two));
    checked(&head(2, 1), &head(4, 1)).expect("ranks");
    checked(&head(1, 2), &head(2, 2)).expect("threads of all ranks");
    let error = checked(&head(2, 3), &head(3, 4)).expect_err("ranks, then threads").to_string();
    assert!(error.starts_with("size 1 on 4 PEs: 4 PEs were asked for, and the program ran on 3 ranks"), "{error}");
}

#[test]
fn one_loop_for_all_sizes() {
    let Some(folder) = naps(GCC) else { return };
    let command = "if [ {size} = 1 ]; then ./app alone; else ./app loop; fi";
    let plan = plan(&folder, command, "sizes = [1, 2]\nlaunches = 1\nlengths = [2]\nbudget_s = 0.3\n");
    let error = measured(&plan).0.expect_err("two loops").to_string();
    assert!(error.starts_with("size 2 on 1 PE: the loop is a b b c, and for size 1 on 1 PE it is a b c"), "{error}");
}

#[test]
fn a_chain_that_is_not_there() {
    let Some(folder) = naps(GCC) else { return };
    let plan = plan(&folder, "./app alone", &format!("{LITTLE}confidence = 0.2\nrounds = 3\n"));
    measured(&plan).0.expect("something is said");
    let text = std::fs::read_to_string(&plan.results).expect("there are results");
    let without: Vec<&str> = text.lines().filter(|line| !line.contains(r#""chain":["b","c"]"#)).collect();
    std::fs::write(&plan.results, without.join("\n")).expect("results are written");
    let outcome = outcome(&plan, &plan.launches(), &read(&plan.results).expect("results")).expect("something is said");
    let [problem] = &outcome.problems[..] else { panic!("{:?}", outcome.problems) };
    assert_eq!((problem.fault, problem.chain.join(" ")), (Fault::Missing, "b c".to_owned()));
    assert!(outcome.predictions.is_empty() && outcome.chains.is_empty());
    assert_eq!(outcome.configurations.len(), 1, "kernels alone were measured");
}

#[test]
fn a_kernel_that_never_ends_alone_is_ended() {
    for (compiler, command) in [(GCC, "./app stuck".to_owned()), (MPI, format!("{MPIRUN} ./app stuck"))] {
        let Some(folder) = naps(compiler) else { return };
        let plan = plan(&folder, &command, &format!("{LITTLE}timeout_s = 2.0\n"));
        let _alone = alone();
        let ended = launch(&plan, &plan.launches()[0], &folder.path().join("said")).expect("the shell starts");
        assert_eq!(ended, Ended::Stuck);
        assert!(read(&plan.results).expect("results").values().all(|it| !it.is_complete()));
    }
}

#[test]
fn ranks_that_say_other_things() {
    let Some(folder) = naps(MPI) else { return };
    let plan = plan(&folder, &format!("{MPIRUN} ./app parts"), &format!("{LITTLE}pes = [2]\n"));
    let error = measured(&plan).0.expect_err("one is done on one of them only").to_string();
    assert!(error.contains("ranks differ in what is done once"), "{error}");
}

/// Not every launcher passes its environment on.
#[test]
fn what_rank_0_is_asked_for_all_do() {
    let Some(folder) = naps(MPI) else { return };
    let first = MPIRUN.replace("{pes}", "1");
    let without =
        ["", "_RUN", "_LENGTHS", "_BUDGET", "_CONFIDENCE", "_ROUNDS"].map(|it| format!("-u PARTUNE_COUPLE{it}"));
    let command = format!("{first} ./app alone : -n 1 env {} ./app alone", without.join(" "));
    let plan = plan(&folder, &command, &format!("{LITTLE}confidence = 0.2\nrounds = 3\npes = [2]\n"));
    let outcome = measured(&plan).0.expect("something is said");
    assert_eq!(outcome.configurations.len(), 1, "{outcome:?}");
}

#[test]
fn a_program_that_fails_or_measures_nothing() {
    let Some(folder) = naps(GCC) else { return };
    let said = folder.path().join("said");
    for (mode, is_done) in [("fails", false), ("silent", true)] {
        let plan = plan(&folder, &format!("./app {mode}"), LITTLE);
        let _alone = alone();
        let ended = launch(&plan, &plan.launches()[0], &said).expect("the shell starts");
        assert_eq!(matches!(ended, Ended::Done), is_done, "{ended:?}");
        assert!(outcome(&plan, &plan.launches(), &read(&plan.results).expect("results")).is_err());
    }
}

/// What a shell has with braces is its own.
#[test]
fn what_is_put_into_a_command_is_known() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("plan.toml");
    let read = |command: &str| {
        std::fs::write(&path, format!("command = '{command}'\nsizes = [1]\npes = [1]\n")).expect("a plan is written");
        Plan::read(&path).map_err(|error| error.to_string())
    };
    let error = read("./app {sise} {pes}").expect_err("there is no such place");
    assert!(error.contains("{sise} is nothing that is put in: there are {size} and {pes}"), "{error}");
    read("for i in {1..2}; do { ./app ${HOME} {size} {a,b}; }; done").expect("the shell's own");
}
