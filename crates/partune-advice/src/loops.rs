//! Loops whose turns threads share: the one that code is in, and what else is done in it.
//!
//! For rules that name loops. A schedule hands out whole turns, so it is the loop that has one, and not the function in it that was found to be uneven.

use std::collections::{BTreeMap, BTreeSet};

use partune_analysis::{ByPath, Cause, Finding};
use partune_base::{CallPathId, Id, PeId, Span, Time};
use partune_trace::{Role, Trace};

use crate::Rule;
use crate::calls::{Code, Run, place_of};

/// What code of one call path takes, on all PEs.
pub(crate) struct Worked {
    /// The synchronisation of a group that comes next; none after the last one.
    before: CallPathId,
    path: CallPathId,
    time: Span,
}

/// A loop that makes PEs wait.
pub(crate) struct Loop {
    /// The PE that its main cause is on.
    pub(crate) pe: PeId,
    /// The loop, or the code in it that takes nearly all of its time.
    pub(crate) changed: CallPathId,
    /// What of the finding that made.
    pub(crate) caused: Span,
}

impl Run<'_> {
    /// The loops, as a rule has them, that made more than a share of a finding: nobody waits for a lock of theirs. Linear in causes, in call paths for each
    /// construct that these are in, and in what [`Run::does_more`] looks at for each loop.
    pub(crate) fn loops(&self, finding: &Finding, rule: &Rule, share: f64) -> Vec<Loop> {
        // Code that stands in the loop itself is that of the function around it.
        let around = |cause: &Cause| self.trace.paths().ancestors(place_of(cause)).find(|path| self.shares_out(*path));
        let (mut loops, mut seen) = (Vec::new(), Vec::new());
        for cause in &finding.causes {
            let Code::At(code) = self.code(cause) else { continue };
            let Some(construct) = around(cause) else { continue };
            if seen.iter().any(|known| self.is_same(*known, construct)) {
                continue;
            }
            seen.push(construct);
            let caused =
                |is: &dyn Fn(&Cause) -> bool| finding.causes.iter().filter(|it| is(it)).map(|it| it.time).sum();
            let is_here = |it: &Cause| {
                matches!(self.code(it), Code::At(_)) && around(it).is_some_and(|it| self.is_same(it, construct))
            };
            let in_loop: Span = caused(&is_here);
            let excludes = self.role(cause.path) == Some(Role::LockRelease);
            if excludes || in_loop.0 as f64 <= share * finding.time.0 as f64 || !self.is_loop(construct, rule) {
                continue;
            }
            // A schedule hands out all that is in it: what is uneven too, and what makes up for that.
            let of_code = caused(&|it| self.code(it) == Code::At(code));
            let is_whole = in_loop > of_code || self.does_more(construct, code, share);
            let (changed, caused) = if is_whole { (construct, in_loop) } else { (code, of_code) };
            loops.push(Loop { pe: cause.pe, changed, caused });
        }
        loops
    }

    /// Whether a construct is a loop, as a rule has them, or a region that has loops which are not recorded: no other construct is inside of it.
    fn is_loop(&self, construct: CallPathId, rule: &Rule) -> bool {
        let paths = self.trace.paths();
        let is_named = |names: &[String]| {
            let is =
                |name: &String| self.region(construct).is_some_and(|it| name == self.trace.strings().get(it.construct));
            names.iter().any(is)
        };
        // Threads that are only in the inner one of two regions may have other call paths there.
        let is_here = |path: CallPathId| self.is_same(path, construct);
        let is_nested = |path: CallPathId| {
            is_here(path) && paths.ancestors(path).skip(1).any(|it| self.role(it) == Some(Role::Parallel))
        };
        let is_other = |path: CallPathId| {
            (self.shares_out(path) || self.role(path) == Some(Role::TaskCreate))
                && paths.ancestors(path).skip(1).any(is_here)
        };
        is_named(&rule.loops)
            || is_named(&rule.loops_unseen_in) && !paths.ids().any(|path| is_nested(path) || is_other(path))
    }

    fn role(&self, path: CallPathId) -> Option<Role> {
        self.region(path).map(|region| region.role)
    }

    fn shares_out(&self, path: CallPathId) -> bool {
        matches!(self.role(path), Some(Role::Parallel | Role::WorkSharing | Role::TaskRun))
    }

    /// Whether other code than this takes more than a share of the time of a loop. In a region whose loops are not recorded only what is done before the same
    /// synchronisations counts. Linear in what is worked, and the depth of call paths; the first time also in visits.
    fn does_more(&self, of_loop: CallPathId, code: CallPathId, share: f64) -> bool {
        let paths = self.trace.paths();
        let name = |path: CallPathId| self.region(path).map(|region| region.name);
        // A change that names the code is of all that has its name.
        let is_code = |path: CallPathId| {
            let inside = paths.ancestors(path).take_while(|it| !self.is_same(*it, of_loop));
            inside.map(name).any(|it| it == name(code))
        };
        if !self.is_in(code, of_loop) {
            return true;
        }
        let worked = self.worked.get_or_init(|| worked(self.trace));
        let in_loop = worked.iter().filter(|it| self.is_in(it.path, of_loop));
        let in_loop: Vec<(&Worked, bool)> = in_loop.map(|it| (it, is_code(it.path))).collect();
        let ends: BTreeSet<CallPathId> = in_loop.iter().filter(|it| it.1).map(|it| it.0.before).collect();
        let (mut own, mut others) = (Span::ZERO, Span::ZERO);
        for (it, is_own) in in_loop.iter().filter(|it| ends.contains(&it.0.before)) {
            *(if *is_own { &mut own } else { &mut others }) += it.time;
        }
        others.0 as f64 > share * (own + others).0 as f64
    }

    fn is_in(&self, path: CallPathId, of_loop: CallPathId) -> bool {
        self.trace.paths().ancestors(path).any(|it| self.is_same(it, of_loop))
    }
}

/// What all PEs work inside of parallel regions. Linear in visits.
fn worked(trace: &Trace) -> Vec<Worked> {
    let paths = trace.paths();
    let role = |path: CallPathId| trace.regions()[paths.region(path)].role;
    let counts: Vec<bool> = paths
        .ids()
        .map(|path| !paths.operation(path).is_some() && paths.ancestors(path).any(|it| role(it) == Role::Parallel))
        .collect();
    let mut all: BTreeMap<(CallPathId, CallPathId), Span> = BTreeMap::new();
    let mut since: ByPath<Span> = ByPath::new(paths.len());
    for pe in trace.cpu_pes() {
        let mut open: Vec<(CallPathId, Time)> = Vec::new();
        let mut from = Time::MIN;
        // What is open has the time until something else begins, or it ends.
        let mut pass = |open: &mut Vec<(CallPathId, Time)>, since: &mut ByPath<Span>, until: Time| {
            while let Some((path, exit)) = open.last().copied() {
                if counts[path.index()] {
                    since.add(path, exit.min(until).since(from).clamp_positive());
                }
                from = exit.min(until).max(from);
                if exit > until {
                    break;
                }
                open.pop();
            }
            from = until;
        };
        let mut meet = |since: &mut ByPath<Span>, before| {
            since.take().into_iter().for_each(|(path, time)| *all.entry((before, path)).or_default() += time);
        };
        for visit in trace.streams()[pe].visits.iter() {
            pass(&mut open, &mut since, visit.enter);
            if role(visit.path) == Role::GroupSync {
                meet(&mut since, visit.path);
            }
            open.push((visit.path, visit.exit));
        }
        pass(&mut open, &mut since, Time::MAX);
        meet(&mut since, CallPathId::NONE);
    }
    all.into_iter().map(|((before, path), time)| Worked { before, path, time }).collect()
}
