//! The world of SHMEM: its PEs, what stands for their memory and their active sets; how recording begins and ends.

use std::collections::HashMap;
use std::ffi::{CStr, c_int};
use std::mem::transmute;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use partune_collect::definitions::{self, Comm};
use partune_collect::frame::{self, Frame};
use partune_collect::meeting::Set;
use partune_collect::next::{find, library};
use partune_collect::{Call, How, job, leave, loader};

use crate::function::{Function, PARADIGM};
use crate::{rma, segments};

/// This process among the PEs.
#[derive(Debug)]
pub(crate) struct World {
    number: u32,
    rank: u32,
    pub(crate) size: u32,
    /// Tells it from those of other jobs.
    key: u64,
    comm: u32,
    /// Windows.
    pub(crate) heap: u32,
    pub(crate) data: u32,
    pub(crate) default_context: usize,
}

static WORLD: OnceLock<World> = OnceLock::new();

/// None before SHMEM is there.
#[inline]
pub(crate) fn world() -> Option<&'static World> {
    WORLD.get()
}

impl World {
    pub(crate) fn all(&self) -> Set {
        Set { comm: self.comm, window: self.heap, rank: self.rank, size: self.size, world: Some(self.key) }
    }

    /// Finds out who this process is, and names what all PEs have in common. In a call, which tells of the windows.
    fn join(call: Option<&mut Call<'_>>) -> Option<World> {
        let rank = u32::try_from(ask("shmem_my_pe")?).ok()?;
        let size = u32::try_from(ask("shmem_n_pes")?).ok()?;
        let key = job::key(size);
        let number = partune_collect::identify(PARADIGM, rank, size, key);
        let members: Vec<u32> = (0..size).collect();
        let comm = define(number, &members, None, "all PEs");
        let heap = definitions::window(comm, 0, "symmetric heap", "");
        let data = definitions::window(comm, 1, "global data", "");
        if let Some(call) = call {
            call.returned();
            call.window_create(heap, Some(1));
            call.window_create(data, Some(1));
        }
        segments::find_data();
        let default_context = [c"SHMEM_CTX_DEFAULT", c"oshmem_ctx_default"].into_iter().find_map(word).unwrap_or(0);
        Some(World { number, rank, size, key, comm, heap, data, default_context })
    }
}

/// What a variable of the library holds that is a handle.
pub(crate) fn word(name: &CStr) -> Option<usize> {
    // SAFETY: such a variable.
    loader::symbol(libc::RTLD_DEFAULT, name).map(|place| unsafe { *(place as *const usize) })
}

/// The active set of a collective; none if this PE is not in it, or it is none.
pub(crate) fn set(active: [i32; 3]) -> Option<Set> {
    static SETS: Mutex<Option<HashMap<[i32; 3], Option<Set>>>> = Mutex::new(None);
    let world = world()?;
    if active == [0, 0, world.size as i32] {
        return Some(world.all());
    }
    let mut sets = SETS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = sets.get_or_insert_default().entry(active);
    *known.or_insert_with(|| members(active, world.size).and_then(|members| set_of(&members)))
}

/// The PEs with these ranks, in this order; none if this PE is not one of them. Collectives block, so those of all sets and teams of the same members
/// follow each other in the same order everywhere: they are one.
pub(crate) fn set_of(members: &[u32]) -> Option<Set> {
    static SETS: Mutex<Option<HashMap<Vec<u32>, Set>>> = Mutex::new(None);
    let world = world()?;
    let rank = members.iter().position(|member| *member == world.rank)? as u32;
    let size = members.len() as u32;
    if members.iter().copied().eq(0..world.size) {
        return Some(world.all());
    }
    let mut sets = SETS.lock().unwrap_or_else(PoisonError::into_inner);
    Some(*sets.get_or_insert_default().entry(members.to_vec()).or_insert_with(|| {
        let comm = define(world.number, members, Some(world.comm), "");
        let window = definitions::window(comm, 0, "set or team", "");
        let world = Some(world.key).filter(|_| size == world.size);
        Set { comm, window, rank, size, world }
    }))
}

/// Ranks of an active set in a world of so many PEs.
fn members([start, stride, size]: [i32; 3], world: u32) -> Option<Vec<u32>> {
    let (start, size) = (u64::try_from(start).ok()?, u64::try_from(size).ok().filter(|size| *size > 0)?);
    let distance = 1_u64.checked_shl(u32::try_from(stride).ok()?)?;
    let last = start.checked_add(distance.checked_mul(size - 1)?)?;
    (last < u64::from(world)).then(|| (0..size).map(|it| (start + it * distance) as u32).collect())
}

fn define(world: u32, members: &[u32], parent: Option<u32>, name: &str) -> u32 {
    definitions::comm(&Comm { world, sequence: 0, members, remote: &[], parent, name })
}

/// A function of the library that takes nothing and returns a number.
fn ask(name: &str) -> Option<c_int> {
    // SAFETY: such a function.
    let function: unsafe extern "C" fn() -> c_int = unsafe { transmute(find(name)?) };
    // SAFETY: SHMEM is there. What is recorded of this call is nothing: the library's own is called.
    Some(unsafe { function() })
}

/// Records what begins SHMEM, which `run` does. One of these functions may be made of another one.
fn start<T>(function: &'static Function, frame: Frame, run: impl FnOnce() -> T) -> T {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if STARTED.swap(true, Ordering::Relaxed) {
        let call = function.enter(frame);
        let result = run();
        leave(call);
        return result;
    }
    partune_collect::begin(PARADIGM, &library(function.real()));
    partune_collect::record_everywhere();
    let mut call = function.enter(frame);
    let result = run();
    if partune_collect::is_recorded()
        && let Some(world) = World::join(call.as_mut())
    {
        let _ = WORLD.set(world);
    }
    leave(call);
    partune_collect::record_in_phases();
    result
}

/// # Safety
/// As that of the library.
#[unsafe(no_mangle)]
#[allow(unreachable_pub, reason = "the program calls it")]
pub unsafe extern "C" fn shmem_init() {
    static INIT: Function = Function::new(c"shmem_init");
    let frame = frame::here();
    // SAFETY: the library's function.
    let real: unsafe extern "C" fn() = unsafe { transmute(INIT.real()) };
    // SAFETY: as the caller said.
    start(&INIT, frame, || unsafe { real() });
}

/// # Safety
/// As that of the library.
#[unsafe(no_mangle)]
#[allow(unreachable_pub, reason = "the program calls it")]
pub unsafe extern "C" fn shmem_init_thread(requested: c_int, provided: *mut c_int) -> c_int {
    static INIT: Function = Function::new(c"shmem_init_thread");
    let frame = frame::here();
    // SAFETY: the library's function.
    let real: unsafe extern "C" fn(c_int, *mut c_int) -> c_int = unsafe { transmute(INIT.real()) };
    // SAFETY: as the caller said.
    start(&INIT, frame, || unsafe { real(requested, provided) })
}

/// # Safety
/// As that of the library.
#[unsafe(no_mangle)]
#[allow(unreachable_pub, reason = "the program calls it")]
pub unsafe extern "C" fn start_pes(count: c_int) {
    static INIT: Function = Function::new(c"start_pes");
    let frame = frame::here();
    // SAFETY: the library's function.
    let real: unsafe extern "C" fn(c_int) = unsafe { transmute(INIT.real()) };
    // SAFETY: as the caller said.
    start(&INIT, frame, || unsafe { real(count) });
}

/// # Safety
/// As that of the library.
#[unsafe(no_mangle)]
#[allow(unreachable_pub, reason = "the program calls it")]
pub unsafe extern "C" fn shmem_finalize() {
    static FINALIZE: Function = Function::new(c"shmem_finalize");
    let frame = frame::here();
    // SAFETY: the library's function.
    let real: unsafe extern "C" fn() = unsafe { transmute(FINALIZE.real()) };
    partune_collect::record_everywhere();
    let mut call = FINALIZE.enter(frame);
    // SAFETY: as the caller said.
    unsafe { real() };
    if let Some(call) = &mut call {
        call.returned();
        rma::quiet(call, rma::DEFAULT);
    }
    leave(call);
    partune_collect::end(How::Finalize);
}

/// It does not come back.
///
/// # Safety
/// As that of the library.
#[unsafe(no_mangle)]
#[allow(unreachable_pub, reason = "the program calls it")]
pub unsafe extern "C" fn shmem_global_exit(status: c_int) {
    static EXIT: Function = Function::new(c"shmem_global_exit");
    let frame = frame::here();
    // SAFETY: the library's function.
    let real: unsafe extern "C" fn(c_int) = unsafe { transmute(EXIT.real()) };
    leave(EXIT.enter(frame));
    partune_collect::end(How::Abort);
    // SAFETY: as the caller said.
    unsafe { real(status) };
}

#[cfg(test)]
mod tests {
    use super::members;

    #[test]
    fn active_sets_have_the_members_of_the_specification() {
        assert_eq!(members([0, 0, 4], 4), Some(vec![0, 1, 2, 3]));
        assert_eq!(members([1, 1, 3], 8), Some(vec![1, 3, 5]));
        assert_eq!(members([2, 2, 2], 8), Some(vec![2, 6]));
        for none in [[0, 0, 0], [-1, 0, 2], [0, -1, 2], [0, 0, 5], [0, 63, 3], [3, 1, 2]] {
            assert_eq!(members(none, 4), None, "{none:?}");
        }
    }
}
