//! Coarrays: which window stands for the one of a token, and who may reach it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use partune_collect::Call;
use partune_collect::facts::{Collective, NO_ROOT, SYNC_PROCESS};
use partune_collect::meeting::Meeting;

use crate::regions;
use crate::teams::{self, Team};

/// A coarray that was registered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coarray {
    pub(crate) window: u32,
    /// In which it was made: ranks of its window are those of this team.
    pub(crate) team: &'static Team,
    /// It is what the compiler makes of a `critical` block.
    pub(crate) is_critical: bool,
}

/// `caf_register_t`.
const CRITICAL: i32 = 4;
const REGISTER_ONLY: i32 = 7;
const ALLOCATE_ONLY: i32 = 8;
/// `caf_deregister_t`.
const DEALLOCATE_ONLY: i32 = 1;

static COARRAYS: Mutex<Option<HashMap<usize, Coarray>>> = Mutex::new(None);

/// That of a token; none if it was registered before there were images, or is a component of one.
pub(crate) fn find(token: usize) -> Option<Coarray> {
    with(|coarrays| coarrays.get(&token).copied())
}

fn with<T>(act: impl FnOnce(&mut HashMap<usize, Coarray>) -> T) -> T {
    act(COARRAYS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Whether the call is about a component of a coarray, which every image allocates for itself.
fn is_component(kind: i32) -> bool {
    kind == REGISTER_ONLY || kind == ALLOCATE_ONLY
}

pub(crate) fn allocation(kind: usize) -> &'static partune_collect::Region {
    if is_component(kind as i32) { &regions::ALLOCATE_COMPONENT } else { &regions::ALLOCATE }
}

pub(crate) fn deallocation(place: usize, kind: usize) -> &'static partune_collect::Region {
    let is_component = kind as i32 == DEALLOCATE_ONLY || find(token(place)).is_none();
    if is_component { &regions::DEALLOCATE_COMPONENT } else { &regions::DEALLOCATE }
}

/// All images of the team meet to allocate a coarray.
pub(crate) fn allocate(call: &mut Call<'_>, kind: usize) -> Option<Meeting> {
    (!is_component(kind as i32)).then(|| {
        let set = teams::set(teams::current());
        Meeting::begin(call, set, Collective::CreateHandleAndAllocate, SYNC_PROCESS, NO_ROOT, [0, 0])
    })
}

/// The library has made a token. Whether calls are recorded now or not: it may be used when they are.
pub(crate) fn allocated(call: Option<&mut Call<'_>>, kind: usize, place: usize) {
    let kind = kind as i32;
    let token = token(place);
    let Some(team) = teams::current().filter(|_| token != 0 && !is_component(kind)) else { return };
    let window = team.coarray();
    with(|coarrays| coarrays.insert(token, Coarray { window, team, is_critical: kind == CRITICAL }));
    if let Some(call) = call {
        call.window_create(window, Some(1));
    }
}

/// All images of its team meet to deallocate it.
pub(crate) fn deallocate(call: &mut Call<'_>, place: usize, kind: usize) -> Option<Meeting> {
    let coarray = find(token(place)).filter(|_| kind as i32 != DEALLOCATE_ONLY)?;
    let set = teams::set(teams::current());
    call.window_destroy(coarray.window);
    Some(Meeting::begin(call, set, Collective::DestroyHandleAndDeallocate, SYNC_PROCESS, NO_ROOT, [0, 0]))
}

/// Its token means nothing any more.
pub(crate) fn forget(place: usize, kind: usize) {
    if kind as i32 != DEALLOCATE_ONLY {
        with(|coarrays| coarrays.remove(&token(place)));
    }
}

/// The token that is stored there.
fn token(place: usize) -> usize {
    // SAFETY: the program's variable, if any.
    unsafe { (place as *const usize).as_ref() }.copied().unwrap_or(0)
}
