//! The prototypes of MPI beside the table of constructs, and beside what installed libraries export.

use std::collections::HashSet;
use std::process::Command;

use partune_mpi_abi::prototypes::Fortran::{Both, F08, Old};
use partune_mpi_abi::prototypes::prototypes;
use partune_paradigm::{PARADIGMS, recognise};
use partune_testkit::outside::missing;

/// A function without a binding in C, or without a prototype that anybody installs.
const NO_PROTOTYPE: [&str; 4] = ["MPI_Sizeof", "MPI_F_sync_reg", "MPI_Session_c2f", "MPI_Session_f2c"];

/// Rows under which the extensions of one implementation are known.
const AS_EXTENSION: [&str; 3] = ["MPI_Delete_error_class", "MPI_Delete_error_code", "MPI_Delete_error_string"];

#[test]
fn prototypes_and_constructs_are_one() {
    let prototypes = prototypes();
    for prototype in &prototypes {
        let found = recognise(prototype.name, None).map(|found| found.paradigm.name);
        assert_eq!(found, Some("MPI"), "{}", prototype.name);
    }
    let names: HashSet<&str> = prototypes.iter().map(|prototype| prototype.name).collect();
    let mpi = PARADIGMS.iter().find(|paradigm| paradigm.name == "MPI").expect("a paradigm");
    let bare = |name: &str| !names.contains(name) && !NO_PROTOTYPE.contains(&name);
    let missing: Vec<&str> = mpi.constructs.iter().map(|construct| construct.name).filter(|name| bare(name)).collect();
    assert_eq!(missing, AS_EXTENSION);
    for name in AS_EXTENSION {
        assert!(names.contains(name.replace("MPI_", "MPIX_").as_str()));
    }
}

#[test]
fn exported_functions_have_prototypes() {
    for (library, package) in [("libmpi.so.40", "libopenmpi3"), ("libmpich.so.12", "libmpich12")] {
        let Some(exports) = exports(library) else {
            missing(&format!("{library} (Debian package {package})"));
            continue;
        };
        let prototypes = prototypes();
        let names: HashSet<&str> = prototypes.iter().map(|prototype| prototype.name).collect();
        let function = |name: &&String| {
            let stem = name.strip_prefix("MPI_").or_else(|| name.strip_prefix("MPIX_"));
            stem.is_some_and(|stem| stem.bytes().any(|b| b.is_ascii_lowercase()))
        };
        let exported: Vec<&String> = exports.iter().filter(function).collect();
        assert!(exported.len() > 400, "{library}");
        let without: Vec<_> = exported.iter().filter(|name| !names.contains(name.as_str())).collect();
        assert!(without.is_empty(), "{library}: {without:?}");
    }
}

#[test]
fn exported_fortran_is_as_said() {
    let (Some(old), Some(new)) = (exports("libmpi_mpifh.so.40"), exports("libmpi_usempif08.so.40")) else {
        return missing("libmpi_mpifh.so.40 and libmpi_usempif08.so.40 (Debian package libopenmpi3)");
    };
    let (old, new): (HashSet<String>, HashSet<String>) = (old.into_iter().collect(), new.into_iter().collect());
    for prototype in prototypes() {
        let stem = prototype.name.to_lowercase();
        let has_old = old.contains(&format!("{stem}_"));
        let has_new = new.contains(&format!("{stem}_f08_"));
        assert!(!has_old || matches!(prototype.fortran, Old | Both), "{}", prototype.name);
        assert!(!has_new || matches!(prototype.fortran, F08 | Both), "{}", prototype.name);
    }
}

/// Functions that a library exports; none if it is not installed.
fn exports(library: &str) -> Option<Vec<String>> {
    let path = crate::libraries::find(library)?;
    let symbols = Command::new("nm").args(["-D", "--defined-only"]).arg(path).output().expect("nm of binutils");
    let symbols = String::from_utf8_lossy(&symbols.stdout);
    let function = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (kind, name) = (words.next()?, words.next()?);
        ["T", "W"].contains(&kind).then(|| name.split('@').next().unwrap_or(name).to_owned())
    };
    Some(symbols.lines().filter_map(function).collect())
}
