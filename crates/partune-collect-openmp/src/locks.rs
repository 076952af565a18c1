//! Numbers of locks, by where they are, and how often each was got.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::recent::Recent;

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
    thread_local! {
        static LAST: Recent<Lock> = const { Recent::new() };
    }
    LAST.with(|last| last.find(address, |lock| lock.address == address, || look_up(address)))
}

#[cold]
fn look_up(address: usize) -> &'static Lock {
    static LOCKS: Mutex<Option<HashMap<usize, &'static Lock>>> = Mutex::new(None);
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    let locks = locks.get_or_insert_with(HashMap::new);
    let number = locks.len() as u32;
    locks.entry(address).or_insert_with(|| Box::leak(Box::new(Lock { address, number, order: AtomicU32::new(0) })))
}
