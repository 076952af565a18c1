//! Teams of PEs, and the contexts that were made from one, by the library's handles.
//!
//! Who is in a team the library is asked when it is first used, since that costs no message. What destroys a team or a context, or gives a
//! handle, is noted even where it is not recorded: handles are used again.

use std::collections::HashMap;
use std::ffi::c_int;
use std::mem::transmute;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use partune_collect::meeting::Set;
use partune_collect::next::find;

use crate::world::{self, word, world};

/// A team's members, as ranks in the world.
#[derive(Debug)]
struct Team {
    members: Vec<u32>,
    set: Option<Set>,
}

#[derive(Debug, Default)]
struct Known {
    teams: HashMap<usize, Option<Team>>,
    /// The team of each context that has one.
    contexts: HashMap<usize, usize>,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);
/// Most programs have no context of a team, and pay a load for that.
static HAS_CONTEXTS: AtomicBool = AtomicBool::new(false);

fn with<T>(act: impl FnOnce(&mut Known) -> T) -> T {
    act(KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// The PEs of a team; none if the library does not say who they are.
pub(crate) fn set(team: usize) -> Option<Set> {
    with(|known| known.team(team)?.set)
}

/// What a context's PE is in the world.
#[inline]
pub(crate) fn pe(context: usize, pe: c_int) -> c_int {
    if !HAS_CONTEXTS.load(Ordering::Relaxed) {
        return pe;
    }
    let there = with(|known| {
        let team = *known.contexts.get(&context)?;
        known.team(team)?.members.get(usize::try_from(pe).ok()?).copied()
    });
    there.map_or(pe, |there| there as c_int)
}

/// A handle was stored there.
pub(crate) fn made(place: usize) {
    // SAFETY: the program's variable of a team, if any.
    if let Some(team) = unsafe { (place as *const usize).as_ref() } {
        forget(*team);
    }
}

/// The team is no more, and so are its contexts.
pub(crate) fn forget(team: usize) {
    with(|known| {
        known.teams.remove(&team);
        known.contexts.retain(|_, of| *of != team);
    });
}

/// A context was made from a team, or from none (0), if it could be.
pub(crate) fn context(team: usize, place: usize, result: c_int) {
    // SAFETY: the program's variable of a context, if any.
    let Some(context) = (unsafe { (place as *const usize).as_ref() }).filter(|_| result == 0) else { return };
    if team == 0 {
        return forget_context(*context);
    }
    HAS_CONTEXTS.store(true, Ordering::Relaxed);
    with(|known| known.contexts.insert(*context, team));
}

pub(crate) fn forget_context(context: usize) {
    if HAS_CONTEXTS.load(Ordering::Relaxed) {
        with(|known| known.contexts.remove(&context));
    }
}

impl Known {
    fn team(&mut self, team: usize) -> Option<&Team> {
        let known = self.teams.entry(team).or_insert_with(|| {
            let members = members(team)?;
            Some(Team { set: world::set_of(&members), members })
        });
        known.as_ref()
    }
}

/// Asks the library, of which none of these functions communicates.
fn members(team: usize) -> Option<Vec<u32>> {
    world()?;
    let all = word(c"SHMEM_TEAM_WORLD")?;
    // SAFETY: functions of the library, which take a team.
    let size: unsafe extern "C" fn(usize) -> c_int = unsafe { transmute(find("shmem_team_n_pes")?) };
    // SAFETY: the same, and a PE, and another team.
    let there: unsafe extern "C" fn(usize, c_int, usize) -> c_int =
        unsafe { transmute(find("shmem_team_translate_pe")?) };
    // SAFETY: a team of the program's, which is -1 PEs large if it is none.
    let size = unsafe { size(team) };
    // SAFETY: PEs of it, and the team of all of them.
    let members = (0..size).map(|pe| u32::try_from(unsafe { there(team, pe, all) }).ok());
    members.collect::<Option<Vec<u32>>>().filter(|members| !members.is_empty())
}
