//! What a thread remembers of handles: communicators and sizes of types, in small tables.
//!
//! A handle may mean something else later. So whoever changes what handles mean counts a generation up, and what was remembered before is
//! void.

use partune_collect::thread_word;

use crate::comms::Comm;
use crate::memory;

/// The last handle of each slot, and what it means.
pub(crate) struct Memo<T, const SLOTS: usize>([Slot<T>; SLOTS]);

#[derive(Clone, Copy)]
struct Slot<T> {
    handle: usize,
    generation: u64,
    value: T,
}

impl<T: Copy, const SLOTS: usize> Memo<T, SLOTS> {
    const fn new(nothing: T) -> Memo<T, SLOTS> {
        // No generation is 0.
        Memo([Slot { handle: 0, generation: 0, value: nothing }; SLOTS])
    }

    /// What a handle means, asked for if this thread does not know it.
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub(crate) fn get(&mut self, handle: usize, generation: u64, ask: impl FnOnce() -> T) -> &T {
        let slot = &mut self.0[((handle as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % SLOTS];
        if slot.handle != handle || slot.generation != generation {
            *slot = Slot { handle, generation, value: ask() };
        }
        &slot.value
    }
}

/// The tables of one thread.
pub(crate) struct Memos {
    /// None of a foreign communicator.
    pub(crate) comms: Memo<Option<Comm>, 16>,
    pub(crate) sizes: Memo<u64, 32>,
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
    // SAFETY: this thread's, and kept for ever.
    Some(unsafe { &mut *tables })
}

#[cold]
fn make() -> Option<&'static mut Memos> {
    let tables = memory::allocate(size_of::<Memos>())?.cast::<Memos>();
    // SAFETY: memory of that size, aligned to pages.
    unsafe {
        tables.write(Memos { comms: Memo::new(None), sizes: Memo::new(0) });
        Tables::set(tables as usize);
        Some(&mut *tables)
    }
}

#[cfg(test)]
mod tests {
    use super::Memo;

    #[test]
    fn a_handle_is_asked_for_once_in_a_generation() {
        let mut memo: Memo<u64, 4> = Memo::new(0);
        let handles = [0_usize, 1, 0x7f00_1234_5678, usize::MAX];
        for generation in 1..4 {
            for handle in handles {
                let meaning = handle as u64 ^ generation;
                assert_eq!(*memo.get(handle, generation, || meaning), meaning, "asked");
                assert_eq!(*memo.get(handle, generation, || unreachable!("it is known")), meaning);
            }
        }
    }
}
