//! `at`: what a PE does at a moment: its stack, the operation with its arguments and partners, and what it waits for.

use partune_base::{CallPathId, GroupId, PeId, Time};
use partune_engine::{Doing, Frame, Meeting, Passed, TransferKind, Visit, Wait};
use partune_report::words;
use serde::Serialize;

use super::Ask;
use super::findings::{Ended, FRAMES, ended};
use crate::error::Error;
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
    let recorded = run.recorded();
    let doing = recorded.doing(pe, moment, MOST);
    let operation = |doing: &Doing| {
        let Visit { path, enter, exit, .. } = doing.visit;
        let region = recorded.region_at(path);
        Operation {
            construct: text::construct(recorded, path),
            role: region.role.name(),
            kind: region.kind() as usize,
            from: run.ns(enter),
            to: run.ns(exit),
            place: text::place(recorded, path),
        }
    };
    Ok(Moment {
        pe: number,
        time: asked,
        stack: stack(run, &recorded.stack(pe, moment)),
        operation: doing.as_ref().map(operation),
        messages: doing.iter().flat_map(|it| &it.messages).map(|it| message(run, it)).collect(),
        transfers: doing.iter().flat_map(|it| &it.accesses).map(|it| transfer(run, it)).collect(),
        collective: doing.as_ref().and_then(|it| Some(collective(run, it.visit.path, it.meeting.as_ref()?))),
        waits: doing.iter().flat_map(|it| &it.waits).map(|it| waiting(run, it)).collect(),
    })
}

fn stack(run: &Run, open: &[Visit]) -> Stack {
    let recorded = run.recorded();
    let mut stack = Stack::default();
    for visit in &open[open.len().saturating_sub(FRAMES)..] {
        let Frame { region, site, .. } = recorded.frame(visit.path);
        stack.name.push(text::name(region.name));
        stack.region.push(region.id.0);
        stack.path.push(visit.path.0);
        stack.from.push(run.ns(visit.enter));
        stack.to.push(run.ns(visit.exit));
        stack.file.push(text::name(region.file));
        stack.line.push(region.line);
        stack.called_file.push(text::name(site.file));
        stack.called_line.push(site.line);
        stack.kind.push(recorded.kind(visit.path) as usize);
    }
    stack
}

fn group(run: &Run, group: GroupId) -> String {
    run.recorded().group(group).map_or_else(String::new, |it| text::name(it.name))
}

fn message(run: &Run, it: &Passed) -> Message {
    Message {
        way: if it.is_sent { "sent" } else { "received" },
        pe: run.number(it.peer),
        bytes: it.bytes,
        tag: it.tag,
        group: group(run, it.group),
        sent: it.sent.map(|time| run.ns(time)),
        received: it.received.map(|time| run.ns(time)),
    }
}

fn transfer(run: &Run, &(kind, pe, time, bytes): &(TransferKind, PeId, Time, u64)) -> Transfer {
    Transfer { kind: kind.name(), pe: run.number(pe), bytes, time: run.ns(time) }
}

fn collective(run: &Run, path: CallPathId, it: &Meeting) -> Collective {
    Collective {
        construct: text::construct(run.recorded(), path),
        group: group(run, it.group),
        members: it.members,
        root: run.number(it.root),
        last_pe: it.last.and_then(|(pe, _)| run.number(pe)),
        last_enter: it.last.map(|(_, enter)| run.ns(enter)),
        sent: it.bytes.map(|(sent, _)| sent),
        received: it.bytes.map(|(_, received)| received),
    }
}

fn waiting(run: &Run, wait: &Wait) -> Waiting {
    let finding = run.finding_at(wait.pattern, wait.path);
    Waiting {
        pattern: wait.pattern.name(),
        title: words::title(wait.pattern),
        finding: finding.map(|position| run.ids[position as usize].clone()),
        from: run.ns(wait.begin),
        to: run.ns(wait.end),
        seconds: run.seconds(wait.duration()),
        ended: ended(run, wait),
    }
}
