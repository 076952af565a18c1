//! How much a thread ran and how long it waited for a processor, as the kernel counts it for every thread: two files, read when its recording begins
//! and when it ends. So that costs no call anything. Start-up, in which launchers and all processes do much at once, is left out, and so is what a
//! thread does after its paradigm has ended, if it records nothing more.

use std::fs::File;
use std::io::Read as _;

use partune_parts::log::Line;
use partune_parts::machine::Ran;

use crate::log::log;

/// A thread since its recording began.
pub(crate) struct Since {
    thread: u32,
    tid: i64,
    then: Ran,
    /// What threads did that had its number before it.
    before: Ran,
    /// What was logged last, and after how many of its events.
    told: Option<(u64, Ran)>,
}

impl Since {
    /// A thread of this process, by its number here and by that of the system, after others that had that number. `None` if the kernel does not
    /// count.
    pub(crate) fn now(thread: u32, tid: i64, before: Ran) -> Option<Since> {
        Some(Since { thread, tid, then: ran(tid)?, before, told: None })
    }

    /// The same of the calling thread, which has just begun: it has done nothing yet.
    pub(crate) fn begin(thread: u32, tid: i64, before: Ran) -> Since {
        Since { thread, tid, then: Ran::default(), before, told: None }
    }

    /// From now on, not from before.
    pub(crate) fn renew(&mut self) {
        if let Some(now) = ran(self.tid) {
            self.then = now;
        }
    }

    /// Logs what it did since, and those before it, if it has had events since that was logged last.
    pub(crate) fn report(&mut self, events: u64) {
        self.report_as(events, ran(self.tid));
    }

    /// The same where it is known what it has done by now; returns what was logged.
    pub(crate) fn report_as(&mut self, events: u64, now: Option<Ran>) -> Ran {
        if let Some((_, ran)) = self.told.filter(|(then, _)| *then == events) {
            return ran;
        }
        let Since { thread, then, before, .. } = *self;
        let Some(now) = now else { return before };
        let ran = Ran {
            on: before.on + now.on.saturating_sub(then.on),
            waited: before.waited + now.waited.saturating_sub(then.waited),
            gave_up: before.gave_up + now.gave_up.saturating_sub(then.gave_up),
            lost: before.lost + now.lost.saturating_sub(then.lost),
        };
        log(&Line::Ran { thread, ran });
        self.told = Some((events, ran));
        ran
    }
}

/// What a thread has done by now. `None` if the kernel does not count.
fn ran(tid: i64) -> Option<Ran> {
    let file = |name: &str| std::fs::read_to_string(format!("/proc/self/task/{tid}/{name}")).ok();
    read(&file("schedstat")?, &file("status")?)
}

/// What the calling thread has done by now: with fewer calls of the system, since programs may make a thread for every little task.
pub(crate) fn own() -> Option<Ran> {
    let mut text = [0; 64];
    let length = File::open("/proc/thread-self/schedstat").and_then(|mut file| file.read(&mut text)).ok()?;
    let times = std::str::from_utf8(&text[..length]).ok()?;
    // SAFETY: zero is valid, and the place outlives the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    read(times, "").map(|ran| Ran { gave_up: usage.ru_nvcsw as u64, lost: usage.ru_nivcsw as u64, ..ran })
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
    #[cfg_attr(miri, ignore = "Miri has no kernel that counts")]
    fn a_thread_counts_itself_as_others_count_it() {
        // SAFETY: a system call without arguments.
        let tid = unsafe { libc::syscall(libc::SYS_gettid) };
        let Some(before) = ran(tid) else { return };
        let own = own().expect("as the other file");
        let after = ran(tid).expect("as before");
        for (before, own, after) in [
            (before.on, own.on, after.on),
            (before.waited, own.waited, after.waited),
            (before.gave_up, own.gave_up, after.gave_up),
            (before.lost, own.lost, after.lost),
        ] {
            assert!(before <= own && own <= after, "{before} {own} {after}");
        }
    }

    #[test]
    fn times_and_switches_are_read() {
        let status = "Name:\tapp\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(read("500 70 9\n", status), Some(Ran { on: 500, waited: 70, gave_up: 12, lost: 3 }));
        assert_eq!(read("0 0 0\n", status), None, "the kernel does not count");
        assert_eq!(read("", status), None);
    }
}
