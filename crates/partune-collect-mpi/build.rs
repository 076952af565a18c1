//! Makes the wrappers from the prototypes of MPI: one for each function in C, and one for each spelling in Fortran.
//!
//! What is done around a function is said below; one that is not listed is plain. A large-count form (`MPI_Send_c`) is handled as the
//! function itself.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

use partune_mpi_abi::prototypes::{Fortran, Handle, Kind, Number, Parameter, Prototype, prototypes};

/// Handler, then the functions that it handles. The word before the handler is its kind in `wrap::Handler`.
const HANDLERS: &[(&str, &str, &str)] = &[
    ("Start", "init::init", "MPI_Init MPI_Init_thread"),
    ("Start", "init::session_init", "MPI_Session_init"),
    ("Finish", "init::finalize", "MPI_Finalize"),
    ("Finish", "init::session_finalize", "MPI_Session_finalize"),
    ("Finish", "abort::asked", "MPI_Abort"),
    ("Switch", "", "MPI_Pcontrol"),
    // Messages
    (
        "Tell",
        "p2p::send",
        "MPI_Send MPI_Bsend MPI_Rsend MPI_Ssend MPI_Isend MPI_Ibsend MPI_Irsend MPI_Issend \
         MPI_Send_init MPI_Bsend_init MPI_Rsend_init MPI_Ssend_init MPI_Psend_init",
    ),
    ("Keep", "p2p::ready", "MPI_Pready MPI_Pready_range MPI_Pready_list"),
    ("Tell", "p2p::recv", "MPI_Recv MPI_Irecv MPI_Recv_init MPI_Precv_init"),
    ("Keep", "p2p::mrecv", "MPI_Mrecv MPI_Imrecv"),
    ("Tell", "p2p::sendrecv", "MPI_Sendrecv MPI_Sendrecv_replace MPI_Isendrecv MPI_Isendrecv_replace"),
    ("Keep", "p2p::matched_probe", "MPI_Mprobe"),
    ("Poll", "p2p::matched_probe", "MPI_Improbe"),
    ("Poll", "wrap::plain", "MPI_Iprobe MPI_Parrived"),
    ("Tell", "p2p::start", "MPI_Start MPI_Startall"),
    // Completion
    ("Keep", "completion::one", "MPI_Wait"),
    ("Keep", "completion::all", "MPI_Waitall"),
    ("Keep", "completion::any", "MPI_Waitany"),
    ("Keep", "completion::some", "MPI_Waitsome"),
    ("Poll", "completion::one", "MPI_Test"),
    ("Poll", "completion::all", "MPI_Testall"),
    ("Poll", "completion::any", "MPI_Testany"),
    ("Poll", "completion::some", "MPI_Testsome"),
    ("Poll", "completion::get_status", "MPI_Request_get_status"),
    ("Poll", "wrap::plain", "MPI_Request_get_status_all MPI_Request_get_status_any MPI_Request_get_status_some"),
    ("Keep", "completion::cancel", "MPI_Cancel"),
    ("Keep", "completion::free", "MPI_Request_free"),
    // Collectives, each with its non-blocking and its persistent form
    ("Tell", "collective::barrier", "MPI_Barrier MPI_Ibarrier MPI_Barrier_init"),
    ("Tell", "collective::bcast", "MPI_Bcast MPI_Ibcast MPI_Bcast_init"),
    ("Tell", "collective::scatter", "MPI_Scatter MPI_Iscatter MPI_Scatter_init"),
    ("Tell", "collective::scatterv", "MPI_Scatterv MPI_Iscatterv MPI_Scatterv_init"),
    ("Tell", "collective::gather", "MPI_Gather MPI_Igather MPI_Gather_init"),
    ("Tell", "collective::gatherv", "MPI_Gatherv MPI_Igatherv MPI_Gatherv_init"),
    ("Tell", "collective::reduce", "MPI_Reduce MPI_Ireduce MPI_Reduce_init"),
    ("Tell", "collective::allgather", "MPI_Allgather MPI_Iallgather MPI_Allgather_init"),
    ("Tell", "collective::allgatherv", "MPI_Allgatherv MPI_Iallgatherv MPI_Allgatherv_init"),
    ("Tell", "collective::alltoall", "MPI_Alltoall MPI_Ialltoall MPI_Alltoall_init"),
    ("Tell", "collective::alltoallv", "MPI_Alltoallv MPI_Ialltoallv MPI_Alltoallv_init"),
    ("Tell", "collective::alltoallw", "MPI_Alltoallw MPI_Ialltoallw MPI_Alltoallw_init"),
    ("Tell", "collective::allreduce", "MPI_Allreduce MPI_Iallreduce MPI_Allreduce_init"),
    ("Tell", "collective::reduce_scatter", "MPI_Reduce_scatter MPI_Ireduce_scatter MPI_Reduce_scatter_init"),
    (
        "Tell",
        "collective::reduce_scatter_block",
        "MPI_Reduce_scatter_block MPI_Ireduce_scatter_block MPI_Reduce_scatter_block_init",
    ),
    ("Tell", "collective::scan", "MPI_Scan MPI_Iscan MPI_Scan_init"),
    ("Tell", "collective::exscan", "MPI_Exscan MPI_Iexscan MPI_Exscan_init"),
    (
        "Tell",
        "collective::neighbor_allgather",
        "MPI_Neighbor_allgather MPI_Ineighbor_allgather MPI_Neighbor_allgather_init",
    ),
    (
        "Tell",
        "collective::neighbor_allgatherv",
        "MPI_Neighbor_allgatherv MPI_Ineighbor_allgatherv MPI_Neighbor_allgatherv_init",
    ),
    (
        "Tell",
        "collective::neighbor_alltoall",
        "MPI_Neighbor_alltoall MPI_Ineighbor_alltoall MPI_Neighbor_alltoall_init",
    ),
    (
        "Tell",
        "collective::neighbor_alltoallv",
        "MPI_Neighbor_alltoallv MPI_Ineighbor_alltoallv MPI_Neighbor_alltoallv_init",
    ),
    (
        "Tell",
        "collective::neighbor_alltoallw",
        "MPI_Neighbor_alltoallw MPI_Ineighbor_alltoallw MPI_Neighbor_alltoallw_init",
    ),
    // Communicators
    (
        "Keep",
        "communicators::create",
        "MPI_Comm_create MPI_Comm_dup MPI_Comm_dup_with_info MPI_Comm_split MPI_Comm_split_type MPI_Cart_create MPI_Cart_sub \
         MPI_Graph_create MPI_Dist_graph_create MPI_Dist_graph_create_adjacent MPI_Intercomm_merge MPI_Comm_spawn \
         MPI_Comm_spawn_multiple MPI_Comm_accept MPI_Comm_connect",
    ),
    (
        "Keep",
        "communicators::create_among_members",
        "MPI_Comm_create_group MPI_Comm_create_from_group MPI_Intercomm_create MPI_Intercomm_create_from_groups \
         MPI_Comm_join MPIX_Comm_shrink",
    ),
    ("Keep", "communicators::duplicate", "MPI_Comm_idup MPI_Comm_idup_with_info"),
    ("Keep", "communicators::get_parent", "MPI_Comm_get_parent"),
    ("Keep", "communicators::free", "MPI_Comm_free MPI_Comm_disconnect"),
    ("Keep", "communicators::set_name", "MPI_Comm_set_name"),
    ("Keep", "types::free", "MPI_Type_free"),
    // Windows
    ("Keep", "rma::create", "MPI_Win_create"),
    ("Keep", "rma::create_dynamic", "MPI_Win_create_dynamic"),
    ("Keep", "rma::allocate", "MPI_Win_allocate"),
    ("Keep", "rma::allocate_shared", "MPI_Win_allocate_shared"),
    ("Keep", "rma::free", "MPI_Win_free"),
    ("Tell", "rma::put", "MPI_Put MPI_Rput"),
    ("Tell", "rma::get", "MPI_Get MPI_Rget"),
    ("Tell", "rma::accumulate", "MPI_Accumulate MPI_Raccumulate"),
    ("Tell", "rma::get_accumulate", "MPI_Get_accumulate MPI_Rget_accumulate"),
    ("Tell", "rma::fetch_and_op", "MPI_Fetch_and_op"),
    ("Tell", "rma::compare_and_swap", "MPI_Compare_and_swap"),
    ("Tell", "rma::fence", "MPI_Win_fence"),
    ("Keep", "rma::start", "MPI_Win_start"),
    ("Keep", "rma::complete", "MPI_Win_complete"),
    ("Keep", "rma::post", "MPI_Win_post"),
    ("Keep", "rma::wait", "MPI_Win_wait"),
    ("Poll", "rma::wait", "MPI_Win_test"),
    ("Tell", "rma::lock", "MPI_Win_lock MPI_Win_lock_all"),
    ("Tell", "rma::unlock", "MPI_Win_unlock MPI_Win_unlock_all"),
    ("Tell", "rma::flush", "MPI_Win_flush MPI_Win_flush_all"),
    ("Tell", "rma::flush_local", "MPI_Win_flush_local MPI_Win_flush_local_all"),
    // Files
    ("Keep", "files::open", "MPI_File_open"),
    ("Keep", "files::close", "MPI_File_close"),
    ("Tell", "files::set_view", "MPI_File_set_view"),
    (
        "Tell",
        "files::read",
        "MPI_File_read MPI_File_read_at MPI_File_read_ordered MPI_File_read_shared MPI_File_iread MPI_File_iread_at \
         MPI_File_iread_shared",
    ),
    (
        "Tell",
        "files::write",
        "MPI_File_write MPI_File_write_at MPI_File_write_ordered MPI_File_write_shared MPI_File_iwrite MPI_File_iwrite_at \
         MPI_File_iwrite_shared",
    ),
    ("Tell", "files::read_all", "MPI_File_read_all MPI_File_read_at_all MPI_File_iread_all MPI_File_iread_at_all"),
    ("Tell", "files::write_all", "MPI_File_write_all MPI_File_write_at_all MPI_File_iwrite_all MPI_File_iwrite_at_all"),
    ("Tell", "files::read_begin", "MPI_File_read_ordered_begin"),
    ("Tell", "files::write_begin", "MPI_File_write_ordered_begin"),
    ("Tell", "files::read_all_begin", "MPI_File_read_all_begin MPI_File_read_at_all_begin"),
    ("Tell", "files::write_all_begin", "MPI_File_write_all_begin MPI_File_write_at_all_begin"),
    (
        "Tell",
        "files::transfer_end",
        "MPI_File_read_all_end MPI_File_read_at_all_end MPI_File_read_ordered_end \
         MPI_File_write_all_end MPI_File_write_at_all_end MPI_File_write_ordered_end",
    ),
];

/// Functions whose C wrappers are compiled each on its own, with everything that they do inside: those that programs call most often.
const HOT: [&str; 15] = [
    "MPI_Send",
    "MPI_Ssend",
    "MPI_Isend",
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Sendrecv",
    "MPI_Start",
    "MPI_Startall",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Waitany",
    "MPI_Test",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Testsome",
];

/// The meaning of parameters by kind and name; the first that fits.
const PLACES: &[(&str, Kind, &str)] = &[
    ("Comm", Kind::Handle(Handle::Comm), "comm comm_old local_comm intercomm"),
    (
        "CommOut",
        Kind::Handles(Handle::Comm),
        "newcomm comm_cart comm_graph comm_dist_graph intercomm newintercomm newintracomm comm parent",
    ),
    ("Group", Kind::Handle(Handle::Group), "group"),
    ("Send", Kind::Buffer, "buf buffer sendbuf origin_addr"),
    ("Recv", Kind::Buffer, "recvbuf result_addr"),
    ("SendCount", Kind::Number(Number::Int), "count sendcount origin_count"),
    ("SendCount", Kind::Number(Number::Count), "count sendcount origin_count"),
    ("SendCounts", Kind::Numbers(Number::Int), "sendcounts"),
    ("SendCounts", Kind::Numbers(Number::Count), "sendcounts"),
    ("SendType", Kind::Handle(Handle::Datatype), "datatype sendtype origin_datatype"),
    ("SendTypes", Kind::Handles(Handle::Datatype), "sendtypes"),
    ("RecvCount", Kind::Number(Number::Int), "recvcount result_count"),
    ("RecvCount", Kind::Number(Number::Count), "recvcount result_count"),
    ("RecvCounts", Kind::Numbers(Number::Int), "recvcounts"),
    ("RecvCounts", Kind::Numbers(Number::Count), "recvcounts"),
    ("RecvType", Kind::Handle(Handle::Datatype), "recvtype result_datatype"),
    ("RecvTypes", Kind::Handles(Handle::Datatype), "recvtypes"),
    ("TargetDisplacement", Kind::Number(Number::Aint), "target_disp"),
    ("TargetType", Kind::Handle(Handle::Datatype), "target_datatype datatype"),
    ("Unit", Kind::Number(Number::Int), "disp_unit"),
    ("Unit", Kind::Number(Number::Aint), "disp_unit"),
    ("Partitions", Kind::Number(Number::Int), "partitions"),
    ("FirstReady", Kind::Number(Number::Int), "partition_low"),
    ("LastReady", Kind::Number(Number::Int), "partition_high"),
    ("Target", Kind::Number(Number::Int), "dest target_rank rank"),
    ("Source", Kind::Number(Number::Int), "source"),
    ("SendTag", Kind::Number(Number::Int), "tag sendtag"),
    ("RecvTag", Kind::Number(Number::Int), "recvtag"),
    ("Root", Kind::Number(Number::Int), "root"),
    ("Message", Kind::Handles(Handle::Message), "message"),
    ("Request", Kind::Handles(Handle::Request), "request"),
    ("Request", Kind::Handle(Handle::Request), "request"),
    ("Requests", Kind::Handles(Handle::Request), "array_of_requests"),
    ("Many", Kind::Number(Number::Int), "count incount length"),
    ("Index", Kind::Numbers(Number::Int), "index indx"),
    ("OutCount", Kind::Numbers(Number::Int), "outcount"),
    ("Indices", Kind::Numbers(Number::Int), "array_of_indices"),
    ("Flag", Kind::Numbers(Number::Int), "flag"),
    ("Status", Kind::Status, "status"),
    ("Statuses", Kind::Status, "array_of_statuses"),
    ("Win", Kind::Handle(Handle::Win), "win"),
    ("WinOut", Kind::Handles(Handle::Win), "win"),
    ("LockType", Kind::Number(Number::Int), "lock_type"),
    ("File", Kind::Handle(Handle::File), "fh"),
    ("FileOut", Kind::Handles(Handle::File), "fh"),
    ("Offset", Kind::Number(Number::Offset), "offset"),
    ("Text", Kind::Text, "filename comm_name"),
    ("Level", Kind::Number(Number::Int), "level"),
    ("Session", Kind::Handles(Handle::Session), "session"),
];

/// Functions whose Fortran form for `type(c_ptr)` has a name of its own.
const WITH_ADDRESS: [&str; 4] =
    ["MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let prototypes = prototypes();
    let mut code = String::new();
    let mut all = String::new();
    for prototype in prototypes.iter().filter(|prototype| is_wrapped(prototype)) {
        wrapper(&mut code, prototype);
        let stem = prototype.name.strip_suffix("_c").unwrap_or(prototype.name);
        let _ = write!(
            all,
            "(&{}_FUNCTION, \"{}\"), ",
            prototype.name.to_ascii_uppercase(),
            handler(stem, mode(prototype))
        );
    }
    let _ = writeln!(code, "#[cfg(test)] pub(crate) static ALL: &[(&Function, &str)] = &[{all}];");
    for name in HANDLERS.iter().flat_map(|(_, _, names)| names.split_whitespace()) {
        assert!(prototypes.iter().any(|prototype| prototype.name == name), "{name} is handled and no function of MPI");
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(folder.join("wrappers.rs"), code)
}

/// Not those of the tool interface, which tools call; nor what is a mere computation: handles to numbers, times, addresses.
fn is_wrapped(prototype: &Prototype) -> bool {
    let name = prototype.name;
    let computes = ["_c2f", "_f2c", "_toint", "_fromint", "_c2f08", "_f082c", "_f082f", "_f2f08"];
    prototype.returns == "int"
        && !name.starts_with("MPI_T_")
        && !name.starts_with("MPIX_Query_")
        && !computes.iter().any(|end| name.ends_with(end))
}

/// The function's facts, its wrapper in C, and those in Fortran.
fn wrapper(code: &mut String, prototype: &Prototype) {
    let Prototype { name, parameters, fortran, .. } = prototype;
    let parameters: Vec<_> = parameters.iter().filter(|parameter| parameter.kind != Kind::Variadic).collect();
    let in_c = parameters.len();
    // Fortran has no arguments of the command line.
    let is_init = name.starts_with("MPI_Init") && parameters.first().is_some_and(|first| first.name == "argc");
    let in_fortran = if is_init { in_c - 2 } else { in_c };
    let texts = parameters.iter().filter(|it| matches!(it.kind, Kind::Text | Kind::Texts)).count();
    let texts = if is_init { 0 } else { texts };

    let mut places = String::new();
    let mut wide = 0_u32;
    for (at, parameter) in parameters.iter().enumerate() {
        let found = PLACES.iter().filter(|(_, kind, names)| {
            *kind == parameter.kind && names.split_whitespace().any(|known| known == parameter.name)
        });
        for (place, ..) in found {
            let _ = write!(places, "(Place::{place}, {at}), ");
        }
        if let Kind::Number(number) | Kind::Numbers(number) = parameter.kind
            && !matches!(number, Number::Int | Number::Fint)
        {
            wide |= 1 << at;
        }
    }
    let stem = name.strip_suffix("_c").unwrap_or(name);
    // An extension that MPI took over is one with what became of it.
    let family = stem.strip_prefix("MPIX_").map_or_else(|| stem.to_owned(), |rest| format!("MPI_{rest}"));
    let mode = mode(prototype);
    let upper = name.to_ascii_uppercase();
    let _ = writeln!(
        code,
        "static {upper}_SIGNATURE: Signature = Signature {{ \
         mode: Mode::{mode}, places: places(&[{places}]), wide: {wide:#x}, fortran_parameters: {in_fortran} }};\n\
         static {upper}_FUNCTION: Function = Function::new(\"{name}\", \"{family}\", &{upper}_SIGNATURE);"
    );
    let handler = handler(stem, mode);
    let (arguments, words) = arguments(in_c);
    // What is done of a hot function's call, if everything about it is known.
    let (kind, act) = if HOT.contains(name) { known(stem).unzip() } else { (None, None) };
    let is_poll = kind == Some("Poll");
    let is_late = mode == "Blocking" && matches!(act, Some("p2p::send" | "p2p::sendrecv"));
    let body = |language: &str, words: &str, general: &str| {
        let general = format!("{general}, frame, &mut [{words}])");
        match act {
            // No closure, which the compiler would not inline.
            Some(act) => format!(
                "let frame = frame::here(); match wrap::known(&{upper}_FUNCTION, {name}_{language}, frame, &mut [{words}]) {{ \
                 Some(mut invocation) => {{ {act}(&mut invocation); invocation.leave() }} None => {general} }}"
            ),
            None => format!("let frame = frame::here(); {general}"),
        }
    };
    let form = |language: &str| match act {
        Some(_) => format!(
            "struct {name}_{language}; #[allow(clippy::inline_always)] impl Form for {name}_{language} {{ \
                 const IS_LATE: bool = {is_late}; const IS_POLL: bool = {is_poll}; \
                 #[inline(always)] fn signature(&self) -> &'static Signature {{ &{upper}_SIGNATURE }} \
                 #[inline(always)] fn language(&self) -> Language {{ Language::{language} }} }}\n"
        ),
        None => String::new(),
    };
    let c = body("C", &words, &format!("wrap::c(&{upper}_FUNCTION, {handler}"));
    let _ = writeln!(
        code,
        "{}#[unsafe(no_mangle)] pub unsafe extern \"C\" fn {name}({arguments}) -> c_int {{ unsafe {{ {c} }} }}",
        form("C")
    );
    let lower = name.to_ascii_lowercase();
    let mut spellings: Vec<(String, &str)> = Vec::new();
    if matches!(fortran, Fortran::Old | Fortran::Both) {
        let stems: &[&str] = if WITH_ADDRESS.contains(name) { &["", "_cptr"] } else { &[""] };
        for end in stems {
            let end_of_all = ["", "_", "__"];
            spellings.extend(end_of_all.iter().map(|tail| (format!("{lower}{end}{tail}"), "Fortran")));
            spellings.push((format!("{upper}{}", end.to_ascii_uppercase()), "Fortran"));
        }
    }
    if matches!(fortran, Fortran::F08 | Fortran::Both) && !name.ends_with("_c") {
        spellings.push((format!("{lower}_f08_"), "F08"));
    }
    // After the parameters, the error code and the lengths of texts.
    let (arguments, words) = self::arguments(in_fortran + 1 + texts);
    code.extend(["Fortran", "F08"].map(form));
    for (spelling, language) in spellings {
        let general = format!("wrap::fortran(&{upper}_FUNCTION, {handler}, Language::{language}");
        let body = body(language, &words, &general);
        let _ = writeln!(
            code,
            "#[unsafe(no_mangle)] pub unsafe extern \"C\" fn {spelling}({arguments}) {{ unsafe {{ {body}; }} }}"
        );
    }
}

/// Kind of a function's handler, and the handler.
fn known(stem: &str) -> Option<(&'static str, &'static str)> {
    let of = |stem: &str| HANDLERS.iter().find(|(_, _, names)| names.split_whitespace().any(|name| name == stem));
    // The extensions that MPI took over are handled as what they became.
    let (kind, act, _) = of(stem).or_else(|| of(&format!("MPI_{}", stem.strip_prefix("MPIX_")?)))?;
    Some((kind, act))
}

/// When its operation is complete.
fn mode(prototype: &Prototype) -> &'static str {
    let is_made = |it: &Parameter| it.kind == Kind::Handles(Handle::Request) && it.name == "request";
    let stem = prototype.name.strip_suffix("_c").unwrap_or(prototype.name);
    match (prototype.parameters.iter().any(is_made), stem.ends_with("_init")) {
        (false, _) => "Blocking",
        (true, false) => "NonBlocking",
        (true, true) => "Persistent",
    }
}

fn handler(stem: &str, mode: &str) -> String {
    match known(stem) {
        // A persistent request is made once and started whenever: it has to be known then.
        Some(("Tell", act)) if mode == "Persistent" => format!("Handler::Keep({act})"),
        Some((kind, "")) => format!("Handler::{kind}"),
        Some((kind, act)) => format!("Handler::{kind}({act})"),
        None => "Handler::Plain".to_owned(),
    }
}

/// `a0: usize, a1: usize` and `a0, a1`.
fn arguments(count: usize) -> (String, String) {
    let list = |end: &str| (0..count).map(|index| format!("a{index}{end}")).collect::<Vec<_>>().join(", ");
    (list(": usize"), list(""))
}
