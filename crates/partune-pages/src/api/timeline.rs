//! `timeline`: what PEs did in a part of the run, with lines between them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use partune_base::{RegionId, Time};
use partune_engine::{Bin, Fold, FunctionShares, Kind, Tiles, View, Visit};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::Ask;
use super::lines::{self, Collectives, CriticalPath, Messages, Waits};
use super::rows::{Grouping, Order, Rows, chosen, folded};
use crate::error::Error;
use crate::query::Query;
use crate::run::Run;
use crate::text;

/// Limits of a view.
const ROWS: usize = 512;
const COLUMNS: usize = 4096;
/// Bins of an answer, and sums that are looked up for it.
const BINS: usize = 1 << 18;
const SUMS: usize = 1 << 20;
/// Bins that one task goes over.
const CHUNK: usize = 4096;
/// Visits that are listed one by one.
const SPANS: usize = 8192;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Timeline {
    from: i64,
    to: i64,
    columns: usize,
    rows: Rows,
    /// PEs that have no row, since others wait more.
    pes_omitted: usize,
    bins: Bins,
    /// By function, where that is asked for.
    functions: Option<FunctionBins>,
    spans: Option<Spans>,
    spans_count: Option<usize>,
    regions: Vec<String>,
    waits: Waits,
    /// How many there are in the view; not known of a run that was looked at in slices, as all counts of lines.
    waits_count: Option<usize>,
    messages: Option<Messages>,
    messages_count: Option<usize>,
    collectives: Vec<Collectives>,
    collectives_count: Option<usize>,
    critical_path: CriticalPath,
    critical_path_count: Option<usize>,
    patterns: Vec<&'static str>,
    findings: Vec<String>,
    groups: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Bins {
    kinds: Vec<usize>,
    data: String,
}

/// The functions that take most of the run, and, with null, all others.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FunctionBins {
    function: Vec<Option<u32>>,
    data: String,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Spans {
    row: Vec<usize>,
    from: Vec<i64>,
    to: Vec<i64>,
    depth: Vec<u32>,
    region: Vec<u32>,
    kind: Vec<usize>,
}

/// Numbers in the order in which they are first used; for tables of names.
pub(super) struct Numbers<T> {
    known: FxHashMap<T, u32>,
    pub(super) order: Vec<T>,
}

impl<T: Copy + Eq + std::hash::Hash> Numbers<T> {
    pub(super) fn new() -> Numbers<T> {
        Numbers { known: FxHashMap::default(), order: Vec::new() }
    }

    pub(super) fn of(&mut self, it: T) -> u32 {
        *self.known.entry(it).or_insert_with(|| {
            self.order.push(it);
            self.order.len() as u32 - 1
        })
    }
}

pub(super) fn timeline(run: &Run, ask: &Ask<'_>) -> Result<Timeline, Error> {
    run.needs_times()?;
    let recorded = run.recorded();
    let (begin, end) = interval(run, &ask.query)?;
    let (fold, grouping, pes_omitted) = fold(run, ask)?;
    let columns = ask.query.number("columns", 1..=COLUMNS)?.unwrap_or(1024).min(ask.most);
    let by_function = ask.query.word("by", &[("kind", false), ("function", true)])?;
    if by_function {
        run.needs_events()?;
    }
    // There are more functions than kinds.
    let most = if by_function { BINS / 2 } else { BINS };
    let columns = columns.min(most / fold.len().max(1)).min(SUMS / fold.pes().len().max(1)).max(1);
    let view = View { begin, end, columns };
    let tiles = recorded.tiles(&fold, view);
    let mut regions = Numbers::new();
    let functions = by_function.then(|| functions(run, &fold, view, &mut regions));
    let spans = spans(run, &fold, (begin, end), SPANS.min(ask.most.saturating_mul(4)), &mut regions);
    let lines = lines::lines(run, &fold, (begin, end), ask.most);
    Ok(Timeline {
        from: run.ns(begin),
        to: run.ns(end),
        columns,
        rows: Rows::grouped(run, &fold, grouping),
        pes_omitted,
        bins: bins(&tiles),
        functions,
        spans_count: spans.as_ref().map(|spans| spans.row.len()),
        spans,
        regions: regions.order.iter().map(|region| text::region(recorded, *region)).collect(),
        waits: lines.waits,
        waits_count: lines.waits_count,
        messages: lines.messages,
        messages_count: lines.messages_count,
        collectives: lines.collectives,
        collectives_count: lines.collectives_count,
        critical_path: lines.critical_path,
        critical_path_count: lines.critical_path_count,
        patterns: lines.patterns,
        findings: lines.findings.iter().map(|finding| run.ids[*finding as usize].clone()).collect(),
        groups: lines.groups,
    })
}

/// The part of the run that is asked for, cut to the run: what is between two times in nanoseconds, however fine its clock is.
pub(super) fn interval(run: &Run, query: &Query) -> Result<(Time, Time), Error> {
    let recorded = run.recorded();
    let any = i64::MIN..=i64::MAX;
    let from = query.number("from", any.clone())?.unwrap_or(0);
    let to = query.number("to", any)?.unwrap_or_else(|| run.ns(recorded.end()).saturating_add(1));
    if from >= to {
        return Err(Error::question("from is not before to", "give an interval that has a length"));
    }
    let inside = |ns: i64| run.first_time(ns).max(recorded.begin()).min(recorded.end());
    // The last nanosecond of the run need not be whole.
    let end = if to >= run.ns(recorded.end()) { recorded.end() } else { inside(to) };
    Ok((inside(from), end))
}

/// The rows that are asked for, and how many PEs are left out: those that wait least, where the order is by that and they are more than rows.
fn fold(run: &Run, ask: &Ask<'_>) -> Result<(Fold, Grouping, usize), Error> {
    let rows = ask.query.number("rows", 1..=ROWS)?.unwrap_or(128).min(ask.most);
    let words = [
        ("none", Grouping::None),
        ("process", Grouping::Process),
        ("host", Grouping::Host),
        ("device", Grouping::Device),
    ];
    let grouping = ask.query.word("group", &words)?;
    let (mut pes, order) = chosen(run, &ask.query)?;
    let all = pes.len();
    if order == Order::Waiting && grouping == Grouping::None {
        pes.truncate(rows);
    }
    Ok((folded(run, &pes, grouping, rows), grouping, all - pes.len()))
}

/// A share as a byte.
fn byte(share: f32) -> u8 {
    (share * 255.0 + 0.5) as u8
}

pub(super) fn bins(tiles: &Tiles) -> Bins {
    // Idle is what is left.
    let (kinds, data) = packed(tiles.bins(), |bin: &Bin| &bin.shares, |kind| kind != Kind::Idle as usize);
    Bins { kinds, data }
}

fn functions(run: &Run, fold: &Fold, view: View, regions: &mut Numbers<RegionId>) -> FunctionBins {
    let recorded = run.recorded();
    let tiles = recorded.tiles_by_function(fold, view);
    let (classes, data) = packed(&tiles, |bin: &FunctionShares| bin, |_| true);
    let known = recorded.told_apart();
    let function = classes.into_iter().map(|class| known.get(class).map(|region| regions.of(*region))).collect();
    FunctionBins { function, data }
}

/// The shares of those classes that are wanted and that a bin has something of, a byte each in base64, bin by bin; and which these are.
fn packed<T: Sync, const N: usize>(
    bins: &[T],
    shares: impl Fn(&T) -> &[f32; N] + Sync,
    wanted: impl Fn(usize) -> bool,
) -> (Vec<usize>, String) {
    let seen = |seen: [bool; N], bin: &T| {
        let shares = shares(bin);
        std::array::from_fn(|class| seen[class] || byte(shares[class]) > 0)
    };
    let either = |a: [bool; N], b: [bool; N]| std::array::from_fn(|class| a[class] || b[class]);
    let none = || [false; N];
    let seen = bins.par_chunks(CHUNK).map(|bins| bins.iter().fold(none(), &seen)).reduce(none, either);
    let classes: Vec<usize> = (0..N).filter(|class| wanted(*class) && seen[*class]).collect();
    let mut data = vec![0; bins.len() * classes.len()];
    if !classes.is_empty() {
        data.par_chunks_mut(CHUNK * classes.len()).zip(bins.par_chunks(CHUNK)).for_each(|(data, bins)| {
            for (data, bin) in data.chunks_mut(classes.len()).zip(bins) {
                data.iter_mut().zip(&classes).for_each(|(data, class)| *data = byte(shares(bin)[*class]));
            }
        });
    }
    (classes, STANDARD.encode(data))
}

/// Every visit of an interval, if they are at most so many.
fn spans(
    run: &Run,
    fold: &Fold,
    (begin, end): (Time, Time),
    most: usize,
    regions: &mut Numbers<RegionId>,
) -> Option<Spans> {
    let recorded = run.recorded();
    if !fold.is_exact() || !recorded.has_events() {
        return None;
    }
    let mut found: Vec<(usize, Vec<Visit>)> = Vec::new();
    let mut left = most;
    for (row, pe) in fold.rows().flatten().enumerate() {
        let visits = recorded.visits_within(*pe, begin, end, left)?;
        left = left.checked_sub(visits.len())?;
        found.push((row, visits));
    }
    let mut spans = Spans::default();
    for (row, visits) in found {
        for visit in visits {
            spans.row.push(row);
            spans.from.push(run.ns(visit.enter));
            spans.to.push(run.ns(visit.exit));
            spans.depth.push(recorded.levels(visit.path) as u32 - 1);
            spans.region.push(regions.of(recorded.region_at(visit.path).id));
            spans.kind.push(recorded.kind(visit.path) as usize);
        }
    }
    Some(spans)
}
