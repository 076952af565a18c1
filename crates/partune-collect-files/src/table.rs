//! What is known of descriptors: which files they are, and where the next access begins.
//!
//! An array of words by descriptor. What is open is kept for ever and used again for the next open of the same file, so that a program that opens a
//! file a million times costs no more memory, and no more handles in the archive, than it has open at once.

use std::collections::HashMap;
use std::ffi::c_int;
use std::hint::{cold_path, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

use partune_collect::definitions::{self, Interface};

use crate::names::{self, LONGEST, What};
use partune_collect::callers::{self, Caller};
use partune_collect::errno;
use partune_collect::is_left_alone;

/// Descriptors beyond are not looked at.
const DESCRIPTORS: usize = 1 << 16;
/// Nobody knows yet; it is no file. All else is an address of an [`Open`].
const UNKNOWN: usize = 0;
const NO_FILE: usize = 1;

static TABLE: [AtomicUsize; DESCRIPTORS] = [const { AtomicUsize::new(UNKNOWN) }; DESCRIPTORS];

/// A place in a file that is not known.
pub(crate) const NOWHERE: u64 = u64::MAX;

/// An open file.
#[derive(Debug, Default)]
pub(crate) struct Open {
    name: Box<str>,
    /// How many of the same file were open when it was made.
    again: u32,
    /// Descriptors that are it.
    users: AtomicU32,
    /// Numbers of its handles plus one, of descriptors and of streams.
    handles: [AtomicU32; 2],
    /// Writes go to the end, wherever that is.
    pub(crate) appends: AtomicBool,
    /// Where the next access by the descriptor begins.
    pub(crate) place: AtomicU64,
    /// Where the next access by the stream begins, and what the stream's own pointers were after the last: a function that is not recorded moves them.
    pub(crate) stream: AtomicU64,
    pub(crate) pointers: [AtomicUsize; 2],
    pub(crate) is_locked: AtomicBool,
}

impl Open {
    /// The number of its handle, in a recorded call.
    pub(crate) fn handle(&self, by: Interface) -> u32 {
        let known = &self.handles[usize::from(by == Interface::Streams)];
        if let Some(number) = known.load(Ordering::Relaxed).checked_sub(1) {
            return number;
        }
        let number = definitions::file(&self.name, by, self.again);
        known.store(number + 1, Ordering::Relaxed);
        number
    }

    /// Where an access begins that goes on from the last one, which moved so many bytes; none if that is not known.
    pub(crate) fn advance(&self, bytes: u64, is_write: bool) -> Option<u64> {
        let place = self.place.load(Ordering::Relaxed);
        if place == NOWHERE {
            return None;
        }
        let ends = if is_write && self.appends.load(Ordering::Relaxed) { NOWHERE } else { place + bytes };
        self.place.store(ends, Ordering::Relaxed);
        (ends != NOWHERE).then_some(place)
    }
}

/// All that were ever open, by name.
type All = Option<HashMap<Box<str>, Vec<&'static Open>>>;

static ALL: Mutex<All> = Mutex::new(None);

/// The open file that a descriptor is; none if it is none. `place`: where the code is that asks.
#[allow(clippy::inline_always, reason = "a load for what is no file")]
#[inline(always)]
pub(crate) fn of(descriptor: c_int, place: usize) -> Option<&'static Open> {
    match TABLE.get(usize::try_from(descriptor).ok()?)?.load(Ordering::Acquire) {
        NO_FILE => None,
        UNKNOWN => {
            cold_path();
            learn(descriptor, place)
        }
        // SAFETY: never freed.
        address => Some(unsafe { &*(address as *const Open) }),
    }
}

/// One that was opened before anybody looked. Those that a process is born with are not what the program opened.
#[cold]
fn learn(descriptor: c_int, place: usize) -> Option<&'static Open> {
    if descriptor <= libc::STDERR_FILENO || callers::known(place) == Some(Caller::Recorder) {
        return None;
    }
    errno::kept(|| {
        let mut buffer = [0; LONGEST];
        let name = look(descriptor, &mut buffer)?;
        // What is done from here on needs memory.
        if is_left_alone() || callers::of(place) == Caller::Recorder {
            return None;
        }
        let open = open(descriptor, name)?;
        // SAFETY: a descriptor.
        let at = unsafe { libc::lseek(descriptor, 0, libc::SEEK_CUR) };
        open.place.store(u64::try_from(at).unwrap_or(NOWHERE), Ordering::Relaxed);
        open.stream.store(NOWHERE, Ordering::Relaxed);
        Some(open)
    })
}

/// Finds out what a descriptor is that was just opened.
pub(crate) fn opened(descriptor: c_int) -> Option<&'static Open> {
    let mut buffer = [0; LONGEST];
    open(descriptor, look(descriptor, &mut buffer)?)
}

/// The name of the file that a descriptor is; none if it is none, which is remembered.
fn look(descriptor: c_int, buffer: &mut [u8; LONGEST]) -> Option<&[u8]> {
    let slot = TABLE.get(usize::try_from(descriptor).ok()?)?;
    match names::of(descriptor, buffer) {
        What::File(name) => Some(name),
        What::Other => {
            slot.store(NO_FILE, Ordering::Release);
            None
        }
        What::Nothing => None,
    }
}

/// A descriptor is a file of this name from now on.
fn open(descriptor: c_int, name: &[u8]) -> Option<&'static Open> {
    let slot = TABLE.get(usize::try_from(descriptor).ok()?)?;
    let name = String::from_utf8_lossy(name);
    let mut all = lock()?;
    let same = all.get_or_insert_default().entry(name.as_ref().into()).or_default();
    let free = same.iter().find(|open| open.users.load(Ordering::Relaxed) == 0).copied();
    let open = free.unwrap_or_else(|| {
        let open = Open { name: name.as_ref().into(), again: same.len() as u32, ..Open::default() };
        let open: &'static Open = Box::leak(Box::new(open));
        same.push(open);
        open
    });
    open.users.store(1, Ordering::Relaxed);
    drop(all);
    // SAFETY: a descriptor.
    let flags = unsafe { libc::fcntl(descriptor, libc::F_GETFL) };
    let appends = flags & libc::O_APPEND != 0;
    open.appends.store(appends, Ordering::Relaxed);
    open.place.store(0, Ordering::Relaxed);
    open.stream.store(if appends { NOWHERE } else { 0 }, Ordering::Relaxed);
    open.pointers.iter().for_each(|it| it.store(0, Ordering::Relaxed));
    open.is_locked.store(false, Ordering::Relaxed);
    slot.store(std::ptr::from_ref(open) as usize, Ordering::Release);
    Some(open)
}

/// The handler of a signal may have struck in here: then what it opens is found out later.
fn lock() -> Option<MutexGuard<'static, All>> {
    const TRIES: usize = 10_000;
    for _ in 0..TRIES {
        match ALL.try_lock() {
            Ok(all) => return Some(all),
            Err(TryLockError::Poisoned(all)) => return Some(all.into_inner()),
            Err(TryLockError::WouldBlock) => spin_loop(),
        }
    }
    None
}

/// A descriptor is about to be something else: nothing is known of it from now on. The open file, if nobody else is it: it is not used again
/// before [`closed`].
pub(crate) fn forget(descriptor: c_int) -> Option<&'static Open> {
    let slot = TABLE.get(usize::try_from(descriptor).ok()?)?;
    match slot.swap(UNKNOWN, Ordering::AcqRel) {
        UNKNOWN | NO_FILE => None,
        address => {
            // SAFETY: never freed.
            let open = unsafe { &*(address as *const Open) };
            if open.users.load(Ordering::Relaxed) > 1 {
                open.users.fetch_sub(1, Ordering::Relaxed);
                return None;
            }
            Some(open)
        }
    }
}

/// All has been told of it.
pub(crate) fn closed(open: Option<&'static Open>) {
    open.iter().for_each(|open| open.users.store(0, Ordering::Release));
}

/// A descriptor is another one's copy: the place in the file is the same for both.
pub(crate) fn copied(old: c_int, new: c_int) {
    let (Ok(old), Ok(new)) = (usize::try_from(old), usize::try_from(new)) else { return };
    let (Some(from), Some(to)) = (TABLE.get(old), TABLE.get(new)) else { return };
    let what = from.load(Ordering::Acquire);
    if ![UNKNOWN, NO_FILE].contains(&what) {
        // SAFETY: never freed.
        unsafe { &*(what as *const Open) }.users.fetch_add(1, Ordering::Relaxed);
    }
    to.store(what, Ordering::Release);
}

/// Whether this is the process that the recorder was loaded into, and not one that `vfork` lent its memory.
pub(crate) fn is_own_process() -> bool {
    // SAFETY: a system call without arguments.
    PROCESS.load(Ordering::Relaxed) == unsafe { libc::getpid() }
}

static PROCESS: AtomicI32 = AtomicI32::new(0);

#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        // SAFETY: a system call without arguments.
        PROCESS.store(unsafe { libc::getpid() }, Ordering::Relaxed);
    }
    at_load
};
