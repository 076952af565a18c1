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

    /// What a handle means, asked for if this thread does not know it.
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub(crate) fn get(&mut self, handle: usize, ask: impl FnOnce() -> T) -> T {
        let slot = &mut self.0[((handle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % SLOTS];
        match slot {
            Some((known, meaning)) if *known == handle => *meaning,
            _ => slot.insert((handle, ask())).1,
        }
    }
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

/// This thread's tables; none if there is no memory for them. Nobody may hold them while they are asked for again.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) fn of_thread() -> Option<&'static mut Memos> {
    let tables = Tables::get() as *mut Memos;
    if tables.is_null() {
        return make();
    }
    // SAFETY: this thread's, and kept until it ends.
    let memos = unsafe { &mut *tables };
    let generation = generation();
    if memos.generation != generation {
        *memos = Memos::new(generation);
    }
    Some(memos)
}

#[cold]
fn make() -> Option<&'static mut Memos> {
    let tables = memory::allocate(size_of::<Memos>())?.cast::<Memos>();
    // SAFETY: memory of that size, aligned to pages.
    unsafe {
        tables.write(Memos::new(generation()));
        Tables::set(tables as usize);
        AT_END.set(tables as usize);
        Some(&mut *tables)
    }
}

static AT_END: AtThreadEnd = AtThreadEnd::new(give_back);

extern "C" fn give_back(tables: *mut c_void) {
    Tables::set(0);
    // SAFETY: made above, and this thread has no other word of it.
    unsafe { memory::free(tables.cast(), size_of::<Memos>()) };
}

#[cfg(test)]
mod tests {
    use super::{Memo, forget, of_thread};

    #[test]
    fn a_handle_is_asked_for_once() {
        let mut memo: Memo<u64, 4> = Memo::new();
        for handle in [0_usize, 1, 0x7f00_1234_5678, usize::MAX] {
            let meaning = handle as u64 ^ 5;
            assert_eq!(memo.get(handle, || meaning), meaning, "asked");
            assert_eq!(memo.get(handle, || unreachable!("it is known")), meaning);
        }
    }

    #[test]
    fn what_was_remembered_is_void_when_a_handle_may_mean_something_else() {
        for handle in [0_usize, 1, 0x7f00_1234_5678, usize::MAX] {
            let size = |meaning: u64| of_thread().expect("there is memory").sizes.get(handle, || meaning);
            for generation in 1..4 {
                assert_eq!((size(generation), size(10)), (generation, generation));
                forget();
            }
        }
    }
}
