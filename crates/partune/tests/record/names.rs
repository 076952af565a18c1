//! Names of functions in C++, Fortran and stripped libraries: short where people read, whole in the archive and in JSON.

use std::process::Command;

use super::launch::{Built, MPICH, Mpi, OPEN_MPI, Recorded, run};

/// Functions, by name and canonical name.
fn regions(recorded: &Recorded) -> Vec<(String, String)> {
    let output = run(Command::new("otf2-print").arg("-G").arg(&recorded.anchor));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let quoted = |line: &str, after: &str| Some(line.split_once(after)?.1.split_once('"')?.0.to_owned());
    let lines = text.lines().filter(|line| line.starts_with("REGION "));
    lines.filter_map(|line| Some((quoted(line, "Name: \"")?, quoted(line, "(Aka. \"")?))).collect()
}

fn recorded(mpi: &Mpi, file: &str, flags: &[&str]) -> Option<Recorded> {
    let recorded = Built::new(mpi, file, flags)?.record(&["--sample", "off"], &[]);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    Some(recorded)
}

#[test]
fn templates_are_folded_and_lambdas_stay() {
    for mpi in [&OPEN_MPI, &MPICH] {
        // With debug data, with symbols alone (the last `-g` counts), and inlined or not.
        for flags in [&[][..], &["-g0", "-fno-inline"], &["-fno-inline"]] {
            let Some(recorded) = recorded(mpi, "programs/templates.cpp", flags) else { continue };
            let regions = regions(&recorded);
            let whole = |short: &str| {
                let of = regions.iter().filter(|(name, _)| name == short).map(|(_, whole)| whole.as_str());
                let mut whole: Vec<&str> = of.collect();
                whole.sort_unstable();
                whole
            };
            let sums = whole("mesh::sum<…>");
            assert_eq!(sums.len(), 2, "{flags:?} {regions:#?}");
            assert!(sums[0].contains("sum<double>(") && sums[1].contains("sum<int>("), "{sums:?}");
            assert!(whole("mesh::Guard::~Guard").iter().all(|it| it.contains("::~Guard()")), "{regions:#?}");
            assert_eq!(whole("mesh::Guard::~Guard").len(), 1, "{regions:#?}");
            // Of a lambda that is inlined, debug data has no name but this.
            let lambda = if flags.is_empty() { "operator()" } else { "main::{lambda()#1}::operator()" };
            assert_eq!(whole(lambda).len(), 1, "{flags:?} {regions:#?}");
            let analysis = recorded.analysis();
            let of_sum = analysis["whole_names"].as_array().into_iter().flatten();
            let of_sum = of_sum.filter(|row| row["name"] == "mesh::sum<…>").map(|row| &row["whole"]);
            assert_eq!(of_sum.collect::<Vec<_>>(), [&serde_json::json!(sums)]);
        }
    }
}

#[test]
fn fortran_has_modules_and_no_underscores_and_constructs_one_name() {
    for mpi in [&OPEN_MPI, &MPICH] {
        for flags in [&[][..], &["-g0"]] {
            let flags = [flags, &["-fno-inline", "-fno-optimize-sibling-calls"]].concat();
            let Some(recorded) = recorded(mpi, "names/modules.f90", &flags) else { continue };
            let regions = regions(&recorded);
            let count = |wanted: &str| regions.iter().filter(|(name, _)| name == wanted).count();
            for name in ["halo::exchange", "inner", "plain", "main", "MPI_Sendrecv", "MPI_Allreduce", "MPI_Barrier"] {
                assert_eq!(count(name), 1, "{name}, {flags:?}: {regions:#?}");
            }
            let compilers = |name: &str| name.ends_with('_') || name.contains("_MOD_") || name.contains(".0");
            assert!(regions.iter().all(|(name, _)| !compilers(name)), "{flags:?}: {regions:#?}");
        }
    }
}

#[test]
fn what_is_stripped_is_named_after_its_neighbour() {
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "names/stripped.c", &["-s"]) else { continue };
        let symbols = run(Command::new("nm").arg(built.library()));
        let symbols = String::from_utf8_lossy(&symbols.stdout).into_owned();
        let begin = |name: &str| {
            let line =
                symbols.lines().find(|line| line.ends_with(&format!(" {name}"))).expect("it is not stripped yet");
            i64::from_str_radix(&line[..16], 16).expect("an address")
        };
        let distance = begin("hidden") - begin("exported");
        assert!(distance > 0, "{symbols}");
        run(Command::new("strip").arg(built.library()));
        let recorded = built.record(&["--sample", "off"], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        let functions: Vec<String> = regions(&recorded).into_iter().map(|(name, _)| name).collect();
        for name in ["main", "exported", &format!("~exported+{distance:#x}")] {
            assert!(functions.iter().any(|it| it == name), "{name}: {functions:?}");
        }
        assert!(!functions.iter().any(|name| name.starts_with("libpart.so+")), "{functions:?}");
    }
}
