//! Barriers: a meeting of so many threads, whichever they are.
//!
//! Who has met whom is known when the last one comes. The threads of a meeting are a team; the same ones are the same team each time.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

use partune_collect::facts::{Collective, NO_ROOT};
use partune_collect::frame::{self, Frame};
use partune_collect::{Call, Region, definitions, enter, team};

use crate::awake::{self, is_awake, is_child};
use crate::function::call;
use crate::waits::aside;
use partune_collect::callers;

static WAIT: Region = crate::construct("pthread_barrier_wait");

/// What is known of a barrier.
struct Barrier {
    /// How many meet.
    size: usize,
    /// Those that came since the last meeting.
    here: Vec<u32>,
    /// How many meetings there were.
    meetings: u64,
    /// The teams of meetings that not all have left, and how many have not.
    left: HashMap<u64, (u32, usize)>,
    /// Teams by their threads.
    teams: HashMap<Vec<u32>, u32>,
}

/// By their addresses.
static BARRIERS: Mutex<Option<HashMap<usize, Barrier>>> = Mutex::new(None);

fn with<T>(address: usize, act: impl FnOnce(&mut Barrier) -> T) -> Option<T> {
    let mut barriers = BARRIERS.lock().unwrap_or_else(PoisonError::into_inner);
    barriers.as_mut()?.get_mut(&address).map(act)
}

impl Barrier {
    fn new(size: usize) -> Barrier {
        Barrier { size, here: Vec::new(), meetings: 0, left: HashMap::new(), teams: HashMap::new() }
    }

    /// A thread comes: which meeting it will have been at.
    fn come(&mut self, thread: u32, name: impl FnOnce(&[u32]) -> u32) -> u64 {
        self.here.push(thread);
        let meeting = self.meetings;
        if self.here.len() == self.size {
            let mut members = std::mem::take(&mut self.here);
            members.sort_unstable();
            let team = *self.teams.entry(members).or_insert_with_key(|members| name(members));
            self.left.insert(meeting, (team, self.size));
            self.meetings += 1;
        }
        meeting
    }

    /// It goes: the meeting's team, if all came that it needs.
    fn go(&mut self, meeting: u64) -> Option<u32> {
        let (team, left) = self.left.get_mut(&meeting)?;
        let team = *team;
        *left -= 1;
        if *left == 0 {
            self.left.remove(&meeting);
        }
        Some(team)
    }
}

/// Makes a barrier.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_init(barrier: usize, attributes: usize, size: usize) -> c_int {
    let result = call!(pthread_barrier_init(barrier, attributes, size));
    if result == 0 && !is_child() {
        aside(|| {
            let mut barriers = BARRIERS.lock().unwrap_or_else(PoisonError::into_inner);
            barriers.get_or_insert_with(HashMap::new).insert(barrier, Barrier::new(size as u32 as usize))
        });
    }
    result
}

/// Ends it.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_destroy(barrier: usize) -> c_int {
    let result = call!(pthread_barrier_destroy(barrier));
    if !is_child() {
        aside(|| BARRIERS.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.remove(&barrier));
    }
    result
}

/// Waits for the others.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_barrier_wait(barrier: usize) -> c_int {
    if !is_awake() {
        return call!(pthread_barrier_wait(barrier));
    }
    let frame = frame::here();
    let come = aside(|| come(frame, barrier));
    let result = call!(pthread_barrier_wait(barrier));
    if come.is_some() {
        aside(|| {
            let (mut call, meeting) = come?;
            call.returned();
            if let Some(team) = meeting.and_then(|meeting| with(barrier, |it| it.go(meeting))?) {
                call.collective_end(Collective::Barrier, team, NO_ROOT, 0, 0);
            }
            call.leave();
            Some(())
        });
    }
    result
}

fn come(frame: Frame, barrier: usize) -> Option<(Call<'static>, Option<u64>)> {
    if !callers::is_program(frame.return_address()) {
        return None;
    }
    let world = awake::world()?;
    let thread = team::thread()?;
    let mut call = enter(&WAIT, frame)?;
    let meeting = with(barrier, |it| it.come(thread, |members| definitions::team(None, world.number, members)));
    if meeting.is_some() {
        call.collective_begin();
    }
    Some((call, meeting))
}

#[cfg(test)]
mod tests {
    use super::Barrier;

    #[test]
    fn those_that_meet_are_a_team() {
        let mut named = Vec::new();
        let mut barrier = Barrier::new(2);
        let mut come = |barrier: &mut Barrier, thread| {
            barrier.come(thread, |members| {
                named.push(members.to_vec());
                named.len() as u32
            })
        };
        let first = [come(&mut barrier, 4), come(&mut barrier, 1)];
        // Another pair comes before those have gone, and the first pair again.
        let second = [come(&mut barrier, 2), come(&mut barrier, 3)];
        let third = [come(&mut barrier, 1), come(&mut barrier, 4)];
        let open = come(&mut barrier, 7);
        assert_eq!(named, [[1, 4], [2, 3]]);
        let teams = [first, third, second].map(|meetings| meetings.map(|meeting| barrier.go(meeting)));
        assert_eq!(teams, [[Some(1); 2], [Some(1); 2], [Some(2); 2]]);
        assert_eq!(barrier.go(open), None);
        assert!(barrier.left.is_empty());
    }
}
