//! Tables in Parquet files: operations, findings with their PEs, causes and instances, and the profile.
//!
//! Columns that tell PEs hold positions in the table `pes`, −1 for none; seconds are since the first event; texts are empty where nothing
//! is known.

use std::cmp::Reverse;
use std::io::Write;

use partune_base::{CallPathId, PeId, Span, Time};
use partune_engine::{Diagnosis, Operation, Run, Wait};

use super::ExportError;
use super::rows::{Cell, Rows};
use crate::{json, names};

/// The files that [`parquet`] makes, one table each.
pub const FILES: [&str; 7] = [
    "pes.parquet",
    "operations.parquet",
    "profile.parquet",
    "findings.parquet",
    "finding_pes.parquet",
    "finding_causes.parquet",
    "finding_instances.parquet",
];

/// Opens a file of a name.
type Create<'a> = &'a mut dyn FnMut(&str) -> std::io::Result<Box<dyn Write + Send>>;

/// Writes all tables. Memory: a row group of one table, and the transfers of one PE.
pub fn parquet(diagnosis: &Diagnosis, create: Create<'_>) -> Result<(), ExportError> {
    let run = &diagnosis.run;
    let paths: Vec<Place> = run.paths().map(|path| Place::of(run, path)).collect();
    let nowhere = Place::default();
    let place = |path: CallPathId| paths.get(path.0 as usize).unwrap_or(&nowhere);
    pes(run, create("pes.parquet")?)?;
    operations(diagnosis, &place, create("operations.parquet")?)?;
    profile(run, &place, create("profile.parquet")?)?;
    findings(diagnosis, &place, create)
}

/// The columns that tell where something is: declared by [`PLACE`], filled by [`Place::cells`], and nowhere else.
#[derive(Default)]
struct Place {
    construct: String,
    role: &'static str,
    callpath: String,
    file: String,
    line: i32,
    function: String,
}

impl Place {
    fn of(run: &Run, path: CallPathId) -> Place {
        let location = run.location(path);
        Place {
            construct: names::construct(run, path).to_owned(),
            role: run.region_at(path).role.name(),
            callpath: names::callpath(run, path).join(" > "),
            file: location.file.to_owned(),
            line: i32::try_from(location.line).unwrap_or(0),
            function: location.function.to_owned(),
        }
    }

    /// Construct, role, call path, file, line and function: what [`PLACE`] declares.
    fn cells(&self) -> [Cell<'_>; 6] {
        [
            Cell::Text(&self.construct),
            Cell::Text(self.role),
            Cell::Text(&self.callpath),
            Cell::Text(&self.file),
            Cell::Int(self.line),
            Cell::Text(&self.function),
        ]
    }
}

const PLACE: &str = "required binary construct (STRING); required binary role (STRING); required binary callpath (STRING); \
                     required binary file (STRING); required int32 line; required binary function (STRING);";

fn pe(id: PeId) -> Cell<'static> {
    Cell::Int(id.some().and_then(|id| i32::try_from(id.0).ok()).unwrap_or(-1))
}

fn long(value: u64) -> Cell<'static> {
    Cell::Long(i64::try_from(value).unwrap_or(i64::MAX))
}

fn pes(run: &Run, out: Box<dyn Write + Send>) -> Result<(), ExportError> {
    let schema = "message pes { required int32 pe; required binary name (STRING); required int32 process; required int32 rank; \
                  required int32 thread; required binary node (STRING); required int64 events; }";
    let mut rows = Rows::new(out, schema)?;
    for (id, it) in run.pes().filter_map(|id| Some((id, run.pe(id)?))) {
        let process = run.process(it.process);
        let rank = process.and_then(|process| process.rank).and_then(|rank| i32::try_from(rank).ok()).unwrap_or(-1);
        rows.row([
            pe(id),
            Cell::Text(&names::pe(run, id)),
            Cell::Int(i32::try_from(it.process.0).unwrap_or(-1)),
            Cell::Int(rank),
            Cell::Int(i32::try_from(it.thread).unwrap_or(-1)),
            Cell::Text(process.map_or("", |process| process.host)),
            long(it.events),
        ])?;
    }
    Ok(rows.close()?)
}

fn operations<'a>(
    diagnosis: &'a Diagnosis,
    place: &dyn Fn(CallPathId) -> &'a Place,
    out: Box<dyn Write + Send>,
) -> Result<(), ExportError> {
    let run = &diagnosis.run;
    let schema = format!(
        "message operations {{ required int32 pe; required double begin_s; required double end_s; {PLACE} required int64 sent_bytes; \
         required int64 received_bytes; required double wait_s; required binary wait (STRING); required int32 cause; }}"
    );
    let since = |time: Time| run.since_origin(time);
    let seconds = |span: Span| Cell::Double(run.seconds(span));
    let mut rows = Rows::new(out, &schema)?;
    for id in run.active_pes().iter().copied() {
        for Operation { visit: it, sent, received, waits: own } in run.operations(id) {
            let patterns: Vec<&str> = own.iter().map(|wait| wait.pattern.name()).collect();
            let of_others = own.iter().filter(|wait| wait.cause.is_some());
            let longest = of_others.max_by_key(|wait| (wait.duration(), Reverse(wait.begin)));
            let when = [pe(id), Cell::Double(since(it.enter)), Cell::Double(since(it.exit))];
            let what = [
                long(sent),
                long(received),
                seconds(own.iter().map(Wait::duration).sum()),
                Cell::Text(&patterns.join(", ")),
                pe(longest.map_or(PeId::NONE, |wait| wait.cause_pe)),
            ];
            rows.row(when.into_iter().chain(place(it.path).cells()).chain(what))?;
        }
    }
    Ok(rows.close()?)
}

fn profile<'a>(
    run: &Run,
    place: &dyn Fn(CallPathId) -> &'a Place,
    out: Box<dyn Write + Send>,
) -> Result<(), ExportError> {
    let schema = format!(
        "message profile {{ required int32 pe; {PLACE} required double inclusive_s; required double exclusive_s; required int64 visits; }}"
    );
    let seconds = |span: Span| Cell::Double(run.seconds(span));
    let mut rows = Rows::new(out, &schema)?;
    for (id, times) in run.times().iter_ids() {
        for time in times {
            let times = [seconds(time.inclusive), seconds(time.exclusive), long(time.visits)];
            rows.row([pe(id)].into_iter().chain(place(time.path).cells()).chain(times))?;
        }
    }
    Ok(rows.close()?)
}

fn findings<'a>(
    diagnosis: &Diagnosis,
    place: &dyn Fn(CallPathId) -> &'a Place,
    create: Create<'_>,
) -> Result<(), ExportError> {
    let run = &diagnosis.run;
    let seconds = |span: Span| Cell::Double(run.seconds(span));
    let schema = format!(
        "message findings {{ required int32 finding; required binary id (STRING); required binary pattern (STRING); {PLACE} required double seconds; \
         required double fraction; required int64 count; required double unexplained_s; }}"
    );
    let mut findings = Rows::new(create("findings.parquet")?, &schema)?;
    let mut pes = Rows::new(
        create("finding_pes.parquet")?,
        "message finding_pes { required int32 finding; required int32 pe; required double seconds; }",
    )?;
    let mut causes = Rows::new(
        create("finding_causes.parquet")?,
        &format!(
            "message finding_causes {{ required int32 finding; required int32 pe; {PLACE} required binary origin (STRING); required double seconds; \
             required double via_s; required binary via (STRING); }}"
        ),
    )?;
    let mut instances = Rows::new(
        create("finding_instances.parquet")?,
        "message finding_instances { required int32 finding; required int32 pe; required double begin_s; required double end_s; required int32 cause; }",
    )?;
    for (number, ranked) in (1..).zip(&diagnosis.findings) {
        let it = &ranked.finding;
        let id = json::finding_id(run, it);
        let name = [Cell::Int(number), Cell::Text(&id), Cell::Text(it.pattern.name())];
        let loss = [seconds(it.time), Cell::Double(ranked.fraction), long(it.count), seconds(it.unexplained)];
        findings.row(name.into_iter().chain(place(it.path).cells()).chain(loss))?;
        for (id, time) in &it.pes {
            pes.row([Cell::Int(number), pe(*id), seconds(*time)])?;
        }
        for cause in &it.causes {
            let via = names::via(run, cause).unwrap_or_default();
            let from = [Cell::Text(&place(cause.origin).callpath), seconds(cause.time)];
            let through = [seconds(cause.passed_on), Cell::Text(&via)];
            let cells = [Cell::Int(number), pe(cause.pe)].into_iter().chain(place(cause.path).cells());
            causes.row(cells.chain(from).chain(through))?;
        }
        for one in &it.occurrences {
            let (begin, end) = (Cell::Double(run.since_origin(one.begin)), Cell::Double(run.since_origin(one.end)));
            instances.row([Cell::Int(number), pe(one.pe), begin, end, pe(one.cause)])?;
        }
    }
    findings.close()?;
    pes.close()?;
    causes.close()?;
    Ok(instances.close()?)
}
