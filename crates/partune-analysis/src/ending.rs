//! How a run ended that did not end in order: who died first, in which operation each PE stood, and who waited for whom.

use partune_base::{CallPathId, GroupId, Id, PeId, Span, StringId, Time};
use partune_trace::{
    Awaited, Ended, Ending, NO_REQUEST, PeKind, RequestEvent, RequestKind, Role, Send, TeamKind, Trace, Visit, VisitIx,
    Visits,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::useful::role_of_path;
use crate::{Analysis, AnalysisResult, Input, Needs, Outcome, Section, SectionShape};

/// PEs that one waits for, which are looked at; of those that have not come to a collective operation there may be many.
const AWAITED: usize = 64;
/// Seconds that a command may take to end when its processes have been killed.
const REAPED: f64 = 1.0;

pub(crate) static ENDING: Analysis = Analysis {
    name: "ending",
    title: "How a run ended that did not end in order",
    docs: DOCS,
    finds: false,
    needs: Needs::Queries,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape { name: "ending", scalars: &[], tables: &[] }];

const DOCS: &str = "\
# Ending

Only of runs that did not end in order: a process died of a signal, aborted, left without shutting its paradigm down (`exit`, `_exit`, another program in its place), or was killed. Recordings
of partune say that of each process. Archives of other recorders do not, and nothing is said of them.

**Who went first**: of the processes that died of a signal of their own (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT), aborted or left, the
one that did so first; of a signal with the functions that it was in. If all were killed from outside (a time limit, `kill -9`), nobody is first.

**Where each stood**: the operation that a PE was in; else the code that it was in, as far as that was recorded, and the operation before it. A thread that
had ended stood nowhere, and one that served teams, between two of them, in no code. A function or region that ended with the PE's last event is not named, but what was around it; a function without events
of its own was left, as far as anybody knows, with the last operation in it.

**Who waited for whom**: an operation without an end waits for the sender that a receive named, for the receiver of a blocking send, and in a
collective operation for the members of its communicator that are not in it. A thread that waits for a mutex waits for the thread that holds it, and
one that waits for the end of a thread for that one. A wait for requests waits for the senders that its receives named and whose messages were not sent, as far as
messages between two PEs that were sent and received tell by their number; if there are none, for those who did not receive what it sends; and
if there are none either, or the run was not recorded as a whole, for all of both. Of more than 16 receives the first count. Who waits for any one of several requests is not followed. A blocking receive or probe from anybody waits for any one of its communicator: it is in a cycle only
if all of them, with all threads of their processes, wait for ever as well (`from_anybody` in JSON). Requests of receives from anybody, non-blocking collective operations,
conditions and other locks are not followed. If PEs wait in a cycle, that is shown; else the longest chain, whose last PE waits for
nobody that is known. A cycle is called a deadlock (`deadlock` in JSON) if all of it had waited for a second longer, when the command ended, than any call at these call paths before; if nobody knows when the command ended, none is: a run that is killed while all is
well may end in calls that wait for each other, and its command ends a little later.

**Where code was seen last**: of a PE of a killed process that was in no operation, the functions at its last sample; so not of recordings without
samples, and no PE that sleeps.

In JSON this is `ending`, which is null for other runs.
";

/// Where a PE was when the run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stand {
    pub pe: PeId,
    /// Its last operation; none if it had none.
    pub path: CallPathId,
    /// Whether it was still in it.
    pub is_inside: bool,
    /// When it began; if it is over, when it ended.
    pub since: Time,
    /// The code that it was in after that, or none.
    pub code: CallPathId,
    /// When it was seen last after its last event, and the functions that it was in then, from the innermost outwards.
    pub seen: Option<(Time, StringId)>,
    /// Whom it waits for, as far as known; the first of many.
    pub awaits: Vec<PeId>,
    /// The group any of whose members could end that, where one is enough; else all of `awaits` have to.
    pub anybody: GroupId,
}

/// How a run ended that did not end in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlyEnd {
    /// Processes that did not end in order. The first is the one that went first, if [`EarlyEnd::is_first_known`].
    pub processes: Vec<Ended>,
    pub is_first_known: bool,
    /// The PEs of these processes, but for threads that had ended.
    pub stands: Vec<Stand>,
    /// PEs of which each waits for the next one.
    pub chain: Vec<PeId>,
    /// Whether the last one waits for the first.
    pub is_cycle: bool,
    /// How long all of them waited at most when the run ended, if that is known, and what that may be where nothing is wrong: as long as one waited there
    /// at most before, and [`REAPED`].
    pub waited: Option<Span>,
    pub usual: Span,
}

impl EarlyEnd {
    /// Whether those that wait in a cycle had done so for longer than ever before: a run that is killed while all is well may end in the middle of calls
    /// that wait for each other.
    pub fn is_deadlock(&self) -> bool {
        self.is_cycle && (self.chain.len() == 1 || self.waited.is_some_and(|waited| waited > self.usual))
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let section =
        |ending| Section { name: "ending", result: Some(AnalysisResult::Ending(ending)), ..Section::default() };
    Outcome { sections: of(input.trace).map(section).into_iter().collect(), ..Outcome::default() }
}

fn of(trace: &Trace) -> Option<EarlyEnd> {
    let endings = trace.endings()?;
    let is_early = |ended: &&Ended| match ended.how {
        Ending::Signal(_) | Ending::Aborted | Ending::Killed => true,
        // Without a paradigm there is nothing to be shut down.
        Ending::Left => trace.processes().get(ended.process).is_some_and(|process| process.rank.is_some()),
        Ending::InOrder => false,
    };
    let mut processes: Vec<Ended> = endings.processes.iter().filter(is_early).copied().collect();
    if processes.is_empty() {
        return None;
    }
    let mut is_of_early = vec![false; trace.processes().len()];
    for ended in &mut processes {
        is_of_early[ended.process.index()] = true;
        if ended.how != Ending::Killed {
            let ends = trace.processes()[ended.process].pes.iter().filter_map(|pe| trace.streams()[*pe].end());
            ended.time = ended.time.or(ends.max());
        }
    }
    processes.sort_by_key(|ended| {
        (ended.how == Ending::Killed, ended.time.is_none(), ended.time.unwrap_or(Time(0)), ended.process)
    });
    let is_first_known = processes.first().is_some_and(|ended| ended.how != Ending::Killed && ended.time.is_some());
    let early = trace.cpu_pes().filter(|pe| is_of_early[trace.pes()[*pe].process.index()] && !has_ended(trace, *pe));
    let mut stands: Vec<Stand> = early.map(|pe| stand(trace, pe)).collect();
    for stand in &mut stands {
        let seen = endings.seen.binary_search_by_key(&stand.pe, |it| it.pe).ok().map(|at| endings.seen[at]);
        stand.seen = seen.filter(|it| !stand.is_inside && it.time >= stand.since).map(|it| (it.time, it.place));
    }
    await_others(trace, &endings.awaited, &mut stands);
    let (chain, is_cycle) = follow(trace.pes().len(), &stands, &senders(trace, &stands));
    let over = processes.iter().filter_map(|ended| ended.time).max();
    let since = chain.iter().filter_map(|pe| stand_of(&stands, *pe)).map(|stand| stand.since).max();
    let waited = over.zip(since).map(|(over, since)| over.since(since));
    let usual = trace.clock().span(REAPED) + if is_cycle { longest_before(trace, &stands, &chain) } else { Span::ZERO };
    Some(EarlyEnd { processes, is_first_known, stands, chain, is_cycle, waited, usual })
}

/// Where a PE was; stands are in order of PE.
fn stand_of(stands: &[Stand], pe: PeId) -> Option<&Stand> {
    stands.binary_search_by_key(&pe, |stand| stand.pe).ok().map(|at| &stands[at])
}

/// The longest call that ended, of those that PEs stood in: one look at their visits.
fn longest_before(trace: &Trace, stands: &[Stand], chain: &[PeId]) -> Span {
    let of = |stand: &Stand| {
        let visits = &trace.streams()[stand.pe].visits;
        let calls = (0..visits.len()).map(|at| visits.at(VisitIx(at as u32)));
        calls.filter(|visit| visit.path == stand.path).map(|visit| visit.exit.since(visit.enter)).max()
    };
    chain.iter().filter_map(|pe| stand_of(stands, *pe)).filter_map(of).max().unwrap_or(Span::ZERO)
}

/// Where a PE was. A visit that has no end ends with the PE's last event: an operation that nothing follows where it began.
fn stand(trace: &Trace, pe: PeId) -> Stand {
    let visits = &trace.streams()[pe].visits;
    let last = backwards(visits).find(|visit| trace.paths().operation(visit.path) == visit.path);
    let is_inside = last.is_some_and(|last| last.enter == last.exit && Some(last.exit) == visits.end());
    let user = if is_inside || begun(trace, pe) == Some(0) { None } else { open_code(trace, pe) };
    let (path, since) = last.map_or((CallPathId::NONE, trace.begin()), |last| (last.path, last.exit));
    let code = user.map_or(CallPathId::NONE, |visit| visit.path);
    Stand { pe, path, is_inside, since, code, seen: None, awaits: Vec::new(), anybody: GroupId::NONE }
}

/// The last visit first.
fn backwards(visits: &Visits) -> impl Iterator<Item = Visit> + '_ {
    (0..visits.len()).rev().map(|at| visits.at(VisitIx(at as u32)))
}

/// The innermost code that a PE was in, around its last operation if that has ended. Of visits that end with the last event, the innermost is what that event ended,
/// unless it began with it, or there is an event in it that ends nothing.
fn open_code(trace: &Trace, pe: PeId) -> Option<Visit> {
    let stream = &trace.streams()[pe];
    let end = stream.visits.end()?;
    let mut last = backwards(&stream.visits).filter(|visit| visit.exit == end).peekable();
    let is_code = |visit: &Visit| !trace.paths().operation(visit.path).is_some();
    let of_team = stream.teams.last().filter(|it| matches!(it.kind, TeamKind::Fork | TeamKind::Join)).map(|it| it.time);
    let of_pause = stream.pauses.last().map(|pause| pause.end);
    let has_event = [of_team, of_pause].contains(&Some(end));
    last.next_if(|visit| is_code(visit) && visit.enter < end && !has_event);
    last.find(is_code)
}

/// How many things a thread beside the first one of its process has begun and not ended: what it was made for, and its parts in teams. None if nothing is
/// known of that.
fn begun(trace: &Trace, pe: PeId) -> Option<usize> {
    let teams = Some(&trace.streams()[pe].teams).filter(|teams| trace.pes()[pe].thread > 0 && !teams.is_empty())?;
    let count = |kinds: [TeamKind; 2]| teams.iter().filter(|it| kinds.contains(&it.kind)).count();
    let begun = count([TeamKind::Begin, TeamKind::TeamBegin]);
    (begun > 0).then(|| begun.saturating_sub(count([TeamKind::End, TeamKind::TeamEnd])))
}

/// Whether a thread that the program had made has ended, and none has taken over its PE.
fn has_ended(trace: &Trace, pe: PeId) -> bool {
    let last = trace.streams()[pe].teams.last();
    last.is_some_and(|it| it.kind == TeamKind::End) && begun(trace, pe) == Some(0)
}

/// Fills [`Stand::awaits`].
fn await_others(trace: &Trace, awaited: &[Awaited], stands: &mut [Stand]) {
    let all = |pe: PeId| {
        let first = awaited.partition_point(|it| it.pe < pe);
        &awaited[first..first + awaited[first..].partition_point(|it| it.pe == pe)]
    };
    let awaited = |pe: PeId| all(pe).first().copied();
    let is_collective = |path: CallPathId| trace.regions()[trace.paths().region(path)].is_collective();
    // Who is in which collective operation; in order of PE.
    let mut present: FxHashMap<(GroupId, Role), Vec<PeId>> = FxHashMap::default();
    for stand in stands.iter().filter(|stand| stand.is_inside) {
        let role = role_of_path(trace, stand.path);
        if let Some(it) = awaited(stand.pe).filter(|_| is_collective(stand.path)) {
            present.entry((it.group, role)).or_default().push(stand.pe);
        }
    }
    let mut missing: FxHashMap<(GroupId, Role), Vec<PeId>> = FxHashMap::default();
    // An exchange with several waits for all of them, as requests do.
    let is_with_many = |pe: PeId, role: Role| role == Role::SendRecv && all(pe).len() > 1;
    // Who waits for any one of several says that it waits for anybody, and is not followed.
    let of_requests = |stand: &&Stand| {
        let is_followed = || all(stand.pe).is_empty() || all(stand.pe).iter().any(|it| it.peer.is_some());
        let role = role_of_path(trace, stand.path);
        stand.is_inside && (role == Role::CommSync || is_with_many(stand.pe, role)) && is_followed()
    };
    let requests: Vec<Requests> =
        stands.iter().filter(of_requests).map(|stand| Requests::of(trace, stand.pe, all(stand.pe))).collect();
    let is_whole = !trace.begins_late() && !trace.is_partial() && !trace.was_off();
    let under_way = is_whole.then(|| UnderWay::new(trace, &requests));
    for of in &requests {
        if let Ok(at) = stands.binary_search_by_key(&of.pe, |stand| stand.pe) {
            stands[at].awaits = of.awaits(under_way.as_ref());
        }
    }
    for stand in stands.iter_mut().filter(|stand| stand.is_inside) {
        let role = role_of_path(trace, stand.path);
        let of_anybody = |it: &Awaited| !it.peer.is_some() && trace.groups().get(it.group).is_some();
        if let (Role::Recv | Role::Probe, Some(it)) = (role, awaited(stand.pe).filter(of_anybody)) {
            stand.anybody = it.group;
            stand.awaits = not_in(trace, it.group, &[stand.pe]);
            continue;
        }
        if is_with_many(stand.pe, role) {
            continue;
        }
        let sender = || awaited(stand.pe).and_then(|it| it.peer.some());
        let receiver = || {
            let last = trace.streams()[stand.pe].sends.last()?;
            let is_its = trace.streams()[stand.pe].visits.get(last.visit)?.enter == stand.since;
            last.peer.some().filter(|_| is_its)
        };
        let peers = match role {
            Role::Recv | Role::Probe | Role::LockAcquire | Role::PeManagement => [sender(), None],
            Role::Send => [receiver(), None],
            Role::SendRecv => [sender(), receiver()],
            role if is_collective(stand.path) => {
                if let Some(it) = awaited(stand.pe) {
                    let key = (it.group, role);
                    let here = &present[&key];
                    stand.awaits.clone_from(missing.entry(key).or_insert_with(|| not_in(trace, it.group, here)));
                }
                continue;
            }
            Role::CommSync => continue,
            _ => [None, None],
        };
        stand.awaits = peers.into_iter().flatten().collect();
        stand.awaits.dedup();
    }
}

/// What a PE that waits for requests may wait for.
struct Requests {
    pe: PeId,
    /// Senders that its receives named, each as often.
    receives: Vec<PeId>,
    /// Receivers of messages whose sends did not complete.
    sends: Vec<PeId>,
}

impl Requests {
    /// One look at the requests and the sends of the PE.
    fn of(trace: &Trace, pe: PeId, awaited: &[Awaited]) -> Requests {
        let stream = &trace.streams()[pe];
        let is_end = |it: &&RequestEvent| matches!(it.kind, RequestKind::SendCompleted | RequestKind::Cancelled);
        let ended: FxHashSet<u64> = stream.requests.iter().filter(is_end).map(|it| it.request).collect();
        let is_open = |it: &&Send| it.request != NO_REQUEST && it.peer.is_some() && !ended.contains(&it.request);
        let sends = stream.sends.iter().filter(is_open).map(|it| it.peer).collect();
        Requests { pe, receives: awaited.iter().filter_map(|it| it.peer.some()).collect(), sends }
    }

    /// Pairs of sender and receiver.
    fn pairs(&self) -> impl Iterator<Item = (PeId, PeId)> + '_ {
        let receives = self.receives.iter().map(|from| (*from, self.pe));
        receives.chain(self.sends.iter().map(|to| (self.pe, *to)))
    }

    /// Without a number of the messages between two PEs, for all.
    fn awaits(&self, under_way: Option<&UnderWay>) -> Vec<PeId> {
        let asked = |from: PeId| self.receives.iter().filter(|it| **it == from).count() as i64;
        let some_of = |under_way: &UnderWay| {
            let is_unsent = |from: &&PeId| asked(**from) > under_way.of(**from, self.pe);
            let is_unreceived = |to: &&PeId| under_way.of(self.pe, **to) > 0;
            let unsent: Vec<PeId> = self.receives.iter().filter(is_unsent).copied().collect();
            let unreceived = self.sends.iter().filter(is_unreceived).copied().collect();
            [unsent, unreceived].into_iter().find(|some| !some.is_empty())
        };
        let all = || self.receives.iter().chain(&self.sends).copied().collect();
        let first = under_way.and_then(some_of);
        let mut awaits = first.unwrap_or_else(all);
        awaits.sort_unstable();
        awaits.dedup();
        awaits.truncate(AWAITED);
        awaits
    }
}

/// How many messages from one PE to another were sent and not received. Whichever thread of a process sends or receives, its main thread is who is meant.
struct UnderWay<'a> {
    trace: &'a Trace,
    counts: FxHashMap<(PeId, PeId), i64>,
}

impl UnderWay<'_> {
    /// Of the pairs that requests have. If there are some, one look at each message of the run.
    fn new<'a>(trace: &'a Trace, requests: &[Requests]) -> UnderWay<'a> {
        let pairs = requests.iter().flat_map(Requests::pairs);
        let counts = pairs.map(|(from, to)| ((main_of(trace, from), main_of(trace, to)), 0)).collect();
        let mut under_way = UnderWay { trace, counts };
        let mut count = |from: PeId, to: PeId, by: i64| {
            if let Some(count) = under_way.counts.get_mut(&(from, to)) {
                *count += by;
            }
        };
        for (pe, stream) in trace.streams().iter_ids().filter(|_| !requests.is_empty()) {
            let own = main_of(trace, pe);
            for send in &stream.sends {
                count(own, send.peer, 1);
            }
            for recv in &stream.recvs {
                count(recv.peer, own, -1);
            }
        }
        under_way
    }

    fn of(&self, from: PeId, to: PeId) -> i64 {
        self.counts[&(main_of(self.trace, from), main_of(self.trace, to))]
    }
}

/// The main thread of a PE's process.
fn main_of(trace: &Trace, pe: PeId) -> PeId {
    let process = trace.pes().get(pe).and_then(|about| trace.processes().get(about.process));
    process.and_then(|process| process.pes.first().copied()).unwrap_or(pe)
}

/// Members of a group that are not among these, which are in order.
fn not_in(trace: &Trace, group: GroupId, here: &[PeId]) -> Vec<PeId> {
    let Some(group) = trace.groups().get(group) else { return Vec::new() };
    let members = group.members.iter().filter(|member| member.is_some() && here.binary_search(member).is_err());
    members.take(AWAITED).collect()
}

/// A group from any of whose members some receive.
struct Senders {
    /// With all threads of their processes.
    pes: Vec<PeId>,
    waiters: Vec<PeId>,
}

/// Those of which all members are known: of others, somebody may be well. Linear in their members.
fn senders(trace: &Trace, stands: &[Stand]) -> Vec<Senders> {
    let mut waiters: FxHashMap<GroupId, Vec<PeId>> = FxHashMap::default();
    for stand in stands.iter().filter(|stand| stand.anybody.is_some()) {
        waiters.entry(stand.anybody).or_default().push(stand.pe);
    }
    let mut all: Vec<(GroupId, Vec<PeId>)> = waiters.into_iter().collect();
    all.sort_unstable_by_key(|it| it.0);
    let of = |(group, waiters)| {
        let members = &trace.groups().get(group)?.members;
        let threads = |member: PeId| Some(trace.processes().get(trace.pes().get(member)?.process)?.pes.iter().copied());
        let pes = members.iter().map(threads).collect::<Option<Vec<_>>>()?.into_iter().flatten();
        Some(Senders { pes: pes.filter(|pe| trace.pes()[*pe].kind == PeKind::Cpu).collect(), waiters })
    };
    all.into_iter().filter_map(of).collect()
}

/// PEs that wait in a cycle, from the lowest one on; else the longest chain of those that wait. What anybody could end is part of a cycle only if there is
/// none without it.
fn follow(pes: usize, stands: &[Stand], senders: &[Senders]) -> (Vec<PeId>, bool) {
    let named = Waits::new(pes, stands, &[]);
    let chain = match named.cycle().or_else(|| Waits::new(pes, stands, senders).cycle()) {
        Some(cycle) => return (cycle, true),
        None => named.longest(),
    };
    (chain, false)
}

/// Who waits for whom.
struct Waits<'a> {
    awaits: Vec<&'a [PeId]>,
    /// How many have to do something before a PE goes on that waits in a cycle, or for one; 0 of all others.
    open: Vec<usize>,
    /// How many wait one for the next from a PE on, and the next one.
    longest: Vec<(usize, Option<PeId>)>,
}

impl<'a> Waits<'a> {
    /// From those that wait for nobody backwards: what is not reached waits in a cycle, or for one. Who receives from anybody of a group that is not
    /// among these waits for nobody.
    fn new(pes: usize, stands: &'a [Stand], senders: &'a [Senders]) -> Waits<'a> {
        let mut awaits: Vec<&[PeId]> = vec![&[]; pes];
        let mut open = vec![0; pes];
        let mut awaited_by: Vec<Vec<PeId>> = vec![Vec::new(); pes];
        for stand in stands.iter().filter(|stand| !stand.anybody.is_some()) {
            awaits[stand.pe.index()] = &stand.awaits;
            open[stand.pe.index()] = stand.awaits.len();
            stand.awaits.iter().for_each(|of| awaited_by[of.index()].push(stand.pe));
        }
        let mut sends: Vec<Vec<usize>> = vec![Vec::new(); pes];
        for (at, senders) in senders.iter().enumerate() {
            for waiter in &senders.waiters {
                awaits[waiter.index()] = &senders.pes;
                open[waiter.index()] = 1;
            }
            senders.pes.iter().for_each(|pe| sends[pe.index()].push(at));
        }
        let mut is_sending = vec![false; senders.len()];
        let mut longest: Vec<(usize, Option<PeId>)> = vec![(0, None); pes];
        let mut done: Vec<PeId> = (0..pes).map(PeId::from_index).filter(|pe| open[pe.index()] == 0).collect();
        while let Some(pe) = done.pop() {
            for before in &awaited_by[pe.index()] {
                let length = longest[pe.index()].0 + 1;
                let known = &mut longest[before.index()];
                if length > known.0 || length == known.0 && known.1.is_none_or(|next| pe < next) {
                    *known = (length, Some(pe));
                }
                open[before.index()] -= 1;
                if open[before.index()] == 0 {
                    done.push(*before);
                }
            }
            for at in &sends[pe.index()] {
                if !std::mem::replace(&mut is_sending[*at], true) {
                    senders[*at].waiters.iter().for_each(|waiter| open[waiter.index()] = 0);
                    done.extend(&senders[*at].waiters);
                }
            }
        }
        Waits { awaits, open, longest }
    }

    fn cycle(&self) -> Option<Vec<PeId>> {
        let is_open = |pe: &PeId| self.open[pe.index()] > 0;
        let mut order: Vec<PeId> = Vec::new();
        let mut place = vec![usize::MAX; self.open.len()];
        let mut at = self.open.iter().position(|open| *open > 0).map(PeId::from_index);
        while let Some(pe) = at {
            if place[pe.index()] != usize::MAX {
                let mut cycle = order.split_off(place[pe.index()]);
                let least = (0..cycle.len()).min_by_key(|at| cycle[*at]).unwrap_or(0);
                cycle.rotate_left(least);
                return Some(cycle);
            }
            place[pe.index()] = order.len();
            order.push(pe);
            let others = self.awaits[pe.index()].iter().filter(|next| **next != pe);
            at = others.copied().find(is_open).or_else(|| self.awaits[pe.index()].iter().copied().find(is_open));
        }
        None
    }

    fn longest(&self) -> Vec<PeId> {
        let first = (0..self.longest.len()).max_by_key(|pe| (self.longest[*pe].0, std::cmp::Reverse(*pe)));
        let first = first.filter(|pe| self.longest[*pe].0 > 0).map(PeId::from_index);
        std::iter::successors(first, |pe| self.longest[pe.index()].1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_waits(pes: usize, waits: &[(u32, &[u32])]) -> (Vec<u32>, bool) {
        with_anybody(pes, waits, &[])
    }

    /// The same, and who receives from anybody of which group.
    fn with_anybody(pes: usize, waits: &[(u32, &[u32])], anybody: &[(&[u32], &[u32])]) -> (Vec<u32>, bool) {
        let ids = |of: &[u32]| of.iter().map(|pe| PeId(*pe)).collect::<Vec<_>>();
        let stand = |(pe, of): &(u32, &[u32])| Stand {
            pe: PeId(*pe),
            path: CallPathId::NONE,
            is_inside: true,
            since: Time(0),
            code: CallPathId::NONE,
            seen: None,
            awaits: ids(of),
            anybody: GroupId::NONE,
        };
        let senders: Vec<Senders> =
            anybody.iter().map(|(waiters, of)| Senders { pes: ids(of), waiters: ids(waiters) }).collect();
        let (chain, is_cycle) = follow(pes, &waits.iter().map(stand).collect::<Vec<_>>(), &senders);
        (chain.into_iter().map(|pe| pe.0).collect(), is_cycle)
    }

    #[test]
    fn cycles_are_found_before_chains() {
        assert_eq!(of_waits(3, &[]), (vec![], false));
        assert_eq!(of_waits(3, &[(0, &[1]), (1, &[2]), (2, &[0])]), (vec![0, 1, 2], true));
        // Those that wait for a cycle are not in it; nor are chains that are longer.
        let more: &[(u32, &[u32])] = &[(0, &[3]), (3, &[2]), (2, &[3]), (4, &[5]), (5, &[6]), (6, &[7])];
        assert_eq!(of_waits(8, more), (vec![2, 3], true));
        // One of several that are waited for leads back.
        assert_eq!(of_waits(4, &[(0, &[1, 2]), (2, &[0])]), (vec![0, 2], true));
        assert_eq!(of_waits(2, &[(1, &[1])]), (vec![1], true), "a receive from itself");
    }

    #[test]
    fn who_receives_from_anybody_waits_as_long_as_all_of_them_do() {
        let world: &[u32] = &[0, 1, 2];
        let workers: &[(u32, &[u32])] = &[(1, &[0]), (2, &[0])];
        assert_eq!(with_anybody(3, workers, &[(&[0], world)]), (vec![0, 1], true));
        // PE 2 works, or one outside of the group lets one of it go on.
        assert_eq!(with_anybody(3, &workers[..1], &[(&[0], world)]), (vec![1, 0], false));
        assert_eq!(with_anybody(4, &[(1, &[0]), (2, &[3])], &[(&[0], world)]), (vec![1, 0], false));
        // All of them do so; one in a group of its own; and two groups, of which one is well, so that the other is as well.
        assert_eq!(with_anybody(3, &[], &[(&[0, 1, 2], world)]), (vec![0, 1], true));
        assert_eq!(with_anybody(3, &[], &[(&[1], &[1])]), (vec![1], true));
        assert_eq!(with_anybody(3, &[], &[(&[0], &[0, 1]), (&[1], &[1, 2])]), (vec![], false));
        // What is waited for by name is shown first.
        assert_eq!(with_anybody(3, &[(1, &[0, 2]), (2, &[1])], &[(&[0], world)]), (vec![1, 2], true));
    }

    #[test]
    fn the_longest_chain_is_shown() {
        assert_eq!(of_waits(3, &[(1, &[0]), (2, &[1])]), (vec![2, 1, 0], false));
        assert_eq!(of_waits(5, &[(1, &[0]), (2, &[0]), (3, &[2, 1])]), (vec![3, 1, 0], false));
    }

    /// The code that each PE of process 0 was in, by the names on its path, and whether its thread had ended.
    fn code(text: &str) -> Vec<(String, bool)> {
        let trace = partune_testkit::trace(text);
        let name = |path: CallPathId| trace.strings().get(trace.regions()[trace.paths().region(path)].name).to_owned();
        let of = |pe: PeId| {
            (Some(stand(&trace, pe).code).filter(|it| it.is_some()).map_or(String::new(), name), has_ended(&trace, pe))
        };
        trace.cpu_pes().map(of).collect()
    }

    #[test]
    fn code_that_ended_with_the_last_event_is_not_where_a_thread_stood() {
        let is = |text: &str, of: &[(&str, bool)]| {
            let of: Vec<(String, bool)> = of.iter().map(|(name, ended)| ((*name).to_owned(), *ended)).collect();
            assert_eq!(code(text), of, "{text}");
        };
        let main = "group all = 0 0.1\npe 0: main 0..90 { pthread_create 5..10 create(all, seq=1) \
                    pthread_join 20..90 wait(all, seq=1) }";
        // A thread that has ended, and one that is at work between two calls.
        let thread =
            |facts: &str, rest: &str| format!("{main}\npe 0.1: helper 10..80 begin(all, seq=1) {facts} {rest}");
        is(&thread("end(all, seq=1)", ""), &[("main", false), ("", true)]);
        is(&thread("", "{ pthread_mutex_lock 70..80 }"), &[("main", false), ("helper", false)]);
        // A region that the program marked: it was left, or a team was joined in it, or it was just begun.
        is("pe 0: main 0..90 { step 10..90 }", &[("main", false)]);
        is("pe 0: main 0..90 { step 10..90 { inner 20..90 join } }", &[("inner", false)]);
        is("pe 0: main 0..90 { step 90..90 }", &[("step", false)]);
        is("pe 0: main 0..90 { step 10..90 { MPI_Send 80..90 } }", &[("step", false)]);
        // One that served a team.
        let team = "team two = 0 0.1\npe 0: main 0..80 { \"omp parallel\" 10..80 team(two) }";
        is(
            &format!("{team}\npe 0.1: main 10..80 {{ \"omp parallel\" 10..80 team(two) }}"),
            &[("main", false), ("", false)],
        );
    }
}
