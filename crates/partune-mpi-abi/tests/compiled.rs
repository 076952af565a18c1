//! Every value against the installed headers: a C program is made from the tables, compiled with the wrapper of each
//! library, run, and what it prints is compared. It never initialises MPI.

use crate::skip;
use partune_mpi_abi::{
    Abi, Error, Evidence, Handle, Kind, OPEN_MPI_WORLD, Place, SUCCESS, Weight, detect, sonames, unweighted,
    weights_empty,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

#[test]
fn open_mpi() {
    compare(Abi::OpenMpi, "mpicc.openmpi", "libopenmpi-dev");
}

#[test]
fn mpich() {
    compare(Abi::Mpich, "mpicc.mpich", "libmpich-dev");
}

fn compare(abi: Abi, compiler: &str, package: &str) {
    let expected = expected(abi);
    let Some(printed) = compile_and_run(abi, compiler, &source(abi, &expected)) else {
        return skip(&format!("{compiler} (Debian package {package})"));
    };
    let found: BTreeMap<&str, &str> = printed.lines().filter_map(|line| line.split_once(' ')).collect();
    let mut wrong = Vec::new();
    for (expression, value) in &expected {
        let answer = found.get(expression.as_str()).copied().unwrap_or("nothing");
        if answer != value.to_string() {
            wrong.push(format!("{expression}: {value} in the table, {answer} in the header"));
        }
    }
    assert!(wrong.is_empty(), "{abi}:\n{}", wrong.join("\n"));
    assert!(expected.len() > 200, "only {} values compared", expected.len());

    let evidence = Evidence {
        abi_major: None,
        open_mpi_world: found.get("open_mpi_world") == Some(&"1"),
        library_version: found.get("version").copied(),
    };
    assert_eq!(detect(&evidence), Some(abi), "{evidence:?}");
    assert_eq!(found.get("soname"), Some(&"1"), "none of {:?} is loaded", sonames(abi));
}

/// C expressions and what they must be.
fn expected(abi: Abi) -> Vec<(String, i64)> {
    let mut rows = Vec::new();
    for handle in Handle::ALL {
        rows.push(match handle.place(abi) {
            // An `int` with its highest bit set would be extended with ones.
            Place::Number(value) if abi.handle_size(handle.kind()) == 4 => {
                (format!("(uint32_t){}", handle.name()), value as i64)
            }
            Place::Number(value) => (format!("(uintptr_t){}", handle.name()), value as i64),
            Place::AddressOf(symbol) => {
                let symbol = symbol.to_str().unwrap();
                (format!("(void*){}==dlsym(RTLD_DEFAULT,\"{symbol}\")", handle.name()), 1)
            }
        });
    }
    rows.extend(abi.numbers().names().map(|(name, value)| (format!("(intptr_t){name}"), value as i64)));
    rows.extend(Error::ALL.iter().map(|error| (error.name().to_owned(), i64::from(error.class(abi)))));
    rows.push(("MPI_SUCCESS".to_owned(), i64::from(SUCCESS)));
    for (name, weight) in [("MPI_UNWEIGHTED", unweighted(abi)), ("MPI_WEIGHTS_EMPTY", weights_empty(abi))] {
        rows.push(match weight {
            Weight::Number(value) => (format!("(intptr_t){name}"), value as i64),
            Weight::ValueOf(symbol) => {
                let symbol = symbol.to_str().unwrap();
                (format!("(void*){name}==*(void**)dlsym(RTLD_DEFAULT,\"{symbol}\")"), 1)
            }
        });
    }
    let kinds = [
        (Kind::Comm, "Comm"),
        (Kind::Group, "Group"),
        (Kind::Datatype, "Datatype"),
        (Kind::Op, "Op"),
        (Kind::Win, "Win"),
        (Kind::File, "File"),
        (Kind::Request, "Request"),
        (Kind::Message, "Message"),
        (Kind::Info, "Info"),
        (Kind::Errhandler, "Errhandler"),
    ];
    rows.extend(kinds.map(|(kind, name)| (format!("sizeof(MPI_{name})"), abi.handle_size(kind) as i64)));
    let status = abi.status();
    let names = status.names();
    rows.push(("sizeof(MPI_Status)".to_owned(), status.bytes() as i64));
    let members = [("MPI_SOURCE", status.source), ("MPI_TAG", status.tag), ("MPI_ERROR", status.error)];
    let count = names.count.map(|name| (name, names.at));
    rows.extend(
        members.into_iter().chain(count).map(|(name, at)| (format!("offsetof(MPI_Status,{name})"), 4 * at as i64)),
    );
    rows
}

fn source(abi: Abi, rows: &[(String, i64)]) -> String {
    let mut text = String::from(
        "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n\
         #include <mpi.h>\nint main(void) {\n",
    );
    for (expression, _) in rows {
        let quoted = expression.replace('"', "\\\"");
        writeln!(text, "printf(\"%s %lld\\n\", \"{quoted}\", (long long)({expression}));").unwrap();
    }
    let loaded: Vec<String> = sonames(abi)
        .iter()
        .map(|name| format!("dlopen(\"{}\", RTLD_NOLOAD | RTLD_LAZY)", name.to_str().unwrap()))
        .collect();
    let world = OPEN_MPI_WORLD.to_str().unwrap();
    write!(
        text,
        "printf(\"soname %d\\n\", {});\nprintf(\"open_mpi_world %d\\n\", dlsym(RTLD_DEFAULT,\"{world}\") != 0);\n\
         char version[MPI_MAX_LIBRARY_VERSION_STRING]; int length;\nMPI_Get_library_version(version, &length);\n\
         printf(\"version %s\\n\", version);\nreturn 0; }}\n",
        loaded.join(" || ")
    )
    .unwrap();
    text
}

/// What the program prints; none if there is no such compiler.
fn compile_and_run(abi: Abi, compiler: &str, source: &str) -> Option<String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (code, program) = (folder.join(format!("{abi:?}.c")), folder.join(format!("{abi:?}")));
    std::fs::write(&code, source).unwrap();
    let compile = Command::new(compiler).arg("-o").arg(&program).arg(&code).arg("-ldl").output();
    let compile = compile.ok()?;
    assert!(compile.status.success(), "{compiler}: {}", String::from_utf8_lossy(&compile.stderr));
    let run = Command::new(&program).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(String::from_utf8_lossy(&run.stdout).into_owned())
}
