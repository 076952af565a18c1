//! Collective instances.

use partune_index::{Index, Instance};
use partune_testkit::pe;
use partune_trace::{RequestKind, Role, Trace};

use crate::{index, notes};

/// Role, enters, and missing members of every instance.
fn shapes(index: &Index) -> Vec<(Role, Vec<i64>, u32)> {
    let enters =
        |instance: &Instance| index.collectives.members(instance).iter().map(|member| member.enter.0).collect();
    index.collectives.instances.iter().map(|it| (it.role, enters(it), it.missing)).collect()
}

#[test]
fn the_kth_of_a_group_on_every_member() {
    let (trace, index) = index(
        "group row = 0 1
         group self0 = 2
         pe 0: main 0..100 {
             MPI_Init 0..9 init
             MPI_Bcast 10..20 bcast(root=0, group=row, bytes=8)
             MPI_Barrier 30..40 barrier
             MPI_Barrier 50..60 barrier(group=row)
             MPI_Finalize 90..99 finalize
         }
         pe 1: main 0..100 {
             MPI_Init 1..9 init
             MPI_Bcast 12..20 bcast(root=0, group=row, bytes=8)
             MPI_Barrier 35..40 barrier
             MPI_Barrier 44..60 barrier(group=row)
             MPI_Finalize 91..99 finalize
         }
         pe 2: main 0..100 { MPI_Init 2..9 init MPI_Barrier 31..40 barrier MPI_Finalize 93..99 finalize }",
    );
    assert_eq!(
        shapes(&index),
        [
            (Role::Init, vec![0, 1, 2], 0),
            (Role::OneToAll, vec![10, 12], 0),
            (Role::GroupSync, vec![30, 35, 31], 0),
            (Role::GroupSync, vec![50, 44], 0),
            (Role::Finalize, vec![90, 91, 93], 0),
        ]
    );
    assert_eq!(index.collectives.instances[1].root, pe(&trace, 0));
    assert_eq!(index.collectives.of_row(pe(&trace, 2), 1), Some(2));
    assert!(index.quality.is_empty(), "{:?}", notes(&index));
}

#[test]
fn the_regions_role_tells_what_a_row_is_part_of() {
    let (_, index) = index(
        "pe 0 1: main 0..100 {
             MPI_Init 0..9 alloc
             MPI_Comm_dup 10..20 alloc
             MPI_Win_fence 30..40 barrier
             shmem_long_max_to_all 50..60 reduce
             MPI_Finalize 70..80 alloc
         }",
    );
    let roles: Vec<Role> = index.collectives.instances.iter().map(|it| it.role).collect();
    assert_eq!(roles, [Role::Init, Role::GlobalAlloc, Role::RmaGroupSync, Role::AllToAll, Role::Finalize]);
}

#[test]
fn start_up_without_rows() {
    let (_, index) = index(
        "pe 0: main 0..100 { shmem_init 0..9 shmem_finalize 80..90 }
         pe 1: main 0..100 { shmem_init 3..9 shmem_finalize 85..90 }",
    );
    assert_eq!(shapes(&index), [(Role::Init, vec![0, 3], 0), (Role::Finalize, vec![80, 85], 0)]);
}

#[test]
fn non_blocking_ones_count_in_the_order_of_their_starts() {
    let (_, index) = index(
        "pe 0: main 0..100 {
             MPI_Iallreduce 10..11 started(1)
             MPI_Ibarrier 12..13 started(2)
             MPI_Wait 20..30 barrier(req=2)
             MPI_Wait 31..40 allreduce(req=1, bytes=8)
         }
         pe 1: main 0..100 { MPI_Iallreduce 15..16 started(1) MPI_Wait 17..40 allreduce(req=1, bytes=8) MPI_Barrier 50..60 barrier }",
    );
    assert_eq!(shapes(&index), [(Role::AllToAll, vec![10, 15], 0), (Role::GroupSync, vec![12, 50], 0)]);
    let member = index.collectives.members(&index.collectives.instances[0])[0];
    assert_eq!((member.enter.0, member.wait_enter.0, member.exit.0), (10, 31, 40));
    assert!(member.is_split());
}

#[test]
fn a_truncated_member_is_missing_at_the_end() {
    let (_, index) = index(
        "pe 0: main 0..100 { MPI_Barrier 10..20 barrier MPI_Barrier 30..40 barrier }
         pe 1: main 0..25 { MPI_Barrier 12..20 barrier }",
    );
    assert_eq!(shapes(&index), [(Role::GroupSync, vec![10, 12], 0), (Role::GroupSync, vec![30], 1)]);
    assert!(notes(&index)[0].starts_with("1 collective operations lack the record of 1 members"));
}

#[test]
fn disagreement_is_told_and_left_out() {
    let lost = "pe 0: main 0..100 {
            MPI_Barrier 10..20 barrier MPI_Bcast 30..40 bcast(root=0) MPI_Barrier 50..60 barrier MPI_Barrier 70..80 barrier
         }
         pe 1: main 0..100 { MPI_Barrier 12..20 barrier MPI_Barrier 51..60 barrier MPI_Barrier 71..80 barrier }";
    let (_, index) = index(lost);
    assert_eq!(shapes(&index), [(Role::GroupSync, vec![10, 12], 0)], "nothing after the loss is aligned");
    assert!(notes(&index)[0].contains("disagree"), "{:?}", notes(&index));

    let odd = lost.replace("MPI_Barrier 12..20 barrier", "MPI_Barrier 12..20 barrier MPI_Reduce 22..25 reduce(root=0)");
    let (_, index) = crate::index(&odd);
    let enters: Vec<Vec<i64>> = shapes(&index).into_iter().map(|it| it.1).collect();
    assert_eq!(enters, [[10, 12], [50, 51], [70, 71]], "only the odd one is out");
}

#[test]
fn split_phase_barriers() {
    let (trace, index) = index(
        "pe 0: main 0..100 { upc_notify 10..11 upc_wait 20..30 upc_notify 40..41 upc_wait 50..60 }
         pe 1: main 0..100 { upc_notify 15..16 upc_wait 17..30 upc_notify 45..46 upc_wait 58..60 }",
    );
    // Without rows and without a group of everybody nothing is claimed; with rows it is clear.
    let _ = (trace, index);
    let (_, index) = crate::index(
        "pe 0: main 0..100 { upc_notify 10..11 barrier_notify upc_wait 20..30 barrier_wait }
         pe 1: main 0..100 { upc_notify 15..16 barrier_notify upc_wait 17..30 barrier_wait }",
    );
    assert_eq!(shapes(&index), [(Role::GroupSync, vec![10, 15], 0)]);
    let waits: Vec<i64> =
        index.collectives.members(&index.collectives.instances[0]).iter().map(|member| member.wait_enter.0).collect();
    assert_eq!(waits, [20, 17]);
}

/// A run was ended in its third barrier, which one PE had not reached: rows tell of the other two, so this one is no barrier of which rows never tell.
#[test]
fn a_barrier_that_was_never_left_is_no_barrier_without_rows() {
    let text = "paradigm MPI
         pe 0: main 0..60 { MPI_Barrier 10..20 barrier MPI_Barrier 30..40 barrier MPI_Barrier 50..60 }
         pe 1: main 0..60 { MPI_Barrier 15..20 barrier MPI_Barrier 32..40 barrier }";
    let (_, index) = index(text);
    assert_eq!(shapes(&index), [(Role::GroupSync, vec![10, 15], 0), (Role::GroupSync, vec![30, 32], 0)]);
    assert_eq!(notes(&index), [""; 0]);
    // Where rows never tell of barriers, it does not fit.
    let (_, index) = crate::index(&text.replace(" barrier", ""));
    assert!(notes(&index)[0].contains("do not fit together"), "{:?}", notes(&index));
}

#[test]
fn barriers_without_rows_must_prove_it() {
    let text = "paradigm MPI
         pe 0: main 0..100 { MPI_Barrier 10..20 MPI_Barrier 30..40 }
         pe 1: main 0..100 { MPI_Barrier 15..20 MPI_Barrier 32..40 }";
    let (_, index) = index(text);
    assert_eq!(shapes(&index), [(Role::GroupSync, vec![10, 15], 0), (Role::GroupSync, vec![30, 32], 0)]);
    // A communicator of its own for two of three: it could be that one's.
    let three = format!("{text}\npe 2: main 0..100 {{ MPI_Barrier 16..20 MPI_Barrier 31..40 }}");
    assert_eq!(shapes(&crate::index(&three).1).len(), 2);
    assert_eq!(shapes(&crate::index(&format!("group half = 0 1\n{three}")).1), []);
    let (_, index) = crate::index(&text.replace("32..40", "42..44"));
    assert!(shapes(&index).is_empty());
    assert!(notes(&index)[0].contains("do not fit together"), "{:?}", notes(&index));
}

#[test]
fn a_lost_completion_of_a_non_blocking_one_is_no_shift() {
    let text = "pe 0: main 0..100 {
            MPI_Ibarrier 1..2 started(1) MPI_Wait 3..4 barrier(req=1) MPI_Barrier 10..20 barrier MPI_Barrier 30..40 barrier
        }
        pe 1: main 0..100 { MPI_Ibarrier 1..2 started(1) MPI_Barrier 12..20 barrier MPI_Barrier 33..40 barrier }";
    let (_, index) = index(text);
    assert!(
        shapes(&index).iter().all(|(_, enters, missing)| enters.len() == 1 && *missing == 1),
        "{:?}",
        shapes(&index)
    );
}

#[test]
fn members_are_in_order_and_rows_lead_back() {
    let (trace, index) =
        index("pe 0 1 2 3: main 0..1000 { repeat 5 every 100 { MPI_Allreduce 10..20 allreduce(bytes=8) } }");
    assert_eq!(index.collectives.instances.len(), 5);
    for (position, instance) in index.collectives.instances.iter().enumerate() {
        let members = index.collectives.members(instance);
        assert!(members.is_sorted_by_key(|member| member.pe));
        for member in members {
            assert_eq!(index.collectives.of_row(member.pe, member.row as usize), Some(position));
        }
    }
    assert_eq!(started(&trace), 0);
}

fn started(trace: &Trace) -> usize {
    let requests = trace.streams().iter().flat_map(|stream| &stream.requests);
    requests.filter(|request| request.kind == RequestKind::CollectiveStarted).count()
}

#[test]
fn an_exchange_among_neighbours_is_no_meeting_of_all() {
    // PE 0 has left before PE 2 comes: were it a collective of all, the clocks would be wrong.
    let (_, index) = index(
        "pe 0: main 0..100 { MPI_Neighbor_allgather 10..20 alltoall(bytes=8) MPI_Barrier 60..70 barrier }
         pe 1: main 0..100 { MPI_Neighbor_allgather 12..20 alltoall(bytes=8) MPI_Barrier 60..70 barrier }
         pe 2: main 0..100 { MPI_Neighbor_allgather 40..50 alltoall(bytes=8) MPI_Barrier 60..70 barrier }",
    );
    assert_eq!(shapes(&index), [(Role::GroupSync, vec![60, 60, 60], 0)]);
    assert!(index.quality.is_empty(), "{:?}", notes(&index));
}
