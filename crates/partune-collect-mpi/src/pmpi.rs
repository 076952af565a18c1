//! MPI functions that the recorder itself calls, under their profiling names.
//!
//! Arguments are words: handles, numbers and addresses of what is written. A function that the library lacks fails like one that
//! returned an error.

use std::ffi::c_int;

use crate::function::Real;

/// What a function of ours returns if the library has none: no error code of MPI.
pub(crate) const MISSING: c_int = -1;

macro_rules! pmpi {
    ($($(#[$doc:meta])* $name:ident($($argument:ident),*) -> $result:ty, $missing:expr, $symbol:literal;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// As the function of MPI wants it.
        pub(crate) unsafe fn $name($($argument: usize),*) -> $result {
            static REAL: Real = Real::new();
            match REAL.of_c(concat!("MPI_", $symbol)) {
                // SAFETY: every argument is of class integer, as the declaration of the function.
                Some(real) => unsafe {
                    let function: unsafe extern "C" fn($(pmpi!(@word $argument)),*) -> $result = std::mem::transmute(real);
                    function($($argument),*)
                },
                None => $missing,
            }
        }
    )*};
    (@word $argument:ident) => { usize };
}

pmpi! {
    get_library_version(text, length) -> c_int, MISSING, "Get_library_version";
    error_class(code, class) -> c_int, MISSING, "Error_class";
    comm_rank(comm, rank) -> c_int, MISSING, "Comm_rank";
    comm_size(comm, size) -> c_int, MISSING, "Comm_size";
    comm_remote_size(comm, size) -> c_int, MISSING, "Comm_remote_size";
    comm_test_inter(comm, flag) -> c_int, MISSING, "Comm_test_inter";
    comm_group(comm, group) -> c_int, MISSING, "Comm_group";
    comm_get_parent(parent) -> c_int, MISSING, "Comm_get_parent";
    comm_remote_group(comm, group) -> c_int, MISSING, "Comm_remote_group";
    topo_test(comm, kind) -> c_int, MISSING, "Topo_test";
    cartdim_get(comm, dimensions) -> c_int, MISSING, "Cartdim_get";
    cart_shift(comm, direction, displacement, source, target) -> c_int, MISSING, "Cart_shift";
    dist_graph_neighbors_count(comm, sources, targets, weighted) -> c_int, MISSING, "Dist_graph_neighbors_count";
    dist_graph_neighbors(comm, most_sources, sources, of_sources, most_targets, targets, of_targets) -> c_int, MISSING, "Dist_graph_neighbors";
    graph_neighbors_count(comm, rank, neighbours) -> c_int, MISSING, "Graph_neighbors_count";
    graph_neighbors(comm, rank, most, neighbours) -> c_int, MISSING, "Graph_neighbors";
    comm_dup(comm, new) -> c_int, MISSING, "Comm_dup";
    comm_free(comm) -> c_int, MISSING, "Comm_free";
    group_rank(group, rank) -> c_int, MISSING, "Group_rank";
    group_size(group, size) -> c_int, MISSING, "Group_size";
    group_translate_ranks(group, count, ranks, other, translated) -> c_int, MISSING, "Group_translate_ranks";
    group_free(group) -> c_int, MISSING, "Group_free";
    group_from_session_pset(session, name, group) -> c_int, MISSING, "Group_from_session_pset";
    type_size(datatype, size) -> c_int, MISSING, "Type_size";
    type_size_x(datatype, size) -> c_int, MISSING, "Type_size_x";
    type_get_extent(datatype, lower, extent) -> c_int, MISSING, "Type_get_extent";
    type_get_true_extent(datatype, lower, extent) -> c_int, MISSING, "Type_get_true_extent";
    get_elements_x(status, datatype, count) -> c_int, MISSING, "Get_elements_x";
    test_cancelled(status, flag) -> c_int, MISSING, "Test_cancelled";
    allreduce(send, recv, count, datatype, op, comm) -> c_int, MISSING, "Allreduce";
    iallreduce(send, recv, count, datatype, op, comm, request) -> c_int, MISSING, "Iallreduce";
    test(request, flag, status) -> c_int, MISSING, "Test";
    send(buffer, count, datatype, target, tag, comm) -> c_int, MISSING, "Send";
    recv(buffer, count, datatype, source, tag, comm, status) -> c_int, MISSING, "Recv";
    /// Zero if the library has none: no handle.
    comm_f2c(comm) -> usize, 0, "Comm_f2c";
    group_f2c(group) -> usize, 0, "Group_f2c";
    type_f2c(datatype) -> usize, 0, "Type_f2c";
    request_f2c(request) -> usize, 0, "Request_f2c";
    message_f2c(message) -> usize, 0, "Message_f2c";
    win_f2c(win) -> usize, 0, "Win_f2c";
    file_f2c(file) -> usize, 0, "File_f2c";
    session_f2c(session) -> usize, 0, "Session_f2c";
}
