//! Where accesses to files begin, of recorders that do not tell: at 0 after an open, then where the last one ended or a seek led.
//!
//! That holds where one PE alone uses a handle, and where it does not append. Calls that are given an offset leave the handle where it is, and
//! accesses of several processes together go by views that are not recorded: both stay unknown.

use partune_base::{PeId, ProcessId};
use partune_trace::{IoKind, IoLayer, TraceBuilder};
use rustc_hash::FxHashMap;

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

/// Who uses a handle.
#[derive(Clone, Copy, PartialEq)]
enum User {
    One(PeId),
    Several,
}

/// Adds the offsets that follow from what was done; `acts` are those of each PE, in order.
pub(super) fn find(builder: &mut TraceBuilder, acts: Vec<Vec<Act>>) {
    if acts.iter().all(Vec::is_empty) {
        return;
    }
    let users = users(builder, &acts);
    let positioned: Vec<bool> = {
        let text = |name| builder.strings.get(name);
        let regions = builder.regions.iter();
        regions.map(|region| partune_paradigm::is_given_an_offset(text(region.construct))).collect()
    };
    for (pe, acts) in acts.into_iter().enumerate() {
        let pe = PeId(pe as u32);
        let Some((about, stream)) = builder.pes.get(pe).zip(builder.streams.as_mut_slice().get_mut(pe.0 as usize))
        else {
            continue;
        };
        let (mut places, mut others): (FxHashMap<u32, u64>, FxHashMap<u32, u32>) = Default::default();
        for Act { row, handle, step } in acts {
            let own = *others.get(&handle).unwrap_or(&handle);
            match step {
                Step::Opened => {
                    others.remove(&handle);
                    places.insert(handle, 0);
                }
                Step::OpenedToAppend | Step::Closed => {
                    others.remove(&handle);
                    places.remove(&handle);
                }
                Step::Positioned(place) => {
                    places.insert(own, place);
                }
                Step::Duplicated(old) => {
                    let old = *others.get(&old).unwrap_or(&old);
                    others.insert(handle, old);
                }
                Step::Accessed => {
                    let Some(row) = stream.io.get_mut(row as usize) else { continue };
                    let region = stream.visits.path.get(row.visit.index()).map(|path| builder.paths.region(*path));
                    let is_positioned = region.and_then(|region| positioned.get(region.0 as usize)) == Some(&true);
                    let is_own = users.get(&(about.process, own)) == Some(&User::One(pe));
                    let moves = row.kind != IoKind::Flush && row.layer != IoLayer::Parallel && !is_positioned;
                    if let Some(place) = places.get_mut(&own).filter(|_| is_own && moves && row.offset.is_none()) {
                        row.offset = Some(*place);
                        *place = place.saturating_add(row.bytes);
                    }
                }
            }
        }
    }
}

fn users(builder: &TraceBuilder, acts: &[Vec<Act>]) -> FxHashMap<(ProcessId, u32), User> {
    let mut users = FxHashMap::default();
    for (pe, acts) in acts.iter().enumerate() {
        let pe = PeId(pe as u32);
        let Some(about) = builder.pes.get(pe) else { continue };
        for act in acts {
            let handles = match act.step {
                Step::Duplicated(old) => [act.handle, old],
                Step::Opened | Step::OpenedToAppend | Step::Closed | Step::Positioned(_) | Step::Accessed => {
                    [act.handle; 2]
                }
            };
            for handle in handles {
                let user = users.entry((about.process, handle)).or_insert(User::One(pe));
                if *user != User::One(pe) {
                    *user = User::Several;
                }
            }
        }
    }
    users
}
