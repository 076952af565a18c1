//! Numbers of locks, by where they are, and how often each was got.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

struct Lock {
    address: usize,
    number: u32,
    /// How often anybody got it: written by who holds it.
    order: AtomicU32,
}

/// The calling thread got the lock at an address: its number, and for the how manieth time anybody did.
pub(crate) fn acquired(address: usize) -> (u32, u32) {
    let lock = find(address);
    (lock.number, lock.order.fetch_add(1, Ordering::Relaxed) + 1)
}

/// It holds it.
pub(crate) fn held(address: usize) -> (u32, u32) {
    let lock = find(address);
    (lock.number, lock.order.load(Ordering::Relaxed))
}

fn find(address: usize) -> &'static Lock {
    const KNOWN: usize = 64;
    thread_local! {
        /// The locks that this thread used last, each at a place that follows from its address.
        static LAST: [Cell<Option<&'static Lock>>; KNOWN] = const { [const { Cell::new(None) }; KNOWN] };
    }
    LAST.with(|last| {
        let place = &last[(address >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - KNOWN.trailing_zeros())];
        place.get().filter(|lock| lock.address == address).unwrap_or_else(|| {
            let lock = look_up(address);
            place.set(Some(lock));
            lock
        })
    })
}

#[cold]
fn look_up(address: usize) -> &'static Lock {
    static LOCKS: Mutex<Option<HashMap<usize, &'static Lock>>> = Mutex::new(None);
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let locks = locks.get_or_insert_with(HashMap::new);
    let number = locks.len() as u32;
    locks.entry(address).or_insert_with(|| Box::leak(Box::new(Lock { address, number, order: AtomicU32::new(0) })))
}
