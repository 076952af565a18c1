//! Blocks.

use partune_testkit::{path, pe};

use crate::index;

#[test]
fn blocks_lie_between_global_synchronisations() {
    let (trace, index) = index(
        "group row = 0 1
         pe 0: main 0..100 {
             MPI_Init 0..5 init
             loop 5..90 { work 5..10 MPI_Barrier 10..20 barrier work 20..30 MPI_Barrier 30..32 barrier(group=row) work 32..40 MPI_Barrier 40..50 barrier MPI_Allreduce 60..70 allreduce(bytes=8) }
         }
         pe 1: main 0..99 {
             MPI_Init 1..5 init
             loop 5..90 { work 5..15 MPI_Barrier 15..21 barrier work 21..31 MPI_Barrier 31..32 barrier(group=row) MPI_Barrier 41..51 barrier MPI_Allreduce 61..71 allreduce(bytes=8) }
         }
         pe 2: main 0..98 {
             MPI_Init 2..5 init
             loop 5..90 { work 5..17 MPI_Barrier 17..22 barrier MPI_Barrier 42..52 barrier MPI_Allreduce 62..72 allreduce(bytes=8) }
         }",
    );
    let times = |rank: u32| {
        index.blocks.extents[pe(&trace, rank)].iter().map(|(begin, end)| (begin.0, end.0)).collect::<Vec<_>>()
    };
    assert_eq!(times(0), [(0, 0), (5, 10), (20, 40), (50, 60), (70, 100)]);
    assert_eq!(times(2), [(0, 2), (5, 17), (22, 42), (52, 62), (72, 98)]);
    assert_eq!(index.blocks.blocks.len(), 5);
    let (barrier, reduce) = (path(&trace, "main/loop/MPI_Barrier"), path(&trace, "main/loop/MPI_Allreduce"));
    assert_eq!(index.blocks.blocks[2].source, (barrier, barrier));
    assert_eq!(index.blocks.blocks[3].source, (barrier, reduce));
    assert_eq!(index.blocks.blocks[0].begin, u32::MAX);
    assert_eq!(index.blocks.blocks[4].end, u32::MAX);
}

#[test]
fn iterations_of_equal_pairs() {
    let (trace, index) = index("pe 0 1: main 0..1000 { repeat 6 every 100 { work 0..10 MPI_Barrier 10..20 barrier } }");
    let iterations: Vec<u32> = index.blocks.blocks.iter().map(|block| block.iteration).collect();
    assert_eq!(iterations, [0, 0, 1, 2, 3, 4, 0]);
    assert_eq!(index.blocks.extents[pe(&trace, 1)].len(), 7);
}

#[test]
fn threads_share_the_blocks_of_their_process() {
    let (trace, index) = index(
        "pe 0: main 0..100 { MPI_Barrier 40..50 barrier }
         pe 0.1: work 20..80
         pe 1: main 0..100 { MPI_Barrier 45..50 barrier }",
    );
    let worker = partune_testkit::thread(&trace, 0, 1);
    assert_eq!(index.blocks.extents[worker], index.blocks.extents[pe(&trace, 0)]);
    assert_eq!(index.blocks.blocks.len(), 2);
}

#[test]
fn one_process_has_the_barriers_of_its_team() {
    let (trace, index) = index(
        "team t = 0.0 0.1
         pe 0: \"!$omp parallel\" 0..100 fork join team(t) { \"!$omp barrier\" 40..50 }
         pe 0.1: \"!$omp parallel\" 1..99 team(t) { \"!$omp barrier\" 45..50 }",
    );
    assert_eq!(index.blocks.blocks.len(), 2);
    assert_eq!(index.blocks.extents[pe(&trace, 0)].len(), 2);
}
