//! Projections logs of simulated runs, as a runtime that records would write them: entry methods with the message that woke them, and what they send. Ticks are
//! nanoseconds; logs have microseconds.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use partune_objects::graph::{EventGraph, ExecutionId, Kind, MessageId};

/// Writes `app.sts` and a log for each PE. Array `k` is class `names[k]`, and method `m` of the program is entry `m` of the class that executes it.
pub(crate) fn write(graph: &EventGraph, names: &[&str], folder: &Path) {
    let mut entries: BTreeMap<u32, u32> = BTreeMap::new();
    for (id, &method) in graph.executions().method.iter_ids() {
        entries.insert(method.0, graph.objects()[graph.executions().object[id]].array.0);
    }
    let last = entries.keys().next_back().map_or(0, |method| method + 1);
    let mut sts = format!(
        "PROJECTIONS_ID \nVERSION 11.0\nTOTAL_PHASES 1\nMACHINE \"test\"\nCOMMANDLINE \"./app 64\"\nPROCESSORS {}\nTOTAL_CHARES {}\nTOTAL_EPS {last}\nTOTAL_MSGS 1\n\
         TOTAL_PSEUDOS 0\nTOTAL_EVENTS 0\n",
        graph.pes(),
        names.len()
    );
    for (name, &rank) in names.iter().zip(graph.arrays()) {
        let rank = if rank == 0 { -1 } else { i32::from(rank) };
        let number = names.iter().position(|it| it == name).unwrap();
        writeln!(sts, "CHARE {number} \"{name}\" {rank}").unwrap();
    }
    for method in 0..last {
        let class = entries.get(&method).copied().unwrap_or(0);
        writeln!(sts, "ENTRY CHARE {method} \"method{method}()\" {class} 0").unwrap();
    }
    sts += "MESSAGE 0 8\nTOTAL_STATS 0\nEND\n";
    std::fs::write(folder.join("app.sts"), sts).unwrap();
    let (begin, end) = graph.span();
    let time = |ticks: i64| (ticks - begin) / 1000 + 10;
    for pe in 0..graph.pes() {
        let mut lines = vec![format!("6 0")];
        for id in of_pe(graph, pe) {
            execution(graph, id, &time, &mut lines);
        }
        lines.push(format!("7 {}", time(end) + 10));
        let text = format!("PROJECTIONS-RECORD {}\n{}\n", lines.len(), lines.join("\n"));
        std::fs::write(folder.join(format!("app.{pe}.log")), text).unwrap();
    }
}

fn of_pe(graph: &EventGraph, pe: u32) -> Vec<ExecutionId> {
    let executions = graph.executions();
    let mut all: Vec<ExecutionId> = executions.object.ids().filter(|&id| executions.pe[id].0 == pe).collect();
    all.sort_by_key(|&id| (executions.begin[id], id));
    all
}

/// What is sent at one tick has one number.
fn number(graph: &EventGraph, message: MessageId) -> u32 {
    let source = graph.messages().source[message];
    let same = |it: &MessageId| graph.offset(*it) == graph.offset(message);
    graph.sent_by(source).find(same).unwrap_or(message).0
}

fn execution(graph: &EventGraph, id: ExecutionId, time: &impl Fn(i64) -> i64, lines: &mut Vec<String>) {
    let (executions, messages) = (graph.executions(), graph.messages());
    let (pe, entry) = (executions.pe[id].0, executions.method[id].0);
    let object = &graph.objects()[executions.object[id]];
    let rank = usize::from(graph.arrays()[object.array]);
    let at: Vec<i32> = if rank == 0 { vec![0; 4] } else { object.at[..rank].to_vec() };
    let at: Vec<String> = at.iter().map(ToString::to_string).collect();
    let woken = graph.needed_by(id).filter(|&it| messages.kind[it] != Kind::Dependence);
    let woken = woken.max_by_key(|&it| (messages.received[it], it));
    let (message, event, source) =
        woken.map_or((65535, -1, 0), |it| (0, i64::from(number(graph, it)), executions.pe[messages.source[it]].0));
    let begin = time(executions.begin[id]);
    lines.push(format!("2 {message} {entry} {begin} {event} {source} 8 0 {} {begin}", at.join(" ")));
    let sent: Vec<MessageId> = graph.sent_by(id).filter(|&it| messages.kind[it] != Kind::Dependence).collect();
    for same in sent.chunk_by(|&a, &b| graph.offset(a) == graph.offset(b)) {
        let destination = |it: &MessageId| messages.destination[*it];
        let mut pes: Vec<u32> = same.iter().map(|it| executions.pe[destination(it)].0).collect();
        pes.sort_unstable();
        pes.dedup();
        let (entry, bytes) = (executions.method[destination(&same[0])].0, messages.bytes[same[0]]);
        let sent = time(messages.sent[same[0]].clamp(executions.begin[id], executions.end[id]));
        let head = format!("0 {entry} {sent} {} {pe} {bytes} 0", number(graph, same[0]));
        let list: Vec<String> = pes.iter().map(ToString::to_string).collect();
        lines.push(match same {
            [_] => format!("1 {head}"),
            _ => format!("21 {head} {} {}", pes.len(), list.join(" ")),
        });
    }
    let end = time(executions.end[id]);
    lines.push(format!("3 0 {entry} {end} {event} {pe} 0 {end}"));
}
