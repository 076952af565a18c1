//! A region in a list, and `next`: from one visit to the next.

use partune_base::RegionId;
use partune_engine::Flat;
use serde::Serialize;

use super::Ask;
use super::findings::{some_pes, way};
use crate::error::Error;
use crate::run::Run;
use crate::text;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[allow(clippy::struct_field_names, reason = "keys of the answer")]
pub(super) struct Region {
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

impl Region {
    pub(super) fn new(run: &Run, flat: &Flat) -> Option<Region> {
        let recorded = run.recorded();
        let region = recorded.region(flat.region)?;
        let first = recorded.first_visit(flat.region);
        Some(Region {
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
