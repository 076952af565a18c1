//! Where accesses to files begin, of recorders that do not tell: at 0 after an open, then where the last one ended or a seek led.
//!
//! That holds where one PE alone uses a handle, and where it does not append. Calls that are given an offset leave the handle where it is, and
//! accesses of several processes together go by views that are not recorded: both stay unknown.
//!
//! Of a run that is looked at in slices, where handles are at a cut is found in the same pass as the cut ([`Followed`]).

use partune_base::{PeId, ProcessId, RegionId, Table};
use partune_trace::{IoKind, IoLayer, TraceBuilder};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// `OTF2_IO_STATUS_FLAG_APPEND`.
const APPENDS: u32 = 2;

/// Something was done with a handle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Act {
    /// How many accesses of the PE came before.
    pub(super) row: u32,
    pub(super) handle: u32,
    pub(super) step: Step,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Opened,
    OpenedToAppend,
    Closed,
    Positioned(u64),
    /// It is another name of this one from now on.
    Duplicated(u32),
    /// The access with this row.
    Accessed,
}

impl Step {
    pub(super) fn opened(status_flags: u32) -> Step {
        if status_flags & APPENDS == 0 { Step::Opened } else { Step::OpenedToAppend }
    }
}

/// Where the handles of a PE are.
#[derive(Default)]
pub(super) struct Positions {
    at: FxHashMap<u32, u64>,
    /// Other names of handles.
    others: FxHashMap<u32, u32>,
}

/// What is known of one handle.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Standing {
    at: Option<u64>,
    other: Option<u32>,
}

impl Positions {
    fn own(&self, handle: u32) -> u32 {
        *self.others.get(&handle).unwrap_or(&handle)
    }

    fn step(&mut self, handle: u32, step: Step) {
        match step {
            Step::Opened => {
                self.others.remove(&handle);
                self.at.insert(handle, 0);
            }
            Step::OpenedToAppend | Step::Closed => {
                self.others.remove(&handle);
                self.at.remove(&handle);
            }
            Step::Positioned(position) => {
                self.at.insert(self.own(handle), position);
            }
            Step::Duplicated(old) => {
                self.others.insert(handle, self.own(old));
            }
            Step::Accessed => {}
        }
    }

    /// Where an access to a handle begins, which so many bytes further ends.
    fn pass(&mut self, handle: u32, bytes: u64) -> Option<u64> {
        let position = self.at.get_mut(&self.own(handle))?;
        let end = position.saturating_add(bytes);
        Some(std::mem::replace(position, end))
    }

    fn standing(&self, handle: u32) -> Standing {
        Standing { at: self.at.get(&handle).copied(), other: self.others.get(&handle).copied() }
    }

    /// What is known of a handle from a change on.
    pub(super) fn change(&mut self, change: &Change) {
        self.at.remove(&change.handle);
        self.others.remove(&change.handle);
        self.at.extend(change.now.at.map(|at| (change.handle, at)));
        self.others.extend(change.now.other.map(|other| (change.handle, other)));
    }
}

/// Which handles of a process one PE alone uses.
#[derive(Default)]
pub(super) struct Users(FxHashMap<(ProcessId, u32), User>);

#[derive(Clone, Copy, PartialEq)]
enum User {
    One(PeId),
    Several,
}

impl Users {
    pub(super) fn add(&mut self, process: ProcessId, pe: PeId, handle: u32) {
        let user = self.0.entry((process, handle)).or_insert(User::One(pe));
        if *user != User::One(pe) {
            *user = User::Several;
        }
    }

    fn of(builder: &TraceBuilder, acts: &[Vec<Act>]) -> Users {
        let mut users = Users::default();
        for (pe, acts) in acts.iter().enumerate() {
            let pe = PeId(pe as u32);
            let Some(about) = builder.pes.get(pe) else { continue };
            acts.iter()
                .flat_map(|act| named(act.handle, act.step))
                .for_each(|handle| users.add(about.process, pe, handle));
        }
        users
    }

    fn is_own(&self, process: ProcessId, pe: PeId, handle: u32) -> bool {
        self.0.get(&(process, handle)) == Some(&User::One(pe))
    }
}

/// The handles that a step names.
fn named(handle: u32, step: Step) -> [u32; 2] {
    match step {
        Step::Duplicated(old) => [handle, old],
        Step::Opened | Step::OpenedToAppend | Step::Closed | Step::Positioned(_) | Step::Accessed => [handle; 2],
    }
}

/// Which regions are given an offset.
pub(super) fn positioned(builder: &TraceBuilder) -> Table<RegionId, bool> {
    let text = |name| builder.strings.get(name);
    builder.regions.iter().map(|region| partune_paradigm::is_given_an_offset(text(region.construct))).collect()
}

/// Whether an access moves the handle on.
pub(super) fn moves(kind: IoKind, layer: IoLayer, is_positioned: bool) -> bool {
    kind != IoKind::Flush && layer != IoLayer::Parallel && !is_positioned
}

/// Adds the offsets that follow from what was done; `acts` are those of each PE, in order.
pub(super) fn find(builder: &mut TraceBuilder, acts: Vec<Vec<Act>>) {
    let users = Users::of(builder, &acts);
    find_from(builder, acts, &users, |_| Positions::default());
}

/// The same of a slice, where it is known who uses handles in all of the run, and where those of a PE are when it begins.
pub(super) fn find_from(
    builder: &mut TraceBuilder,
    acts: Vec<Vec<Act>>,
    users: &Users,
    begun: impl Fn(PeId) -> Positions,
) {
    if acts.iter().all(Vec::is_empty) {
        return;
    }
    let positioned = positioned(builder);
    for (pe, acts) in acts.into_iter().enumerate() {
        let pe = PeId(pe as u32);
        let Some((about, stream)) = builder.pes.get(pe).zip(builder.streams.as_mut_slice().get_mut(pe.0 as usize))
        else {
            continue;
        };
        let mut positions = begun(pe);
        for Act { row, handle, step } in acts {
            positions.step(handle, step);
            let row = matches!(step, Step::Accessed).then(|| stream.io.get_mut(row as usize)).flatten();
            let Some(row) = row.filter(|row| row.offset.is_none()) else { continue };
            let region = stream.visits.path.get(row.visit.index()).map(|path| builder.paths.region(*path));
            let is_positioned = region.and_then(|region| positioned.get(region)) == Some(&true);
            if users.is_own(about.process, pe, positions.own(handle)) && moves(row.kind, row.layer, is_positioned) {
                row.offset = positions.pass(handle, row.bytes);
            }
        }
    }
}

/// Where a handle is from a meeting of all processes on.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Change {
    pub(super) number: u64,
    handle: u32,
    now: Standing,
}

/// What a PE does with its handles as its events come, as if nobody else used them: of one that others use, nothing is made.
#[derive(Default)]
pub(super) struct Followed {
    positions: Positions,
    /// What was done since the first access began that is under way, with the bytes of accesses; and which of it those are.
    waiting: Vec<(u32, Step, u64)>,
    open: FxHashMap<u64, usize>,
    used: FxHashSet<u32>,
    /// Handles that are somewhere else than where the last meeting has them.
    changed: FxHashSet<u32>,
    /// In order: 40 bytes for each handle that is elsewhere than at the meeting before.
    changes: Vec<Change>,
    /// More was done while an access was under way than is kept.
    is_lost: bool,
}

/// What is done while an access is under way, at most.
const WAITING: usize = 1 << 20;

impl Followed {
    pub(super) fn step(&mut self, handle: u32, step: Step) {
        self.used.extend(named(handle, step));
        self.put(handle, step, 0);
    }

    /// An access that moves the handle by so many bytes, or leaves it where it is. Others may be known when it ends.
    pub(super) fn begin(&mut self, handle: u32, bytes: Option<u64>, matching: u64) {
        self.used.insert(handle);
        if let Some(bytes) = bytes
            && self.wait(handle, Step::Accessed, bytes)
        {
            self.open.insert(matching, self.waiting.len() - 1);
        }
    }

    fn wait(&mut self, handle: u32, step: Step, bytes: u64) -> bool {
        self.is_lost |= self.waiting.len() == WAITING;
        if !self.is_lost {
            self.waiting.push((handle, step, bytes));
        }
        !self.is_lost
    }

    /// An access ends; with so many bytes, if it is known.
    pub(super) fn end(&mut self, matching: u64, bytes: Option<u64>) {
        if let Some(at) = self.open.remove(&matching)
            && let Some(((_, _, of_access), bytes)) = self.waiting.get_mut(at).zip(bytes)
        {
            *of_access = bytes;
        }
        if self.open.is_empty() {
            for (handle, step, bytes) in std::mem::take(&mut self.waiting) {
                self.put(handle, step, bytes);
            }
        }
    }

    fn put(&mut self, handle: u32, step: Step, bytes: u64) {
        if !self.open.is_empty() {
            self.wait(handle, step, bytes);
            return;
        }
        let own = self.positions.own(handle);
        self.positions.step(handle, step);
        if matches!(step, Step::Accessed) {
            self.positions.pass(handle, bytes);
        }
        self.changed.extend([handle, own]);
    }

    /// The run may be cut here.
    pub(super) fn meet(&mut self, number: u64) {
        let first = self.changes.len();
        let change = |handle| Change { number, handle, now: self.positions.standing(handle) };
        self.changes.extend(self.changed.drain().map(change));
        self.changes[first..].sort_unstable_by_key(|change| change.handle);
    }

    /// It is cut at each `stride`-th meeting at most.
    pub(super) fn thin(&mut self, stride: u64) {
        self.changes.iter_mut().for_each(|change| change.number = change.number.next_multiple_of(stride));
        self.changes.sort_by_key(|change| (change.number, change.handle));
        self.changes.dedup_by(|later, kept| {
            let is_same = (later.number, later.handle) == (kept.number, kept.handle);
            if is_same {
                kept.now = later.now;
            }
            is_same
        });
    }

    /// The handles that were used, and where they were, in order of meetings; none if that was lost.
    pub(super) fn finish(self) -> Option<(Vec<u32>, Vec<Change>)> {
        let mut used: Vec<u32> = self.used.into_iter().collect();
        used.sort_unstable();
        (!self.is_lost).then_some((used, self.changes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_handles_are_is_known_at_the_meetings_that_are_left() {
        let mut followed = Followed::default();
        followed.step(3, Step::Opened);
        followed.step(4, Step::OpenedToAppend);
        for number in 1..=10 {
            followed.begin(3, Some(100), number);
            // Both end with less than was asked for, the later one first.
            followed.begin(3, Some(50), 100 + number);
            followed.end(100 + number, Some(1));
            followed.end(number, Some(10));
            if number == 6 {
                followed.step(5, Step::Duplicated(3));
                followed.step(5, Step::Positioned(7));
            }
            followed.meet(number);
        }
        followed.thin(2);
        followed.thin(4);
        let (used, changes) = followed.finish().expect("little was under way");
        assert_eq!(used, [3, 4, 5]);
        let mut positions = Positions::default();
        let mut at = Vec::new();
        for number in [4, 8] {
            changes.iter().filter(|change| change.number <= number).for_each(|change| positions.change(change));
            at.push((positions.pass(3, 0), positions.pass(4, 0), positions.pass(5, 0)));
        }
        assert_eq!(at, [(Some(44), None, None), (Some(29), None, Some(29))]);
    }

    #[test]
    fn what_never_ends_is_told() {
        let mut followed = Followed::default();
        for number in 0..=WAITING as u64 {
            followed.begin(1, Some(1), number);
        }
        assert!(followed.finish().is_none());
    }
}
