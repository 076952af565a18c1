//! What a runtime and a tool agree upon: the numbers and types of the tools interface (OpenMP 5.0 to 5.2, OMPT).

use std::ffi::{c_char, c_int, c_uint, c_void};

/// A word that the runtime keeps for the tool, with a thread, a team or a task.
pub(super) type Data = u64;
/// Kinds, flags and ends of scopes are C's enumerations.
pub(super) type Word = c_int;
pub(super) type Lookup = unsafe extern "C" fn(*const c_char) -> *mut c_void;
pub(super) type SetCallback = unsafe extern "C" fn(event: Word, callback: usize) -> Word;

/// What `ompt_start_tool` answers.
#[repr(C)]
pub struct StartToolResult {
    pub(super) initialize: unsafe extern "C" fn(Lookup, c_int, *mut Data) -> c_int,
    pub(super) finalize: unsafe extern "C" fn(*mut Data),
    pub(super) tool_data: Data,
}

pub(super) type Count = c_uint;
/// An address in the program's code.
pub(super) type Place = usize;

/// Events.
pub(super) mod event {
    use super::Word;

    pub(crate) const PARALLEL_BEGIN: Word = 3;
    pub(crate) const PARALLEL_END: Word = 4;
    pub(crate) const TASK_CREATE: Word = 5;
    pub(crate) const TASK_SCHEDULE: Word = 6;
    pub(crate) const IMPLICIT_TASK: Word = 7;
    pub(crate) const SYNC_REGION_WAIT: Word = 16;
    pub(crate) const MUTEX_RELEASED: Word = 17;
    pub(crate) const WORK: Word = 20;
    pub(crate) const MASKED: Word = 21;
    pub(crate) const SYNC_REGION: Word = 23;
    pub(crate) const MUTEX_ACQUIRE: Word = 26;
    pub(crate) const MUTEX_ACQUIRED: Word = 27;
    pub(crate) const NEST_LOCK: Word = 28;
    pub(crate) const CANCEL: Word = 30;
    pub(crate) const REDUCTION: Word = 31;
}

/// Ends of scopes.
pub(super) const BEGIN: Word = 1;
pub(super) const END: Word = 2;

/// Flags of teams and tasks.
pub(super) const LEAGUE: Word = 0x4000_0000;
pub(super) const INITIAL: Word = 0x1;
pub(super) const EXPLICIT: Word = 0x4;
pub(super) const UNDEFERRED: Word = 0x0800_0000;
