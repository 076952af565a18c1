//! The side of a tool in OpenMP's tools interface (OMPT), for the runtimes of LLVM, Intel and AMD.
//!
//! The runtime looks for `ompt_start_tool` among the libraries of the process when it begins, and calls functions of ours from then on. What they tell
//! has the shape of what the entry points of GCC's runtime tell, so that analyses see no difference. Ours have returned when the program's code runs:
//! frames of the runtime are known by its module ([`partune_collect::runtime`]), and where the program called it by the return address that it says.

mod abi;
mod adapting;
pub(crate) mod loops;
mod sync;
mod tasks;
mod team;
mod work;

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::sync::OnceLock;

use abi::{Data, Lookup, SetCallback, StartToolResult, event};

use crate::{adapt, awake};

/// What the runtime calls itself.
static VERSION: OnceLock<String> = OnceLock::new();

/// Called by a runtime that looks for a tool.
///
/// # Safety
/// As the interface says: the version is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ompt_start_tool(_: c_uint, version: *const c_char) -> *const StartToolResult {
    static RESULT: StartToolResult = StartToolResult { initialize, finalize, tool_data: 0 };
    if std::env::var_os("PARTUNE_DIR").is_none() && !adapt::is_wanted() {
        return std::ptr::null();
    }
    if !version.is_null() {
        // SAFETY: as the caller said.
        let version = unsafe { CStr::from_ptr(version) };
        VERSION.get_or_init(|| version.to_string_lossy().into_owned());
    }
    &raw const RESULT
}

/// The runtime asks what it is to tell. Returns 0 if that is nothing.
unsafe extern "C" fn initialize(lookup: Lookup, _: c_int, _: *mut Data) -> c_int {
    // SAFETY: a C string.
    let found = unsafe { lookup(c"ompt_set_callback".as_ptr()) };
    let adapts = adapt::is_wanted();
    let version = VERSION.get().map_or("OMPT", |version| version.as_str());
    if found.is_null() || !adapts && !awake::is_told(version) {
        return 0;
    }
    partune_collect::runtime::is_at(lookup as usize);
    // SAFETY: the type that the interface gives this name.
    let set = unsafe { std::mem::transmute::<*mut std::ffi::c_void, SetCallback>(found) };
    let adapted = [
        (event::PARALLEL_BEGIN, adapting::parallel_begin as *const () as usize),
        (event::PARALLEL_END, adapting::parallel_end as *const () as usize),
        (event::IMPLICIT_TASK, adapting::implicit_task as *const () as usize),
    ];
    let recorded = [
        (event::PARALLEL_BEGIN, team::parallel_begin as *const () as usize),
        (event::PARALLEL_END, team::parallel_end as *const () as usize),
        (event::IMPLICIT_TASK, team::implicit_task as *const () as usize),
        (event::TASK_CREATE, tasks::create as *const () as usize),
        (event::TASK_SCHEDULE, tasks::schedule as *const () as usize),
        (event::SYNC_REGION, sync::region as *const () as usize),
        (event::SYNC_REGION_WAIT, sync::wait as *const () as usize),
        (event::REDUCTION, sync::region as *const () as usize),
        (event::MUTEX_ACQUIRE, sync::acquire as *const () as usize),
        (event::MUTEX_ACQUIRED, sync::acquired as *const () as usize),
        (event::MUTEX_RELEASED, sync::released as *const () as usize),
        (event::NEST_LOCK, sync::nest as *const () as usize),
        (event::WORK, work::work as *const () as usize),
        (event::MASKED, work::masked as *const () as usize),
        (event::CANCEL, work::cancel as *const () as usize),
    ];
    let events: &[(_, usize)] = if adapts { &adapted } else { &recorded };
    for (event, function) in events {
        // SAFETY: the type of each is the one that the interface gives its event. Those that the runtime never tells are left out by it.
        unsafe { set(*event, *function) };
    }
    1
}

unsafe extern "C" fn finalize(_: *mut Data) {}
