//! From the parts of PEs to instances: counting, no hash, no sort but the last one by time.

use partune_base::{GroupId, PeId, Table, Time};
use partune_diag::Quality;
use partune_trace::{Role, Trace};
use rayon::prelude::*;

use super::report::Faults;
use super::{Collectives, Instance, Member};

/// Those that act together, each once: a group, a team of one parallel region, everybody that starts up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set {
    pub(super) group: GroupId,
    /// How many members it should have.
    pub(super) size: u32,
    pub(super) fork: u32,
    /// It is only likely that they act together: instances must prove it, by equal numbers of parts and by nobody leaving
    /// before the last one came.
    pub(super) inferred: bool,
}

/// All sets; the first ones are the groups of the trace.
#[derive(Debug, Default)]
pub(super) struct Sets {
    sets: Vec<Set>,
}

impl Sets {
    pub(super) fn push(&mut self, set: Set) -> u32 {
        self.sets.push(set);
        self.sets.len() as u32 - 1
    }
}

/// One member's part in the `ordinal`-th operation of a set; 64 bytes while instances are made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) set: u32,
    pub(super) ordinal: u32,
    pub(super) role: Role,
    pub(super) root: PeId,
    /// What must be equal on all members besides the role: the region of a thread barrier; 0 where it need not.
    pub(super) kind: u32,
    pub(super) member: Member,
}

/// An instance in the making.
#[derive(Clone, Copy)]
struct Draft {
    role: Role,
    root: PeId,
    kind: u32,
    count: u32,
    first: u32,
    agrees: bool,
    last_enter: Time,
    first_exit: Time,
}

const EMPTY: Draft = Draft {
    role: Role::User,
    root: PeId::NONE,
    kind: 0,
    count: 0,
    first: 0,
    agrees: true,
    last_enter: Time::MIN,
    first_exit: Time::MAX,
};

/// Puts parts together. Parts come by PE (or endpoint), in order of PE; ordinals of one member of a set follow each other.
pub(super) fn assemble(trace: &Trace, sets: &Sets, parts: &[Vec<Part>], quality: &mut Quality) -> Collectives {
    let sets = &sets.sets;
    let mut sizes = vec![0_u32; sets.len()];
    let mut contributed = vec![0_u64; sets.len()];
    let mut members_of_set = vec![0_u32; sets.len()];
    let mut seen = vec![usize::MAX; sets.len()];
    for (member, part) in parts.iter().enumerate().flat_map(|(member, parts)| parts.iter().map(move |it| (member, it)))
    {
        let set = part.set as usize;
        sizes[set] = sizes[set].max(part.ordinal + 1);
        contributed[set] += 1;
        members_of_set[set] += u32::from(std::mem::replace(&mut seen[set], member) != member);
    }
    let uneven = |set: usize| contributed[set] != u64::from(members_of_set[set]) * u64::from(sizes[set]);

    let mut firsts = Vec::with_capacity(sets.len() + 1);
    let mut total = 0_usize;
    for size in &sizes {
        firsts.push(total);
        total += *size as usize;
    }
    firsts.push(total);
    let mut drafts = vec![EMPTY; total];
    let position = |part: &Part| firsts[part.set as usize] + part.ordinal as usize;
    parts.iter().flatten().for_each(|part| drafts[position(part)].add(part));

    let mut next = 0;
    for draft in &mut drafts {
        draft.first = next;
        next += draft.count;
        draft.count = 0;
    }
    let nobody = Member {
        pe: PeId::NONE,
        start: partune_trace::VisitIx::NONE,
        enter: Time::ZERO,
        wait: partune_trace::VisitIx::NONE,
        wait_enter: Time::ZERO,
        exit: Time::ZERO,
        row: u32::MAX,
    };
    let mut members = vec![nobody; next as usize];
    for part in parts.iter().flatten() {
        let draft = &mut drafts[position(part)];
        members[(draft.first + draft.count) as usize] = part.member;
        draft.count += 1;
    }
    // Members come in order of PE but for threads that act for their process.
    for draft in &drafts {
        let members = &mut members[draft.first as usize..(draft.first + draft.count) as usize];
        if !members.is_sorted_by_key(|member| member.pe) {
            members.sort_by_key(|member| member.pe);
        }
    }

    let mut faults = Faults::default();
    let mut kept: Vec<(Time, u32, u32, Instance)> = Vec::with_capacity(total);
    for (index, set) in sets.iter().enumerate() {
        let drafts = &drafts[firsts[index]..firsts[index + 1]];
        let partly = uneven(index) || members_of_set[index] != set.size;
        if set.inferred && (partly || drafts.iter().any(|draft| !draft.agrees || !draft.is_plausible())) {
            faults.unproven += drafts.len() as u64;
            continue;
        }
        let mut lost = false;
        for (ordinal, draft) in drafts.iter().enumerate() {
            lost |= !draft.agrees && uneven(index);
            if lost || !draft.agrees {
                faults.mismatched(set.group);
                continue;
            }
            let instance = Instance {
                role: draft.role,
                group: set.group,
                root: draft.root,
                missing: set.size.saturating_sub(draft.count),
                fork: set.fork,
                first: draft.first,
                count: draft.count,
            };
            faults.missing += u64::from(instance.missing);
            faults.incomplete += u64::from(instance.missing > 0);
            kept.push((draft.last_enter, index as u32, ordinal as u32, instance));
        }
    }
    kept.par_sort_unstable_by_key(|(time, set, ordinal, _)| (*time, *set, *ordinal));
    faults.report(trace, quality);

    let instances: Vec<Instance> = kept.into_iter().map(|(_, _, _, instance)| instance).collect();
    let mut by_row: Table<PeId, Vec<u32>> =
        trace.streams().iter().map(|stream| vec![u32::MAX; stream.collectives.len()]).collect();
    for (position, instance) in instances.iter().enumerate() {
        for member in &members[instance.first as usize..(instance.first + instance.count) as usize] {
            if let Some(row) = by_row[member.pe].get_mut(member.row as usize) {
                *row = position as u32;
            }
        }
    }
    Collectives { instances, members, by_row }
}

impl Draft {
    fn add(&mut self, part: &Part) {
        if self.count == 0 {
            (self.role, self.root, self.kind) = (part.role, part.root, part.kind);
        } else {
            let roots_differ = self.root.is_some() && part.root.is_some() && self.root != part.root;
            self.agrees &= self.role == part.role && self.kind == part.kind && !roots_differ;
            if !self.root.is_some() {
                self.root = part.root;
            }
        }
        self.count += 1;
        self.last_enter = self.last_enter.max(part.member.enter);
        self.first_exit = self.first_exit.min(part.member.exit);
    }

    /// Nobody left before the last one came.
    fn is_plausible(&self) -> bool {
        self.first_exit >= self.last_enter
    }
}
