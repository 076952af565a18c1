//! Teams of a runtime that tells of them, as turns whose settings are chosen: nothing is recorded then.

use super::abi::{BEGIN, Count, Data, INITIAL, LEAGUE, Place, Word};
use crate::adapt::{Turn, count_forked};

pub(super) unsafe extern "C" fn parallel_begin(
    _: *mut Data,
    _: *const u8,
    data: *mut Data,
    requested: Count,
    flags: Word,
    place: Place,
) {
    let is_outermost = count_forked(1) == 0 && flags & LEAGUE == 0;
    // The runtime has decided how many threads there are.
    let turn = if is_outermost { Turn::begin(place, true, requested as usize, |_| false) } else { None };
    // SAFETY: the runtime's word for this team.
    unsafe { *data = turn.map_or(0, |turn| Box::into_raw(Box::new(turn)) as u64) };
}

pub(super) unsafe extern "C" fn parallel_end(data: *mut Data, _: *mut Data, _: Word, _: Place) {
    count_forked(-1);
    // SAFETY: 0, or what `parallel_begin` wrote: all members are through, and ask for it no more.
    unsafe {
        if *data != 0 {
            Box::from_raw(*data as *mut Turn).end();
            *data = 0;
        }
    }
}

pub(super) unsafe extern "C" fn implicit_task(
    endpoint: Word,
    team: *mut Data,
    task: *mut Data,
    _: Count,
    _: Count,
    flags: Word,
) {
    if flags & INITIAL != 0 {
        return;
    }
    // SAFETY: the runtime's words for the team and for the member's task, which keeps the turn around.
    unsafe {
        if endpoint == BEGIN {
            *task = Turn::enter(team.as_ref().map_or(0, |team| *team) as *const Turn) as u64;
        } else {
            Turn::enter(*task as *const Turn);
        }
    }
}
