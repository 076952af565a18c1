//! `find` and `next`: regions by name, and from one visit to the next.

use std::sync::atomic::{AtomicI64, Ordering};

use partune_base::{PeId, RegionId, Time};
use partune_picture::{Flat, Kind};
use partune_trace::VisitIx;
use rayon::prelude::*;
use serde::Serialize;

use super::Ask;
use super::findings::some_pes;
use crate::reply::Error;
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
    let trace = run.trace();
    let is_region = |row: &&Flat| row.region.is_some();
    let name = |row: &&Flat| trace.strings().get(trace.regions()[row.region].name).to_lowercase().contains(&wanted);
    let found: Vec<&Flat> = run.flat().iter().filter(is_region).filter(name).collect();
    let regions = found.iter().take(ROWS).map(|row| self::row(run, row)).collect();
    Ok(Found { regions, omitted: found.len().saturating_sub(ROWS) })
}

fn row(run: &Run, flat: &Flat) -> Row {
    let trace = run.trace();
    let region = &trace.regions()[flat.region];
    let first = run.firsts().get(flat.region).copied().flatten();
    Row {
        region: flat.region.0,
        name: text::string(trace, region.name),
        kind: Kind::of(region.role) as usize,
        file: text::string(trace, region.file),
        line: region.line,
        inclusive_s: run.seconds(flat.inclusive),
        exclusive_s: run.seconds(flat.exclusive),
        visits: flat.visits,
        pe: first.and_then(|(_, pe, _)| run.number(pe)),
        from: first.map(|(enter, ..)| run.ns(enter)),
        to: first.map(|(_, pe, visit)| run.ns(trace.visit(pe, visit).exit)),
    }
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
    let trace = run.trace();
    let region = RegionId(ask.query.needed("region", 0..=u32::MAX)?);
    if trace.regions().get(region).is_none() {
        return Err(Error::question(format!("there is no region {}", region.0), "runs/R/profile lists them"));
    }
    let after = run.time(ask.query.needed("after", i64::MIN..=i64::MAX)?);
    let back = ask.query.word("back", &[("0", false), ("1", true)])?;
    let pes = some_pes(run, ask)?;
    let is = |pe: PeId, visit: usize| trace.paths().region(trace.streams()[pe].visits.path[visit]) == region;
    // How far the nearest one that is known is from there: nobody has to look farther.
    let nearest = AtomicI64::new(i64::MAX);
    let distance = |time: Time| if back { (after - time).0 } else { (time - after).0 };
    let look = |pe: &PeId| -> Option<(i64, PeId, usize)> {
        let enters = &trace.streams()[*pe].visits.enter;
        let at = enters.partition_point(|enter| *enter <= after);
        let near = |visit: &usize| distance(enters[*visit]) <= nearest.load(Ordering::Relaxed);
        let visit = if back {
            let before = (0..at).rev().filter(|visit| run.ns(enters[*visit]) < run.ns(after));
            before.take_while(near).find(|visit| is(*pe, *visit))
        } else {
            (at..enters.len()).take_while(near).find(|visit| is(*pe, *visit))
        }?;
        nearest.fetch_min(distance(enters[visit]), Ordering::Relaxed);
        Some((distance(enters[visit]), *pe, visit))
    };
    let found = pes.par_iter().filter_map(look).min();
    let visit = found.and_then(|(_, pe, visit)| {
        let visit = trace.visit(pe, VisitIx(visit as u32));
        Some(Visit { pe: run.number(pe)?, from: run.ns(visit.enter), to: run.ns(visit.exit) })
    });
    Ok(Next { visit })
}
