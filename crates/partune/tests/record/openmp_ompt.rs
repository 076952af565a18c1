//! Runtimes with a tools interface (OMPT) under `partune record`: what they tell is recorded once, as a tool counts it, at the places of the program.
//!
//! How long threads wait and how programs end is held against what they measure in [`super::openmp`], with each compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::launch::run;
use super::openmp::{Built, CLANG, calls, counted, source};

/// A program, and a tool that counts. None: the compiler is not here.
fn with_tool(compiler: &str) -> Option<(Built, PathBuf)> {
    let clang = Built::new(CLANG, "counted.c")?;
    let built = if compiler == CLANG { clang } else { Built::new(compiler, "counted.c")? };
    let tool = built.folder.path().join("tool.so");
    run(Command::new(CLANG).args(["-O2", "-shared", "-fPIC", "-o"]).arg(&tool).arg(source("tool.c")));
    Some((built, tool))
}

/// Holds a recording against what the tool counts in a run by itself.
fn check_counts(built: &Built, tool: &Path, variables: &[(&str, &Path)], also: &[(&str, &str)]) {
    let mut plain = Command::new(built.program());
    plain.envs(variables.iter().copied()).env("OMP_TOOL_LIBRARIES", tool);
    let plain = run(&mut plain);
    let said = String::from_utf8_lossy(&plain.stderr);
    let counted = counted(&said);
    let recorded = built.record_among(&[], variables);
    assert_eq!(recorded.output.stdout, plain.stdout, "the program computes the same");
    let calls = calls(&recorded.analysis());
    let of = |name: &str| calls.get(name).copied().unwrap_or_default();
    for name in ["omp taskwait", "omp critical", "omp ordered", "omp_set_lock", "omp create task"] {
        assert!(counted[name] > 0, "{counted:?}");
        assert_eq!(of(name), counted[name], "{name}: {calls:?} {counted:?}");
    }
    for (name, count) in also {
        assert_eq!(of(name), counted[count], "{name}: {calls:?} {counted:?}");
    }
    assert_eq!(of("omp_unset_lock"), counted["omp_set_lock"], "{calls:?}");
    let Some(text) = recorded.printed() else { return };
    let count = |word: &str| text.lines().filter(|line| line.starts_with(word)).count() as u64;
    assert_eq!(count("THREAD_FORK "), counted["teams"]);
    assert_eq!(count("THREAD_JOIN "), counted["teams"]);
    assert_eq!(count("THREAD_TEAM_BEGIN "), counted["parts"]);
    assert_eq!(count("THREAD_TEAM_END "), counted["parts"]);
    assert_eq!(count("THREAD_TASK_COMPLETE "), counted["complete"]);
    let single = |line: &&str| line.starts_with("CALLING_CONTEXT_ENTER ") && line.contains("\"omp single\"");
    assert_eq!(text.lines().filter(single).count() as u64, counted["omp single"]);
}

#[test]
fn operations_are_those_that_the_runtime_tells() {
    let Some((built, tool)) = with_tool(CLANG) else { return };
    let barriers = [("omp barrier", "omp barrier"), ("omp implicit barrier", "omp implicit barrier")];
    check_counts(&built, &tool, &[], &barriers);
}

/// The functions of GCC's runtime are LLVM's then, and so are ours before them: what both see is recorded once.
#[test]
fn a_program_of_gcc_runs_with_the_other_runtime() {
    let Some((built, tool)) = with_tool("gcc") else { return };
    check_counts(&built, &tool, &[("LD_PRELOAD", Path::new("libomp.so.5"))], &[]);
}

/// A runtime that is told not to look for tools tells nothing, and one that has another tool in its environment takes the one that is there first.
#[test]
fn other_tools_and_none_do_no_harm() {
    let Some((built, tool)) = with_tool(CLANG) else { return };
    let plain = run(&mut Command::new(built.program()));
    let disabled = built.record_among(&[], &[("OMP_TOOL", Path::new("disabled"))]);
    assert_eq!(disabled.output.stdout, plain.stdout, "{}", disabled.said());
    assert!(disabled.output.status.success(), "{}", disabled.said());
    let other = built.record_among(&[], &[("OMP_TOOL_LIBRARIES", &tool)]);
    assert_eq!(other.output.stdout, plain.stdout, "{}", other.said());
    assert!(!String::from_utf8_lossy(&other.output.stderr).contains("counted"), "{}", other.said());
    assert!(calls(&other.analysis())["omp barrier"] > 0);
}

/// Call paths begin with the program's, go on where it asked for the team, and have no function of the runtime: also on its own threads, in tasks, and
/// where the compiler has made a jump of a call.
#[test]
fn call_paths_are_those_of_the_program() {
    let Some((built, _)) = with_tool(CLANG) else { return };
    let program = built.folder.path().join("program");
    for (file, arguments, place) in [
        ("waits.c", &["barrier"][..], &["main", "at_barrier", "omp parallel", "omp barrier"][..]),
        ("waits.c", &["nested"], &["main", "nested", "omp parallel", "omp parallel", "omp implicit barrier"]),
        ("counted.c", &[], &["main", "omp parallel", "omp critical"]),
    ] {
        run(Command::new(CLANG).args(["-O2", "-g", "-w", "-fopenmp", "-o"]).arg(&program).arg(source(file)));
        let document = built.record(arguments).analysis();
        let paths: Vec<Vec<&str>> = document["operations"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|row| row["callpath"].as_array().into_iter().flatten().filter_map(Value::as_str).collect())
            .collect();
        for path in &paths {
            assert_eq!(path.first(), Some(&"main"), "{path:?}");
            assert!(path.iter().all(|name| !name.starts_with("__kmp") && *name != "start_thread"), "{path:?}");
            let are_made = |two: &[&str]| two.iter().all(|name| name.starts_with(".omp_"));
            assert!(!path.windows(2).any(are_made), "one function for the code of a region: {path:?}");
        }
        assert!(paths.iter().any(|path| own(path).eq(place)), "{place:?}: {paths:?}");
    }
}

/// A path without the functions that the compiler has made of regions' code.
fn own<'a>(path: &'a [&'a str]) -> impl Iterator<Item = &'a &'a str> {
    path.iter().filter(|name| !name.starts_with(".omp_"))
}
