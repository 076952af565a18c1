//! Tasks that run inside of an operation, as producers record them that enter a task while its thread is in a barrier or waits for tasks.
//!
//! The code of a task is no waiting. The operation ends where the task begins, the task is called from where the operation was, and what is left of the
//! operation is one more visit: of the same region, or, where a second visit would be a second barrier, of a copy of it that waits for tasks.

use partune_base::{PeId, RegionId, Table, Time};
use partune_trace::{CallSite, Participants, Region, Role, TraceBuilder, VisitIx};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::joined::Joined;
use crate::replaced::{Recorded, Replaced};
use crate::segment::{Beside, RegionKey};
use crate::source::Source;

/// For each region in which tasks run, that of what is left of it.
type Rests = FxHashMap<RegionId, RegionId>;

/// Divides all such operations. Costs nothing but a look at the paths where there are none; else linear in the visits of the PEs that have them.
pub(crate) fn divide<S: Source>(source: &S, joined: &mut [Joined<S::Beside>], builder: &mut TraceBuilder) {
    let mut divided: Vec<RegionId> = Vec::new();
    let has_tasks: Vec<bool> = joined
        .iter()
        .enumerate()
        .map(|(pe, joined)| {
            let region = |key| source.region(PeId(pe as u32), key);
            let before = divided.len();
            divided.extend(operations(&builder.regions, joined, region));
            divided.len() > before
        })
        .collect();
    divided.sort_unstable();
    divided.dedup();
    let rests: Rests = divided.into_iter().map(|region| (region, rest(&mut builder.regions, region))).collect();
    let regions = &builder.regions;
    joined.par_iter_mut().enumerate().filter(|(pe, _)| has_tasks[*pe]).for_each(|(pe, joined)| {
        let recorded = joined.recorded(|key| source.region(PeId(pe as u32), key));
        joined.replace(Divider::default().run(&recorded, regions, &rests));
    });
}

/// The regions of a PE from which tasks are called and that are operations.
fn operations<B: Beside>(
    regions: &Table<RegionId, Region>,
    joined: &Joined<B>,
    region: impl Fn(RegionKey) -> RegionId,
) -> Vec<RegionId> {
    let paths = joined.recorded_paths().iter();
    let callers = paths.filter(|(_, key)| is_task(regions, region(*key))).filter_map(|(parent, _)| *parent);
    callers
        .map(|parent| region(joined.recorded_paths()[parent as usize].1))
        .filter(|it| is_operation(regions, *it))
        .collect()
}

fn is_task(regions: &Table<RegionId, Region>, region: RegionId) -> bool {
    regions.get(region).is_some_and(|region| region.role == Role::TaskRun)
}

fn is_operation(regions: &Table<RegionId, Region>, region: RegionId) -> bool {
    regions.get(region).is_some_and(|region| !region.role.is_transparent())
}

/// What is left of an operation: not one more meeting of all.
fn rest(regions: &mut Table<RegionId, Region>, of: RegionId) -> RegionId {
    let region = &regions[of];
    if !region.role.is_collective() {
        return of;
    }
    regions.push(Region { role: Role::TaskWait, participants: Participants::Own, ..*region })
}

/// A recorded visit that is open.
struct Level {
    recorded: Recorded,
    /// What stands for it: its visit, or the last part of it, and the path of that.
    visit: VisitIx,
    path: u32,
    parent: Option<u32>,
    /// The end of a task in it, after which it goes on.
    resumes: Option<Time>,
}

#[derive(Default)]
struct Divider {
    divided: Replaced,
    open: Vec<Level>,
}

impl Divider {
    fn run(mut self, recorded: &[Recorded], regions: &Table<RegionId, Region>, rests: &Rests) -> Replaced {
        for visit in recorded {
            self.close(visit.depth as usize, rests);
            let mut parent = self.open.last().map(|level| level.path);
            if let Some(level) = self.open.last_mut().filter(|level| rests.contains_key(&level.recorded.region)) {
                if is_task(regions, visit.region) {
                    // Tasks that follow each other at once leave nothing between.
                    if level.resumes.is_none_or(|at| at < visit.enter) {
                        resume(&mut self.divided, level, rests);
                        self.divided.leave(level.visit, visit.enter);
                    }
                    level.resumes = Some(visit.exit);
                    parent = level.parent;
                } else {
                    let is_over = level.resumes.is_some_and(|at| at >= level.recorded.exit);
                    resume(&mut self.divided, level, rests);
                    parent = if is_over { level.parent } else { Some(level.path) };
                }
            }
            let path = self.divided.recorded(visit, parent, CallSite::NONE);
            let own = VisitIx(self.divided.visits.len() as u32 - 1);
            self.open.push(Level { recorded: *visit, visit: own, path, parent, resumes: None });
        }
        self.close(0, rests);
        self.divided
    }

    /// Closes what is not around a visit of this depth.
    fn close(&mut self, depth: usize, rests: &Rests) {
        while self.open.len() > depth
            && let Some(mut level) = self.open.pop()
        {
            resume(&mut self.divided, &mut level, rests);
        }
    }
}

/// Goes on with an operation after a task, if something is left of it.
fn resume(divided: &mut Replaced, level: &mut Level, rests: &Rests) {
    let (Some(at), Some(rest)) = (level.resumes.take(), rests.get(&level.recorded.region)) else { return };
    if at < level.recorded.exit && divided.has_room(1) {
        (level.visit, level.path) = divided.enter(at, (level.parent, *rest, CallSite::NONE));
        divided.leave(level.visit, level.recorded.exit);
        divided.mark_recorded(level.path);
    }
}
