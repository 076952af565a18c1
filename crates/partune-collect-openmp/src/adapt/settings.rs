//! With what a region can be run: the schedule of its loops that leave it to the environment, and how many threads it gets.

use std::fmt;

/// How iterations are dealt out to the threads of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Schedule {
    /// As the program has it.
    Own,
    Static,
    Guided,
    /// So many at a time.
    Dynamic(usize),
}

impl Schedule {
    /// The size of chunks that runtimes are given for it.
    pub(crate) fn chunk(self) -> usize {
        match self {
            Schedule::Own | Schedule::Static => 0,
            Schedule::Guided => 1,
            Schedule::Dynamic(chunk) => chunk,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) schedule: Schedule,
    /// 0: as many as the program has.
    pub(crate) threads: usize,
}

impl Setting {
    pub(crate) const OWN: Setting = Setting { schedule: Schedule::Own, threads: 0 };
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.schedule, self.threads) {
            (Schedule::Own, 0) => f.write_str("own"),
            (Schedule::Own, 1) => f.write_str("1 thread"),
            (Schedule::Own, threads) => write!(f, "{threads} threads"),
            (Schedule::Static, _) => f.write_str("static"),
            (Schedule::Guided, _) => f.write_str("guided"),
            (Schedule::Dynamic(chunk), _) => write!(f, "dynamic,{chunk}"),
        }
    }
}

/// What is known of a region when it is decided what to try.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) threads: usize,
    /// It may have fewer.
    pub(crate) may_shrink: bool,
    /// Of its longest loop that leaves its schedule to the environment; 0 if there is none.
    pub(crate) iterations: u64,
    /// What one execution takes, in nanoseconds.
    pub(crate) time: f64,
    /// The schedule of the environment: a number of OpenMP's, and the size of its chunks.
    pub(crate) own: (u32, usize),
}

/// OpenMP's numbers.
const STATIC: u32 = 1;
const DYNAMIC: u32 = 2;
const GUIDED: u32 = 3;
/// Iterations that take less than this are not dealt out one by one: that would cost more.
const WORTH_ONE: f64 = 1000.0;
/// Chunks that each thread gets of a loop that is dealt out in several.
const CHUNKS: u64 = 16;

/// What is tried, after the program's own.
pub(crate) fn settings(known: Known) -> Vec<Setting> {
    let Known { threads, may_shrink, iterations, time, own } = known;
    let mut schedules = Vec::new();
    if iterations > 1 && threads > 1 {
        let each = time * threads as f64 / iterations as f64;
        let chunk = usize::try_from(iterations / (CHUNKS * threads as u64)).unwrap_or(usize::MAX);
        schedules.extend((own.0 != STATIC || own.1 > 0).then_some(Schedule::Static));
        schedules.extend((each >= WORTH_ONE && own != (DYNAMIC, 1)).then_some(Schedule::Dynamic(1)));
        schedules.extend((chunk > 1 && own != (DYNAMIC, chunk)).then_some(Schedule::Dynamic(chunk)));
        schedules.extend((own.0 != GUIDED).then_some(Schedule::Guided));
    }
    let mut teams = if may_shrink && threads > 1 { vec![threads / 2, 1] } else { Vec::new() };
    teams.dedup();
    let schedules = schedules.into_iter().map(|schedule| Setting { schedule, threads: 0 });
    let teams = teams.into_iter().map(|threads| Setting { schedule: Schedule::Own, threads });
    std::iter::once(Setting::OWN).chain(schedules).chain(teams).collect()
}
