//! Tables in Parquet files: operations, findings with their PEs, causes and instances, and the profile.
//!
//! Columns that tell PEs hold positions in the table `pes`, −1 for none; seconds are since the first event; texts are empty where nothing
//! is known.

use std::cmp::Reverse;
use std::io::Write;

use partune_analysis::{Wait, path_times};
use partune_base::{CallPathId, PeId, Span, Time};
use partune_engine::Diagnosis;
use partune_trace::{Stream, Trace, VisitIx};

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
    let trace = &diagnosis.trace;
    let paths: Vec<Place> = trace.paths().ids().map(|path| Place::of(trace, path)).collect();
    let nowhere = Place::default();
    let place = |path: CallPathId| paths.get(path.0 as usize).unwrap_or(&nowhere);
    pes(trace, create("pes.parquet")?)?;
    operations(diagnosis, &place, create("operations.parquet")?)?;
    profile(trace, &place, create("profile.parquet")?)?;
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
    fn of(trace: &Trace, path: CallPathId) -> Place {
        let location = names::location(trace, path);
        Place {
            construct: names::construct(trace, path).to_owned(),
            role: names::region(trace, path).role.name(),
            callpath: names::callpath(trace, path).join(" > "),
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

fn pes(trace: &Trace, out: Box<dyn Write + Send>) -> Result<(), ExportError> {
    let schema = "message pes { required int32 pe; required binary name (STRING); required int32 process; required int32 rank; \
                  required int32 thread; required binary node (STRING); required int64 events; }";
    let mut rows = Rows::new(out, schema)?;
    for (id, it) in trace.pes().iter_ids() {
        let process = trace.processes().get(it.process);
        let rank = process.and_then(|process| process.rank).and_then(|rank| i32::try_from(rank).ok()).unwrap_or(-1);
        rows.row([
            pe(id),
            Cell::Text(&names::pe(trace, id)),
            Cell::Int(i32::try_from(it.process.0).unwrap_or(-1)),
            Cell::Int(rank),
            Cell::Int(i32::try_from(it.thread).unwrap_or(-1)),
            Cell::Text(process.map_or("", |process| trace.strings().get(process.node))),
            long(trace.streams()[id].events),
        ])?;
    }
    Ok(rows.close()?)
}

fn operations<'a>(
    diagnosis: &'a Diagnosis,
    place: &dyn Fn(CallPathId) -> &'a Place,
    out: Box<dyn Write + Send>,
) -> Result<(), ExportError> {
    let trace = &diagnosis.trace;
    let schema = format!(
        "message operations {{ required int32 pe; required double begin_s; required double end_s; {PLACE} required int64 sent_bytes; \
         required int64 received_bytes; required double wait_s; required binary wait (STRING); required int32 cause; }}"
    );
    let since = |time: Time| trace.clock().seconds(time - trace.origin());
    let seconds = |span: Span| Cell::Double(trace.clock().seconds(span));
    let mut rows = Rows::new(out, &schema)?;
    for id in trace.active_pes() {
        let stream = &trace.streams()[id];
        let moved = moved(stream);
        let waits = diagnosis.waits.of_pe(id);
        for visit in &stream.operations {
            let it = stream.visits.at(*visit);
            let (sent, received) = moved_in(&moved, *visit);
            // Waits are in order of time, and lie in their operations.
            let first = waits.partition_point(|wait| wait.begin < it.enter);
            let inside = waits[first..].iter().take_while(|wait| wait.begin <= it.exit);
            let own: Vec<&Wait> = inside.filter(|wait| wait.operation == *visit).collect();
            let patterns: Vec<&str> = own.iter().map(|wait| wait.pattern.name()).collect();
            let of_others = own.iter().filter(|wait| wait.cause.is_some());
            let longest = of_others.max_by_key(|wait| (wait.duration(), Reverse(wait.begin)));
            let when = [pe(id), Cell::Double(since(it.enter)), Cell::Double(since(it.exit))];
            let what = [
                long(sent),
                long(received),
                seconds(own.iter().map(|wait| wait.duration()).sum()),
                Cell::Text(&patterns.join(", ")),
                pe(longest.map_or(PeId::NONE, |wait| wait.cause.pe)),
            ];
            rows.row(when.into_iter().chain(place(it.path).cells()).chain(what))?;
        }
    }
    Ok(rows.close()?)
}

/// Bytes sent and received in visits, in order of visit; a visit may come several times.
fn moved(stream: &Stream) -> Vec<(VisitIx, u64, u64)> {
    let mut moved: Vec<_> = stream.moved().collect();
    moved.sort_unstable();
    moved
}

fn moved_in(moved: &[(VisitIx, u64, u64)], visit: VisitIx) -> (u64, u64) {
    let first = moved.partition_point(|row| row.0 < visit);
    let rows = moved[first..].iter().take_while(|row| row.0 == visit);
    rows.fold((0, 0), |sum, row| (sum.0.saturating_add(row.1), sum.1.saturating_add(row.2)))
}

fn profile<'a>(
    trace: &Trace,
    place: &dyn Fn(CallPathId) -> &'a Place,
    out: Box<dyn Write + Send>,
) -> Result<(), ExportError> {
    let schema = format!(
        "message profile {{ required int32 pe; {PLACE} required double inclusive_s; required double exclusive_s; required int64 visits; }}"
    );
    let seconds = |span: Span| Cell::Double(trace.clock().seconds(span));
    let mut rows = Rows::new(out, &schema)?;
    for (id, times) in path_times(trace).iter_ids() {
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
    let trace = &diagnosis.trace;
    let seconds = |span: Span| Cell::Double(trace.clock().seconds(span));
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
        let id = json::finding_id(trace, it);
        let name = [Cell::Int(number), Cell::Text(&id), Cell::Text(it.pattern.name())];
        let loss = [seconds(it.time), Cell::Double(ranked.fraction), long(it.count), seconds(it.unexplained)];
        findings.row(name.into_iter().chain(place(it.path).cells()).chain(loss))?;
        for (id, time) in &it.pes {
            pes.row([Cell::Int(number), pe(*id), seconds(*time)])?;
        }
        for cause in &it.causes {
            let via = names::via(trace, cause).unwrap_or_default();
            let from = [Cell::Text(&place(cause.origin).callpath), seconds(cause.time)];
            let through = [seconds(cause.passed_on), Cell::Text(&via)];
            let cells = [Cell::Int(number), pe(cause.pe)].into_iter().chain(place(cause.path).cells());
            causes.row(cells.chain(from).chain(through))?;
        }
        for one in &it.occurrences {
            let (begin, end) = (seconds(one.begin - trace.origin()), seconds(one.end - trace.origin()));
            instances.row([Cell::Int(number), pe(one.pe), begin, end, pe(one.cause)])?;
        }
    }
    findings.close()?;
    pes.close()?;
    causes.close()?;
    Ok(instances.close()?)
}
