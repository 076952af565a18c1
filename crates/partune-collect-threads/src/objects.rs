//! What threads wait at, by its address: who waits since when, and who holds it.
//!
//! Whoever gives something back asks with one load whether anybody may wait for it ([`is_awaited`]): a table of counts, in which objects whose
//! addresses have the same hash share a place. A recorded holder counts as well, since that it gives the object back has to be recorded too. Only where
//! the count says so, the object itself is looked up.
//!
//! An object that several threads get, and that they hold for long, is told of each time, also without a wait: under a change, others may come meanwhile. For
//! that it is measured how long each is held.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

use partune_collect::AwaitedThread;

const PLACES: usize = 1 << 12;
const PARTS: usize = 64;

/// How many wait for objects, or hold them and are recorded; besides whether there was an object ([`SEEN`]), and one that is held for long.
static COUNTS: [AtomicU32; PLACES] = [const { AtomicU32::new(0) }; PLACES];
const SEEN: u32 = 1 << 31;
const LONG: u32 = 1 << 30;
const NUMBER: u32 = LONG - 1;

static PARTS_OF_ALL: [Mutex<Option<HashMap<usize, Object>>>; PARTS] = [const { Mutex::new(None) }; PARTS];

struct Object {
    number: u32,
    /// How often anybody got it and that was recorded.
    order: u32,
    waiting: Vec<Waiter>,
    /// Threads of which it is recorded that they got it, and when.
    holding: Vec<(u32, u64)>,
    /// For how many times more that it is not held for long it counts as one that is.
    long: u8,
    /// Who had it first, and whether others did.
    user: u32,
    is_shared: bool,
    /// When it was recorded last that one gave it back, or gave a sign.
    given: u64,
}

struct Waiter {
    thread: u32,
    since: u64,
    /// Where it says who holds the object, while it cannot itself; none if nobody knows who holds such objects.
    holder: Option<AwaitedThread>,
}

/// An object is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) number: u32,
    pub(crate) order: u32,
    /// Whether it is recorded that it was got.
    pub(crate) is_known: bool,
    /// Since when it was held at least, as far as somebody waited for it.
    pub(crate) since: u64,
}

/// Whether somebody may wait for an object, or hold it and be recorded.
#[inline]
pub(crate) fn is_awaited(address: usize) -> bool {
    count(address).load(Ordering::Relaxed) & NUMBER != 0
}

/// Whether an object may be one that is held for long.
#[inline]
pub(crate) fn may_be_long(address: usize) -> bool {
    count(address).load(Ordering::Relaxed) & LONG != 0
}

/// Whether it is told that a thread gets an object, though it did not wait.
pub(crate) fn is_told(address: usize, thread: u32) -> bool {
    let is_told = |object: &mut Object| {
        object.is_shared |= object.user != thread;
        object.is_shared && object.long > 0
    };
    with_known(address, is_told) == Some(true)
}

/// A thread had an object for long, and that was not told.
pub(crate) fn was_long(address: usize, thread: u32) {
    with(address, thread, |object| object.was_held(true, count(address)));
}

/// One had an object that [may be long](may_be_long) for a short time.
pub(crate) fn was_short(address: usize) {
    with_known(address, |object| object.was_held(false, count(address)));
}

/// A thread waits from now on.
pub(crate) fn wait(address: usize, thread: u32, since: u64, holder: Option<AwaitedThread>) {
    count(address).fetch_add(1, Ordering::AcqRel);
    count(address).fetch_or(SEEN, Ordering::Relaxed);
    with(address, thread, |object| {
        object.is_shared = true;
        object.waiting.push(Waiter { thread, since, holder });
    });
}

/// Another thread may hold it from now on: those that wait for it say so. `holder` gives what the system calls that one, 0 if it does not know; it is
/// asked while nobody else tells.
pub(crate) fn held(address: usize, holder: fn(usize) -> u32) {
    // Who gets it sees who waits, or who waits sees who has got it.
    fence(Ordering::SeqCst);
    with_known(address, |object| object.tell(holder(address)));
}

/// It does not any more. Returns the object's number.
pub(crate) fn stop(address: usize, thread: u32) -> u32 {
    let (number, was_waiting) = with(address, thread, |object| (object.number, object.is_left_by(thread)));
    // One that was forgotten meanwhile counts no more.
    if was_waiting {
        count(address).fetch_sub(1, Ordering::AcqRel);
    }
    number
}

/// It got the object, most often after a wait: the object's number, and for the how manieth time that is recorded.
pub(crate) fn got(address: usize, thread: u32, now: u64) -> (u32, u32) {
    let (got, was_waiting) = with(address, thread, |object| {
        object.holding.push((thread, now));
        object.order += 1;
        ((object.number, object.order), object.is_left_by(thread))
    });
    if !was_waiting {
        count(address).fetch_add(1, Ordering::AcqRel);
    }
    got
}

/// A thread gives an object back at a time. None if nobody has waited long for that, and nothing is recorded of how it got it.
pub(crate) fn release(address: usize, thread: u32, now: u64, shortest: u64) -> Option<Release> {
    let release = with_known(address, |object| {
        object.tell(0);
        let known = object.holding.iter().rposition(|(holder, _)| *holder == thread);
        let known = known.map(|at| object.holding.swap_remove(at).1);
        if known.is_none() && !object.is_late(thread, now, shortest) {
            return None;
        }
        let awaited = object.waiting.iter().map(|it| it.since).min().unwrap_or(now);
        let since = known.unwrap_or(awaited.max(object.given));
        object.given = now;
        object.order += u32::from(known.is_none());
        if let Some(since) = known {
            object.was_held(now.saturating_sub(since) >= shortest, count(address));
        }
        Some(Release { number: object.number, order: object.order, is_known: known.is_some(), since })
    });
    let release = release.flatten()?;
    if release.is_known {
        count(address).fetch_sub(1, Ordering::AcqRel);
    }
    Some(release)
}

/// A thread gives a sign. The object's number, if somebody has waited long for one.
pub(crate) fn sign(address: usize, thread: u32, now: u64, shortest: u64) -> Option<u32> {
    let sign = |object: &mut Object| {
        let is_late = object.is_late(thread, now, shortest);
        object.given = if is_late { now } else { object.given };
        is_late.then_some(object.number)
    };
    with_known(address, sign).flatten()
}

/// The object is no more: what comes to lie there is another one.
pub(crate) fn forget(address: usize) {
    if count(address).load(Ordering::Relaxed) & SEEN != 0
        && let Some(object) = part(address).as_mut().and_then(|objects| objects.remove(&address))
    {
        count(address).fetch_sub((object.waiting.len() + object.holding.len()) as u32, Ordering::AcqRel);
    }
}

impl Object {
    fn new(user: u32) -> Object {
        static NUMBERS: AtomicU32 = AtomicU32::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        Object { number, order: 0, waiting: Vec::new(), holding: Vec::new(), long: 0, user, is_shared: false, given: 0 }
    }

    /// All that wait say which thread they wait for.
    fn tell(&self, tid: u32) {
        self.waiting.iter().filter_map(|it| it.holder).for_each(|holder| holder.is(tid));
    }

    /// One that had it gives it back, after a long time or a short one.
    fn was_held(&mut self, is_long: bool, place: &AtomicU32) {
        /// So many short times are told without a long one.
        const FEW: u8 = 4;
        self.long = if is_long { FEW } else { self.long.saturating_sub(1) };
        match self.long {
            0 => place.fetch_and(!LONG, Ordering::Relaxed),
            _ => place.fetch_or(LONG, Ordering::Relaxed),
        };
    }

    /// A thread waits no more. Whether it did.
    fn is_left_by(&mut self, thread: u32) -> bool {
        let at = self.waiting.iter().position(|it| it.thread == thread);
        at.map(|at| self.waiting.swap_remove(at)).is_some()
    }

    /// Whether another thread has waited long for it, and nothing is recorded of the end of that time: one that is overtaken again and again does not
    /// make a record of each time.
    fn is_late(&self, thread: u32, now: u64, shortest: u64) -> bool {
        /// Of a long wait, what may be missing at its end.
        const PART: u64 = 128;
        let late = |since: u64| {
            let least = shortest.max(now.saturating_sub(since) / PART);
            now.saturating_sub(since.max(self.given)) >= least
        };
        self.waiting.iter().any(|it| it.thread != thread && late(it.since))
    }
}

/// Which of so many places, a power of two, the object at an address has by its hash.
#[inline]
pub(crate) fn place<const PLACES: usize>(address: usize) -> usize {
    address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - PLACES.trailing_zeros())
}

#[inline]
fn count(address: usize) -> &'static AtomicU32 {
    &COUNTS[place::<PLACES>(address)]
}

fn part(address: usize) -> MutexGuard<'static, Option<HashMap<usize, Object>>> {
    let part = &PARTS_OF_ALL[place::<PARTS>(address)];
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<T>(address: usize, thread: u32, act: impl FnOnce(&mut Object) -> T) -> T {
    act(part(address).get_or_insert_with(HashMap::new).entry(address).or_insert_with(|| Object::new(thread)))
}

fn with_known<T>(address: usize, act: impl FnOnce(&mut Object) -> T) -> Option<T> {
    part(address).as_mut()?.get_mut(&address).map(act)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_told_to_who_waited_long_and_of_what_is_recorded() {
        let lock = 0x1000;
        assert!(!is_awaited(lock));
        wait(lock, 1, 100, None);
        assert!(is_awaited(lock));
        // Not long enough, and not of its own wait.
        assert_eq!(release(lock, 2, 104, 5), None);
        assert_eq!(release(lock, 1, 200, 5), None);
        let first = release(lock, 2, 105, 5).expect("one has waited long");
        assert_eq!(release(lock, 3, 107, 5), None);
        assert_eq!((first.order, first.is_known, first.since), (1, false, 100));
        assert_eq!(got(lock, 1, 200), (first.number, 2));
        // Nobody waits, but that it was got is known. It is given back at once, which is told in any case.
        assert!(is_awaited(lock));
        assert_eq!(release(lock, 2, 300, 5), None);
        let second = release(lock, 1, 300, 5).expect("it is known");
        assert_eq!((second.number, second.order, second.is_known), (first.number, 2, true));
        assert!(!is_awaited(lock));
    }

    #[test]
    fn who_is_overtaken_again_and_again_makes_few_records() {
        let lock = 0x3000;
        wait(lock, 1, 0, None);
        let told = (1..=1000).filter(|now| release(lock, 2, *now, 100).is_some()).count();
        assert_eq!(told, 10);
        stop(lock, 1);
        // And the fewer, the longer it waits.
        wait(lock, 1, 1000, None);
        let told = (1001..=101_000).filter(|now| release(lock, 2, *now, 1).is_some()).count();
        assert!((900..1100).contains(&told), "{told}");
        stop(lock, 1);
    }

    #[test]
    fn who_gets_what_is_held_for_long_says_so() {
        let (lock, shortest) = (0x4000, 50);
        wait(lock, 1, 0, None);
        assert!(release(lock, 2, 100, shortest).is_some());
        got(lock, 1, 100);
        assert!(release(lock, 1, 160, shortest).is_some());
        assert!(!is_awaited(lock) && is_told(lock, 1));
        // Some short times, and a long one; then short ones only.
        let mut now = 200;
        for (length, is_long) in [(1, true), (1, true), (60, true), (1, true), (1, true), (1, true), (1, false)] {
            got(lock, 2, now);
            assert!(release(lock, 2, now + length, shortest).is_some_and(|release| release.since == now));
            assert_eq!((is_told(lock, 1), may_be_long(lock)), (is_long, is_long), "{now}");
            now += 100;
        }
    }

    #[test]
    fn what_nobody_waits_for_is_told_if_it_is_long_and_shared() {
        let (own, shared) = (0x6000, 0x7000);
        for lock in [own, shared] {
            was_short(lock);
            assert!(!may_be_long(lock));
            was_long(lock, 1);
            assert!(!is_told(lock, 1) && may_be_long(lock));
        }
        assert!(is_told(shared, 2) && is_told(shared, 1) && !is_told(own, 1));
        (0..4).for_each(|_| was_short(own));
        assert!(!may_be_long(own));
        was_long(own, 1);
        assert!(may_be_long(own));
    }

    #[test]
    fn an_object_that_is_no_more_has_another_number_afterwards() {
        let condition = 0x2000;
        wait(condition, 1, 100, None);
        let number = sign(condition, 2, 200, 5).expect("one waits");
        assert_eq!(stop(condition, 1), number);
        assert_eq!(sign(condition, 2, 300, 5), None);
        wait(condition, 1, 400, None);
        forget(condition);
        assert!(!is_awaited(condition));
        // The one that waited leaves only now, and counts once.
        stop(condition, 1);
        assert!(!is_awaited(condition));
        wait(condition, 1, 500, None);
        assert_ne!(stop(condition, 1), number);
        wait(condition, 1, 600, None);
        forget(condition);
        got(condition, 1, 650);
        assert!(is_awaited(condition));
        assert!(release(condition, 1, 700, 5).is_some_and(|release| release.is_known));
        assert!(!is_awaited(condition));
    }
}
