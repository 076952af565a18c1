//! Progress of long work, on stderr, if that is a terminal.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use partune_engine::{Exchanged, Progress};

use crate::output;

/// A line with the stage and how far it is.
pub(crate) struct Bar {
    bar: ProgressBar,
    /// Tell how long each stage took.
    timings: bool,
}

impl Bar {
    pub(crate) fn new(timings: bool) -> Bar {
        let bar = if std::io::stderr().is_terminal() { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        bar.enable_steady_tick(Duration::from_millis(120));
        Bar { bar, timings }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn stage(&self, name: &'static str) {
        self.bar.set_style(ProgressStyle::default_spinner());
        self.bar.set_message(name);
    }

    fn finished(&self, name: &'static str, took: Duration) {
        if self.timings {
            output::note(&format!("{name:<18} {:>9.3} s", took.as_secs_f64()));
        }
    }

    fn exchanged(&self, exchanged: &Exchanged) {
        if self.timings {
            let Exchanged { bytes, events, waited, others_waited } = exchanged;
            let per_event = *bytes as f64 / (*events).max(1) as f64;
            output::note(&format!(
                "exchanged          {:>9.3} MB, {per_event:.4} bytes per event; process 0 waited {:.3} s, each other {:.3} s",
                *bytes as f64 / 1e6,
                waited.as_secs_f64(),
                others_waited.as_secs_f64()
            ));
        }
    }

    fn advance(&self, done: u64, total: u64) {
        if self.bar.length() != Some(total) {
            self.bar.set_length(total);
            if let Ok(style) =
                ProgressStyle::with_template("{spinner} {msg} {bar:30} {binary_bytes}/{binary_total_bytes}")
            {
                self.bar.set_style(style);
            }
        }
        self.bar.set_position(done);
    }
}
