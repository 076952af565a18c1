//! Which piece of a run is looked at, as people say it: between two times, a phase, without the first turns of the main loop.

use partune_analysis::{Base, turn_begins};
use partune_base::{Clock, Id, RegionId, Time, alike};
use partune_diag::seconds;
use partune_trace::{Role, Trace};

/// What is looked at: what all that is said here have in common; the whole run if nothing is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Not what lies before.
    pub from: Option<Moment>,
    /// Not what lies after; the end of the run if that is earlier.
    pub to: Option<Moment>,
    /// From the first enter of a function or phase of this name to its last leave, over all PEs.
    pub phase: Option<String>,
    /// From when on the last PE has begun the turn of the main loop that comes after so many.
    pub skip_turns: u32,
}

/// A moment of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    /// Seconds after the first event.
    Seconds(f64),
    /// A share of the time from the first event to the last.
    Share(f64),
}

/// Why there is no such piece.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SelectionError {
    #[error("the run ends after {run}, so nothing of it comes after {from}\n  remedy: give an earlier --from", run = seconds(*.run), from = seconds(*.from))]
    Beyond { from: f64, run: f64 },
    #[error(
        "from {from} to {to} the program only starts up or shuts down\n  remedy: look between {begin} and {end}",
        from = seconds(*.from), to = seconds(*.to), begin = seconds(*.begin), end = seconds(*.end)
    )]
    Outside { from: f64, to: f64, begin: f64, end: f64 },
    #[error(
        "nothing is left of the run: the piece would begin at {from} and end at {to}\n  remedy: give a --from that is earlier than --to; a phase \
         and turns must lie between them",
        from = seconds(*.from), to = seconds(*.to)
    )]
    Empty { from: f64, to: f64 },
    #[error("there is no function and no phase {name} in this run\n  remedy: {}", instead(.near))]
    NoPhase { name: String, near: Vec<String> },
    #[error(
        "no turns of a loop are marked in this run, so none can be left out\n  remedy: mark the turns of the main loop \
         (docs/regions.md), or give the time where they end with --from"
    )]
    NoTurns,
    #[error("the main loop has {turns} turns, and {skipped} were to be left out\n  remedy: leave out fewer")]
    FewTurns { skipped: u32, turns: usize },
    #[error(
        "this is a profile, sums without events, so nothing can be said of a piece of its run\n  remedy: record without --profile, or leave \
         the piece out"
    )]
    Profile,
}

fn instead(near: &[String]) -> String {
    match near {
        [] => "partune analyze --only profile lists what there is".to_owned(),
        near => format!("perhaps {} was meant", near.join(" or ")),
    }
}

impl Selection {
    /// Begin and end of the piece; `None` for the whole run. Linear in visits.
    pub(crate) fn find(&self, trace: &Trace) -> Result<Option<(Time, Time)>, SelectionError> {
        if *self == Selection::default() {
            return Ok(None);
        }
        if trace.profile().is_some() {
            return Err(SelectionError::Profile);
        }
        let since = |time: Time| trace.clock().seconds(time.since(trace.begin()));
        let (mut begin, mut end) = self.times(trace.clock(), (trace.begin(), trace.end()))?;
        if let Some(name) = &self.phase {
            let (enter, leave) = extent(trace, name).ok_or_else(|| no_phase(trace, name))?;
            (begin, end) = (begin.max(enter), end.min(leave));
        }
        if self.skip_turns > 0 {
            let turns = turn_begins(trace).ok_or(SelectionError::NoTurns)?;
            let few = SelectionError::FewTurns { skipped: self.skip_turns, turns: turns.len() };
            begin = begin.max(*turns.get(self.skip_turns as usize).ok_or(few)?);
        }
        if begin >= end {
            return Err(SelectionError::Empty { from: since(begin), to: since(end) });
        }
        let base = Base::of(trace);
        if base.length().is_positive() && (end <= base.begin || begin >= base.end) {
            let (from, to, begin, end) = (since(begin), since(end), since(base.begin), since(base.end));
            return Err(SelectionError::Outside { from, to, begin, end });
        }
        Ok((begin > trace.begin() || end < trace.end()).then_some((begin, end)))
    }

    /// Whether it is a piece between two times, of which one is known without the events of the run.
    pub(crate) fn is_between_times(&self) -> bool {
        (self.from.is_some() || self.to.is_some()) && self.phase.is_none() && self.skip_turns == 0
    }

    /// Between which times it is, of a run with this first and last event; they may be in the wrong order.
    fn times(&self, clock: Clock, run: (Time, Time)) -> Result<(Time, Time), SelectionError> {
        let since = |time: Time| clock.seconds(time.since(run.0));
        let begin = self.from.map_or(run.0, |from| from.in_run(clock, run));
        if self.from.is_some() && begin >= run.1 {
            return Err(SelectionError::Beyond { from: since(begin), run: since(run.1) });
        }
        Ok((begin, self.to.map_or(run.1, |to| to.in_run(clock, run).min(run.1))))
    }

    /// The same of a piece [between two times](Self::is_between_times), in order.
    pub(crate) fn between(&self, clock: Clock, run: (Time, Time)) -> Result<(Time, Time), SelectionError> {
        let since = |time: Time| clock.seconds(time.since(run.0));
        let (begin, end) = self.times(clock, run)?;
        if begin >= end { Err(SelectionError::Empty { from: since(begin), to: since(end) }) } else { Ok((begin, end)) }
    }
}

impl Moment {
    fn in_run(self, clock: Clock, (begin, end): (Time, Time)) -> Time {
        let span = match self {
            Moment::Seconds(seconds) => clock.span(seconds),
            Moment::Share(share) => clock.span(clock.seconds(end.since(begin)) * share),
        };
        Time(begin.0.saturating_add(span.0))
    }
}

/// From the first enter to the last leave of the regions with a name.
fn extent(trace: &Trace, name: &str) -> Option<(Time, Time)> {
    let named = |region: RegionId| trace.strings().get(trace.regions()[region].name) == name;
    let paths: Vec<bool> = trace.paths().ids().map(|path| named(trace.paths().region(path))).collect();
    let visits = || {
        let all = trace.streams().iter().flat_map(|stream| stream.visits.iter());
        all.filter(|visit| paths[visit.path.index()])
    };
    Some((visits().map(|visit| visit.enter).min()?, visits().map(|visit| visit.exit).max()?))
}

/// Names of user code that are near, for advice.
const NEAR: usize = 3;

fn no_phase(trace: &Trace, name: &str) -> SelectionError {
    let user = trace.regions().iter().filter(|region| region.role == Role::User);
    let names = user.map(|region| trace.strings().get(region.name));
    let near = alike(name, names, NEAR).into_iter().map(str::to_owned).collect();
    SelectionError::NoPhase { name: name.to_owned(), near }
}
