//! How much a thread ran and how long it waited for a processor, as the kernel counts it for every thread: two files, read when its recording begins
//! and when it ends. So that costs no call anything. Start-up, in which launchers and all processes do much at once, is left out.

use partune_parts::log::Line;
use partune_parts::machine::Ran;

use crate::log::log;

/// A thread since its recording began.
pub(crate) struct Since {
    thread: u32,
    tid: i64,
    then: Ran,
}

impl Since {
    /// A thread of this process, by its number here and by that of the system. `None` if the kernel does not count.
    pub(crate) fn now(thread: u32, tid: i64) -> Option<Since> {
        Some(Since { thread, tid, then: ran(tid)? })
    }

    /// From now on, not from before.
    pub(crate) fn renew(&mut self) {
        if let Some(now) = ran(self.tid) {
            self.then = now;
        }
    }

    /// Logs what it did since.
    pub(crate) fn report(&self) {
        let Some(now) = ran(self.tid) else { return };
        let Since { thread, then, .. } = *self;
        let ran = Ran {
            on: now.on.saturating_sub(then.on),
            waited: now.waited.saturating_sub(then.waited),
            gave_up: now.gave_up.saturating_sub(then.gave_up),
            lost: now.lost.saturating_sub(then.lost),
        };
        log(&Line::Ran { thread, ran });
    }
}

/// What a thread has done by now. `None` if the kernel does not count.
fn ran(tid: i64) -> Option<Ran> {
    let file = |name: &str| std::fs::read_to_string(format!("/proc/self/task/{tid}/{name}")).ok();
    read(&file("schedstat")?, &file("status")?)
}

/// From `schedstat`, which is nanoseconds on a processor, nanoseconds in its queue and turns, and from `status`.
fn read(times: &str, status: &str) -> Option<Ran> {
    let mut times = times.split_whitespace().map_while(|word| word.parse().ok());
    let switches = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.and_then(|value| value.trim().parse().ok()).unwrap_or(0)
    };
    let [gave_up, lost] = ["voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"].map(switches);
    // A kernel that does not count writes zeros.
    let (on, waited) = (times.next()?, times.next()?);
    (on > 0).then_some(Ran { on, waited, gave_up, lost })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_switches_are_read() {
        let status = "Name:\tapp\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(read("500 70 9\n", status), Some(Ran { on: 500, waited: 70, gave_up: 12, lost: 3 }));
        assert_eq!(read("0 0 0\n", status), None, "the kernel does not count");
        assert_eq!(read("", status), None);
    }
}
