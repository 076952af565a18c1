//! Where the numbers come from: quality of the input, clocks, PEs and processes, the machine.

use maud::{Markup, html};
use partune_engine::{Diagnosis, Machine, Severity};

use super::short;
use crate::names;

/// Entries of the list of diagnostics, and nodes.
const ENTRIES: usize = 60;
const NODES: usize = 16;

pub(super) fn environment(diagnosis: &Diagnosis, machine: Option<&Machine>) -> Markup {
    html! {
        section aria-labelledby="environment" {
            h2 id="environment" { "Environment" }
            (quality(diagnosis))
            (run(diagnosis))
            h3 { "Machine" }
            @match machine {
                Some(machine) => { details open { summary { "As it was measured" } pre.code { (crate::machine_text(machine)) } } }
                None => { p { "No machine description was given: operations are compared with the fastest of their kind in this run. " code { "partune machine measure" } " makes one for " code { "--machine" } "." } }
            }
        }
    }
}

fn quality(diagnosis: &Diagnosis) -> Markup {
    let entries = diagnosis.quality.entries();
    html! {
        h3 { "Quality of the data" }
        @if entries.is_empty() { p { "Nothing is missing, and nothing had to be repaired." } }
        @for entry in entries.iter().take(ENTRIES) {
            div class=(match entry.severity { Severity::Info => "loss note", Severity::DataLoss => "loss", Severity::Error => "loss error" }) {
                p {
                    strong { (match entry.severity { Severity::Info => "Note", Severity::DataLoss => "Loss", Severity::Error => "Error" }) ": " }
                    (super::long(&entry.message))
                    @if entry.count > 1 { " (" (entry.count) " times)" }
                    @if !entry.remedy.is_empty() { br; span.dim { "What helps: " (super::long(&entry.remedy)) } }
                }
            }
        }
        @if entries.len() > ENTRIES { p.dim { (entries.len() - ENTRIES) " more are in the JSON document." } }
    }
}

fn run(diagnosis: &Diagnosis) -> Markup {
    let trace = &diagnosis.trace;
    let mut nodes: Vec<&str> = trace
        .processes()
        .iter()
        .map(|process| trace.strings().get(process.node))
        .filter(|node| !node.is_empty())
        .collect();
    nodes.sort_unstable();
    nodes.dedup();
    let shown: Vec<_> = nodes.iter().take(NODES).map(|node| short(node)).collect();
    let repair = &diagnosis.repair;
    let violated = repair.violated_messages + repair.violated_collectives;
    let clocks = match (violated, diagnosis.index.clocks.aligned) {
        (0, _) => "no message and no collective runs backwards in time".to_owned(),
        (_, true) => format!(
            "{violated} messages and collectives ran backwards in time, the worst by {}; {} time stamps were moved",
            names::seconds(trace.clock().seconds(repair.worst)),
            repair.moved_events
        ),
        (_, false) => "never aligned: no wait is claimed between processes".to_owned(),
    };
    html! {
        h3 { "Run and recording" }
        div.scroll {
            table {
                caption { "What the archive says" }
                tbody {
                    tr { th scope="row" { "PEs" } td { (trace.active_pes().count()) " in " (trace.processes().iter().filter(|it| !it.pes.is_empty()).count()) " processes" } }
                    tr { th scope="row" { "Nodes" } td { @if nodes.is_empty() { "not recorded" } @else { (nodes.len()) ": " (shown.join(", ")) @if nodes.len() > NODES { ", …" } } } }
                    tr { th scope="row" { "Paradigms" } td { (paradigms(diagnosis).join(", ")) } }
                    tr { th scope="row" { "Event records" } td { (trace.events()) } }
                    tr { th scope="row" { "Clock" } td { (trace.clock().ticks_per_second()) " ticks a second; " (clocks) } }
                    tr { th scope="row" { "Messages" } td { (diagnosis.index.messages.len()) " matched, " (diagnosis.index.messages.unmatched_sends) " sends and " (diagnosis.index.messages.unmatched_recvs) " receives without partner" } }
                    tr { th scope="row" { "Report" } td { "partune " (env!("CARGO_PKG_VERSION")) } }
                }
            }
        }
    }
}

/// Names of the paradigms of regions that call paths have.
pub(super) fn paradigms(diagnosis: &Diagnosis) -> Vec<String> {
    let trace = &diagnosis.trace;
    let mut names: Vec<&str> = trace
        .paths()
        .ids()
        .map(|path| trace.strings().get(names::region(trace, path).paradigm))
        .filter(|name| !name.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(|name| short(name).into_owned()).collect()
}
