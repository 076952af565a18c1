//! The prototypes of MPI, function by function: what wrappers are generated from.
//!
//! For the build of the MPI collector, and for tests; it allocates. `prototypes.h` beside this file is the table: one function per line. Here it is
//! read.

use alloc::vec::Vec;

/// A function of the C binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prototype {
    /// `MPI_Send`, `MPI_Send_c`, `MPIX_Comm_agree`.
    pub name: &'static str,
    /// The type of the result in C: `int` (an error code) but for a few.
    pub returns: &'static str,
    /// In order.
    pub parameters: Vec<Parameter>,
    pub fortran: Fortran,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// As the standard names it; `...` for what follows in a variadic function.
    pub name: &'static str,
    pub kind: Kind,
}

/// What a parameter is. All but [`Kind::Variadic`] are passed as one integer register or word in C, and by reference in Fortran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Number(Number),
    /// One number that is written, or an array of numbers.
    Numbers(Number),
    Handle(Handle),
    /// One handle that is written, or an array of handles.
    Handles(Handle),
    /// A choice buffer: data of the user, of any type.
    Buffer,
    /// Other memory that MPI or the user interprets: attributes, extra state, the address of an address.
    Pointer,
    /// Characters, read or written; in Fortran a hidden length follows behind all arguments.
    Text,
    /// An array of texts, or of arrays of them; in Fortran a hidden length likewise.
    Texts,
    /// One status or an array of them.
    Status,
    /// A function of the user.
    Function,
    /// An object of the tool interface or of an extension, or a pointer to some.
    Opaque,
    /// `...`
    Variadic,
}

/// Types of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    Int,
    Aint,
    Count,
    Offset,
    Fint,
}

/// Types of handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Handle {
    Comm,
    Datatype,
    Errhandler,
    File,
    Group,
    Info,
    Message,
    Op,
    Request,
    Session,
    Win,
}

/// Which Fortran bindings a function has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fortran {
    None,
    /// `mpif.h` and `use mpi`.
    Old,
    /// `use mpi_f08`.
    F08,
    Both,
}

/// Every function, in the order of the constructs. Reads the table anew at each call: some thousand small allocations.
pub fn prototypes() -> Vec<Prototype> {
    lines().filter_map(parse).collect()
}

/// The lines of the table, without remarks of whole lines.
pub fn lines() -> impl Iterator<Item = &'static str> {
    include_str!("prototypes.h").lines().filter(|line| !line.is_empty() && !line.starts_with("//"))
}

/// `int MPI_Send(const void *buf, …); // f08`
fn parse(line: &'static str) -> Option<Prototype> {
    let (prototype, remark) = line.split_once(';')?;
    let (head, parameters) = prototype.strip_suffix(')')?.split_once('(')?;
    let name = head.rsplit([' ', '*']).next()?;
    let returns = head.strip_suffix(name)?.trim_end();
    let fortran = match remark.trim_start_matches([' ', '/']) {
        "" => Fortran::Both,
        "f08" => Fortran::F08,
        "not f08" => Fortran::Old,
        "C only" => Fortran::None,
        _ => return None,
    };
    let parameters: Option<Vec<Parameter>> = match parameters {
        "void" => Some(Vec::new()),
        some => some.split(", ").map(parameter).collect(),
    };
    Some(Prototype { name, returns, parameters: parameters?, fortran })
}

/// `const int recvcounts[]`, `char ***argv`, `MPI_Comm comm`, `...`
fn parameter(text: &'static str) -> Option<Parameter> {
    if text == "..." {
        return Some(Parameter { name: text, kind: Kind::Variadic });
    }
    let text = text.strip_prefix("const ").unwrap_or(text);
    let (text, brackets) = text.split_at(text.find('[').unwrap_or(text.len()));
    let name = text.rsplit([' ', '*']).next()?;
    let stars = text.matches('*').count() + brackets.matches('[').count();
    let base = text.strip_suffix(name)?.trim_end_matches([' ', '*']);
    Some(Parameter { name, kind: kind(base, stars, name)? })
}

/// The kind of a parameter from its type, how often that is pointed to, and its name.
fn kind(base: &str, stars: usize, name: &str) -> Option<Kind> {
    let number = |number| if stars == 0 { Kind::Number(number) } else { Kind::Numbers(number) };
    let handle = |handle| if stars == 0 { Kind::Handle(handle) } else { Kind::Handles(handle) };
    Some(match base {
        "int" => number(Number::Int),
        "MPI_Aint" => number(Number::Aint),
        "MPI_Count" => number(Number::Count),
        "MPI_Offset" => number(Number::Offset),
        "MPI_Fint" => number(Number::Fint),
        "MPI_Comm" => handle(Handle::Comm),
        "MPI_Datatype" => handle(Handle::Datatype),
        "MPI_Errhandler" => handle(Handle::Errhandler),
        "MPI_File" => handle(Handle::File),
        "MPI_Group" => handle(Handle::Group),
        "MPI_Info" => handle(Handle::Info),
        "MPI_Message" => handle(Handle::Message),
        "MPI_Op" => handle(Handle::Op),
        "MPI_Request" => handle(Handle::Request),
        "MPI_Session" => handle(Handle::Session),
        "MPI_Win" => handle(Handle::Win),
        "MPI_Status" | "MPI_F08_status" => Kind::Status,
        "char" if stars == 1 => Kind::Text,
        "char" => Kind::Texts,
        "void" if is_buffer(name) => Kind::Buffer,
        "void" => Kind::Pointer,
        function if function.ends_with("_function") || function.ends_with("_function_c") => Kind::Function,
        opaque if opaque.starts_with("MPI_T_") || opaque.starts_with("MPIX_") => Kind::Opaque,
        _ => return None,
    })
}

/// Names of choice buffers; other memory has other names.
fn is_buffer(name: &str) -> bool {
    name.ends_with("buf")
        || name.ends_with("_addr") && name != "buffer_addr"
        || ["buffer", "base", "location"].contains(&name)
}
