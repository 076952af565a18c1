//! The prototypes of MPI: readable to the last line, and what installed headers say.

use std::collections::{HashMap, HashSet};

use crate::skip;
use partune_mpi_abi::prototypes::Fortran::{Both, F08, None as NoFortran, Old};
use partune_mpi_abi::prototypes::{Handle, Kind, Number, Prototype, lines, prototypes};

#[test]
fn every_line_is_read() {
    let prototypes = prototypes();
    assert_eq!(prototypes.len(), lines().count());
    assert!(prototypes.len() > 700);
    let names: HashSet<&str> = prototypes.iter().map(|prototype| prototype.name).collect();
    assert_eq!(names.len(), prototypes.len(), "each function once");
    for (line, prototype) in lines().zip(&prototypes) {
        assert!(line.starts_with(&format!("{} {}(", prototype.returns, prototype.name)), "{line}");
        assert!(prototype.parameters.iter().all(|parameter| !parameter.name.is_empty()), "{line}");
    }
}

#[test]
fn kinds() {
    let prototypes: HashMap<&str, Prototype> =
        prototypes().into_iter().map(|prototype| (prototype.name, prototype)).collect();
    let kinds = |name: &str| prototypes[name].parameters.iter().map(|parameter| parameter.kind).collect::<Vec<_>>();
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
    assert_eq!(prototypes["MPI_Wtime"].returns, "double");
    assert_eq!(prototypes["MPI_Comm_f2c"].returns, "MPI_Comm");
    let fortran: Vec<_> =
        ["MPI_Send", "MPI_Send_c", "MPI_Type_struct", "MPI_Comm_c2f"].map(|name| prototypes[name].fortran).into();
    assert_eq!(fortran, [Both, F08, Old, NoFortran]);
}

/// Every prototype of an installed header has as many parameters as ours, of the same sort.
#[test]
fn headers_agree() {
    let headers =
        ["/usr/include/x86_64-linux-gnu/mpich/mpi_proto.h", "/usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h"];
    let prototypes: HashMap<&str, Prototype> =
        prototypes().into_iter().map(|prototype| (prototype.name, prototype)).collect();
    for file in headers {
        let Ok(header) = std::fs::read_to_string(file) else {
            skip(file);
            continue;
        };
        let declared = declarations(&header);
        assert!(declared.len() > 350, "{file}: {}", declared.len());
        for (name, parameters) in declared {
            let Some(prototype) = prototypes.get(name.as_str()) else {
                assert!(name.ends_with("_FN") || name.ends_with("_NULL") || name.ends_with("_C"), "{file}: {name}");
                continue;
            };
            assert_eq!(parameters.len(), prototype.parameters.len(), "{file}: {name}({parameters:?})");
            for (text, parameter) in parameters.iter().zip(&prototype.parameters) {
                let pointer = text.contains('*') || text.contains('[');
                let by_value = matches!(parameter.kind, Kind::Number(_) | Kind::Handle(_) | Kind::Variadic);
                let either = matches!(parameter.kind, Kind::Opaque | Kind::Function);
                assert!(either || pointer != by_value, "{file}: {name}: {text} is not {:?}", parameter.kind);
            }
        }
    }
}

/// Name and parameters of each `MPI_X(…)` prototype that begins a declaration in a header.
fn declarations(header: &str) -> Vec<(String, Vec<String>)> {
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
