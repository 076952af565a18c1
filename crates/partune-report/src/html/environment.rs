//! Where the numbers come from: quality of the input, clocks, PEs and processes, the machine.

use maud::{Markup, html};
use partune_engine::{Diagnosis, Diagnostic, Machine, Severity};

use crate::run::facts;
use crate::words;

/// Entries of the list of diagnostics.
const ENTRIES: usize = 60;

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
            (notice(entry))
        }
        @if entries.len() > ENTRIES { p.dim { (entries.len() - ENTRIES) " more are in the JSON document." } }
    }
}

/// Something that was noticed about the input.
pub(super) fn notice(entry: &Diagnostic) -> Markup {
    let class = match entry.severity {
        Severity::Info => "loss note",
        Severity::DataLoss => "loss",
        Severity::Error => "loss error",
    };
    html! {
        div class=(class) {
            p {
                strong { (words::severity(entry.severity).1) ": " }
                (super::long(&entry.message))
                @if entry.count > 1 { " (" (entry.count) " times)" }
                @if !entry.remedy.is_empty() { br; span.dim { "What helps: " (super::long(&entry.remedy)) } }
            }
        }
    }
}

fn run(diagnosis: &Diagnosis) -> Markup {
    html! {
        h3 { "Run and recording" }
        div.scroll {
            table {
                caption { "What the archive says" }
                tbody {
                    @for (name, value) in facts(diagnosis) { tr { th scope="row" { (name) } td { (value) } } }
                }
            }
        }
    }
}
