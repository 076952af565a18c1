//! Two runs side by side: which stage of one is which of the other, and where in the other a moment of one is.
//!
//! A stage is a turn of a marked loop, a marked phase, a visit to a function, or a block with the global synchronisation at its end. It lasts from when the first PE
//! begins it until the last one has left it, or the next stage begins. The k-th stage of a name in one run is the k-th of that name in the other. Pairs that would
//! cross (the runs do things in another order) are left out, as few as can be. Between the edges of stages, time runs evenly in both.

use partune_base::{CallPathId, PeId, RegionId, Table, Time};
use partune_index::Index;
use partune_trace::{RegionKind, Trace};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::align::{Names, call_paths, regions};

/// What stages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stages {
    /// Outermost turns of marked loops.
    Turns,
    /// Outermost marked phases.
    Phases,
    /// Outermost visits to a region of the first run, and to the same one of the other.
    Visits(RegionId),
    /// Blocks between global synchronisations.
    Blocks,
}

/// A stage that both runs have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlignedStage {
    /// In the first run what it is a visit to, or the synchronisation that ends a block; none at the end of the run.
    pub region: RegionId,
    /// How many of this name came before in the first run.
    pub number: u32,
    pub here: (Time, Time),
    pub there: (Time, Time),
}

/// Two runs, stage by stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aligned {
    /// In the order of both runs.
    pub stages: Vec<AlignedStage>,
    /// Stages that only one of the runs has, or has in another order.
    pub here_only: usize,
    pub there_only: usize,
    /// Moments that are the same in both, in order: the begin of the runs, the edges of stages, the end.
    edges: Vec<(Time, Time)>,
}

/// A stage of one run. Stages of equal names have equal keys, in either run.
#[derive(Clone, Copy)]
struct Stage {
    key: (u32, u32),
    /// Equal for those that are called the same in this run.
    name: u32,
    region: RegionId,
    begin: Time,
    end: Time,
}

/// Whether a run, or the piece of it that this is, has such stages. Linear in call paths, and in visits where they may be there.
pub fn has_stages(trace: &Trace, index: &Index, stages: Stages) -> bool {
    if stages == Stages::Blocks {
        return index.blocks.blocks.len() > 1;
    }
    let is = |path: CallPathId| is_stage(trace, stages, trace.paths().region(path));
    let wanted: Table<CallPathId, bool> = trace.paths().ids().map(is).collect();
    let pes: Vec<PeId> = trace.cpu_pes().collect();
    wanted.iter().any(|is| *is)
        && pes.par_iter().any(|pe| trace.streams()[*pe].visits.path.iter().any(|path| wanted[*path]))
}

fn is_stage(trace: &Trace, stages: Stages, region: RegionId) -> bool {
    match stages {
        Stages::Turns => trace.regions()[region].kind == RegionKind::Iteration,
        Stages::Phases => trace.regions()[region].kind == RegionKind::Phase,
        Stages::Visits(wanted) => region == wanted,
        Stages::Blocks => false,
    }
}

/// Aligns two runs. Linear in visits, or in blocks times PEs, but for sorting stages.
pub fn align((here, here_index): (&Trace, &Index), (there, there_index): (&Trace, &Index), by: Stages) -> Aligned {
    let traces = [here, there];
    let names = Names::new(&traces);
    let (of_here, of_there) = if by == Stages::Blocks {
        let rows = call_paths(&traces, &names);
        let key = |run: usize, path: CallPathId| rows.row(run, path).map_or(u32::MAX, |row| row as u32);
        (blocks(here, here_index, |path| key(0, path)), blocks(there, there_index, |path| key(1, path)))
    } else {
        let rows = regions(&traces, &names);
        let wanted = match by {
            Stages::Visits(region) => rows.ids.iter().position(|ids| ids[0].contains(&region)),
            _ => None,
        };
        let of = |run: usize| {
            let key = |path: CallPathId| {
                let row = rows.row(run, path)?;
                let is_wanted = match by {
                    Stages::Visits(_) => wanted == Some(row),
                    _ => is_stage(traces[run], by, traces[run].paths().region(path)),
                };
                is_wanted.then_some(row as u32)
            };
            visits(traces[run], key)
        };
        (of(0), of(1))
    };
    matched((here, of_here), (there, of_there))
}

/// The k-th outermost visits of all PEs to call paths that have a key, for each k.
fn visits(trace: &Trace, key: impl Fn(CallPathId) -> Option<u32>) -> Vec<Stage> {
    let paths = trace.paths();
    let keys: Table<CallPathId, Option<u32>> = paths.ids().map(key).collect();
    let outermost = paths.outermost(1, |path| keys[path].map(|_| 0));
    if !outermost.iter().any(|is| *is) {
        return Vec::new();
    }
    let pes: Vec<_> = trace.cpu_pes().collect();
    let of_pe = |pe: &PeId| -> Vec<((u32, u32), Stage)> {
        let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
        let inside = trace.streams()[*pe].visits.iter().filter(|visit| outermost[visit.path]);
        inside
            .filter_map(|visit| {
                let (region, key) = (paths.region(visit.path), keys[visit.path]?);
                let count = counts.entry(key).or_default();
                *count += 1;
                Some(((key, *count), Stage { key: (key, 0), name: key, region, begin: visit.enter, end: visit.exit }))
            })
            .collect()
    };
    let mut all: FxHashMap<(u32, u32), Stage> = FxHashMap::default();
    for (which, stage) in pes.par_iter().map(of_pe).collect::<Vec<_>>().into_iter().flatten() {
        let whole = all.entry(which).or_insert(stage);
        (whole.begin, whole.end) = (whole.begin.min(stage.begin), whole.end.max(stage.end));
    }
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_unstable_by_key(|(which, stage)| (stage.begin, *which));
    apart(all.into_iter().map(|(_, stage)| stage).collect())
}

/// Blocks, each until the next one begins.
fn blocks(trace: &Trace, index: &Index, key: impl Fn(CallPathId) -> u32) -> Vec<Stage> {
    let blocks = &index.blocks.blocks;
    let known: Vec<&Vec<(Time, Time)>> = index.blocks.extents.iter().filter(|it| it.len() == blocks.len()).collect();
    if blocks.len() < 2 || known.is_empty() {
        return Vec::new();
    }
    let begin = |at: usize| known.iter().map(|extents| extents[at].0).min().unwrap_or_default();
    let stage = |(at, block): (usize, &partune_index::Block)| {
        let region = block.source.1.some().map_or(RegionId::NONE, |path| trace.paths().region(path));
        let key = (key(block.source.0), key(block.source.1));
        Stage { key, name: region.0, region, begin: begin(at), end: trace.end() }
    };
    apart(blocks.iter().enumerate().map(stage).collect())
}

/// Stages in order of their begin that do not overlap: each ends where the next one begins, if not before.
fn apart(mut stages: Vec<Stage>) -> Vec<Stage> {
    let mut next = Time(i64::MAX);
    for stage in stages.iter_mut().rev() {
        stage.begin = stage.begin.min(next);
        stage.end = stage.end.min(next).max(stage.begin);
        next = stage.begin;
    }
    stages
}

fn matched((here, of_here): (&Trace, Vec<Stage>), (there, of_there): (&Trace, Vec<Stage>)) -> Aligned {
    let mut by_key: FxHashMap<(u32, u32), Vec<usize>> = FxHashMap::default();
    for (at, stage) in of_there.iter().enumerate() {
        by_key.entry(stage.key).or_default().push(at);
    }
    let mut counts: FxHashMap<(u32, u32), usize> = FxHashMap::default();
    let mut named: FxHashMap<u32, u32> = FxHashMap::default();
    let mut pairs: Vec<(usize, usize, u32)> = Vec::new();
    for (at, stage) in of_here.iter().enumerate() {
        let (count, number) = (counts.entry(stage.key).or_default(), named.entry(stage.name).or_default());
        let other = by_key.get(&stage.key).and_then(|of_key| of_key.get(*count));
        pairs.extend(other.map(|other| (at, *other, *number)));
        (*count, *number) = (*count + 1, *number + 1);
    }
    let kept = longest_rising(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let stage = |at: usize| {
        let (one, other, number) = pairs[at];
        let (one, other) = (&of_here[one], &of_there[other]);
        AlignedStage { region: one.region, number, here: (one.begin, one.end), there: (other.begin, other.end) }
    };
    let stages: Vec<AlignedStage> = kept.into_iter().map(stage).collect();
    let of_stages = stages.iter().flat_map(|it| [(it.here.0, it.there.0), (it.here.1, it.there.1)]);
    let first = (here.begin(), there.begin());
    let edges = [first].into_iter().chain(of_stages).chain([(here.end(), there.end())]).collect();
    Aligned { here_only: of_here.len() - stages.len(), there_only: of_there.len() - stages.len(), stages, edges }
}

/// Positions of a longest rising subsequence of different numbers, in order. n log n.
fn longest_rising(numbers: &[usize]) -> Vec<usize> {
    // The last one of the rising row of each length that ends lowest; and what comes before each number in its row.
    let mut lasts: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (at, number) in numbers.iter().enumerate() {
        let length = lasts.partition_point(|last| numbers[*last] < *number);
        before.push(length.checked_sub(1).map(|shorter| lasts[shorter]));
        if length == lasts.len() {
            lasts.push(at);
        } else {
            lasts[length] = at;
        }
    }
    let mut row: Vec<usize> = std::iter::successors(lasts.last().copied(), |at| before[*at]).collect();
    row.reverse();
    row
}

impl Aligned {
    /// Where in the other run a piece begins that begins here in the first one: behind what only the other run has there, but at its begin if this is the begin.
    pub fn begin_there(&self, time: Time) -> Time {
        if time <= self.edges[0].0 {
            return self.edges[0].1;
        }
        self.between(self.edges.partition_point(|edge| edge.0 <= time), time)
    }

    /// The same of a piece's end: before what only the other run has there, but at its end if this is the end.
    pub fn end_there(&self, time: Time) -> Time {
        let last = self.edges[self.edges.len() - 1];
        if time >= last.0 {
            return last.1;
        }
        self.between(self.edges.partition_point(|edge| edge.0 < time), time)
    }

    /// A moment before an edge and after the one before it.
    fn between(&self, edge: usize, time: Time) -> Time {
        let after = edge.clamp(1, self.edges.len() - 1);
        let ((here, there), (here_end, there_end)) = (self.edges[after - 1], self.edges[after]);
        let whole = i128::from(here_end.0) - i128::from(here.0);
        let gone = (i128::from(time.0) - i128::from(here.0)).clamp(0, whole.max(0));
        let other = i128::from(there_end.0) - i128::from(there.0);
        let moved = if whole > 0 { gone * other / whole } else { 0 };
        Time::clamped(i128::from(there.0) + moved)
    }
}

/// Which regions of two runs are the same: for each that one of them has, those of the first run and those of the other.
pub fn same_regions(here: &Trace, there: &Trace) -> Vec<(Vec<RegionId>, Vec<RegionId>)> {
    let traces = [here, there];
    let rows = regions(&traces, &Names::new(&traces));
    rows.ids.into_iter().filter_map(|ids| <[Vec<RegionId>; 2]>::try_from(ids).ok()).map(|[a, b]| (a, b)).collect()
}

#[cfg(test)]
mod tests {
    use partune_testkit::trace;
    use proptest::prelude::*;

    use super::*;

    fn aligned(here: &str, there: &str, by: impl Fn(&Trace) -> Stages) -> Aligned {
        let (here, there) = (trace(here), trace(there));
        let (of_here, of_there) = (Index::build(&here), Index::build(&there));
        align((&here, &of_here), (&there, &of_there), by(&here))
    }

    fn pairs(aligned: &Aligned) -> Vec<[i64; 4]> {
        let row = |it: &AlignedStage| [it.here.0.0, it.here.1.0, it.there.0.0, it.there.1.0];
        aligned.stages.iter().map(row).collect()
    }

    fn region(trace: &Trace, name: &str) -> RegionId {
        let is = |id: &RegionId| trace.strings().get(trace.regions()[*id].name) == name;
        trace.regions().ids().find(is).expect("it is there")
    }

    #[test]
    fn the_kth_visit_is_the_kth_and_moments_run_evenly_between() {
        let here = "pe 0: main 0..100 { step 10..20 step 30..50 }
                    pe 1: main 0..100 { step 12..24 step 31..48 }";
        let there = "pe 0: main 0..70 { step 5..10 step 20..30 step 40..50 }
                     pe 1: main 0..70 { step 4..9 step 21..32 step 40..50 }";
        let aligned = aligned(here, there, |trace| Stages::Visits(region(trace, "step")));
        assert_eq!(pairs(&aligned), [[10, 24, 4, 10], [30, 50, 20, 32]]);
        assert_eq!((aligned.here_only, aligned.there_only), (0, 1));
        assert_eq!(aligned.stages.iter().map(|it| it.number).collect::<Vec<_>>(), [0, 1]);
        for there in [Aligned::begin_there, Aligned::end_there] {
            let there = |time: i64| there(&aligned, Time(time)).0;
            let times = [0, 5, 10, 17, 24, 27, 30, 40, 50, 75, 100];
            assert_eq!(times.map(there), [0, 2, 4, 7, 10, 15, 20, 26, 32, 51, 70]);
            assert_eq!([-5, 200].map(there), [0, 70]);
        }
    }

    #[test]
    fn what_only_the_other_run_has_is_in_no_piece_that_ends_or_begins_there() {
        // There something comes before the first step, between the steps, and after the last one.
        let here = "pe 0: main 0..100 { step 0..50 step 50..100 }";
        let there = "pe 0: main 0..200 { more 0..20 step 20..60 more 60..90 step 90..180 more 180..200 }";
        let aligned = aligned(here, there, |trace| Stages::Visits(region(trace, "step")));
        let piece = |begin, end| (aligned.begin_there(Time(begin)).0, aligned.end_there(Time(end)).0);
        assert_eq!(piece(0, 100), (0, 200), "the whole run is the whole run");
        assert_eq!(piece(25, 50), (40, 60));
        assert_eq!(piece(50, 75), (90, 135));
    }

    #[test]
    fn blocks_are_the_same_between_the_same_synchronisations() {
        // The other run has a barrier more, so one block is two there.
        let here = "pe 0: main 0..100 { MPI_Barrier 10..20 barrier solve 20..40 { MPI_Allreduce 30..40 allreduce } MPI_Barrier 60..70 barrier }
                    pe 1: main 0..100 { MPI_Barrier 15..20 barrier solve 20..40 { MPI_Allreduce 38..40 allreduce } MPI_Barrier 69..70 barrier }";
        let there = "pe 0: main 0..90 { MPI_Barrier 5..8 barrier solve 8..20 { MPI_Allreduce 15..20 allreduce } more 20..45 { MPI_Barrier 30..40 barrier } MPI_Barrier 60..70 barrier }
                     pe 1: main 0..90 { MPI_Barrier 7..8 barrier solve 8..20 { MPI_Allreduce 15..20 allreduce } more 20..45 { MPI_Barrier 30..40 barrier } MPI_Barrier 65..70 barrier }";
        let aligned = aligned(here, there, |_| Stages::Blocks);
        assert_eq!(pairs(&aligned), [[0, 20, 0, 8], [20, 40, 8, 20], [70, 100, 70, 90]]);
        assert_eq!((aligned.here_only, aligned.there_only), (1, 2));
    }

    #[test]
    fn what_has_no_stages_is_aligned_at_its_ends() {
        let aligned = aligned("pe 0: main 0..100", "pe 0: main 0..50", |_| Stages::Turns);
        assert_eq!((aligned.stages.len(), aligned.begin_there(Time(50)).0), (0, 25));
    }

    #[test]
    fn another_order_loses_as_few_stages_as_can_be() {
        assert_eq!(longest_rising(&[]), [0; 0]);
        assert_eq!(longest_rising(&[3, 0, 1, 2]), [1, 2, 3]);
        assert_eq!(longest_rising(&[2, 1, 0]).len(), 1);
    }

    proptest! {
        #[test]
        fn a_rising_row_is_the_longest(numbers in prop::collection::hash_set(0usize..40, 0..12)) {
            let numbers: Vec<usize> = numbers.into_iter().collect();
            let row = longest_rising(&numbers);
            let rises = |row: &[usize]| row.windows(2).all(|it| it[0] < it[1] && numbers[it[0]] < numbers[it[1]]);
            prop_assert!(rises(&row));
            let subset = |set: u32| -> Vec<usize> { (0..numbers.len()).filter(|at| set >> at & 1 == 1).collect() };
            let longest = (0..1u32 << numbers.len()).map(subset).filter(|row| rises(row)).map(|row| row.len()).max();
            prop_assert_eq!(row.len(), longest.unwrap_or(0));
        }

        #[test]
        fn a_run_beside_itself_is_itself(begins in prop::collection::vec(1i64..9, 1..20), time in 0i64..300) {
            let mut at = 0;
            let step = |length: i64| {
                at += length + 1;
                format!("step {}..{}", at - length - 1, at - 1)
            };
            let turns = begins.into_iter().map(step).collect::<Vec<_>>().join(" ");
            let text = format!("pe 0: main 0..{} {{ {turns} }}", at + 5);
            let aligned = aligned(&text, &text, |trace| Stages::Visits(region(trace, "step")));
            prop_assert_eq!(aligned.begin_there(Time(time)), Time(time.min(at + 5)));
            prop_assert_eq!(aligned.end_there(Time(time)), Time(time.min(at + 5)));
        }
    }
}
