//! MPI 1 to 5: every function of the C binding, in all spellings of C and Fortran, and the extensions that implementations export.
//!
//! One row is one function; its large-count form (`MPI_Send_c`) and its Fortran forms are spellings of the row. Written from the
//! interfaces of the MPI standard; the tests hold the table against what installed MPI libraries export.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub static MPI: Paradigm = Paradigm {
    name: "MPI",
    aliases: &["mpiio"],
    class: Class::Processes,
    otf2: Some(4),
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted: recognise,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));
static FOLDED: LazyLock<Names> = LazyLock::new(|| Names::folded(CONSTRUCTS));

/// What the bindings append to a Fortran name, from the outside in.
const FORTRAN_SUFFIXES: [&str; 7] = ["_large", "_f08ts", "_f08", "_f90", "_f", "_cptr", "_c"];

/// `MPI_Send`, `PMPI_Send`, `MPI_Send_c`, `MPI_SEND`, `mpi_send`, `mpi_send_`, `mpi_send__`, `mpi_send_f08_`,
/// `mpi_send_f08ts_large_`, and each with `p`. Any other mixture of cases is a user's name.
fn recognise(name: &str) -> Option<&'static Construct> {
    let name = name.strip_prefix(['P', 'p']).filter(|rest| is_mpi(rest)).unwrap_or(name);
    if !is_mpi(name) {
        return None;
    }
    if let Some(construct) = c(name) {
        return Some(construct);
    }
    if name.bytes().any(|b| b.is_ascii_uppercase()) && name.bytes().any(|b| b.is_ascii_lowercase()) {
        return None;
    }
    fortran(&name.to_ascii_lowercase())
}

fn is_mpi(name: &str) -> bool {
    ["MPI_", "mpi_", "MPIX_", "mpix_"].iter().any(|prefix| name.starts_with(prefix))
}

/// A name of the C binding.
fn c(name: &str) -> Option<&'static Construct> {
    let known = |name| EXACT.get(name);
    known(name)
        .or_else(|| {
            let stem = ["_f08", "_f"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
            known(stem).or_else(|| known(stem.strip_suffix("_c").or_else(|| stem.strip_suffix("_cptr"))?))
        })
        .or_else(|| c(&format!("MPI_{}", name.strip_prefix("MPIX_")?)))
}

/// A name of a Fortran binding, in lower case.
fn fortran(name: &str) -> Option<&'static Construct> {
    let name = name.strip_suffix("__").or_else(|| name.strip_suffix('_')).unwrap_or(name);
    if name.starts_with("mpi_sizeof_") {
        // One instance a type and rank.
        return FOLDED.get("mpi_sizeof");
    }
    let mut stem = name;
    for suffix in FORTRAN_SUFFIXES {
        if let Some(construct) = FOLDED.get(stem) {
            return Some(construct);
        }
        stem = stem.strip_suffix(suffix).unwrap_or(stem);
    }
    FOLDED.get(stem).or_else(|| fortran(&format!("mpi_{}", name.strip_prefix("mpix_")?)))
}

static CONSTRUCTS: &[Construct] = constructs! {
    // Start-up and shut-down: a session is local, it makes nobody wait
    "MPI_Init" => Init;
    "MPI_Init_thread" => Init;
    "MPI_Finalize" => Finalize;
    "MPI_Initialized" => Inquiry;
    "MPI_Finalized" => Inquiry;
    "MPI_Query_thread" => Inquiry;
    "MPI_Is_thread_main" => Inquiry;
    "MPI_Abort" => Management;
    "MPI_Session_init" => Init of Own;
    "MPI_Session_finalize" => Finalize of Own;
    "MPI_Session_get_info" => Inquiry;
    "MPI_Session_get_nth_pset" => Inquiry;
    "MPI_Session_get_num_psets" => Inquiry;
    "MPI_Session_get_pset_info" => Inquiry;
    "MPI_Session_get_errhandler" => Inquiry;
    "MPI_Pcontrol" => Management;
    // Point to point
    "MPI_Send" => Send;
    "MPI_Rsend" => Send;
    "MPI_Ssend" => Send, Synchronous;
    "MPI_Bsend" => Send, Buffered;
    "MPI_Isend" => Send, NonBlocking;
    "MPI_Irsend" => Send, NonBlocking;
    "MPI_Issend" => Send, NonBlocking;
    "MPI_Ibsend" => Send, NonBlocking;
    "MPI_Recv" => Recv;
    "MPI_Mrecv" => Recv;
    "MPI_Irecv" => Recv, NonBlocking;
    "MPI_Imrecv" => Recv, NonBlocking;
    "MPI_Sendrecv" => SendRecv;
    "MPI_Sendrecv_replace" => SendRecv;
    "MPI_Isendrecv" => SendRecv, NonBlocking;
    "MPI_Isendrecv_replace" => SendRecv, NonBlocking;
    "MPI_Probe" => Probe;
    "MPI_Mprobe" => Probe;
    "MPI_Iprobe" => Probe, NonBlocking;
    "MPI_Improbe" => Probe, NonBlocking;
    // Persistent and partitioned: starting one begins sends, receives or collectives and never waits; the records inside say which, and who
    // takes part
    "MPI_Send_init" => Send, Persistent;
    "MPI_Rsend_init" => Send, Persistent;
    "MPI_Ssend_init" => Send, Persistent;
    "MPI_Bsend_init" => Send, Persistent;
    "MPI_Psend_init" => Send, Persistent;
    "MPI_Recv_init" => Recv, Persistent;
    "MPI_Precv_init" => Recv, Persistent;
    "MPI_Start" => SendRecv, NonBlocking of Own;
    "MPI_Startall" => SendRecv, NonBlocking of Own;
    "MPI_Pready" => Send, NonBlocking;
    "MPI_Pready_range" => Send, NonBlocking;
    "MPI_Pready_list" => Send, NonBlocking;
    "MPI_Parrived" => CommSync, NonBlocking;
    // Completion: a test that frees nothing is a test too
    "MPI_Wait" => CommSync;
    "MPI_Waitall" => CommSync;
    "MPI_Waitany" => CommSync;
    "MPI_Waitsome" => CommSync;
    "MPI_Test" => CommSync, NonBlocking;
    "MPI_Testall" => CommSync, NonBlocking;
    "MPI_Testany" => CommSync, NonBlocking;
    "MPI_Testsome" => CommSync, NonBlocking;
    "MPI_Request_get_status" => CommSync, NonBlocking;
    "MPI_Request_get_status_all" => CommSync, NonBlocking;
    "MPI_Request_get_status_any" => CommSync, NonBlocking;
    "MPI_Request_get_status_some" => CommSync, NonBlocking;
    "MPI_Request_free" => Management;
    "MPI_Cancel" => Management;
    "MPI_Grequest_start" => Management;
    "MPI_Grequest_complete" => Management;
    "MPI_Test_cancelled" => Inquiry;
    // Buffers of buffered sends: detaching and flushing wait until the messages have left
    "MPI_Buffer_attach" => Management;
    "MPI_Comm_attach_buffer" => Management;
    "MPI_Session_attach_buffer" => Management;
    "MPI_Buffer_detach" => CommSync;
    "MPI_Comm_detach_buffer" => CommSync;
    "MPI_Session_detach_buffer" => CommSync;
    "MPI_Buffer_flush" => CommSync;
    "MPI_Comm_flush_buffer" => CommSync;
    "MPI_Session_flush_buffer" => CommSync;
    "MPI_Buffer_iflush" => CommSync, NonBlocking;
    "MPI_Comm_iflush_buffer" => CommSync, NonBlocking;
    "MPI_Session_iflush_buffer" => CommSync, NonBlocking;
    // Status
    "MPI_Get_count" => Inquiry;
    "MPI_Get_elements" => Inquiry;
    "MPI_Get_elements_x" => Inquiry;
    "MPI_Status_get_error" => Inquiry;
    "MPI_Status_get_source" => Inquiry;
    "MPI_Status_get_tag" => Inquiry;
    "MPI_Status_set_cancelled" => Management;
    "MPI_Status_set_elements" => Management;
    "MPI_Status_set_elements_x" => Management;
    "MPI_Status_set_error" => Management;
    "MPI_Status_set_source" => Management;
    "MPI_Status_set_tag" => Management;
    // Barriers: a non-blocking one is the first half of a split-phase barrier, its completion the second
    "MPI_Barrier" => GroupSync;
    "MPI_Ibarrier" => GroupNotify, NonBlocking;
    "MPI_Barrier_init" => GroupNotify, Persistent;
    // Collectives, one to all
    "MPI_Bcast" => OneToAll;
    "MPI_Scatter" => OneToAll;
    "MPI_Scatterv" => OneToAll;
    "MPI_Ibcast" => OneToAll, NonBlocking;
    "MPI_Iscatter" => OneToAll, NonBlocking;
    "MPI_Iscatterv" => OneToAll, NonBlocking;
    "MPI_Bcast_init" => OneToAll, Persistent;
    "MPI_Scatter_init" => OneToAll, Persistent;
    "MPI_Scatterv_init" => OneToAll, Persistent;
    // Collectives, all to one
    "MPI_Reduce" => AllToOne;
    "MPI_Gather" => AllToOne;
    "MPI_Gatherv" => AllToOne;
    "MPI_Ireduce" => AllToOne, NonBlocking;
    "MPI_Igather" => AllToOne, NonBlocking;
    "MPI_Igatherv" => AllToOne, NonBlocking;
    "MPI_Reduce_init" => AllToOne, Persistent;
    "MPI_Gather_init" => AllToOne, Persistent;
    "MPI_Gatherv_init" => AllToOne, Persistent;
    // Collectives, all to all
    "MPI_Allreduce" => AllToAll;
    "MPI_Allgather" => AllToAll;
    "MPI_Allgatherv" => AllToAll;
    "MPI_Alltoall" => AllToAll;
    "MPI_Alltoallv" => AllToAll;
    "MPI_Alltoallw" => AllToAll;
    "MPI_Reduce_scatter" => AllToAll;
    "MPI_Reduce_scatter_block" => AllToAll;
    "MPI_Iallreduce" => AllToAll, NonBlocking;
    "MPI_Iallgather" => AllToAll, NonBlocking;
    "MPI_Iallgatherv" => AllToAll, NonBlocking;
    "MPI_Ialltoall" => AllToAll, NonBlocking;
    "MPI_Ialltoallv" => AllToAll, NonBlocking;
    "MPI_Ialltoallw" => AllToAll, NonBlocking;
    "MPI_Ireduce_scatter" => AllToAll, NonBlocking;
    "MPI_Ireduce_scatter_block" => AllToAll, NonBlocking;
    "MPI_Allreduce_init" => AllToAll, Persistent;
    "MPI_Allgather_init" => AllToAll, Persistent;
    "MPI_Allgatherv_init" => AllToAll, Persistent;
    "MPI_Alltoall_init" => AllToAll, Persistent;
    "MPI_Alltoallv_init" => AllToAll, Persistent;
    "MPI_Alltoallw_init" => AllToAll, Persistent;
    "MPI_Reduce_scatter_init" => AllToAll, Persistent;
    "MPI_Reduce_scatter_block_init" => AllToAll, Persistent;
    // Collectives on neighbourhoods: messages to and from some, and nobody waits for the others
    "MPI_Neighbor_allgather" => SendRecv;
    "MPI_Neighbor_allgatherv" => SendRecv;
    "MPI_Neighbor_alltoall" => SendRecv;
    "MPI_Neighbor_alltoallv" => SendRecv;
    "MPI_Neighbor_alltoallw" => SendRecv;
    "MPI_Ineighbor_allgather" => SendRecv, NonBlocking;
    "MPI_Ineighbor_allgatherv" => SendRecv, NonBlocking;
    "MPI_Ineighbor_alltoall" => SendRecv, NonBlocking;
    "MPI_Ineighbor_alltoallv" => SendRecv, NonBlocking;
    "MPI_Ineighbor_alltoallw" => SendRecv, NonBlocking;
    "MPI_Neighbor_allgather_init" => SendRecv, Persistent;
    "MPI_Neighbor_allgatherv_init" => SendRecv, Persistent;
    "MPI_Neighbor_alltoall_init" => SendRecv, Persistent;
    "MPI_Neighbor_alltoallv_init" => SendRecv, Persistent;
    "MPI_Neighbor_alltoallw_init" => SendRecv, Persistent;
    // Collectives, prefix
    "MPI_Scan" => Scan;
    "MPI_Exscan" => Scan;
    "MPI_Iscan" => Scan, NonBlocking;
    "MPI_Iexscan" => Scan, NonBlocking;
    "MPI_Scan_init" => Scan, Persistent;
    "MPI_Exscan_init" => Scan, Persistent;
    // Reduction operations
    "MPI_Reduce_local" => Management;
    "MPI_Op_create" => Management;
    "MPI_Op_free" => Management;
    "MPI_Op_commutative" => Inquiry;
    // Communicators
    "MPI_Comm_create" => GlobalAlloc;
    "MPI_Comm_create_group" => GlobalAlloc;
    "MPI_Comm_create_from_group" => GlobalAlloc;
    "MPI_Comm_dup" => GlobalAlloc;
    "MPI_Comm_dup_with_info" => GlobalAlloc;
    "MPI_Comm_split" => GlobalAlloc;
    "MPI_Comm_split_type" => GlobalAlloc;
    "MPI_Comm_free" => GlobalAlloc;
    "MPI_Comm_disconnect" => GlobalAlloc;
    "MPI_Comm_idup" => GlobalAlloc, NonBlocking;
    "MPI_Comm_idup_with_info" => GlobalAlloc, NonBlocking;
    "MPI_Intercomm_create" => GlobalAlloc;
    "MPI_Intercomm_create_from_groups" => GlobalAlloc;
    "MPI_Intercomm_merge" => GlobalAlloc;
    "MPI_Comm_accept" => GlobalAlloc;
    "MPI_Comm_connect" => GlobalAlloc;
    "MPI_Comm_join" => GlobalAlloc;
    "MPI_Comm_compare" => Inquiry;
    "MPI_Comm_get_info" => Inquiry;
    "MPI_Comm_get_name" => Inquiry;
    "MPI_Comm_get_parent" => Inquiry;
    "MPI_Comm_group" => Inquiry;
    "MPI_Comm_rank" => Inquiry;
    "MPI_Comm_remote_group" => Inquiry;
    "MPI_Comm_remote_size" => Inquiry;
    "MPI_Comm_size" => Inquiry;
    "MPI_Comm_test_inter" => Inquiry;
    "MPI_Comm_set_info" => Management;
    "MPI_Comm_set_name" => Management;
    // Processes
    "MPI_Comm_spawn" => PeManagement;
    "MPI_Comm_spawn_multiple" => PeManagement;
    "MPI_Open_port" => Management;
    "MPI_Close_port" => Management;
    "MPI_Publish_name" => Management;
    "MPI_Unpublish_name" => Management;
    "MPI_Lookup_name" => Management;
    // Topologies
    "MPI_Cart_create" => GlobalAlloc;
    "MPI_Cart_sub" => GlobalAlloc;
    "MPI_Graph_create" => GlobalAlloc;
    "MPI_Dist_graph_create" => GlobalAlloc;
    "MPI_Dist_graph_create_adjacent" => GlobalAlloc;
    "MPI_Cart_coords" => Inquiry;
    "MPI_Cart_get" => Inquiry;
    "MPI_Cart_map" => Inquiry;
    "MPI_Cart_rank" => Inquiry;
    "MPI_Cart_shift" => Inquiry;
    "MPI_Cartdim_get" => Inquiry;
    "MPI_Dims_create" => Inquiry;
    "MPI_Dist_graph_neighbors" => Inquiry;
    "MPI_Dist_graph_neighbors_count" => Inquiry;
    "MPI_Graph_get" => Inquiry;
    "MPI_Graph_map" => Inquiry;
    "MPI_Graph_neighbors" => Inquiry;
    "MPI_Graph_neighbors_count" => Inquiry;
    "MPI_Graphdims_get" => Inquiry;
    "MPI_Topo_test" => Inquiry;
    // Groups
    "MPI_Group_compare" => Inquiry;
    "MPI_Group_rank" => Inquiry;
    "MPI_Group_size" => Inquiry;
    "MPI_Group_translate_ranks" => Inquiry;
    "MPI_Group_difference" => Management;
    "MPI_Group_excl" => Management;
    "MPI_Group_free" => Management;
    "MPI_Group_from_session_pset" => Management;
    "MPI_Group_incl" => Management;
    "MPI_Group_intersection" => Management;
    "MPI_Group_range_excl" => Management;
    "MPI_Group_range_incl" => Management;
    "MPI_Group_union" => Management;
    // Windows
    "MPI_Win_create" => GlobalAlloc;
    "MPI_Win_create_dynamic" => GlobalAlloc;
    "MPI_Win_allocate" => GlobalAlloc;
    "MPI_Win_allocate_shared" => GlobalAlloc;
    "MPI_Win_free" => GlobalAlloc;
    "MPI_Win_attach" => Management;
    "MPI_Win_detach" => Management;
    "MPI_Win_set_info" => Management;
    "MPI_Win_set_name" => Management;
    "MPI_Win_get_group" => Inquiry;
    "MPI_Win_get_info" => Inquiry;
    "MPI_Win_get_name" => Inquiry;
    "MPI_Win_shared_query" => Inquiry;
    // Access to windows: none of them waits, an operation on the window or the request completes them
    "MPI_Put" => Put, NonBlocking;
    "MPI_Rput" => Put, NonBlocking;
    "MPI_Accumulate" => Put, NonBlocking;
    "MPI_Raccumulate" => Put, NonBlocking;
    "MPI_Get" => Get, NonBlocking;
    "MPI_Rget" => Get, NonBlocking;
    "MPI_Get_accumulate" => Atomic, NonBlocking;
    "MPI_Rget_accumulate" => Atomic, NonBlocking;
    "MPI_Fetch_and_op" => Atomic, NonBlocking;
    "MPI_Compare_and_swap" => Atomic, NonBlocking;
    // Synchronisation of windows
    "MPI_Win_fence" => RmaGroupSync;
    "MPI_Win_post" => RmaPost, NonBlocking;
    "MPI_Win_start" => RmaStart;
    "MPI_Win_complete" => RmaComplete;
    "MPI_Win_wait" => RmaWait;
    "MPI_Win_test" => RmaWait, NonBlocking;
    "MPI_Win_lock" => LockAcquire;
    "MPI_Win_lock_all" => LockAcquire;
    "MPI_Win_unlock" => LockRelease;
    "MPI_Win_unlock_all" => LockRelease;
    "MPI_Win_flush" => CommSync;
    "MPI_Win_flush_all" => CommSync;
    "MPI_Win_flush_local" => CommSync;
    "MPI_Win_flush_local_all" => CommSync;
    "MPI_Win_sync" => CommSync;
    // Files: what asks the library only is an inquiry, what may ask the file system is not. Who opened a file accesses it together
    "MPI_File_open" => GlobalAlloc;
    "MPI_File_close" => GlobalAlloc;
    "MPI_File_iread" => Io, NonBlocking;
    "MPI_File_iread_all" => Io, NonBlocking of Group;
    "MPI_File_iread_at" => Io, NonBlocking;
    "MPI_File_iread_at_all" => Io, NonBlocking of Group;
    "MPI_File_iread_shared" => Io, NonBlocking;
    "MPI_File_iwrite" => Io, NonBlocking;
    "MPI_File_iwrite_all" => Io, NonBlocking of Group;
    "MPI_File_iwrite_at" => Io, NonBlocking;
    "MPI_File_iwrite_at_all" => Io, NonBlocking of Group;
    "MPI_File_iwrite_shared" => Io, NonBlocking;
    "MPI_File_read_all_begin" => Io, NonBlocking of Group;
    "MPI_File_read_at_all_begin" => Io, NonBlocking of Group;
    "MPI_File_read_ordered_begin" => Io, NonBlocking;
    "MPI_File_write_all_begin" => Io, NonBlocking of Group;
    "MPI_File_write_at_all_begin" => Io, NonBlocking of Group;
    "MPI_File_write_ordered_begin" => Io, NonBlocking;
    "MPI_File_read" => Io;
    "MPI_File_read_all" => Io of Group;
    "MPI_File_read_all_end" => Io of Group;
    "MPI_File_read_at" => Io;
    "MPI_File_read_at_all" => Io of Group;
    "MPI_File_read_at_all_end" => Io of Group;
    "MPI_File_read_ordered" => Io;
    "MPI_File_read_ordered_end" => Io;
    "MPI_File_read_shared" => Io;
    "MPI_File_write" => Io;
    "MPI_File_write_all" => Io of Group;
    "MPI_File_write_all_end" => Io of Group;
    "MPI_File_write_at" => Io;
    "MPI_File_write_at_all" => Io of Group;
    "MPI_File_write_at_all_end" => Io of Group;
    "MPI_File_write_ordered" => Io;
    "MPI_File_write_ordered_end" => Io;
    "MPI_File_write_shared" => Io;
    "MPI_File_delete" => Io;
    "MPI_File_get_position_shared" => Io;
    "MPI_File_get_size" => Io;
    "MPI_File_preallocate" => Io;
    "MPI_File_seek" => Io;
    "MPI_File_seek_shared" => Io;
    "MPI_File_set_atomicity" => Io;
    "MPI_File_set_size" => Io;
    "MPI_File_set_view" => Io;
    "MPI_File_sync" => Io;
    "MPI_File_get_amode" => Inquiry;
    "MPI_File_get_atomicity" => Inquiry;
    "MPI_File_get_byte_offset" => Inquiry;
    "MPI_File_get_group" => Inquiry;
    "MPI_File_get_info" => Inquiry;
    "MPI_File_get_position" => Inquiry;
    "MPI_File_get_type_extent" => Inquiry;
    "MPI_File_get_view" => Inquiry;
    "MPI_File_set_info" => Management;
    "MPI_Register_datarep" => Management;
    // Datatypes
    "MPI_Sizeof" => Inquiry;
    "MPI_Type_extent" => Inquiry;
    "MPI_Type_get_contents" => Inquiry;
    "MPI_Type_get_envelope" => Inquiry;
    "MPI_Type_get_extent" => Inquiry;
    "MPI_Type_get_extent_x" => Inquiry;
    "MPI_Type_get_name" => Inquiry;
    "MPI_Type_get_true_extent" => Inquiry;
    "MPI_Type_get_true_extent_x" => Inquiry;
    "MPI_Type_get_value_index" => Inquiry;
    "MPI_Type_lb" => Inquiry;
    "MPI_Type_match_size" => Inquiry;
    "MPI_Type_size" => Inquiry;
    "MPI_Type_size_x" => Inquiry;
    "MPI_Type_ub" => Inquiry;
    "MPI_Type_commit" => Management;
    "MPI_Type_contiguous" => Management;
    "MPI_Type_create_darray" => Management;
    "MPI_Type_create_f90_complex" => Management;
    "MPI_Type_create_f90_integer" => Management;
    "MPI_Type_create_f90_real" => Management;
    "MPI_Type_create_hindexed" => Management;
    "MPI_Type_create_hindexed_block" => Management;
    "MPI_Type_create_hvector" => Management;
    "MPI_Type_create_indexed_block" => Management;
    "MPI_Type_create_resized" => Management;
    "MPI_Type_create_struct" => Management;
    "MPI_Type_create_subarray" => Management;
    "MPI_Type_dup" => Management;
    "MPI_Type_free" => Management;
    "MPI_Type_hindexed" => Management;
    "MPI_Type_hvector" => Management;
    "MPI_Type_indexed" => Management;
    "MPI_Type_set_name" => Management;
    "MPI_Type_struct" => Management;
    "MPI_Type_vector" => Management;
    "MPI_Pack_size" => Inquiry;
    "MPI_Pack_external_size" => Inquiry;
    "MPI_Pack" => Management;
    "MPI_Unpack" => Management;
    "MPI_Pack_external" => Management;
    "MPI_Unpack_external" => Management;
    // Memory and addresses
    "MPI_Alloc_mem" => Management;
    "MPI_Free_mem" => Management;
    "MPI_F_sync_reg" => Management;
    "MPI_Address" => Inquiry;
    "MPI_Get_address" => Inquiry;
    "MPI_Aint_add" => Inquiry;
    "MPI_Aint_diff" => Inquiry;
    // Attributes
    "MPI_Attr_get" => Inquiry;
    "MPI_Comm_get_attr" => Inquiry;
    "MPI_Type_get_attr" => Inquiry;
    "MPI_Win_get_attr" => Inquiry;
    "MPI_Attr_delete" => Management;
    "MPI_Attr_put" => Management;
    "MPI_Comm_create_keyval" => Management;
    "MPI_Comm_delete_attr" => Management;
    "MPI_Comm_free_keyval" => Management;
    "MPI_Comm_set_attr" => Management;
    "MPI_Keyval_create" => Management;
    "MPI_Keyval_free" => Management;
    "MPI_Type_create_keyval" => Management;
    "MPI_Type_delete_attr" => Management;
    "MPI_Type_free_keyval" => Management;
    "MPI_Type_set_attr" => Management;
    "MPI_Win_create_keyval" => Management;
    "MPI_Win_delete_attr" => Management;
    "MPI_Win_free_keyval" => Management;
    "MPI_Win_set_attr" => Management;
    // Info objects
    "MPI_Info_get" => Inquiry;
    "MPI_Info_get_nkeys" => Inquiry;
    "MPI_Info_get_nthkey" => Inquiry;
    "MPI_Info_get_string" => Inquiry;
    "MPI_Info_get_valuelen" => Inquiry;
    "MPI_Info_create" => Management;
    "MPI_Info_create_env" => Management;
    "MPI_Info_delete" => Management;
    "MPI_Info_dup" => Management;
    "MPI_Info_free" => Management;
    "MPI_Info_set" => Management;
    // Errors
    "MPI_Comm_get_errhandler" => Inquiry;
    "MPI_Errhandler_get" => Inquiry;
    "MPI_Error_class" => Inquiry;
    "MPI_Error_string" => Inquiry;
    "MPI_File_get_errhandler" => Inquiry;
    "MPI_Win_get_errhandler" => Inquiry;
    "MPI_Add_error_class" => Management;
    "MPI_Add_error_code" => Management;
    "MPI_Add_error_string" => Management;
    "MPI_Comm_call_errhandler" => Management;
    "MPI_Comm_create_errhandler" => Management;
    "MPI_Comm_set_errhandler" => Management;
    "MPI_Errhandler_create" => Management;
    "MPI_Errhandler_free" => Management;
    "MPI_Errhandler_set" => Management;
    "MPI_File_call_errhandler" => Management;
    "MPI_File_create_errhandler" => Management;
    "MPI_File_set_errhandler" => Management;
    "MPI_Remove_error_class" => Management;
    "MPI_Delete_error_class" => Management;
    "MPI_Remove_error_code" => Management;
    "MPI_Delete_error_code" => Management;
    "MPI_Remove_error_string" => Management;
    "MPI_Delete_error_string" => Management;
    "MPI_Session_call_errhandler" => Management;
    "MPI_Session_create_errhandler" => Management;
    "MPI_Session_set_errhandler" => Management;
    "MPI_Win_call_errhandler" => Management;
    "MPI_Win_create_errhandler" => Management;
    "MPI_Win_set_errhandler" => Management;
    // Environment
    "MPI_Get_version" => Inquiry;
    "MPI_Get_library_version" => Inquiry;
    "MPI_Get_processor_name" => Inquiry;
    "MPI_Get_hw_resource_info" => Inquiry;
    "MPI_Wtime" => Inquiry;
    "MPI_Wtick" => Inquiry;
    // Conversion of handles
    "MPI_Comm_c2f" => Inquiry;
    "MPI_Comm_f2c" => Inquiry;
    "MPI_Comm_fromint" => Inquiry;
    "MPI_Comm_toint" => Inquiry;
    "MPI_Errhandler_c2f" => Inquiry;
    "MPI_Errhandler_f2c" => Inquiry;
    "MPI_Errhandler_fromint" => Inquiry;
    "MPI_Errhandler_toint" => Inquiry;
    "MPI_File_c2f" => Inquiry;
    "MPI_File_f2c" => Inquiry;
    "MPI_File_fromint" => Inquiry;
    "MPI_File_toint" => Inquiry;
    "MPI_Group_c2f" => Inquiry;
    "MPI_Group_f2c" => Inquiry;
    "MPI_Group_fromint" => Inquiry;
    "MPI_Group_toint" => Inquiry;
    "MPI_Info_c2f" => Inquiry;
    "MPI_Info_f2c" => Inquiry;
    "MPI_Info_fromint" => Inquiry;
    "MPI_Info_toint" => Inquiry;
    "MPI_Message_c2f" => Inquiry;
    "MPI_Message_f2c" => Inquiry;
    "MPI_Message_fromint" => Inquiry;
    "MPI_Message_toint" => Inquiry;
    "MPI_Op_c2f" => Inquiry;
    "MPI_Op_f2c" => Inquiry;
    "MPI_Op_fromint" => Inquiry;
    "MPI_Op_toint" => Inquiry;
    "MPI_Request_c2f" => Inquiry;
    "MPI_Request_f2c" => Inquiry;
    "MPI_Request_fromint" => Inquiry;
    "MPI_Request_toint" => Inquiry;
    "MPI_Session_c2f" => Inquiry;
    "MPI_Session_f2c" => Inquiry;
    "MPI_Session_fromint" => Inquiry;
    "MPI_Session_toint" => Inquiry;
    "MPI_Status_c2f" => Inquiry;
    "MPI_Status_c2f08" => Inquiry;
    "MPI_Status_f082c" => Inquiry;
    "MPI_Status_f082f" => Inquiry;
    "MPI_Status_f2c" => Inquiry;
    "MPI_Status_f2f08" => Inquiry;
    "MPI_Type_c2f" => Inquiry;
    "MPI_Type_f2c" => Inquiry;
    "MPI_Type_fromint" => Inquiry;
    "MPI_Type_toint" => Inquiry;
    "MPI_Win_c2f" => Inquiry;
    "MPI_Win_f2c" => Inquiry;
    "MPI_Win_fromint" => Inquiry;
    "MPI_Win_toint" => Inquiry;
    // Binary interface (MPI 5)
    "MPI_Abi_get_fortran_booleans" => Inquiry;
    "MPI_Abi_get_fortran_info" => Inquiry;
    "MPI_Abi_get_info" => Inquiry;
    "MPI_Abi_get_version" => Inquiry;
    "MPI_Abi_set_fortran_booleans" => Management;
    "MPI_Abi_set_fortran_info" => Management;
    // Tool interface
    "MPI_T_category_changed" => Inquiry;
    "MPI_T_category_get_categories" => Inquiry;
    "MPI_T_category_get_cvars" => Inquiry;
    "MPI_T_category_get_events" => Inquiry;
    "MPI_T_category_get_index" => Inquiry;
    "MPI_T_category_get_info" => Inquiry;
    "MPI_T_category_get_num" => Inquiry;
    "MPI_T_category_get_num_events" => Inquiry;
    "MPI_T_category_get_pvars" => Inquiry;
    "MPI_T_cvar_get_index" => Inquiry;
    "MPI_T_cvar_get_info" => Inquiry;
    "MPI_T_cvar_get_num" => Inquiry;
    "MPI_T_cvar_read" => Inquiry;
    "MPI_T_enum_get_info" => Inquiry;
    "MPI_T_enum_get_item" => Inquiry;
    "MPI_T_event_callback_get_info" => Inquiry;
    "MPI_T_event_get_index" => Inquiry;
    "MPI_T_event_get_info" => Inquiry;
    "MPI_T_event_get_num" => Inquiry;
    "MPI_T_event_get_source" => Inquiry;
    "MPI_T_event_get_timestamp" => Inquiry;
    "MPI_T_event_handle_get_info" => Inquiry;
    "MPI_T_event_read" => Inquiry;
    "MPI_T_pvar_get_index" => Inquiry;
    "MPI_T_pvar_get_info" => Inquiry;
    "MPI_T_pvar_get_num" => Inquiry;
    "MPI_T_pvar_read" => Inquiry;
    "MPI_T_source_get_info" => Inquiry;
    "MPI_T_source_get_num" => Inquiry;
    "MPI_T_source_get_timestamp" => Inquiry;
    "MPI_T_cvar_handle_alloc" => Management;
    "MPI_T_cvar_handle_free" => Management;
    "MPI_T_cvar_write" => Management;
    "MPI_T_event_callback_set_info" => Management;
    "MPI_T_event_copy" => Management;
    "MPI_T_event_handle_alloc" => Management;
    "MPI_T_event_handle_free" => Management;
    "MPI_T_event_handle_set_info" => Management;
    "MPI_T_event_register_callback" => Management;
    "MPI_T_event_set_dropped_handler" => Management;
    "MPI_T_finalize" => Management;
    "MPI_T_init_thread" => Management;
    "MPI_T_pvar_handle_alloc" => Management;
    "MPI_T_pvar_handle_free" => Management;
    "MPI_T_pvar_readreset" => Management;
    "MPI_T_pvar_reset" => Management;
    "MPI_T_pvar_session_create" => Management;
    "MPI_T_pvar_session_free" => Management;
    "MPI_T_pvar_start" => Management;
    "MPI_T_pvar_stop" => Management;
    "MPI_T_pvar_write" => Management;
    // Extensions: failure mitigation, generalised requests and questions about devices. Others that MPI took over are its rows.
    "MPIX_Comm_agree" => AllToAll;
    "MPIX_Comm_iagree" => AllToAll, NonBlocking;
    "MPIX_Comm_shrink" => GlobalAlloc;
    "MPIX_Comm_ishrink" => GlobalAlloc, NonBlocking;
    "MPIX_Comm_revoke" => Management;
    "MPIX_Comm_is_revoked" => Inquiry;
    "MPIX_Comm_get_failed" => Inquiry;
    "MPIX_Comm_ack_failed" => Management;
    "MPIX_Comm_failure_ack" => Management;
    "MPIX_Comm_failure_get_acked" => Inquiry;
    "MPIX_Grequest_class_allocate" => Management;
    "MPIX_Grequest_class_create" => Management;
    "MPIX_GPU_query_support" => Inquiry;
    "MPIX_Query_cuda_support" => Inquiry;
    "MPIX_Query_hip_support" => Inquiry;
    "MPIX_Query_rocm_support" => Inquiry;
    "MPIX_Query_ze_support" => Inquiry;
};
