//! `balance`: what each PE did with its time, and where its work lies, by region and by block.

use std::cmp::Reverse;

use partune_base::{PeId, Span};
use partune_engine::{Blocks, Flat, Fold, Heat, Kind};
use serde::Serialize;

use super::Ask;
use super::rows::Rows;
use crate::error::Error;
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
    let rows = ask.query.number("rows", 1..=ROWS)?.unwrap_or(128).min(ask.most);
    let columns = ask.query.number("columns", 1..=COLUMNS)?.unwrap_or(60).min(ask.most);
    let recorded = run.recorded();
    let fold = Fold::new(run.pes().to_vec(), rows);
    let (kinds, seconds) = if recorded.is_profile() { by_activity(run, &fold) } else { by_kind(run, &fold) };
    let heat = recorded.by_region(&fold, columns);
    Ok(Balance {
        rows: Rows::new(run, &fold),
        kinds: kinds.into_iter().map(|kind| kind as usize).collect(),
        seconds,
        regions: ByRegion {
            names: heat.columns.iter().map(|region| text::region(recorded, *region)).collect(),
            region: heat.columns.iter().map(|region| region.0).collect(),
            seconds: cells(&heat),
        },
        blocks: by_block(run, &fold, columns),
        events: events(run, EVENTS.min(ask.most)),
    })
}

fn cells<C>(heat: &Heat<C>) -> Vec<Vec<f64>> {
    heat.rows().map(<[f64]>::to_vec).collect()
}

/// Seconds of a PE by kind of time, over the whole run.
fn by_kind(run: &Run, fold: &Fold) -> (Vec<Kind>, Vec<Vec<f64>>) {
    let recorded = run.recorded();
    let times = |pe: &PeId| recorded.times_within(*pe, recorded.begin(), recorded.end());
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
    let times = run.diagnosis.activities().map_or(&[][..], |activities| &activities.times);
    let spent = times.iter().filter(|it| it.of_pes.iter().any(|value| *value > 0.0));
    spent.map(|it| (Kind::of_activity(it.activity), fold.means(&it.of_pes))).unzip()
}

fn by_block(run: &Run, fold: &Fold, columns: usize) -> Option<ByBlock> {
    let heat = run.recorded().by_block(fold, columns)?;
    let of = |value: &dyn Fn(&Blocks) -> i64| heat.columns.iter().map(value).collect();
    Some(ByBlock {
        first: heat.columns.iter().map(|column| column.first).collect(),
        count: heat.columns.iter().map(|column| column.count).collect(),
        from: of(&|column| run.ns(column.begin)),
        to: of(&|column| run.ns(column.end)),
        seconds: cells(&heat),
    })
}

/// The regions whose most loaded PE has most above the mean.
fn events(run: &Run, most: usize) -> Events {
    let recorded = run.recorded();
    let mean = |flat: &Flat| flat.exclusive.0 / i64::from(flat.pes.max(1));
    let mut rows: Vec<&Flat> = run.recorded().flat().iter().collect();
    rows.sort_by_key(|flat| (Reverse(flat.most.0 - mean(flat)), flat.region));
    let mut events = Events::default();
    for flat in rows.into_iter().take(most) {
        let kind = recorded.region(flat.region).map_or(Kind::Computation, |it| it.kind());
        let (mean, most) = (run.seconds(flat.exclusive) / f64::from(flat.pes.max(1)), run.seconds(flat.most));
        events.name.push(text::region(recorded, flat.region));
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
