//! `runs`: all archives, and how far they are opened.

use serde::Serialize;

use crate::runs::{Runs, Slot, State};
use crate::text;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Row {
    run: usize,
    name: String,
    path: String,
    #[cfg_attr(test, schemars(extend("enum" = ["opening", "ready", "failed"])))]
    state: &'static str,
    stage: &'static str,
    fraction: f64,
    message: String,
    remedy: String,
    pes: Option<usize>,
    processes: Option<usize>,
    device_streams: Option<usize>,
    events: Option<u64>,
    duration_ns: Option<i64>,
    profile_only: Option<bool>,
    /// There are sums of it, and no single events.
    in_slices: Option<bool>,
    producer: Option<String>,
}

pub(super) fn list(runs: &Runs) -> Vec<Row> {
    runs.slots().iter().enumerate().map(|(run, slot)| row(run, slot)).collect()
}

fn row(run: usize, slot: &Slot) -> Row {
    let mut row = Row {
        run,
        name: text::name(&slot.name),
        path: text::long(&slot.path.to_string_lossy()),
        state: "opening",
        stage: "",
        fraction: 0.0,
        message: String::new(),
        remedy: String::new(),
        pes: None,
        processes: None,
        device_streams: None,
        events: None,
        duration_ns: None,
        profile_only: None,
        in_slices: None,
        producer: None,
    };
    match slot.state() {
        State::Opening(stage, fraction) => {
            row.stage = stage;
            row.fraction = fraction;
        }
        State::Failed { message, remedy } => {
            row.state = "failed";
            row.message = text::long(&message);
            row.remedy = text::long(&remedy);
        }
        State::Ready(run) => {
            let recorded = run.recorded();
            row.state = "ready";
            row.fraction = 1.0;
            let counts = recorded.counts();
            row.pes = Some(counts.pes);
            row.processes = Some(counts.processes);
            row.device_streams = Some(counts.device_streams);
            row.events = Some(recorded.events());
            row.duration_ns = Some(run.ns(recorded.end()));
            row.producer = recorded.provenance().producer.map(text::name);
            row.profile_only = Some(recorded.is_profile());
            row.in_slices = Some(recorded.is_in_slices());
        }
    }
    row
}
