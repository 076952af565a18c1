//! What Extrae's numbers are called: constructs by event type and value, for traces without a `.pcf`, and for what a `.pcf` calls otherwise.
//!
//! Names are only handed to `partune-paradigm`, which knows what they do. Numbers after Extrae 5.1.2 (`MPI_EventEncoding.h`,
//! `events.h`, `new_openmp_events.h`, `misc_prv_events.c`).

/// A kind of events that begin and end constructs: a value other than 0 begins one, 0 ends it.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) types: std::ops::RangeInclusive<u64>,
    /// The paradigm, as a hint to who knows names.
    pub(super) paradigm: &'static str,
    pub(super) nesting: Nesting,
    /// The construct of a value.
    pub(super) names: Names,
}

/// What a begin means while something of the same type is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nesting {
    /// It lies within that; each end ends the innermost.
    Stacked,
    /// That has ended, and its end is missing.
    Single,
    /// That ends: a value says what the thread is in from now on.
    Replaced,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Names {
    /// By value, from 1 on.
    Listed(&'static [&'static str]),
    /// These values, and no others.
    Some(&'static [(u64, &'static str)]),
    /// Every value is this construct; the value's label names what is in it.
    One(&'static str),
}

pub(super) static CALLS: &[Calls] = &[
    Calls {
        types: 50_000_001..=50_000_005,
        paradigm: partune_paradigm::MPI.name,
        nesting: Nesting::Single,
        names: Names::Listed(MPI),
    },
    Calls {
        types: 40_000_004..=40_000_004,
        paradigm: partune_paradigm::POSIX_IO.name,
        nesting: Nesting::Single,
        names: Names::Listed(FILES),
    },
    // OpenMP as Extrae recorded it up to version 4
    openmp(60_000_001, Names::Some(&[(1, "omp parallel do"), (2, "omp parallel sections"), (3, "omp parallel")])),
    openmp(60_000_002, Names::Some(&[(4, "omp do"), (5, "omp sections"), (6, "omp single")])),
    openmp(60_000_005, Names::One("omp barrier")),
    Calls { types: 60_000_006..=60_000_007, nesting: Nesting::Replaced, ..openmp(0, Names::Some(LOCKS)) },
    openmp(60_000_011, Names::One("work dispatch")),
    openmp(60_000_016, Names::Some(&[(1, "omp implicit barrier"), (2, "join without wait")])),
    openmp(60_000_022, Names::One("omp taskwait")),
    openmp(60_000_023, Names::One("omp task")),
    openmp(60_000_024, Names::One("omp create task")),
    openmp(60_000_025, Names::Some(&[(1, "taskgroup begin"), (2, "omp taskgroup")])),
    openmp(60_000_029, Names::One("omp taskloop")),
    openmp(60_000_030, Names::One("omp_set_num_threads")),
    openmp(60_000_031, Names::One("omp_get_num_threads")),
    Calls {
        nesting: Nesting::Replaced,
        ..openmp(60_000_033, Names::Some(&[(3, "omp wait ordered"), (5, "ordered end"), (6, "omp ordered sblock")]))
    },
    openmp(60_000_034, Names::One("omp target")),
    openmp(60_000_035, Names::One("omp taskyield")),
    // OpenMP as it records it since
    openmp(60_002, Names::Some(TEAMS)),
    openmp(60_003, Names::Some(WORK_SHARING)),
    openmp(60_004, Names::Some(SYNCHRONISATION)),
    Calls { nesting: Nesting::Replaced, ..openmp(60_005, Names::Some(LOCKS)) },
    openmp(
        60_009,
        Names::Some(&[(47, "omp create task"), (48, "omp task"), (49, "omp create task"), (50, "omp taskloop")]),
    ),
    openmp(
        60_010,
        Names::Some(&[
            (51, "omp target"),
            (52, "omp target data"),
            (53, "omp target enter data"),
            (54, "omp target exit data"),
            (55, "omp target update"),
        ]),
    ),
];

const fn openmp(event_type: u64, names: Names) -> Calls {
    Calls { types: event_type..=event_type, paradigm: partune_paradigm::OPENMP.name, nesting: Nesting::Stacked, names }
}

/// Values of Extrae's status of a lock: older, newer.
pub(super) const LOCK_REQUESTED: [u64; 2] = [3, 38];
pub(super) const LOCK_TAKEN: [u64; 2] = [6, 39];
pub(super) const LOCK_GIVEN_BACK: [u64; 2] = [5, 40];

const LOCKS: &[(u64, &str)] = &[
    (3, "omp wait critical"),
    (6, "omp critical sblock"),
    (5, "omp_unset_lock"),
    (38, "omp wait critical"),
    (39, "omp critical sblock"),
    (40, "omp_unset_lock"),
];

/// The values by which the thread that begins a team marks all of it; the even ones are the parts of its threads.
pub(super) const FORKS: [u64; 4] = [1, 3, 5, 7];

const TEAMS: &[(u64, &str)] = &[
    (1, "omp parallel"),
    (2, "omp implicit task"),
    (3, "omp parallel for"),
    (4, "omp implicit task"),
    (5, "omp parallel sections"),
    (6, "omp implicit task"),
    (7, "omp teams"),
    (8, "omp implicit task"),
];

const WORK_SHARING: &[(u64, &str)] = &[
    (9, "work dispatch"),
    (10, "omp for"),
    (11, "omp for"),
    (12, "omp for"),
    (13, "omp for"),
    (14, "omp for"),
    (15, "omp for"),
    (16, "omp for"),
    (17, "omp for"),
    (18, "omp for"),
    (19, "omp for"),
    (20, "omp for"),
    (21, "omp for"),
    (22, "omp for"),
    (23, "omp section"),
    (24, "omp single"),
    (25, "omp master"),
];

const SYNCHRONISATION: &[(u64, &str)] = &[
    (26, "omp barrier"),
    (27, "omp implicit barrier"),
    (28, "join without wait"),
    (29, "omp atomic"),
    (30, "omp critical"),
    (31, "omp critical"),
    (32, "omp ordered"),
    (33, "omp taskgroup"),
    (34, "omp taskwait"),
    (35, "omp taskyield"),
    (36, "ordered end"),
    (37, "omp wait ordered"),
];

const FILES: &[&str] = &[
    "read", "write", "fread", "fwrite", "pread", "pwrite", "readv", "writev", "preadv", "pwritev", "open", "fopen",
    "ioctl", "close", "fclose",
];

/// Values of MPI that Extrae's `.pcf` names with each other's names: what begins an access epoch and what completes it.
pub(super) const EXCHANGED: [u64; 2] = [69, 70];

const MPI: &[&str] = &[
    "MPI_Send",
    "MPI_Recv",
    "MPI_Isend",
    "MPI_Irecv",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Bcast",
    "MPI_Barrier",
    "MPI_Reduce",
    "MPI_Allreduce",
    "MPI_Alltoall",
    "MPI_Alltoallv",
    "MPI_Gather",
    "MPI_Gatherv",
    "MPI_Scatter",
    "MPI_Scatterv",
    "MPI_Allgather",
    "MPI_Allgatherv",
    "MPI_Comm_rank",
    "MPI_Comm_size",
    "MPI_Comm_create",
    "MPI_Comm_dup",
    "MPI_Comm_split",
    "MPI_Comm_group",
    "MPI_Comm_free",
    "MPI_Comm_remote_group",
    "MPI_Comm_remote_size",
    "MPI_Comm_test_inter",
    "MPI_Comm_compare",
    "MPI_Scan",
    "MPI_Init",
    "MPI_Finalize",
    "MPI_Bsend",
    "MPI_Ssend",
    "MPI_Rsend",
    "MPI_Ibsend",
    "MPI_Issend",
    "MPI_Irsend",
    "MPI_Test",
    "MPI_Cancel",
    "MPI_Sendrecv",
    "MPI_Sendrecv_replace",
    "MPI_Cart_create",
    "MPI_Cart_shift",
    "MPI_Cart_coords",
    "MPI_Cart_get",
    "MPI_Cart_map",
    "MPI_Cart_rank",
    "MPI_Cart_sub",
    "MPI_Cartdim_get",
    "MPI_Dims_create",
    "MPI_Graph_get",
    "MPI_Graph_map",
    "MPI_Graph_create",
    "MPI_Graph_neighbors",
    "MPI_Graphdims_get",
    "MPI_Graph_neighbors_count",
    "MPI_Topo_test",
    "MPI_Waitany",
    "MPI_Waitsome",
    "MPI_Probe",
    "MPI_Iprobe",
    "MPI_Win_create",
    "MPI_Win_free",
    "MPI_Put",
    "MPI_Get",
    "MPI_Accumulate",
    "MPI_Win_fence",
    "MPI_Win_start",
    "MPI_Win_complete",
    "MPI_Win_post",
    "MPI_Win_wait",
    "MPI_Win_test",
    "MPI_Win_lock",
    "MPI_Win_unlock",
    "MPI_Pack",
    "MPI_Unpack",
    "MPI_Op_create",
    "MPI_Op_free",
    "MPI_Reduce_scatter",
    "MPI_Attr_delete",
    "MPI_Attr_get",
    "MPI_Attr_put",
    "MPI_Group_difference",
    "MPI_Group_excl",
    "MPI_Group_free",
    "MPI_Group_incl",
    "MPI_Group_intersection",
    "MPI_Group_rank",
    "MPI_Group_range_excl",
    "MPI_Group_range_incl",
    "MPI_Group_size",
    "MPI_Group_translate_ranks",
    "MPI_Group_union",
    "MPI_Group_compare",
    "MPI_Intercomm_create",
    "MPI_Intercomm_merge",
    "MPI_Keyval_free",
    "MPI_Keyval_create",
    "MPI_Abort",
    "MPI_Error_class",
    "MPI_Errhandler_create",
    "MPI_Errhandler_free",
    "MPI_Errhandler_get",
    "MPI_Error_string",
    "MPI_Errhandler_set",
    "MPI_Get_processor_name",
    "MPI_Initialized",
    "MPI_Wtick",
    "MPI_Wtime",
    "MPI_Address",
    "MPI_Bsend_init",
    "MPI_Buffer_attach",
    "MPI_Buffer_detach",
    "MPI_Request_free",
    "MPI_Recv_init",
    "MPI_Send_init",
    "MPI_Get_count",
    "MPI_Get_elements",
    "MPI_Pack_size",
    "MPI_Rsend_init",
    "MPI_Ssend_init",
    "MPI_Start",
    "MPI_Startall",
    "MPI_Testall",
    "MPI_Testany",
    "MPI_Test_cancelled",
    "MPI_Testsome",
    "MPI_Type_commit",
    "MPI_Type_contiguous",
    "MPI_Type_extent",
    "MPI_Type_free",
    "MPI_Type_hindexed",
    "MPI_Type_hvector",
    "MPI_Type_indexed",
    "MPI_Type_lb",
    "MPI_Type_size",
    "MPI_Type_struct",
    "MPI_Type_ub",
    "MPI_Type_vector",
    "MPI_File_open",
    "MPI_File_close",
    "MPI_File_read",
    "MPI_File_read_all",
    "MPI_File_write",
    "MPI_File_write_all",
    "MPI_File_read_at",
    "MPI_File_read_at_all",
    "MPI_File_write_at",
    "MPI_File_write_at_all",
    "MPI_Comm_spawn",
    "MPI_Comm_spawn_multiple",
    "MPI_Request_get_status",
    "MPI_Ireduce",
    "MPI_Iallreduce",
    "MPI_Ibarrier",
    "MPI_Ibcast",
    "MPI_Ialltoall",
    "MPI_Ialltoallv",
    "MPI_Iallgather",
    "MPI_Iallgatherv",
    "MPI_Igather",
    "MPI_Igatherv",
    "MPI_Iscatter",
    "MPI_Iscatterv",
    "MPI_Ireduce_scatter",
    "MPI_Iscan",
    "MPI_Reduce_scatter_block",
    "MPI_Ireduce_scatter_block",
    "MPI_Alltoallw",
    "MPI_Ialltoallw",
    "MPI_Get_accumulate",
    "MPI_Dist_graph_create",
    "MPI_Neighbor_allgather",
    "MPI_Ineighbor_allgather",
    "MPI_Neighbor_allgatherv",
    "MPI_Ineighbor_allgatherv",
    "MPI_Neighbor_alltoall",
    "MPI_Ineighbor_alltoall",
    "MPI_Neighbor_alltoallv",
    "MPI_Ineighbor_alltoallv",
    "MPI_Neighbor_alltoallw",
    "MPI_Ineighbor_alltoallw",
    "MPI_Fetch_and_op",
    "MPI_Compare_and_swap",
    "MPI_Win_flush",
    "MPI_Win_flush_all",
    "MPI_Win_flush_local",
    "MPI_Win_flush_local_all",
    "MPI_Mprobe",
    "MPI_Improbe",
    "MPI_Mrecv",
    "MPI_Imrecv",
    "MPI_Comm_split_type",
    "MPI_File_write_all_begin",
    "MPI_File_write_all_end",
    "MPI_File_read_all_begin",
    "MPI_File_read_all_end",
    "MPI_File_write_at_all_begin",
    "MPI_File_write_at_all_end",
    "MPI_File_read_at_all_begin",
    "MPI_File_read_at_all_end",
    "MPI_File_read_ordered",
    "MPI_File_read_ordered_begin",
    "MPI_File_read_ordered_end",
    "MPI_File_read_shared",
    "MPI_File_write_ordered",
    "MPI_File_write_ordered_begin",
    "MPI_File_write_ordered_end",
    "MPI_File_write_shared",
    "MPI_Comm_dup_with_info",
    "MPI_Dist_graph_create_adjacent",
    "MPI_Comm_create_group",
    "MPI_Exscan",
    "MPI_Iexscan",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_mpi_is_one_of_mpi() {
        let unknown: Vec<&&str> = MPI
            .iter()
            .filter(|name| {
                partune_paradigm::recognise(name, None).is_none_or(|it| *it.paradigm != partune_paradigm::MPI)
            })
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        let value = |name: &str| MPI.iter().position(|known| *known == name).map(|at| at + 1);
        let some = ["MPI_Recv", "MPI_Sendrecv", "MPI_Win_start", "MPI_Reduce_scatter", "MPI_Iallreduce", "MPI_Iexscan"];
        assert_eq!(some.map(value), [2, 41, 69, 80, 155, 215].map(Some));
    }
}
