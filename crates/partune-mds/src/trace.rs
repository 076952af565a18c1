//! A walk as a trace: PEs are the threads of one parallel region, phases are functions, what all meet at are its barriers, events are conditions.
//!
//! So everything that analyses recorded runs says the same of a model. For a loop over a domain a PE first works, then waits for lines by the reason that
//! they were not there, each as if that were a function: a walk knows how much there is of each in a loop, while tasks mix them. Waits for events are where
//! they are.

use std::collections::HashMap;

use partune_base::{CallPathId, GroupId, PeId, RegionId, Table, Time};
use partune_model::trace::{nanoseconds, of_threads};
use partune_trace::{
    Group, GroupKind, Participants, Region, Role, Stream, TeamEvent, TeamKind, Trace, TraceBuilder, Visit, VisitIx,
};

use crate::outcome::Counts;
use crate::walk::{Did, OUTSIDE};

/// What a PE waits for lines for, in the order in which it is shown.
type Reason = (&'static str, fn(&Counts) -> f64);
const REASONS: [Reason; 6] = [
    ("first use of lines", |counts| counts.cold_s),
    ("cache too small", |counts| counts.capacity_s),
    ("true sharing", |counts| counts.true_sharing_s),
    ("false sharing", |counts| counts.false_sharing_s),
    ("moved threads", |counts| counts.migrated_s),
    ("upgrades of lines", Counts::upgrades_s),
];

pub(crate) struct Recorder {
    builder: TraceBuilder,
    streams: Vec<Stream>,
    paths: HashMap<(CallPathId, RegionId), CallPathId>,
    /// Regions: of reasons, of phases and of what is in none, of barriers at the end of loops and of others.
    reasons: Vec<RegionId>,
    outside: RegionId,
    phases: Vec<RegionId>,
    barriers: [RegionId; 2],
    /// Of waits for events.
    wait: RegionId,
    team: GroupId,
    /// Where all PEs are, and the visits that each has open, from the outermost on.
    path: Vec<CallPathId>,
    open: Vec<Vec<VisitIx>>,
    pub(crate) visits: u64,
}

impl Recorder {
    pub(crate) fn new(pes: usize, phases: &[String]) -> Recorder {
        let mut builder = of_threads((0..pes).map(|pe| format!("PE {pe}")));
        let openmp = builder.strings.intern("OpenMP");
        let mut user = |name: &str| {
            let name = builder.strings.intern(name);
            builder.regions.push(Region::of_user(name))
        };
        let outside = user(OUTSIDE);
        let reasons = REASONS.iter().map(|(name, _)| user(name)).collect();
        let phases = phases.iter().map(|name| user(name)).collect();
        let pthread = builder.strings.intern("Pthread");
        let name = builder.strings.intern("pthread_cond_wait");
        let wait = builder.regions.push(Region::of_construct(name, pthread, Role::WaitOnValue));
        let mut construct = |name: &str, role| {
            let name = builder.strings.intern(name);
            let participants = Participants::Team;
            builder.regions.push(Region { participants, ..Region::of_construct(name, openmp, role) })
        };
        let parallel = construct("omp parallel", Role::Parallel);
        let barriers = ["omp implicit barrier", "omp barrier"].map(|name| construct(name, Role::GroupSync));
        let name = builder.strings.intern("team");
        let members: Vec<PeId> = (0..pes as u32).map(PeId).collect();
        let group = Group { name, kind: GroupKind::Team, paradigm: openmp, members: members.into() };
        let team = builder.groups.push(group);
        let root = builder.paths.push(CallPathId::NONE, parallel);
        let mut recorder = Recorder {
            builder,
            streams: vec![Stream::default(); pes],
            paths: HashMap::new(),
            reasons,
            outside,
            phases,
            barriers,
            wait,
            team,
            path: vec![root],
            open: vec![Vec::new(); pes],
            visits: 0,
        };
        recorder.team_event(Time(0), TeamKind::Fork, TeamKind::TeamBegin);
        (0..pes).for_each(|pe| recorder.open(pe, root, Time(0)));
        recorder
    }

    /// A phase begins; each PE comes to it at its own time.
    pub(crate) fn enter(&mut self, phase: usize, clocks: &[f64]) {
        let path = self.called(self.phases[phase]);
        self.path.push(path);
        for (pe, clock) in clocks.iter().enumerate() {
            self.open(pe, path, nanoseconds(*clock));
        }
    }

    pub(crate) fn leave(&mut self, clocks: &[f64]) {
        self.path.pop();
        for (pe, clock) in clocks.iter().enumerate() {
            self.close(pe, nanoseconds(*clock));
        }
    }

    /// What a PE did from a time on: the work is what is left of the visit around it.
    pub(crate) fn did(&mut self, pe: usize, begin: f64, did: &Did) {
        if *did == Did::default() {
            return;
        }
        let is_outside = self.path.len() == 1;
        if is_outside {
            let path = self.called(self.outside);
            self.path.push(path);
            self.open(pe, path, nanoseconds(begin));
        }
        let mut seconds = begin + did.work;
        for (reason, (_, of)) in REASONS.iter().enumerate() {
            let part = of(&did.counts);
            if part > 0.0 {
                let path = self.called(self.reasons[reason]);
                let enter = nanoseconds(seconds);
                seconds += part;
                self.push(pe, Visit { enter, exit: nanoseconds(seconds), path });
            }
        }
        if is_outside {
            self.close(pe, nanoseconds(seconds));
            self.path.pop();
        }
    }

    /// All PEs meet: each comes at its own time, and all go on at the same.
    pub(crate) fn meet(&mut self, is_barrier: bool, clocks: &[f64], end: f64) {
        let path = self.called(self.barriers[usize::from(is_barrier)]);
        for (pe, clock) in clocks.iter().enumerate() {
            self.push(pe, Visit { enter: nanoseconds(*clock), exit: nanoseconds(end), path });
        }
    }

    /// A PE waits for an event.
    pub(crate) fn wait(&mut self, pe: usize, begin: f64, end: f64) {
        let path = self.called(self.wait);
        self.push(pe, Visit { enter: nanoseconds(begin), exit: nanoseconds(end), path });
    }

    pub(crate) fn finish(mut self, end: f64) -> Trace {
        let end = nanoseconds(end);
        (0..self.streams.len()).for_each(|pe| self.close(pe, end));
        self.team_event(end, TeamKind::Join, TeamKind::TeamEnd);
        for stream in &mut self.streams {
            stream.events = 2 * stream.visits.len() as u64 + stream.teams.len() as u64;
        }
        self.builder.streams = Table::from(self.streams);
        self.builder.seal()
    }

    /// The first PE forks and joins the team, in which all are.
    fn team_event(&mut self, time: Time, of_first: TeamKind, of_all: TeamKind) {
        let event = |kind, group| TeamEvent { visit: VisitIx::NONE, time, kind, group, sequence: 0 };
        let first = event(of_first, GroupId::NONE);
        for (pe, stream) in self.streams.iter_mut().enumerate() {
            let own = event(of_all, self.team);
            match (pe, of_first) {
                (0, TeamKind::Fork) => stream.teams.extend([first, own]),
                (0, _) => stream.teams.extend([own, first]),
                _ => stream.teams.push(own),
            }
        }
    }

    /// A region that is called where all PEs are.
    fn called(&mut self, region: RegionId) -> CallPathId {
        let parent = self.path.last().copied().unwrap_or(CallPathId::NONE);
        *self.paths.entry((parent, region)).or_insert_with(|| self.builder.paths.push(parent, region))
    }

    fn open(&mut self, pe: usize, path: CallPathId, enter: Time) {
        let visit = self.push(pe, Visit { enter, exit: enter, path });
        self.open[pe].push(visit);
    }

    fn close(&mut self, pe: usize, exit: Time) {
        if let Some(visit) = self.open[pe].pop() {
            self.streams[pe].visits.exit[visit.index()] = exit;
        }
    }

    fn push(&mut self, pe: usize, visit: Visit) -> VisitIx {
        self.visits += 1;
        self.streams[pe].visits.push(visit)
    }
}
