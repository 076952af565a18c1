//! How far a recording is, said on a terminal while its program runs.
//!
//! Lines of their own, ever more seldom: the program prints to the same terminal.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::output;

/// When the first line comes; the next ones come after twice the time, up to the longest.
const FIRST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_mins(1);

/// Does something during which a program records into a folder.
pub(crate) fn during<T>(folder: &Path, act: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return act();
    }
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        scope.spawn(move || {
            let (begin, mut pause) = (Instant::now(), FIRST);
            while is_done.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                say(folder, begin.elapsed());
                pause = (2 * pause).min(LONGEST);
            }
        });
        let result = act();
        drop(done);
        result
    })
}

fn say(folder: &Path, passed: Duration) {
    let so_far = partune_record::so_far(folder);
    let what = match so_far.processes {
        0 => "no process has begun to record".to_owned(),
        processes => {
            let (what, size) = if so_far.is_profile {
                ("calls", String::new())
            } else {
                ("events", format!(", {:.1} MB", so_far.bytes as f64 / 1e6))
            };
            let process = if processes == 1 { "process" } else { "processes" };
            format!("{processes} {process}, {} threads, {} {what}{size}", so_far.threads, so_far.events)
        }
    };
    output::note(&format!("partune: after {:.0} s: {what}", passed.as_secs_f64()));
}
