//! What an archive says of its run and its recording.

use partune_engine::Diagnosis;

use crate::names;

/// Nodes by name.
const NODES: usize = 16;

/// Names and values: PEs, nodes, paradigms, clock, messages.
pub fn facts(diagnosis: &Diagnosis) -> Vec<(&'static str, String)> {
    let trace = &diagnosis.trace;
    let messages = &diagnosis.index.messages;
    vec![
        ("PEs", names::pes(trace)),
        ("Nodes", nodes(diagnosis)),
        ("Paradigms", paradigms(diagnosis).join(", ")),
        ("Event records", trace.events().to_string()),
        ("Clock", format!("{} ticks a second; {}", trace.clock().ticks_per_second(), clocks(diagnosis))),
        (
            "Messages",
            format!(
                "{} matched, {} sends and {} receives without partner",
                messages.len(),
                messages.unmatched_sends,
                messages.unmatched_recvs
            ),
        ),
        ("Report", format!("partune {}", env!("CARGO_PKG_VERSION"))),
    ]
}

/// Waiting for other PEs in seconds, and its share of the time of all PEs between start-up and shut-down; none where it is not known.
pub fn waiting(diagnosis: &Diagnosis) -> Option<(f64, f64)> {
    let account = diagnosis.account()?;
    let waiting = account.waiting?;
    Some((waiting, waiting / (account.run? * account.pes?)))
}

fn nodes(diagnosis: &Diagnosis) -> String {
    let trace = &diagnosis.trace;
    let named = trace.processes().iter().map(|process| trace.strings().get(process.node));
    let mut nodes: Vec<&str> = named.filter(|node| !node.is_empty()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    if nodes.is_empty() {
        return "not recorded".to_owned();
    }
    let shown: Vec<_> = nodes.iter().take(NODES).map(|node| names::clip(node, 120)).collect();
    format!("{}: {}{}", nodes.len(), shown.join(", "), if nodes.len() > NODES { ", …" } else { "" })
}

fn clocks(diagnosis: &Diagnosis) -> String {
    let repair = &diagnosis.repair;
    let violated = repair.violated_messages + repair.violated_collectives;
    match (violated, diagnosis.index.clocks.aligned) {
        (0, _) => "no message and no collective runs backwards in time".to_owned(),
        (_, true) => format!(
            "{violated} messages and collectives ran backwards in time, by up to {}; {} time stamps were moved",
            names::seconds(diagnosis.trace.clock().seconds(repair.worst)),
            repair.moved_events
        ),
        (_, false) => "never aligned: no wait is claimed between processes".to_owned(),
    }
}

/// Names of the paradigms of regions that call paths have.
pub fn paradigms(diagnosis: &Diagnosis) -> Vec<String> {
    let trace = &diagnosis.trace;
    let mut names: Vec<&str> = trace
        .paths()
        .ids()
        .map(|path| trace.strings().get(names::region(trace, path).paradigm))
        .filter(|name| !name.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| names::clip(name, 120).into_owned()).collect()
}
