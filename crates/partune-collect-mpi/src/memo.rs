//! What a thread remembers of handles: communicators and sizes of types, in small tables.
//!
//! A handle may mean something else later. So whoever changes what handles mean counts a generation up, and what was remembered before is
//! void.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

use partune_collect::{AtThreadEnd, thread_word};

use crate::comms::Comm;
use crate::memory;

static GENERATION: AtomicU64 = AtomicU64::new(1);

/// A handle may mean something else from here on.
pub(crate) fn forget() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}

/// Counts the times that one did.
#[allow(clippy::inline_always, reason = "a load")]
#[inline(always)]
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// The last handle of each slot, and what it means.
pub(crate) struct Memo<T, const SLOTS: usize>([Option<(usize, T)>; SLOTS]);

impl<T: Copy, const SLOTS: usize> Memo<T, SLOTS> {
    const fn new() -> Memo<T, SLOTS> {
        Memo([None; SLOTS])
    }

    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    fn slot(&mut self, handle: usize) -> &mut Option<(usize, T)> {
        &mut self.0[((handle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % SLOTS]
    }
}

/// What a handle means by a table of this thread, asked for if it does not know. Nobody holds the tables while MPI is asked, which may call the
/// program back.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn get<T: Copy, const SLOTS: usize>(
    table: fn(&mut Memos) -> &mut Memo<T, SLOTS>,
    handle: usize,
    ask: impl FnOnce() -> T,
) -> T {
    let known = with(|memos| table(memos).slot(handle).filter(|(known, _)| *known == handle)).flatten();
    known.map_or_else(|| learn(table, handle, ask), |(_, meaning)| meaning)
}

#[cold]
fn learn<T: Copy, const SLOTS: usize>(
    table: fn(&mut Memos) -> &mut Memo<T, SLOTS>,
    handle: usize,
    ask: impl FnOnce() -> T,
) -> T {
    let before = generation();
    let meaning = ask();
    with(|memos| {
        // What was answered before handles changed may be void.
        if memos.generation == before {
            *table(memos).slot(handle) = Some((handle, meaning));
        }
    });
    meaning
}

/// The tables of one thread.
pub(crate) struct Memos {
    generation: u64,
    /// None of a foreign communicator.
    pub(crate) comms: Memo<Option<Comm>, 16>,
    pub(crate) sizes: Memo<u64, 32>,
    /// Whether types have no holes.
    pub(crate) dense: Memo<bool, 8>,
}

impl Memos {
    #[cold]
    fn new(generation: u64) -> Memos {
        Memos { generation, comms: Memo::new(), sizes: Memo::new(), dense: Memo::new() }
    }
}

thread_word! {
    /// The address of the thread's tables; 0 until it has some.
    Tables, "partune_collect_mpi_memos"
}

/// Does something with this thread's tables that asks nobody; none if there is no memory for them.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn with<T>(act: impl FnOnce(&mut Memos) -> T) -> Option<T> {
    let mut tables = Tables::get() as *mut Memos;
    if tables.is_null() {
        tables = make()?;
    }
    // SAFETY: the tables are kept until this thread ends and are its own; callers in this file do not come back here from `act`.
    let memos = unsafe { &mut *tables };
    let generation = generation();
    if memos.generation != generation {
        *memos = Memos::new(generation);
    }
    Some(act(memos))
}

#[cold]
fn make() -> Option<*mut Memos> {
    let tables = memory::allocate(size_of::<Memos>())?.cast::<Memos>();
    // SAFETY: memory of that size, aligned to pages.
    unsafe { tables.write(Memos::new(generation())) };
    Tables::set(tables as usize);
    AT_END.set(tables as usize);
    Some(tables)
}

static AT_END: AtThreadEnd = AtThreadEnd::new(give_back);

extern "C" fn give_back(tables: *mut c_void) {
    Tables::set(0);
    // SAFETY: made above, and this thread has no other word of it.
    unsafe { memory::free(tables.cast(), size_of::<Memos>()) };
}

#[cfg(test)]
mod tests {
    use super::{forget, get};

    const HANDLES: [usize; 4] = [0, 1, 0x7f00_1234_5678, usize::MAX];

    // One test, since all threads have one generation.
    #[test]
    fn a_handle_is_asked_for_once_until_it_may_mean_something_else() {
        let size = |handle, ask: &dyn Fn() -> u64| get(|memos| &mut memos.sizes, handle, ask);
        for handle in HANDLES {
            for generation in 1..4 {
                assert_eq!(size(handle, &|| generation), generation, "asked");
                assert_eq!(size(handle, &|| unreachable!("it is known")), generation);
                forget();
            }
        }
        // Who is asked may ask for others, and for the same handle.
        let around = |handle| size(handle, &|| size(1, &|| 5) + size(handle ^ 2, &|| 7));
        assert_eq!((around(8), size(8, &|| 0), size(1, &|| 0)), (12, 12, 5));
        // What is answered while handles change is not kept.
        let changed = || {
            forget();
            3
        };
        assert_eq!((size(9, &changed), size(9, &|| 4)), (3, 4));
    }
}
