//! `find` and `next`: regions by name, and from one visit to the next.

use partune_base::RegionId;
use partune_engine::Flat;
use partune_report::names;
use serde::Serialize;

use super::Ask;
use super::findings::{some_pes, way};
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Regions that are listed.
const ROWS: usize = 100;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Found {
    regions: Vec<Row>,
    omitted: usize,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Row {
    region: u32,
    name: String,
    kind: usize,
    file: String,
    line: u32,
    inclusive_s: f64,
    exclusive_s: f64,
    visits: u64,
    pe: Option<u32>,
    from: Option<i64>,
    to: Option<i64>,
}

pub(super) fn find(run: &Run, ask: &Ask<'_>) -> Result<Found, Error> {
    let wanted = ask.query.text("text").filter(|text| !text.is_empty());
    let wanted = wanted.ok_or_else(|| Error::question("text is missing", "add text=…, a part of a name"))?;
    let wanted = wanted.to_lowercase();
    let recorded = run.recorded();
    let is_region = |row: &&Flat| row.region.is_some();
    let name = |row: &&Flat| names::region_name(recorded, row.region).to_lowercase().contains(&wanted);
    let found: Vec<&Flat> = recorded.flat().iter().filter(is_region).filter(name).collect();
    let regions = found.iter().take(ROWS).filter_map(|row| self::row(run, row)).collect();
    Ok(Found { regions, omitted: found.len().saturating_sub(ROWS) })
}

fn row(run: &Run, flat: &Flat) -> Option<Row> {
    let recorded = run.recorded();
    let region = recorded.region(flat.region)?;
    let first = recorded.first_visit(flat.region);
    Some(Row {
        region: flat.region.0,
        name: text::name(region.name),
        kind: region.kind() as usize,
        file: text::name(region.file),
        line: region.line,
        inclusive_s: run.seconds(flat.inclusive),
        exclusive_s: run.seconds(flat.exclusive),
        visits: flat.visits,
        pe: first.and_then(|visit| run.number(visit.pe)),
        from: first.map(|visit| run.ns(visit.enter)),
        to: first.map(|visit| run.ns(visit.exit)),
    })
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Next {
    visit: Option<Visit>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Visit {
    pe: u32,
    from: i64,
    to: i64,
}

/// The next visit to a region, or the one before.
pub(super) fn next(run: &Run, ask: &Ask<'_>) -> Result<Next, Error> {
    run.needs_events()?;
    let recorded = run.recorded();
    let region = RegionId(ask.query.needed("region", 0..=u32::MAX)?);
    if recorded.region(region).is_none() {
        return Err(Error::question(format!("there is no region {}", region.0), "runs/R/profile lists them"));
    }
    let found = recorded.next_visit(region, &some_pes(run, ask)?, way(run, ask)?);
    let of = |visit: partune_engine::Visit| {
        Some(Visit { pe: run.number(visit.pe)?, from: run.ns(visit.enter), to: run.ns(visit.exit) })
    };
    Ok(Next { visit: found.and_then(of) })
}
