//! `find`: one search for regions and files, PEs, findings, and visits of which a condition holds.

use partune_engine::Flat;
use partune_report::names;
use serde::Serialize;

use super::Ask;
use super::findings::{self, Row as Finding};
use super::regions::Region;
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Rows that are listed of each.
const ROWS: usize = 100;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Found {
    regions: Vec<Region>,
    /// How many more there are.
    omitted: usize,
    pes: Vec<FoundPe>,
    pes_omitted: usize,
    findings: Vec<Finding>,
    findings_omitted: usize,
    /// Where the text is a condition, the longest visits of which it holds.
    visits: Option<Vec<FoundVisit>>,
    visits_count: usize,
    /// Where it looks like a condition and is none, why.
    wrong: Option<Wrong>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FoundPe {
    pe: u32,
    process: String,
    host: String,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FoundVisit {
    name: String,
    kind: usize,
    pe: u32,
    from: i64,
    to: i64,
    place: String,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Wrong {
    message: String,
    remedy: String,
}

pub(super) fn find(run: &Run, ask: &Ask<'_>) -> Result<Found, Error> {
    let asked = ask.query.text("text").filter(|text| !text.is_empty());
    let asked = asked.ok_or_else(|| Error::question("text is missing", "add text=…, a part of a name"))?;
    let wanted = asked.to_lowercase();
    let recorded = run.recorded();
    let has = |text: &str| text.to_lowercase().contains(&wanted);
    let is_it = |row: &&Flat| recorded.region(row.region).is_some_and(|it| has(it.name) || has(it.file));
    let (regions, omitted) = first(recorded.flat().iter().filter(is_it).filter_map(|row| Region::new(run, row)));
    let (pes, pes_omitted) = first((0..).zip(run.pes()).filter_map(|(number, pe)| {
        let process = recorded.pe(*pe).and_then(|it| recorded.process(it.process));
        let (name, host) = process.map_or(("", ""), |it| (it.name, it.host));
        let found = has(&format!("PE {}", names::pe(recorded, *pe))) || has(name) || has(host);
        found.then(|| FoundPe { pe: number, process: text::name(name), host: text::name(host) })
    }));
    let (findings, findings_omitted) = first(findings::with_text(run, &wanted));
    // Words of a condition, or a name with such signs: a text may be both.
    let is_condition = asked.contains(['<', '>', '=']) && !recorded.is_profile();
    let searched = is_condition.then(|| recorded.search(asked, ROWS));
    let wrong = searched.as_ref().and_then(|it| it.as_ref().err()).filter(|_| regions.is_empty());
    let mut wrong = wrong.map(|it| Wrong { message: it.message.clone(), remedy: it.remedy.clone() });
    let searched = searched.filter(|_| recorded.has_events());
    if is_condition && regions.is_empty() && !recorded.has_events() {
        let Error { message, remedy, .. } = Error::slices();
        wrong.get_or_insert(Wrong { message, remedy });
    }
    let found = searched.and_then(Result::ok);
    let visit = |it: &partune_engine::Visit| {
        Some(FoundVisit {
            name: text::name(recorded.region_at(it.path).name),
            kind: recorded.kind(it.path) as usize,
            pe: run.number(it.pe)?,
            from: run.ns(it.enter),
            to: run.ns(it.exit),
            place: text::place(recorded, it.path),
        })
    };
    Ok(Found {
        regions,
        omitted,
        pes,
        pes_omitted,
        findings,
        findings_omitted,
        visits_count: found.as_ref().map_or(0, |found| found.count),
        visits: found.map(|found| found.rows.iter().filter_map(visit).collect()),
        wrong,
    })
}

/// The first rows, and how many more there are.
fn first<T>(mut rows: impl Iterator<Item = T>) -> (Vec<T>, usize) {
    let first = rows.by_ref().take(ROWS).collect();
    (first, rows.count())
}
