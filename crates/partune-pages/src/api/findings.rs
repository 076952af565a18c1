//! `findings`: places that lose time, each with who waits, who makes it wait, and when.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use partune_base::{CallPathId, PeId, Span, Time};
use partune_engine::{Finding, Fold, Occurrence, Ranked, View, Wait, Way};
use partune_report::{advice, names, sentences, words};
use serde::Serialize;

use super::Ask;
use super::rows::Rows;
use super::summary::sentence;
use super::timeline::{Bins, bins};
use crate::error::{Error, Fault};
use crate::run::Run;
use crate::text;

/// Rows of a list, PEs of a finding, instances.
const ROWS: usize = 500;
const PES: usize = 64;
const INSTANCES: usize = 200;
/// Columns of the picture of an instance.
const COLUMNS: usize = 160;
/// Names of a call path where it is one of many, the innermost.
const NAMES: usize = 24;
/// Frames of a call path where it is the only one, the innermost.
pub(super) const FRAMES: usize = 200;

/// Where in the source something is.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Location {
    file: String,
    line: u32,
    function: String,
}

/// A finding in a list.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Row {
    id: String,
    pattern: &'static str,
    title: String,
    words: String,
    seconds: f64,
    /// What is lost besides outside of the run.
    outside_s: f64,
    fraction: f64,
    count: u64,
    role: &'static str,
    construct: String,
    place: String,
    location: Location,
    callpath: Vec<String>,
    is_wait: bool,
    worst_pe: Option<u32>,
    worst_pe_s: Option<f64>,
    cause_pe: Option<u32>,
    cause: Option<String>,
    cause_s: Option<f64>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct List {
    findings: Vec<Row>,
    omitted: usize,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Detail {
    #[serde(flatten)]
    row: Row,
    meaning: &'static str,
    advice: String,
    facts: Vec<Fact>,
    pes: PeColumns,
    pes_rest: Rest,
    causes: Vec<Cause>,
    /// What causes that are not listed made.
    other_causes_s: f64,
    unexplained_s: f64,
    frames: Vec<Frame>,
    /// What the PE that loses most at once did meanwhile, and below it the one that made it.
    longest: Option<Piece>,
    callpaths: Vec<PathShare>,
    lines: Vec<LineShare>,
    instances: Instances,
    instances_count: u64,
    /// How many more each list has.
    omitted: BTreeMap<&'static str, usize>,
}

/// A call path that leads to the place of a finding.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PathShare {
    callpath: Vec<String>,
    caller: String,
    seconds: f64,
}

/// A line of the source that a finding is at.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LineShare {
    #[serde(flatten)]
    location: Location,
    seconds: f64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Fact {
    name: &'static str,
    value: f64,
    /// The same in words.
    label: String,
    text: String,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PeColumns {
    pe: Vec<u32>,
    seconds: Vec<f64>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Rest {
    count: usize,
    seconds: f64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Spot {
    construct: String,
    place: String,
    location: Location,
    callpath: Vec<String>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Cause {
    pe: Option<u32>,
    #[serde(flatten)]
    spot: Spot,
    words: String,
    seconds: f64,
    origin: Option<Spot>,
    via_s: f64,
    via: Vec<Via>,
}

/// An operation that waited itself and passed it on.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Via {
    pe: Option<u32>,
    place: String,
}

/// A frame of a call path: where the function is, and where it is called.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Frame {
    name: String,
    file: String,
    line: u32,
    called_file: String,
    called_line: u32,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Instances {
    pe: Vec<u32>,
    from: Vec<i64>,
    to: Vec<i64>,
    seconds: Vec<f64>,
    cause_pe: Vec<Option<u32>>,
    cause_from: Vec<Option<i64>>,
    cause_to: Vec<Option<i64>>,
    cause: Vec<Option<String>>,
}

/// A part of the run on a few PEs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Piece {
    from: i64,
    to: i64,
    columns: usize,
    rows: Rows,
    bins: Bins,
}

/// One time that it happened.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Instance {
    pe: u32,
    from: i64,
    to: i64,
    seconds: f64,
    #[serde(flatten)]
    ended: Ended,
}

/// What ended a wait.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Ended {
    cause_pe: Option<u32>,
    cause_from: Option<i64>,
    cause_to: Option<i64>,
    cause: Option<String>,
}

pub(super) fn list(run: &Run, ask: &Ask<'_>) -> Result<List, Error> {
    let pattern = ask.query.text("pattern");
    let text = ask.query.text("text").map(str::to_lowercase);
    let rows = with_text(run, text.as_deref().unwrap_or_default());
    let mut rows: Vec<Row> = rows.filter(|row| pattern.is_none_or(|name| row.pattern == name)).collect();
    let most = ROWS.min(ask.most);
    let omitted = rows.len().saturating_sub(most);
    rows.truncate(most);
    Ok(List { findings: rows, omitted })
}

/// Those with a text in their words, in their place or in their call path; it is in lower case.
pub(super) fn with_text<'a>(run: &'a Run, text: &'a str) -> impl Iterator<Item = Row> + 'a {
    let has = move |row: &Row| {
        let names = [&row.words, &row.place].into_iter().chain(&row.callpath);
        names.into_iter().any(|name| name.to_lowercase().contains(text))
    };
    (0..run.diagnosis.findings.len()).map(move |at| row(run, at)).filter(has)
}

/// The row of the finding at a position.
pub(super) fn row(run: &Run, position: usize) -> Row {
    let recorded = run.recorded();
    let ranked: &Ranked = &run.diagnosis.findings[position];
    let finding = &ranked.finding;
    let worst = finding.pes.iter().min_by_key(|(pe, time)| (Reverse(*time), *pe));
    let cause = finding.causes.first();
    Row {
        id: run.ids[position].clone(),
        pattern: finding.pattern.name(),
        title: words::title(finding.pattern),
        words: sentence(&sentences::loss(&run.diagnosis, ranked)),
        seconds: run.seconds(finding.time),
        outside_s: run.seconds(finding.outside),
        fraction: ranked.fraction,
        count: finding.count,
        role: finding.role.name(),
        construct: text::construct(recorded, finding.path),
        place: text::name(&names::spot(recorded, finding)),
        location: location(run, finding.path),
        callpath: callpath(run, finding.path),
        is_wait: finding.pattern.is_wait(),
        worst_pe: worst.and_then(|(pe, _)| run.number(*pe)),
        worst_pe_s: worst.map(|(_, time)| run.seconds(*time)),
        cause_pe: cause.and_then(|cause| run.number(cause.pe)),
        cause: cause.map(|cause| text::cause(recorded, finding.pattern, cause)),
        cause_s: cause.map(|cause| run.seconds(cause.time)),
    }
}

fn location(run: &Run, path: CallPathId) -> Location {
    let at = run.recorded().location(path);
    Location { file: text::name(at.file), line: at.line, function: text::name(at.function) }
}

fn callpath(run: &Run, path: CallPathId) -> Vec<String> {
    let names = names::callpath(run.recorded(), path);
    names[names.len().saturating_sub(NAMES)..].iter().map(|name| text::name(name)).collect()
}

fn spot(run: &Run, path: CallPathId) -> Spot {
    Spot {
        construct: text::construct(run.recorded(), path),
        place: text::place(run.recorded(), path),
        location: location(run, path),
        callpath: callpath(run, path),
    }
}

fn path_share(run: &Run, (path, time): &(CallPathId, Span)) -> PathShare {
    PathShare {
        callpath: callpath(run, *path),
        caller: text::name(&names::called_from(run.recorded(), *path)),
        seconds: run.seconds(*time),
    }
}

/// The innermost frames of a call path, outermost first.
fn frames(run: &Run, path: CallPathId, most: usize) -> Vec<Frame> {
    let recorded = run.recorded();
    let frame = |partune_engine::Frame { region, site, .. }| Frame {
        name: text::name(region.name),
        file: text::name(region.file),
        line: region.line,
        called_file: text::name(site.file),
        called_line: site.line,
    };
    let mut frames: Vec<Frame> = recorded.frames(path).take(most).map(frame).collect();
    frames.reverse();
    frames
}

/// The finding that an id means.
fn position(run: &Run, id: &str) -> Result<usize, Error> {
    let found = run.ids.iter().position(|known| known == id);
    found.ok_or_else(|| Error::new(Fault::Unknown, "there is no such finding", "runs/R/findings lists them"))
}

pub(super) fn detail(run: &Run, ask: &Ask<'_>) -> Result<Detail, Error> {
    let position = position(run, ask.part)?;
    let finding = &run.diagnosis.findings[position].finding;
    let mut pes = finding.pes.clone();
    pes.sort_by_key(|(pe, time)| (Reverse(*time), *pe));
    let rest = pes.split_off(pes.len().min(PES.min(ask.most)));
    let mut columns = PeColumns::default();
    for (number, time) in pes.iter().filter_map(|(pe, time)| Some((run.number(*pe)?, time))) {
        columns.pe.push(number);
        columns.seconds.push(run.seconds(*time));
    }
    let cause = |cause: &partune_engine::Cause| Cause {
        pe: run.number(cause.pe),
        spot: spot(run, cause.path),
        words: text::cause(run.recorded(), finding.pattern, cause),
        seconds: run.seconds(cause.time),
        origin: cause.origin.some().filter(|path| *path != cause.path).map(|path| spot(run, path)),
        via_s: run.seconds(cause.passed_on),
        via: cause
            .via
            .iter()
            .map(|(pe, path)| Via { pe: run.number(*pe), place: text::place(run.recorded(), *path) })
            .collect(),
    };
    let lines = names::lines(run.recorded(), finding);
    let line =
        |(path, time): &(CallPathId, Span)| LineShare { location: location(run, *path), seconds: run.seconds(*time) };
    let finite = finding.facts.iter().filter(|(_, value)| value.is_finite());
    Ok(Detail {
        row: row(run, position),
        meaning: words::meaning(finding.pattern),
        advice: advice(&run.diagnosis, position),
        facts: finite.map(|(name, value)| fact(name, *value)).collect(),
        pes: columns,
        pes_rest: Rest { count: rest.len(), seconds: run.seconds(rest.iter().map(|(_, time)| *time).sum::<Span>()) },
        causes: finding.causes.iter().take(ask.most).map(cause).collect(),
        other_causes_s: run.seconds(
            finding.causes.iter().skip(ask.most).map(|cause| cause.time).sum::<Span>() + finding.other_causes(),
        ),
        unexplained_s: run.seconds(finding.unexplained),
        frames: frames(run, finding.path, FRAMES.min(ask.most)),
        longest: longest(run, finding),
        callpaths: finding.paths.iter().take(ROWS.min(ask.most)).map(|it| path_share(run, it)).collect(),
        lines: lines.iter().take(ROWS.min(ask.most)).map(line).collect(),
        instances: instances(run, finding, INSTANCES.min(ask.most)),
        instances_count: finding.count,
        omitted: [
            ("causes", finding.causes.len().saturating_sub(ask.most)),
            ("calls of the call path", run.recorded().levels(finding.path).saturating_sub(FRAMES.min(ask.most))),
            ("lines", lines.len().saturating_sub(ROWS.min(ask.most))),
            ("call paths", finding.paths.len().saturating_sub(ROWS.min(ask.most))),
        ]
        .into(),
    })
}

/// The longest instances: all waits of its place are asked for, or those that its analysis lists.
fn instances(run: &Run, finding: &Finding, most: usize) -> Instances {
    let mut columns = Instances::default();
    let mut push = |instance: Instance| {
        columns.pe.push(instance.pe);
        columns.from.push(instance.from);
        columns.to.push(instance.to);
        columns.seconds.push(instance.seconds);
        columns.cause_pe.push(instance.ended.cause_pe);
        columns.cause_from.push(instance.ended.cause_from);
        columns.cause_to.push(instance.ended.cause_to);
        columns.cause.push(instance.ended.cause);
    };
    if !finding.pattern.is_wait() {
        for it in finding.occurrences.iter().take(most) {
            let Some(pe) = run.number(it.pe) else { continue };
            let ended = Ended { cause_pe: run.number(it.cause), cause_from: None, cause_to: None, cause: None };
            let seconds = run.seconds(it.end.since(it.begin));
            push(Instance { pe, from: run.ns(it.begin), to: run.ns(it.end), seconds, ended });
        }
        return columns;
    }
    let waits = run.recorded().instances(finding, most);
    waits.iter().filter_map(|wait| instance(run, wait)).for_each(&mut push);
    columns
}

/// The longest instance of a wait, and a little before and after.
fn longest(run: &Run, finding: &Finding) -> Option<Piece> {
    let recorded = run.recorded();
    let shows = |it: &&Occurrence| finding.pattern.is_wait() && it.begin < it.end && recorded.has_events();
    let it = finding.occurrences.first().filter(shows)?;
    let mut pes = vec![it.pe];
    pes.extend(it.cause.some().filter(|cause| *cause != it.pe));
    let margin = it.end.since(it.begin).0 / 5;
    let begin = Time(it.begin.0.saturating_sub(margin)).max(recorded.begin());
    let end = Time(it.end.0.saturating_add(margin)).min(recorded.end());
    let fold = Fold::new(pes, 2);
    let bins = bins(&recorded.tiles(&fold, View { begin, end, columns: COLUMNS }));
    Some(Piece { from: run.ns(begin), to: run.ns(end), columns: COLUMNS, rows: Rows::new(run, &fold), bins })
}

fn instance(run: &Run, wait: &Wait) -> Option<Instance> {
    let seconds = run.seconds(wait.duration());
    let ended = ended(run, wait);
    Some(Instance { pe: run.number(wait.pe)?, from: run.ns(wait.begin), to: run.ns(wait.end), seconds, ended })
}

/// The operation that ended a wait.
pub(super) fn ended(run: &Run, wait: &Wait) -> Ended {
    let Some(visit) = wait.cause else {
        return Ended { cause_pe: None, cause_from: None, cause_to: None, cause: None };
    };
    Ended {
        cause_pe: run.number(visit.pe),
        cause_from: Some(run.ns(visit.enter)),
        cause_to: Some(run.ns(visit.exit)),
        cause: Some(text::place(run.recorded(), visit.path)),
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Next {
    instance: Option<Instance>,
}

/// The next instance, or the one before.
pub(super) fn next(run: &Run, ask: &Ask<'_>) -> Result<Next, Error> {
    run.needs_events()?;
    let finding = &run.diagnosis.findings[position(run, ask.part)?].finding;
    let found = run.recorded().next_instance(finding, &some_pes(run, ask)?, way(run, ask)?);
    Ok(Next { instance: found.and_then(|wait| instance(run, &wait)) })
}

/// From where and in which direction is looked.
pub(super) fn way(run: &Run, ask: &Ask<'_>) -> Result<Way, Error> {
    let after = ask.query.needed("after", i64::MIN..=i64::MAX)?;
    let back = ask.query.word("back", &[("0", false), ("1", true)])?;
    Ok(if back { Way::UpTo(run.time(after.saturating_sub(1))) } else { Way::After(run.time(after)) })
}

/// The PE that is asked for, or all.
pub(super) fn some_pes(run: &Run, ask: &Ask<'_>) -> Result<Vec<PeId>, Error> {
    match ask.query.number("pe", 0..=u32::MAX)? {
        Some(number) => Ok(vec![run.pe(number)?]),
        None => Ok(run.pes().to_vec()),
    }
}

fn fact(name: &'static str, value: f64) -> Fact {
    let (label, text) = words::fact(name, value);
    Fact { name, value, label, text }
}
