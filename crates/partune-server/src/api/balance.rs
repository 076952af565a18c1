//! `balance`: what each PE did with its time, and where its work lies, by region and by block.

use std::cmp::Reverse;

use partune_analysis::Values;
use partune_base::{PeId, Span, Time};
use partune_picture::{Flat, Fold, Heat, Kind, blocks, regions};
use partune_trace::Activity;
use serde::Serialize;

use super::Ask;
use super::rows::Rows;
use crate::reply::Error;
use crate::run::Run;
use crate::text;

/// Limits of a picture, and rows of the table.
const ROWS: usize = 512;
const COLUMNS: usize = 200;
const EVENTS: usize = 200;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Balance {
    rows: Rows,
    kinds: Vec<usize>,
    seconds: Vec<Vec<f64>>,
    regions: ByRegion,
    blocks: Option<ByBlock>,
    events: Events,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ByRegion {
    names: Vec<String>,
    region: Vec<u32>,
    seconds: Vec<Vec<f64>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ByBlock {
    first: Vec<usize>,
    count: Vec<usize>,
    from: Vec<i64>,
    to: Vec<i64>,
    seconds: Vec<Vec<f64>>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Events {
    name: Vec<String>,
    /// None for the code outside of all.
    region: Vec<Option<u32>>,
    kind: Vec<usize>,
    total_s: Vec<f64>,
    mean_s: Vec<f64>,
    least_s: Vec<f64>,
    most_s: Vec<f64>,
    most_pe: Vec<Option<u32>>,
    spread: Vec<f64>,
}

pub(super) fn balance(run: &Run, ask: &Ask<'_>) -> Result<Balance, Error> {
    let rows = ask.query.number("rows", 1..=ROWS)?.unwrap_or(128);
    let columns = ask.query.number("columns", 1..=COLUMNS)?.unwrap_or(60);
    let trace = run.trace();
    let fold = Fold::new(run.pes.clone(), rows);
    let (kinds, seconds) = if trace.profile().is_some() { by_activity(run, &fold) } else { by_kind(run, &fold) };
    let heat = regions(trace, run.times(), &fold, columns);
    Ok(Balance {
        rows: Rows::new(run, &fold),
        kinds: kinds.into_iter().map(|kind| kind as usize).collect(),
        seconds,
        regions: ByRegion {
            names: heat.columns.iter().map(|region| text::region(trace, *region)).collect(),
            region: heat.columns.iter().map(|region| region.0).collect(),
            seconds: cells(&heat),
        },
        blocks: by_block(run, &fold, columns),
        events: events(run),
    })
}

fn cells<C>(heat: &Heat<C>) -> Vec<Vec<f64>> {
    heat.rows().map(<[f64]>::to_vec).collect()
}

/// Seconds of a PE by kind of time, over the whole run.
fn by_kind(run: &Run, fold: &Fold) -> (Vec<Kind>, Vec<Vec<f64>>) {
    let trace = run.trace();
    let times = |pe: &PeId| run.detail.times(trace, &run.diagnosis.waits, *pe, trace.begin(), trace.end());
    let times: Vec<_> = fold.pes().iter().map(times).collect();
    let seen = |kind: &Kind| times.iter().any(|times| times[*kind as usize] > 0);
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(seen).collect();
    let of_kind = |kind: &Kind| {
        let values: Vec<f64> = times.iter().map(|times| run.seconds(Span(times[*kind as usize]))).collect();
        fold.means(&values)
    };
    let seconds = kinds.iter().map(of_kind).collect();
    (kinds, seconds)
}

/// The same of a profile, which knows activities only.
fn by_activity(run: &Run, fold: &Fold) -> (Vec<Kind>, Vec<Vec<f64>>) {
    let profile = run.diagnosis.section("profile");
    let table = profile.and_then(|it| it.tables.iter().find(|table| table.name == "activities"));
    let names = Activity::ALL.iter().map(|activity| (activity.name(), Kind::of_activity(*activity)));
    let column = |(name, kind): (&str, Kind)| {
        let column = table?.columns.iter().find(|it| it.name == name)?;
        match &column.values {
            Values::Number(_, values) if values.iter().any(|value| *value > 0.0) => Some((kind, fold.means(values))),
            _ => None,
        }
    };
    names.chain([("idle", Kind::Idle)]).filter_map(column).unzip()
}

fn by_block(run: &Run, fold: &Fold, columns: usize) -> Option<ByBlock> {
    let index = &run.diagnosis.index;
    let heat = blocks(run.trace(), index, fold, columns)?;
    let extents = &index.blocks.extents;
    let count = index.blocks.blocks.len();
    let known: Vec<&[(Time, Time)]> =
        fold.pes().iter().filter_map(|pe| extents.get(*pe)).map(Vec::as_slice).filter(|it| it.len() == count).collect();
    let begin = |block: usize| known.iter().map(|extents| extents[block].0).min().unwrap_or_default();
    let end = |block: usize| known.iter().map(|extents| extents[block].1).max().unwrap_or_default();
    Some(ByBlock {
        first: heat.columns.iter().map(|column| column.0).collect(),
        count: heat.columns.iter().map(|column| column.1).collect(),
        from: heat.columns.iter().map(|(first, _)| run.ns(begin(*first))).collect(),
        to: heat.columns.iter().map(|(first, count)| run.ns(end(first + count - 1))).collect(),
        seconds: cells(&heat),
    })
}

/// The regions whose most loaded PE has most above the mean.
fn events(run: &Run) -> Events {
    let trace = run.trace();
    let mean = |flat: &Flat| flat.exclusive.0 / i64::from(flat.pes.max(1));
    let mut rows: Vec<&Flat> = run.flat().iter().collect();
    rows.sort_by_key(|flat| (Reverse(flat.most.0 - mean(flat)), flat.region));
    let mut events = Events::default();
    for flat in rows.into_iter().take(EVENTS) {
        let kind = trace.regions().get(flat.region).map_or(Kind::Computation, |it| Kind::of(it.role));
        let (mean, most) = (run.seconds(flat.exclusive) / f64::from(flat.pes.max(1)), run.seconds(flat.most));
        events.name.push(text::region(trace, flat.region));
        events.region.push(flat.region.some().map(|region| region.0));
        events.kind.push(kind as usize);
        events.total_s.push(run.seconds(flat.exclusive));
        events.mean_s.push(mean);
        events.least_s.push(run.seconds(flat.least));
        events.most_s.push(most);
        events.most_pe.push(run.number(flat.most_pe));
        events.spread.push(if most > 0.0 { (most - mean) / most } else { 0.0 });
    }
    events
}
