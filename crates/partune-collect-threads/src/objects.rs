//! What threads wait at, by its address: who waits since when, and who holds it.
//!
//! Whoever gives something back asks with one load whether anybody may wait for it ([`is_awaited`]): a table of counts, in which objects whose
//! addresses have the same hash share a place. A recorded holder counts as well, since that it gives the object back has to be recorded too. Only where
//! the count says so, the object itself is looked up.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::sync::{Mutex, MutexGuard, PoisonError};

use partune_collect::AwaitedThread;

const PLACES: usize = 1 << 12;
const PARTS: usize = 64;

/// How many wait for objects, or hold them and are recorded; above [`SEEN`] whether there was an object.
static COUNTS: [AtomicU32; PLACES] = [const { AtomicU32::new(0) }; PLACES];
const SEEN: u32 = 1 << 31;

static PARTS_OF_ALL: [Mutex<Option<HashMap<usize, Object>>>; PARTS] = [const { Mutex::new(None) }; PARTS];

struct Object {
    number: u32,
    /// How often anybody got it and that was recorded.
    order: u32,
    waiting: Vec<Waiter>,
    /// Threads of which it is recorded that they got it.
    holding: Vec<u32>,
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
    count(address).load(Ordering::Relaxed) & !SEEN != 0
}

/// A thread waits from now on.
pub(crate) fn wait(address: usize, thread: u32, since: u64, holder: Option<AwaitedThread>) {
    count(address).fetch_add(1, Ordering::AcqRel);
    count(address).fetch_or(SEEN, Ordering::Relaxed);
    with(address, |object| object.waiting.push(Waiter { thread, since, holder }));
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
    let (number, was_waiting) = with(address, |object| (object.number, object.is_left_by(thread)));
    // One that was forgotten meanwhile counts no more.
    if was_waiting {
        count(address).fetch_sub(1, Ordering::AcqRel);
    }
    number
}

/// It has waited, and got the object: the object's number, and for the how manieth time that is recorded.
pub(crate) fn got(address: usize, thread: u32) -> (u32, u32) {
    let (got, was_waiting) = with(address, |object| {
        object.holding.push(thread);
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
        let is_known =
            object.holding.iter().rposition(|holder| *holder == thread).map(|at| object.holding.swap_remove(at));
        let is_late = object.is_late(thread, now, shortest);
        if is_known.is_none() && !is_late {
            return None;
        }
        let awaited = object.waiting.iter().map(|it| it.since).min().unwrap_or(now);
        let since = awaited.max(object.given);
        object.given = now;
        object.order += u32::from(is_known.is_none());
        Some(Release { number: object.number, order: object.order, is_known: is_known.is_some(), since })
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
    fn new() -> Object {
        static NUMBERS: AtomicU32 = AtomicU32::new(0);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        Object { number, order: 0, waiting: Vec::new(), holding: Vec::new(), given: 0 }
    }

    /// All that wait say which thread they wait for.
    fn tell(&self, tid: u32) {
        self.waiting.iter().filter_map(|it| it.holder).for_each(|holder| holder.is(tid));
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

fn mixed(address: usize) -> usize {
    address.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[inline]
fn count(address: usize) -> &'static AtomicU32 {
    &COUNTS[mixed(address) >> (usize::BITS - PLACES.trailing_zeros())]
}

fn part(address: usize) -> MutexGuard<'static, Option<HashMap<usize, Object>>> {
    let part = &PARTS_OF_ALL[mixed(address) >> (usize::BITS - PARTS.trailing_zeros())];
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<T>(address: usize, act: impl FnOnce(&mut Object) -> T) -> T {
    act(part(address).get_or_insert_with(HashMap::new).entry(address).or_insert_with(Object::new))
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
        assert_eq!(got(lock, 1), (first.number, 2));
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
        got(condition, 1);
        assert!(is_awaited(condition));
        assert!(release(condition, 1, 700, 5).is_some_and(|release| release.is_known));
        assert!(!is_awaited(condition));
    }
}
