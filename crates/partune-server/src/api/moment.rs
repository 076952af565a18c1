//! `at`: what a PE does at a moment: its stack, the operation with its arguments and partners, and what it waits for.

use partune_analysis::{Pattern, Wait};
use partune_base::{PeId, Time};
use partune_index::{Instance, Member};
use partune_picture::Kind;
use partune_report::words;
use partune_trace::{RmaTransferKind, Visit, VisitIx};
use serde::Serialize;

use super::Ask;
use super::findings::{Ended, FRAMES, ended};
use super::timeline::kind;
use crate::reply::Error;
use crate::run::Run;
use crate::text;

/// Messages, and one-sided accesses, of an operation.
const MOST: usize = 16;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Moment {
    pe: u32,
    time: i64,
    stack: Stack,
    operation: Option<Operation>,
    messages: Vec<Message>,
    transfers: Vec<Transfer>,
    collective: Option<Collective>,
    waits: Vec<Waiting>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Stack {
    name: Vec<String>,
    region: Vec<u32>,
    path: Vec<u32>,
    from: Vec<i64>,
    to: Vec<i64>,
    file: Vec<String>,
    line: Vec<u32>,
    called_file: Vec<String>,
    called_line: Vec<u32>,
    kind: Vec<usize>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Operation {
    construct: String,
    role: &'static str,
    kind: usize,
    from: i64,
    to: i64,
    place: String,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Message {
    #[cfg_attr(test, schemars(extend("enum" = ["sent", "received"])))]
    way: &'static str,
    pe: Option<u32>,
    bytes: u64,
    tag: u32,
    group: String,
    sent: Option<i64>,
    received: Option<i64>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Transfer {
    kind: &'static str,
    pe: Option<u32>,
    bytes: u64,
    time: i64,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Collective {
    construct: String,
    group: String,
    members: usize,
    root: Option<u32>,
    last_pe: Option<u32>,
    last_enter: Option<i64>,
    sent: Option<u64>,
    received: Option<u64>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Waiting {
    pattern: &'static str,
    title: String,
    finding: Option<String>,
    from: i64,
    to: i64,
    seconds: f64,
    #[serde(flatten)]
    ended: Ended,
}

pub(super) fn at(run: &Run, ask: &Ask<'_>) -> Result<Moment, Error> {
    run.needs_events()?;
    let number = ask.query.needed("pe", 0..=u32::MAX)?;
    let pe = run.pe(number)?;
    let asked = ask.query.needed("time", i64::MIN..=i64::MAX)?;
    let moment = run.time(asked);
    let trace = run.trace();
    let open = run.stacks.open(trace, pe, moment);
    let operation = operation(run, pe, moment);
    let waits = &run.diagnosis.waits;
    let waits: Vec<&Wait> = operation.map_or_else(Vec::new, |(at, _)| {
        let of = |waits: &'_ [Wait]| {
            let from = waits.partition_point(|wait| wait.operation < at);
            from..from + waits[from..].partition_point(|wait| wait.operation == at)
        };
        let (program, management) = (waits.of_pe(pe), waits.management_of_pe(pe));
        program[of(program)].iter().chain(&management[of(management)]).collect()
    });
    Ok(Moment {
        pe: number,
        time: asked,
        stack: stack(run, pe, &open),
        messages: operation.map(|(_, visit)| messages(run, pe, visit)).unwrap_or_default(),
        transfers: operation.map(|(_, visit)| transfers(run, pe, visit)).unwrap_or_default(),
        collective: operation.and_then(|(at, visit)| collective(run, pe, at, visit, &waits)),
        operation: operation.map(|(_, visit)| {
            let role = trace.regions()[trace.paths().region(visit.path)].role;
            Operation {
                construct: text::construct(trace, visit.path),
                role: role.name(),
                kind: Kind::of(role) as usize,
                from: run.ns(visit.enter),
                to: run.ns(visit.exit),
                place: text::place(trace, visit.path),
            }
        }),
        waits: waits.iter().map(|wait| waiting(run, wait)).collect(),
    })
}

/// The operation that a PE is in.
fn operation(run: &Run, pe: PeId, moment: Time) -> Option<(VisitIx, Visit)> {
    let stream = run.trace().streams().get(pe)?;
    let next = stream.operations.partition_point(|visit| stream.visits.enter[visit.index()] <= moment);
    let at = *stream.operations.get(next.checked_sub(1)?)?;
    let visit = stream.visits.at(at);
    (visit.exit > moment).then_some((at, visit))
}

fn stack(run: &Run, pe: PeId, open: &[VisitIx]) -> Stack {
    let trace = run.trace();
    let mut stack = Stack::default();
    for visit in &open[open.len().saturating_sub(FRAMES)..] {
        let visit = trace.visit(pe, *visit);
        let region = trace.paths().region(visit.path);
        let (row, site) = (&trace.regions()[region], trace.paths().site(visit.path));
        stack.name.push(text::string(trace, row.name));
        stack.region.push(region.0);
        stack.path.push(visit.path.0);
        stack.from.push(run.ns(visit.enter));
        stack.to.push(run.ns(visit.exit));
        stack.file.push(text::string(trace, row.file));
        stack.line.push(row.line);
        stack.called_file.push(text::string(trace, site.file));
        stack.called_line.push(site.line);
        stack.kind.push(kind(run, visit.path) as usize);
    }
    stack
}

/// The positions of rows that are within a visit.
fn rows<T>(rows: &[T], visit: Visit, time: impl Fn(&T) -> Time) -> std::ops::Range<usize> {
    let from = rows.partition_point(|row| time(row) < visit.enter);
    let to = from + rows[from..].partition_point(|row| time(row) <= visit.exit);
    from..to.min(from + MOST)
}

fn messages(run: &Run, pe: PeId, visit: Visit) -> Vec<Message> {
    let trace = run.trace();
    let (stream, index) = (&trace.streams()[pe], &run.diagnosis.index.messages);
    let group = |group| trace.groups().get(group).map_or_else(String::new, |it| text::string(trace, it.name));
    let sent = rows(&stream.sends, visit, |row| row.time).map(|at| {
        let row = &stream.sends[at];
        let received = index.of_send(pe, at).map(|it| trace.streams()[it.receiver].recvs[it.recv as usize].time);
        Message {
            way: "sent",
            pe: run.number(row.peer),
            bytes: row.bytes,
            tag: row.tag,
            group: group(row.group),
            sent: Some(run.ns(row.time)),
            received: received.map(|time| run.ns(time)),
        }
    });
    let received = rows(&stream.recvs, visit, |row| row.time).map(|at| {
        let row = &stream.recvs[at];
        let sent = index.of_recv(pe, at).map(|it| trace.streams()[it.sender].sends[it.send as usize].time);
        Message {
            way: "received",
            pe: run.number(row.peer),
            bytes: row.bytes,
            tag: row.tag,
            group: group(row.group),
            sent: sent.map(|time| run.ns(time)),
            received: Some(run.ns(row.time)),
        }
    });
    sent.chain(received).take(MOST).collect()
}

fn transfers(run: &Run, pe: PeId, visit: Visit) -> Vec<Transfer> {
    let stream = &run.trace().streams()[pe];
    let row = |row: &partune_trace::RmaTransfer| Transfer {
        kind: match row.kind {
            RmaTransferKind::Put => "put",
            RmaTransferKind::Get => "get",
            RmaTransferKind::Atomic => "atomic",
        },
        pe: run.number(row.target),
        bytes: row.bytes,
        time: run.ns(row.time),
    };
    stream.transfers[rows(&stream.transfers, visit, |row| row.time)].iter().map(row).collect()
}

/// The collective that an operation is, or ends: by its row, or by what it waits for where it has none.
fn collective(run: &Run, pe: PeId, at: VisitIx, visit: Visit, waits: &[&Wait]) -> Option<Collective> {
    let trace = run.trace();
    let (stream, index) = (&trace.streams()[pe], &run.diagnosis.index.collectives);
    let row = rows(&stream.collectives, visit, |row| row.end).next();
    let by_wait = || {
        let groups = |wait: &&&Wait| !matches!(wait.pattern, Pattern::WaitOnLock | Pattern::CompetingPutGet);
        let mut positions = waits.iter().filter(groups).map(|wait| wait.instance as usize);
        positions.find(|position| *position < index.instances.len())
    };
    let position = row.and_then(|row| index.of_row(pe, row)).or_else(by_wait);
    let instance: Option<&Instance> = position.map(|position| &index.instances[position]);
    let members: &[Member] = instance.map_or(&[], |instance| index.members(instance));
    let row = row.map(|row| stream.collectives[row]);
    if instance.is_none() && row.is_none() {
        return None;
    }
    let last = members.iter().max_by_key(|member| (member.enter, std::cmp::Reverse(member.pe)));
    let group = instance.map(|instance| instance.group).or(row.map(|row| row.group));
    let group = group.and_then(|group| trace.groups().get(group));
    let root = instance.map(|instance| instance.root).or(row.map(|row| row.root));
    Some(Collective {
        construct: text::construct(trace, trace.visit(pe, at).path),
        group: group.map_or_else(String::new, |group| text::string(trace, group.name)),
        members: if members.is_empty() { group.map_or(0, |group| group.members.len()) } else { members.len() },
        root: root.and_then(|root| run.number(root)),
        last_pe: last.and_then(|member| run.number(member.pe)),
        last_enter: last.map(|member| run.ns(member.enter)),
        sent: row.map(|row| row.sent),
        received: row.map(|row| row.received),
    })
}

fn waiting(run: &Run, wait: &Wait) -> Waiting {
    let path = run.trace().visit(wait.pe, wait.operation).path;
    let finding = run.finding_at(wait.pattern, path);
    Waiting {
        pattern: wait.pattern.name(),
        title: words::title(wait.pattern),
        finding: finding.map(|position| run.ids[position as usize].clone()),
        from: run.ns(wait.begin),
        to: run.ns(wait.end),
        seconds: run.seconds(wait.duration()),
        ended: ended(run, wait.cause),
    }
}
