//! What an archive says of its run and its recording.

use partune_engine::{Diagnosis, Run};

use crate::names;

/// Nodes by name.
const NODES: usize = 16;

/// Names and values: PEs, nodes, paradigms, clock, messages.
pub fn facts(diagnosis: &Diagnosis) -> Vec<(&'static str, String)> {
    let run = &diagnosis.run;
    let messages = run.matched();
    vec![
        ("PEs", names::pes(run)),
        ("Nodes", nodes(run)),
        ("Paradigms", paradigms(run).join(", ")),
        ("Event records", run.events().to_string()),
        ("Clock", format!("{} ticks per second; {}", run.clock().ticks_per_second(), clocks(run))),
        (
            "Messages",
            format!(
                "{} matched, {} sends and {} receives without partner",
                messages.messages, messages.unmatched_sends, messages.unmatched_receives
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

fn nodes(run: &Run) -> String {
    let nodes = run.hosts();
    if nodes.is_empty() {
        return "not recorded".to_owned();
    }
    let shown: Vec<_> = nodes.iter().take(NODES).map(|node| names::clip(node, 120)).collect();
    format!("{}: {}{}", nodes.len(), shown.join(", "), if nodes.len() > NODES { ", …" } else { "" })
}

fn clocks(run: &Run) -> String {
    let clocks = run.clocks();
    match (clocks.violated, clocks.aligned) {
        (0, _) => "no message and no collective runs backwards in time".to_owned(),
        (violated, true) => format!(
            "{violated} messages and collectives ran backwards in time, by up to {}; {} time stamps were moved",
            names::seconds(run.seconds(clocks.worst)),
            clocks.moved
        ),
        (_, false) => "never aligned: no wait is claimed between processes".to_owned(),
    }
}

/// Names of the programming models of the run, see [`Run::paradigms`].
pub fn paradigms(run: &Run) -> Vec<String> {
    run.paradigms().into_iter().map(|name| names::clip(name, 120).into_owned()).collect()
}
