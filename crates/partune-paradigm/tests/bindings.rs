//! The C binding of MPI: readable to the last line, one with the constructs, and what installed headers and libraries say.

use crate::skip;
use partune_paradigm::Fortran::{Both, F08, None as NoFortran, Old};
use partune_paradigm::{Binding, Handle, Kind, Number, PARADIGMS, mpi_binding_lines, mpi_bindings, recognise};
use std::collections::{HashMap, HashSet};
use std::process::Command;

#[test]
fn every_line_is_read() {
    let bindings = mpi_bindings();
    assert_eq!(bindings.len(), mpi_binding_lines().count());
    assert!(bindings.len() > 700);
    let names: HashSet<&str> = bindings.iter().map(|binding| binding.name).collect();
    assert_eq!(names.len(), bindings.len(), "each function once");
    for (line, binding) in mpi_binding_lines().zip(&bindings) {
        assert!(line.starts_with(&format!("{} {}(", binding.returns, binding.name)), "{line}");
        assert!(binding.parameters.iter().all(|parameter| !parameter.name.is_empty()), "{line}");
    }
}

#[test]
fn kinds() {
    let bindings: HashMap<&str, Binding> = mpi_bindings().into_iter().map(|binding| (binding.name, binding)).collect();
    let kinds = |name: &str| bindings[name].parameters.iter().map(|parameter| parameter.kind).collect::<Vec<_>>();
    let (int, ints) = (Kind::Number(Number::Int), Kind::Numbers(Number::Int));
    let (comm, datatype) = (Kind::Handle(Handle::Comm), Kind::Handle(Handle::Datatype));
    assert_eq!(kinds("MPI_Recv"), [Kind::Buffer, int, datatype, int, int, comm, Kind::Status]);
    assert_eq!(kinds("MPI_Recv_c")[1], Kind::Number(Number::Count));
    assert_eq!(kinds("MPI_Waitall"), [int, Kind::Handles(Handle::Request), Kind::Status]);
    assert_eq!(kinds("MPI_Alltoallw")[3], Kind::Handles(Handle::Datatype));
    assert_eq!(kinds("MPI_Alltoallv_c")[1..3], [Kind::Numbers(Number::Count), Kind::Numbers(Number::Aint)]);
    assert_eq!(kinds("MPI_Init"), [ints, Kind::Texts]);
    assert_eq!(kinds("MPI_Pcontrol"), [int, Kind::Variadic]);
    assert_eq!(kinds("MPI_File_write_at")[1..3], [Kind::Number(Number::Offset), Kind::Buffer]);
    assert_eq!(kinds("MPI_Comm_spawn")[..2], [Kind::Text, Kind::Texts]);
    assert_eq!(kinds("MPI_Win_allocate")[4..], [Kind::Pointer, Kind::Handles(Handle::Win)]);
    assert_eq!(kinds("MPI_Group_range_incl")[2], ints);
    assert_eq!(kinds("MPI_Op_create")[0], Kind::Function);
    assert_eq!(kinds("MPI_Comm_f2c"), [Kind::Number(Number::Fint)]);
    assert_eq!(kinds("MPI_T_pvar_start"), [Kind::Opaque, Kind::Opaque]);
    assert_eq!(bindings["MPI_Wtime"].returns, "double");
    assert_eq!(bindings["MPI_Comm_f2c"].returns, "MPI_Comm");
    let fortran: Vec<_> =
        ["MPI_Send", "MPI_Send_c", "MPI_Type_struct", "MPI_Comm_c2f"].map(|name| bindings[name].fortran).into();
    assert_eq!(fortran, [Both, F08, Old, NoFortran]);
}

/// A function without a binding in C, or without a prototype that anybody installs.
const NO_BINDING: [&str; 4] = ["MPI_Sizeof", "MPI_F_sync_reg", "MPI_Session_c2f", "MPI_Session_f2c"];

/// Rows under which the extensions of one implementation are known.
const AS_EXTENSION: [&str; 3] = ["MPI_Delete_error_class", "MPI_Delete_error_code", "MPI_Delete_error_string"];

#[test]
fn bindings_and_constructs_are_one() {
    let bindings = mpi_bindings();
    for binding in &bindings {
        let found = recognise(binding.name, None).map(|found| found.paradigm.name);
        assert_eq!(found, Some("MPI"), "{}", binding.name);
    }
    let names: HashSet<&str> = bindings.iter().map(|binding| binding.name).collect();
    let mpi = PARADIGMS.iter().find(|paradigm| paradigm.name == "MPI").expect("a paradigm");
    let bare = |name: &str| !names.contains(name) && !NO_BINDING.contains(&name);
    let missing: Vec<&str> = mpi.constructs.iter().map(|construct| construct.name).filter(|name| bare(name)).collect();
    assert_eq!(missing, AS_EXTENSION);
    for name in AS_EXTENSION {
        assert!(names.contains(name.replace("MPI_", "MPIX_").as_str()));
    }
}

#[test]
fn exported_functions_have_bindings() {
    for (library, package) in [("libmpi.so.40", "libopenmpi3"), ("libmpich.so.12", "libmpich12")] {
        let Some(exports) = exports(library) else {
            skip(&format!("{library} (Debian package {package})"));
            continue;
        };
        let bindings = mpi_bindings();
        let names: HashSet<&str> = bindings.iter().map(|binding| binding.name).collect();
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
        return skip("libmpi_mpifh.so.40 and libmpi_usempif08.so.40 (Debian package libopenmpi3)");
    };
    let (old, new): (HashSet<String>, HashSet<String>) = (old.into_iter().collect(), new.into_iter().collect());
    for binding in mpi_bindings() {
        let stem = binding.name.to_lowercase();
        let has_old = old.contains(&format!("{stem}_"));
        let has_new = new.contains(&format!("{stem}_f08_"));
        assert!(!has_old || matches!(binding.fortran, Old | Both), "{}", binding.name);
        assert!(!has_new || matches!(binding.fortran, F08 | Both), "{}", binding.name);
    }
}

/// Every prototype of an installed header has as many parameters as its binding, of the same sort.
#[test]
fn headers_agree() {
    let headers =
        ["/usr/include/x86_64-linux-gnu/mpich/mpi_proto.h", "/usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h"];
    let bindings: HashMap<&str, Binding> = mpi_bindings().into_iter().map(|binding| (binding.name, binding)).collect();
    for file in headers {
        let Ok(header) = std::fs::read_to_string(file) else {
            skip(file);
            continue;
        };
        let prototypes = prototypes(&header);
        assert!(prototypes.len() > 350, "{file}: {}", prototypes.len());
        for (name, parameters) in prototypes {
            let Some(binding) = bindings.get(name.as_str()) else {
                assert!(name.ends_with("_FN") || name.ends_with("_NULL") || name.ends_with("_C"), "{file}: {name}");
                continue;
            };
            assert_eq!(parameters.len(), binding.parameters.len(), "{file}: {name}({parameters:?})");
            for (text, parameter) in parameters.iter().zip(&binding.parameters) {
                let pointer = text.contains('*') || text.contains('[');
                let by_value = matches!(parameter.kind, Kind::Number(_) | Kind::Handle(_) | Kind::Variadic);
                let either = matches!(parameter.kind, Kind::Opaque | Kind::Function);
                assert!(either || pointer != by_value, "{file}: {name}: {text} is not {:?}", parameter.kind);
            }
        }
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

/// Name and parameters of each `MPI_X(…)` prototype that begins a declaration in a header.
fn prototypes(header: &str) -> Vec<(String, Vec<String>)> {
    let mut text = String::new();
    let mut rest = header;
    while let Some((before, comment)) = rest.split_once("/*") {
        text.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let declaration = |statement: &str| {
        let (head, tail) = statement.split_once('(')?;
        let name = head.rsplit([' ', '*', '\n']).next()?;
        let plain = name.starts_with("MPI_") || name.starts_with("MPIX_");
        if !plain || head.contains("typedef") || head.contains('{') || !head.contains("int") && !head.contains("MPI_") {
            return None;
        }
        let parameters = tail.split_once(')')?.0.trim();
        let parameters: Vec<String> = parameters.split(',').map(|parameter| parameter.trim().to_owned()).collect();
        let none = parameters == ["void"] || parameters == [""];
        Some((name.to_owned(), if none { Vec::new() } else { parameters }))
    };
    code.join("\n").split(';').filter_map(declaration).collect()
}
