//! What one run spent in each row of a comparison, with the spread over visits and PEs by which a difference is judged.
//!
//! From the same sums as the analyses `profile` and `operations`, so that a comparison shows the figures that they show.

use partune_base::{CallPathId, PeId, Span, Table};
use partune_trace::Trace;
use rustc_hash::FxHashMap;

use super::Run;
use super::align::Rows;
use super::sampling::Sampling;
use super::spread::Spread;

/// What a run spent in a place, summed over PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlaceSums {
    /// Seconds without the call paths directly below.
    pub exclusive: f64,
    /// Seconds from enter to exit; of a region its outermost visits only.
    pub inclusive: f64,
    pub visits: u64,
    /// Seconds that operations waited here; none for a profile, which does not tell.
    pub waiting: Option<f64>,
    pub bytes: u64,
    /// PEs that were here.
    pub pes: u64,
    /// Exclusive seconds of the PE that spent the most.
    pub longest: f64,
}

/// The same with what a verdict needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) sums: PlaceSums,
    /// Position of each PE that was here, among the active ones, and its exclusive seconds; in order.
    pes: Vec<(u32, f64)>,
    /// Of each of these, its visits.
    visits: Vec<u64>,
    /// Of each of these, from that spread and the error of counting samples; none where nothing is known of it.
    of_pes: Vec<Option<f64>>,
    /// Of the sum, from the spread over visits of what was measured.
    variance: Option<f64>,
    /// Of the sum, by the error of counting samples, which say how much of it there is; none where they do not.
    sampled: Option<f64>,
}

/// What one PE spent in a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfPe {
    /// Among the active ones.
    pub(crate) position: u32,
    /// Exclusive.
    pub(crate) seconds: f64,
    pub(crate) variance: Option<f64>,
    /// Seconds that the clock cannot tell.
    pub(crate) resolution: f64,
}

/// The rows of a run, none where it never was.
pub(crate) struct RunSums {
    pub(crate) rows: Vec<Option<Measured>>,
    /// Active PEs.
    pub(crate) pes: usize,
    seconds_a_tick: f64,
    /// The variance of the run's sum by the spread over visits, of all places together but those that samples say, and without waiting, which follows
    /// what it waits for; none if nothing was visited twice.
    pub(crate) variance: Option<f64>,
    /// That of one sample; none if samples say nothing.
    pub(crate) one_more: Option<f64>,
}

impl RunSums {
    /// A row as a value with its spread, zero where the run never was.
    pub(crate) fn spread(&self, row: usize) -> Spread<'_> {
        let nothing = Spread { sum: 0.0, pes: &[], count: self.pes, variance: None, besides: None, resolution: 0.0 };
        self.rows[row].as_ref().map_or(nothing, |measured| Spread {
            sum: measured.sums.exclusive,
            pes: &measured.pes,
            count: self.pes,
            // What samples say is told by them as other times are by visits; their error comes to it.
            variance: measured.variance.or(measured.sampled.map(|_| 0.0)),
            besides: measured.sampled,
            resolution: measured.sums.visits as f64 * self.seconds_a_tick,
        })
    }

    /// What each PE that was in a row spent there, in order of position.
    pub(crate) fn each(&self, row: usize) -> Vec<OfPe> {
        let Some(measured) = &self.rows[row] else { return Vec::new() };
        let of_pe = |((share, visits), variance): ((&(u32, f64), &u64), &Option<f64>)| OfPe {
            position: share.0,
            seconds: share.1,
            variance: *variance,
            resolution: *visits as f64 * self.seconds_a_tick,
        };
        measured.pes.iter().zip(&measured.visits).zip(&measured.of_pes).map(of_pe).collect()
    }
}

/// Adds up a run by rows. Linear in call paths of PEs, once it is known what they took.
pub(crate) fn measure<I>(run: &Run<'_>, number: usize, rows: &Rows<I>, sampling: Option<&Sampling>) -> RunSums {
    let (input, trace) = (&run.input, run.input.trace);
    let of_path = &rows.of_path[number];
    let clock = trace.clock();
    let outermost = outermost(trace, of_path, rows.ids.len());
    let times = input.times();
    let active: Vec<PeId> = trace.active_pes().collect();
    let mut sums: Vec<Option<Measured>> = vec![None; rows.ids.len()];
    for (position, pe) in active.iter().enumerate() {
        let mut on_pe: FxHashMap<u32, (f64, u64)> = FxHashMap::default();
        let mut by_samples: FxHashMap<u32, f64> = FxHashMap::default();
        let mut touched = Vec::new();
        for time in &times[*pe] {
            let row = of_path[time.path];
            let Some(measured) = sums.get_mut(row as usize) else { continue };
            let measured = measured.get_or_insert_with(Measured::default);
            let exclusive = clock.seconds(time.exclusive);
            measured.sums.exclusive += exclusive;
            measured.sums.inclusive += if outermost[time.path] { clock.seconds(time.inclusive) } else { 0.0 };
            measured.sums.visits += time.visits;
            let share = on_pe.entry(row).or_insert_with(|| {
                touched.push(row);
                (0.0, 0)
            });
            share.0 += exclusive;
            share.1 += time.visits;
            if sampling.is_some_and(|it| it.is_shared_out(time.path)) {
                *by_samples.entry(row).or_default() += exclusive;
            }
        }
        for row in touched {
            let (share, visits) = on_pe.get(&row).copied().unwrap_or_default();
            let Some(measured) = &mut sums[row as usize] else { continue };
            measured.pes.push((position as u32, share));
            measured.visits.push(visits);
            measured.sums.pes += 1;
            measured.sums.longest = measured.sums.longest.max(share);
            let counted = sampling.zip(by_samples.get(&row)).map(|(sampling, seconds)| {
                let (of_pe, one_more) = (sampling.of_pe(*pe, *seconds), sampling.one_more());
                *measured.sampled.get_or_insert(one_more) += of_pe;
                of_pe + one_more
            });
            measured.of_pes.push(counted);
        }
    }
    let mut at = |path: CallPathId, add: &dyn Fn(&mut Measured)| {
        if let Some(Some(measured)) = of_path.get(path).and_then(|row| sums.get_mut(*row as usize)) {
            add(measured);
        }
    };
    let is_profile = trace.profile().is_some();
    for ((path, operation), waiting) in input.operations().iter_ids().zip(&input.waiting().0) {
        at(path, &|measured| {
            measured.sums.bytes = measured.sums.bytes.saturating_add(operation.transfers.bytes());
            let more = clock.seconds(*waiting);
            measured.sums.waiting = (!is_profile).then(|| measured.sums.waiting.unwrap_or(0.0) + more);
        });
    }
    let tick = clock.seconds(Span(1));
    let mut of_run: Option<f64> = None;
    let of_active = active.iter().enumerate();
    let visits = of_active.flat_map(|(at, pe)| input.visit_moments().of_pes[*pe].iter().map(move |it| (at as u32, it)));
    // Visits to what samples shared out follow from the shares.
    let is_measured = |path: CallPathId| !sampling.is_some_and(|it| it.is_shared_out(path));
    for (position, (path, visits)) in visits.filter(|(_, (path, _))| is_measured(*path)) {
        let Some((all, working)) = visits.all.of_sum().zip(visits.working.of_sum()) else { continue };
        let more = all * tick * tick;
        at(*path, &|measured| {
            *measured.variance.get_or_insert(0.0) += more;
            if let Ok(at) = measured.pes.binary_search_by_key(&position, |it| it.0) {
                *measured.of_pes[at].get_or_insert(0.0) += more;
            }
        });
        of_run = Some(of_run.unwrap_or(0.0) + working * tick * tick);
    }
    RunSums {
        rows: sums,
        pes: active.len(),
        seconds_a_tick: tick,
        variance: of_run,
        one_more: sampling.map(Sampling::one_more),
    }
}

/// Whether no ancestor of a path is in the same row.
fn outermost(trace: &Trace, of_path: &Table<CallPathId, u32>, rows: usize) -> Table<CallPathId, bool> {
    trace.paths().outermost(rows, |path| Some(of_path[path] as usize).filter(|row| *row < rows))
}
