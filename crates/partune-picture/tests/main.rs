//! Pictures of traces whose answer can be worked out by hand, and of random ones against a count tick by tick.

mod between;
mod counters;
mod flame;
mod lines;
mod random;
mod sketch;

use partune_analysis::{Waits, path_times};
use partune_base::{Span, Time};
use partune_index::Index;
use partune_picture::{
    Bin, CallTree, Contents, Detail, Exchanges, Flat, Fold, Kind, Moving, Stacks, View, blocks, flat, moved_by_region,
    regions,
};
use partune_testkit::{path, pe, trace};
use partune_trace::Trace;

use crate::flame::spent;

fn tiles(trace: &Trace, fold: &Fold, view: View) -> Vec<Vec<Bin>> {
    let waits = Waits::find(trace, &Index::build(trace));
    let tiles = Detail::new(trace, &waits).tiles(trace, &waits, fold, view);
    tiles.rows().map(<[Bin]>::to_vec).collect()
}

fn whole(trace: &Trace, rows: usize, columns: usize) -> Vec<Vec<Bin>> {
    tiles(trace, &Fold::new(trace.active_pes().collect(), rows), View::whole(trace, columns))
}

/// What took most of the time that was recorded in each bin, the first of equal ones; idle if nothing was.
fn most(row: &[Bin]) -> Vec<Kind> {
    let recorded = Kind::ALL.into_iter().take(Kind::Idle as usize).rev();
    let most = |bin: &Bin| {
        let some = recorded.clone().filter(|kind| bin.share(*kind) > 0.0);
        some.max_by(|a, b| bin.share(*a).total_cmp(&bin.share(*b))).unwrap_or(Kind::Idle)
    };
    row.iter().map(most).collect()
}

fn waiting(row: &[Bin]) -> Vec<f32> {
    row.iter().map(|bin| bin.share(Kind::Wait)).collect()
}

/// A late sender: PE 1 waits from 10 to 40.
const LATE: &str = "
    pe 0: main 0..100 { work 0..40 MPI_Send 40..50 send(to=1, bytes=8) }
    pe 1: main 0..100 { MPI_Recv 10..50 recv(from=0, bytes=8) }";

use Kind::{Computation as C, Messages as M};

#[test]
fn a_bin_has_the_kind_of_most_of_its_time_and_its_share_of_waiting() {
    let rows = whole(&trace(LATE), 8, 10);
    assert_eq!(most(&rows[0]), [C, C, C, C, M, C, C, C, C, C]);
    assert_eq!(most(&rows[1]), [C, M, M, M, M, C, C, C, C, C]);
    assert_eq!(waiting(&rows[0]), [0.0; 10]);
    assert_eq!(waiting(&rows[1]), [0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_pe_is_idle_before_its_first_event_and_after_its_last() {
    let rows = whole(&trace("pe 0: main 0..100\n pe 1: main 40..80"), 8, 5);
    assert_eq!(most(&rows[1]), [Kind::Idle, Kind::Idle, C, C, Kind::Idle]);
    let idle: Vec<f32> = rows[1].iter().map(|bin| bin.share(Kind::Idle)).collect();
    assert_eq!(idle, [1.0, 1.0, 0.0, 0.0, 1.0]);
}

#[test]
fn a_pause_of_the_recording_is_idle_outside_of_regions() {
    let trace = trace(
        "pe 0: a 0..20 pause(begin=10, end=40) { b 5..20 } c 60..80 pause(begin=50, end=70) pause(begin=65, end=90) d 90..100",
    );
    let rows = whole(&trace, 8, 10);
    let idle = Kind::Idle;
    assert_eq!(most(&rows[0]), [C, C, idle, idle, C, idle, C, C, idle, C]);
    let outside: Span = spent(&trace).outside.iter().map(|(_, time)| *time).sum();
    let in_regions = 20 + 20 + 10;
    let shares: f32 = rows[0].iter().map(|bin| bin.share(C)).sum();
    assert_eq!((outside, (shares * 10.0).round()), (Span(10), (in_regions + 10) as f32), "as the profile has it");
}

#[test]
fn folded_rows_share_their_bins() {
    let rows = whole(&trace(LATE), 1, 2);
    let shares = |kind| rows[0].iter().map(|bin| bin.share(kind)).collect::<Vec<f32>>();
    assert_eq!((most(&rows[0]), waiting(&rows[0])), (vec![C, C], vec![0.3, 0.0]));
    assert_eq!((shares(M), shares(Kind::Idle)), (vec![0.5, 0.0], vec![0.0, 0.0]));
}

#[test]
fn a_zoom_shows_what_is_inside_only() {
    let trace = trace(LATE);
    let fold = Fold::new(vec![pe(&trace, 1)], 4);
    let rows = tiles(&trace, &fold, View { begin: Time(35), end: Time(55), columns: 4 });
    assert_eq!((most(&rows[0]), waiting(&rows[0])), (vec![M, M, M, C], vec![1.0, 0.0, 0.0, 0.0]));
    let after = tiles(&trace, &fold, View { begin: Time(200), end: Time(300), columns: 3 });
    assert_eq!(most(&after[0]), [Kind::Idle; 3]);
    assert!(after[0].iter().all(|bin| bin.share(Kind::Idle) > 0.999));
}

#[test]
fn an_empty_view_has_empty_bins() {
    let trace = trace(LATE);
    let fold = Fold::new(trace.active_pes().collect(), 4);
    let rows = tiles(&trace, &fold, View { begin: Time(20), end: Time(20), columns: 3 });
    assert!(rows.iter().flatten().all(|bin| *bin == Bin::default()));
}

#[test]
fn groups_are_rows() {
    let trace = trace(LATE);
    let (zero, one) = (pe(&trace, 0), pe(&trace, 1));
    let fold = Fold::groups(&[vec![one, zero], vec![]], 4);
    assert_eq!((fold.len(), fold.row_of(one), fold.row_of(zero), fold.is_exact()), (2, Some(0), Some(0), false));
    let fold = Fold::groups(&[vec![one], vec![zero]], 1);
    assert_eq!((fold.len(), fold.each(), fold.pes().to_vec(), fold.is_exact()), (1, 2, vec![one, zero], false));
    let rows = tiles(&trace, &fold, View::whole(&trace, 2));
    assert_eq!(waiting(&rows[0]), [0.3, 0.0]);
}

#[test]
fn rows_are_powers_of_two() {
    let pes: Vec<_> = (0..100).map(partune_base::PeId).collect();
    let fold = Fold::new(pes.clone(), 96);
    assert_eq!((fold.each(), fold.len(), fold.row_of(pes[99])), (2, 50, Some(49)));
    assert_eq!(Fold::new(pes.clone(), 100).each(), 1);
    assert_eq!(Fold::new(pes, 9).rows().map(<[_]>::len).collect::<Vec<_>>(), [16, 16, 16, 16, 16, 16, 4]);
    assert_eq!(fold.means(&[1.0, 3.0, 5.0]), [2.0, 5.0]);
}

#[test]
fn exchanges_go_from_giver_to_getter() {
    let trace = trace(LATE);
    let index = Index::build(&trace);
    let fold = Fold::new(trace.active_pes().collect(), 4);
    let exchanges = Exchanges::new(&trace, &index, &fold);
    let bytes: Vec<u64> = exchanges.rows().flatten().map(|cell| cell.bytes).collect();
    assert_eq!((bytes, exchanges.total().count), (vec![0, 8, 0, 0], 1));
}

#[test]
fn heat_is_time_a_pe() {
    let trace = trace(LATE);
    let fold = Fold::new(trace.active_pes().collect(), 4);
    let heat = regions(&trace, &path_times(&trace), &fold, 2);
    let names: Vec<&str> =
        heat.columns.iter().map(|region| trace.strings().get(trace.regions()[*region].name)).collect();
    assert_eq!(names, ["main", "work"]);
    let ticks: Vec<f64> = heat.rows().flatten().map(|seconds| (seconds * 1e9).round()).collect();
    assert_eq!(ticks, [50.0, 40.0, 60.0, 0.0]);
    assert!(blocks(&trace, &Index::build(&trace), &fold, 4).is_none(), "nothing synchronises all");
}

#[test]
fn blocks_lie_between_barriers() {
    let trace = trace(
        "pe 0: main 0..100 { MPI_Barrier 30..50 barrier MPI_Barrier 80..90 barrier }
         pe 1: main 0..100 { MPI_Barrier 45..50 barrier MPI_Barrier 60..90 barrier }",
    );
    let fold = Fold::new(trace.active_pes().collect(), 4);
    let heat = blocks(&trace, &Index::build(&trace), &fold, 2).expect("there are blocks");
    assert_eq!(heat.columns, [(0, 2), (2, 1)]);
    let ticks: Vec<f64> = heat.rows().flatten().map(|seconds| (seconds * 1e9).round()).collect();
    assert_eq!(ticks, [60.0, 10.0, 55.0, 10.0]);
}

#[test]
fn the_tree_has_children_by_time() {
    let trace = trace(LATE);
    let tree = CallTree::new(&trace, &spent(&trace));
    let main = path(&trace, "main");
    assert_eq!(tree.roots(), [main]);
    assert_eq!((tree.node(main).inclusive, tree.node(main).exclusive), (Span(200), Span(110)));
    let children: Vec<Span> = tree.children(main).iter().map(|path| tree.node(*path).inclusive).collect();
    assert_eq!(children, [Span(40), Span(40), Span(10)]);
}

/// What computes is what analyses say: neither a team's fork nor its join, on the thread that forks. It forks from 10 to 13 and joins from 18 to 20, but for a
/// call in between.
#[test]
fn forking_and_joining_are_nobodys_code() {
    let trace = trace(
        "team t = 0.0 0.1
         pe 0.0: main 0..60 {
             par 10..20 fork join { \"!$omp parallel\" 13..18 team(t) MPI_Send 18..19 send(to=1) }
             par 30..40 fork join { \"!$omp parallel\" 30..40 team(t) }
         }
         pe 0.1: \"!$omp parallel\" 14..18 team(t) \"!$omp parallel\" 31..40 team(t)
         pe 1.0: main 0..60 { MPI_Recv 20..30 recv(from=0) }",
    );
    let waits = Waits::find(&trace, &Index::build(&trace));
    let detail = Detail::new(&trace, &waits);
    let within = |pe, begin, end| detail.times(&trace, &waits, pe, Time(begin), Time(end));
    for at in trace.pes().ids() {
        let computation = partune_analysis::useful_in(&trace, at, &[(Time(0), Time(60))])[0].0;
        assert_eq!(within(at, 0, 60)[C as usize], computation, "{at:?}");
    }
    assert_eq!(within(pe(&trace, 0), 0, 60)[C as usize], 60 - 3 - 2);
    assert_eq!(within(pe(&trace, 0), 11, 15)[C as usize], 2);
    assert_eq!(within(pe(&trace, 0), 11, 15)[Kind::Idle as usize], 2);
}

/// Polls that are one visit count as so many, and what a message, an access and a file move is counted where it is recorded.
#[test]
fn the_content_of_a_run_is_its_profile() {
    let trace = trace(
        "pe 0: main 0..100 { work 0..40 MPI_Send 40..50 send(to=1, bytes=8) MPI_File_write 60..70 write(100) }
         pe 1: main 0..100 { MPI_Iprobe 1..9 polls(5) MPI_Recv 10..50 recv(from=0, bytes=8) MPI_Put 60..70 put(to=0, bytes=32) MPI_Iprobe 80..80 }",
    );
    let waits = Waits::find(&trace, &Index::build(&trace));
    let (detail, pes) = (Detail::new(&trace, &waits), trace.active_pes().collect::<Vec<_>>());
    let content = |begin: i64, end: i64| {
        let times: Vec<_> = pes.iter().map(|pe| detail.times(&trace, &waits, *pe, Time(begin), Time(end))).collect();
        let made = (&trace, &waits, &Stacks::new(&trace));
        Contents::new(&trace, &waits).within(made, &pes, &times, (Time(begin), Time(end)), None)
    };
    let plain = |rows: &[Flat]| rows.iter().map(|row| Flat { bytes: 0, ..*row }).collect::<Vec<Flat>>();
    let whole = content(0, 100);
    assert_eq!(whole.functions, plain(&flat(&trace, &spent(&trace), &moved_by_region(&trace))));
    let moved =
        |moving: Moving, sums: &[partune_picture::Sum]| (sums[moving as usize].rows, sums[moving as usize].value);
    let all =
        [Moving::Sent, Moving::Received, Moving::Put, Moving::Written, Moving::Read].map(|it| moved(it, &whole.moved));
    assert_eq!(all, [(1, 8), (1, 8), (1, 32), (1, 100), (0, 0)]);
    // The message was sent at 40 and received at 50, which is the end of this part and not in it.
    let part = content(40, 50);
    assert_eq!([Moving::Sent, Moving::Received].map(|it| moved(it, &part.moved)), [(1, 8), (0, 0)]);
    assert_eq!(part.waits, [], "it was sent when the part begins");
    assert_eq!(content(0, 25).waits[0].time, Span(15));
}
