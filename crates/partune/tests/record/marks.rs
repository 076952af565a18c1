//! Marks in programs of every language: recorded where they stand, nothing where nothing records, and misuse is said.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::launch::{Built, MPICH, OPEN_MPI, alone, run};

/// A program without MPI.
struct Program {
    folder: TempDir,
    environment: Vec<(&'static str, &'static str)>,
}

impl Program {
    fn compile(source: &str, flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("there is room for a program");
        let root = root();
        let mut command = match source.rsplit('.').next() {
            Some("c") => Command::new("gcc"),
            Some("cc") => Command::new("g++"),
            Some("f90") => Command::new("gfortran"),
            _ => Command::new("rustc"),
        };
        command.current_dir(folder.path());
        let program = path(&folder, "program");
        let source_path = here().join(source);
        match source.rsplit('.').next() {
            Some("rs") => {
                let library = root.join("crates/partune-regions/src/lib.rs");
                let arguments = ["--edition=2024", "--crate-type=rlib", "--crate-name=partune_regions", "-g"];
                run(Command::new("rustc").current_dir(folder.path()).args(arguments).args(flags).arg(library));
                command.args(["--edition=2024", "-g", "-L", ".", "--extern", "partune_regions"]).args(flags);
            }
            Some("f90") => {
                command.args(["-g", "-std=f2008"]).args(flags).arg(root.join("fortran/partune.f90"));
            }
            _ => {
                command
                    .args(["-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"])
                    .arg(root.join("include"))
                    .args(flags);
            }
        }
        run(command.arg(source_path).arg("-o").arg(program));
        Self { folder, environment: Vec::new() }
    }

    fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.environment.push((name, value));
        self
    }

    /// Runs it as users do who do not record.
    fn works_alone(&self) {
        let output = run(Command::new(path(&self.folder, "program")).current_dir(self.folder.path()));
        assert_eq!(String::from_utf8_lossy(&output.stdout), "done\n");
    }

    /// Enters and leaves by name, and what was said.
    fn record(&self, options: &[&str]) -> (Vec<String>, String) {
        let archive = path(&self.folder, "archive");
        let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
        command.current_dir(self.folder.path()).envs(self.environment.iter().copied());
        command.args(["record", "-o"]).arg(&archive).args(options).arg("--").arg(path(&self.folder, "program"));
        let output = {
            let _alone = alone();
            run(&mut command)
        };
        assert!(String::from_utf8_lossy(&output.stdout).starts_with("done\n"));
        let printed = run(Command::new("otf2-print").arg(archive.join("traces.otf2")));
        let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
        (printed.lines().filter_map(event).collect(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// `+name` for an enter, `-name` for a leave.
fn event(line: &str) -> Option<String> {
    let kind = line.split_whitespace().next()?;
    let sign = if kind.ends_with("ENTER") { '+' } else { '-' };
    let (_, name) = line.split_once(if kind.starts_with("CALLING") { "Calling Context: \"" } else { "Region: \"" })?;
    Some(format!("{sign}{}", name.split(['"', '@']).next()?))
}

fn path(folder: &TempDir, name: &str) -> PathBuf {
    folder.path().join(name)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn include() -> String {
    format!("-I{}", root().join("include").display())
}

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record/marks")
}

/// What all the programs `marks` do.
const MARKS: &str = "+setup +steps +steps +solve -solve -steps +steps +solve -solve -steps -steps -setup";

#[track_caller]
fn check(source: &str, flags: &[&str], options: &[&str]) {
    let program = Program::compile(source, flags);
    program.works_alone();
    let (events, said) = program.record(options);
    assert_eq!(events.join(" "), MARKS, "{source} {flags:?}\n{said}");
    assert!(!said.contains("info:"), "{said}");
}

#[test]
fn marks_are_recorded_in_every_language() {
    check("marks.c", &["-O0"], &[]);
    check("marks.c", &["-O2", "-no-pie", "-fno-pie"], &[]);
    check("marks.c", &["-O2", "-std=c99", "-pedantic", "-flto"], &[]);
    check("marks.c", &["-O2"], &["--depth", "0"]);
    check("marks.cc", &["-std=c++98", "-pedantic"], &[]);
    check("marks.cc", &["-O2", "-no-pie", "-fno-pie"], &[]);
    check("marks.f90", &["-O0"], &[]);
    check("marks.f90", &["-O2", "-Wall"], &[]);
    check("marks.rs", &["-Copt-level=0"], &[]);
    check("marks.rs", &["-Copt-level=3"], &[]);
}

#[test]
fn marks_in_shared_libraries_are_recorded() {
    let library = tempfile::tempdir().expect("there is room for a library");
    let folder = library.path().display().to_string();
    let mut command = Command::new("gcc");
    command.args(["-g", "-DLIBRARY", "-shared", "-fPIC", "-I"]).arg(root().join("include")).arg(here().join("marks.c"));
    run(command.arg("-o").arg(library.path().join("liblibrary.so")));
    let link = [format!("-L{folder}"), format!("-Wl,-rpath,{folder}")];
    let flags = ["-DWITH_LIBRARY", &link[0], &link[1], "-Wl,--no-as-needed", "-llibrary"];
    let (events, _) = Program::compile("marks.c", &flags).record(&[]);
    assert_eq!(events.join(" "), format!("{MARKS} +library -library"));
}

#[test]
fn marks_are_nothing_where_nothing_records() {
    Program::compile("marks.c", &["-static"]).works_alone();
    let off = Program::compile("marks.c", &["-DPARTUNE_OFF"]);
    let symbols = run(Command::new("nm").arg(path(&off.folder, "program")));
    assert!(!String::from_utf8_lossy(&symbols.stdout).contains("partune"));
    off.works_alone();
    Program::compile("marks.cc", &["-DPARTUNE_OFF", "-std=c++98"]).works_alone();
}

#[test]
fn misuse_is_said_once_and_the_rest_is_recorded() {
    let (events, said) = Program::compile("misuse.c", &[]).record(&[]);
    let expected = "+outer +inner -inner -outer +steps +steps -steps +steps -steps -steps +of main -of main";
    // The other thread and what is done with it are recorded too, at times of their own.
    let is_mark = |event: &&String| !event.contains("pthread_") && !event.ends_with("other");
    let marks: Vec<&str> = events.iter().filter(is_mark).map(String::as_str).collect();
    assert!(marks.join(" ").starts_with(expected), "{events:?}");
    for text in [
        "region never begun ended without a begin",
        "region inner was ended by the end of outer around it",
        "region inner ended without a begin",
        "iterations were marked outside of a marked loop",
        "a loop ended that was not begun on its thread",
        "region of main ended on a thread that did not begin it",
        "region open at the end was begun and not ended",
    ] {
        assert_eq!(said.matches(text).count(), 1, "{text}\n{said}");
    }
}

/// MPI starts recording, before the first mark.
#[test]
fn what_is_wrong_is_said_in_mpi_programs_too() {
    for built in [&OPEN_MPI, &MPICH].into_iter().filter_map(|mpi| Built::new(mpi, "marks/unended.c", &[&include()])) {
        let recorded = built.record(&[], &[]);
        let said = recorded.said();
        assert!(said.contains("region open at the end was begun and not ended, 1 times"), "{said}");
        assert_eq!(recorded.analysis()["pes"], 2);
    }
}

#[test]
fn instrumented_functions_are_recorded_and_short_ones_left_out() {
    let flags = ["-O1", "-fno-inline", "-finstrument-functions"];
    let program = Program::compile("functions.c", &flags);
    program.works_alone();
    let (events, said) = program.with("PARTUNE_SHORT_NS", "1000000").record(&[]);
    let outer: Vec<_> = events.iter().filter(|event| !event.ends_with("tiny")).map(String::as_str).collect();
    assert_eq!(outer, ["+main", "+leaves", "+jumps", "-jumps", "-leaves", "+many", "-many", "-main"]);
    assert_eq!(events.iter().filter(|event| *event == "+tiny").count(), 10_000);
    assert!(said.contains("10000 calls of 1 functions that are too short to measure"), "{said}");
    // Nothing is too short if nothing is to be.
    let (events, said) = Program::compile("functions.c", &flags).with("PARTUNE_SHORT_VISITS", "0").record(&[]);
    assert_eq!(events.iter().filter(|event| *event == "-tiny").count(), 20_000);
    assert!(!said.contains("too short"), "{said}");
}

#[test]
fn inlined_functions_that_tell_of_themselves_are_in_a_call_path_once() {
    let Some(built) = Built::new(&OPEN_MPI, "marks/inlined.c", &["-finstrument-functions"]) else { return };
    let recorded = built.record(&[], &[]);
    recorded.printed();
    let document = recorded.analysis();
    let paths = document["callpaths"].as_array().expect("it is a table").iter();
    let visits = |name: &str| {
        let of = paths
            .clone()
            .filter(|row| row["callpath"].as_array().is_some_and(|path| path.last() == Some(&name.into())));
        of.map(|row| (row["callpath"].clone(), row["visits"].as_u64())).collect::<Vec<_>>()
    };
    let sums = visits("MPI_Allreduce");
    assert_eq!(sums, [(serde_json::json!(["main", "step", "norm", "MPI_Allreduce"]), Some(10))]);
    for (function, count) in [("main", 2), ("step", 10), ("norm", 10)] {
        let of = visits(function);
        assert!(of.len() == 1 && of[0].1 == Some(count), "{of:?}");
    }
}

#[test]
fn functions_that_a_filter_excludes_are_not_recorded() {
    let program = Program::compile("functions.c", &["-O1", "-fno-inline", "-finstrument-functions"]);
    let rules = path(&program.folder, "rules");
    std::fs::write(&rules, "exclude *\ninclude m*\n").expect("there is room for rules");
    let rules = rules.display().to_string();
    let (events, said) = program.record(&["--filter", &rules]);
    assert_eq!(events.join(" "), "+main +many -many -main");
    assert!(said.contains("calls of 3 functions that the filter leaves out"), "{said}");
    // Rules that are none are the user's fault.
    std::fs::write(&rules, "without tiny\n").expect("there is room for rules");
    let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
    command.current_dir(program.folder.path()).args(["record", "-o", "none", "--filter", &rules, "--", "./program"]);
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(125) && said.contains("line 1: `without tiny` is neither"), "{said}");
}
