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
    /// How many times its holder got it where that was told, and has not given it back.
    told: AtomicU32,
}

/// The calling thread got the lock at an address: its number, and for the how manieth time anybody did.
pub(crate) fn acquired(address: usize) -> (u32, u32) {
    let lock = find(address);
    lock.told.store(lock.told.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    (lock.number, lock.order.fetch_add(1, Ordering::Relaxed) + 1)
}

/// It gives it back. None if nobody was told that it got it.
pub(crate) fn given_back(address: usize) -> Option<(u32, u32)> {
    let lock = find(address);
    lock.told.store(lock.told.load(Ordering::Relaxed).checked_sub(1)?, Ordering::Relaxed);
    Some((lock.number, lock.order.load(Ordering::Relaxed)))
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
    let (order, told) = (AtomicU32::new(0), AtomicU32::new(0));
    locks.entry(address).or_insert_with(|| Box::leak(Box::new(Lock { address, number, order, told })))
}
