//! What is under way: a table from handles of requests to what they will complete.
//!
//! For the handlers. A handle means something from the call that gave it to the call that completed it, and is then used again for
//! something else. The table is cut into shards, each with a lock of its own, so that threads that communicate at the same time rarely
//! meet; a look-up is one hash and a short search. Between the moment when the library completes a request and the one when its wait is told,
//! another thread may get the same handle: so a wait takes a copy first, and what is inserted over a watched request is not its end. Memory
//! grows with the most requests that were ever open, 85 to 170 bytes each, and is not given back.

use partune_collect::facts::Collective;
use partune_collect::{ANYBODY, Message};

use crate::spin::Spin;
use crate::{files, memory};

/// The message that a receive is for, as the program says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wanted {
    pub(crate) comm: u32,
    /// The rank that it is to come from, or [`ANYBODY`].
    pub(crate) from: u32,
    /// None if any will do.
    pub(crate) tag: Option<u32>,
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Work {
    Send(Message),
    /// A message that leaves when the last of its partitions is ready; `left` are not.
    Partitioned {
        message: Message,
        partitions: u32,
        left: u32,
    },
    Recv(Wanted),
    /// A message in each direction.
    SendRecv(Message, Wanted),
    Collective {
        op: Collective,
        comm: u32,
        root: u32,
        bytes: [u64; 2],
    },
    /// The messages to and from neighbours, by their number.
    Exchange {
        number: u64,
        comm: u32,
    },
    /// An access to remote memory with its own number in its window.
    Access {
        window: u32,
        matching: u64,
    },
    File(files::Access),
    /// A message that a probe found; what the handle is of is no request.
    Message {
        comm: u32,
    },
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// Its handle; never 0.
    pub(crate) key: usize,
    /// The number of its use in the archive; new for each start of a persistent one.
    pub(crate) id: u64,
    pub(crate) work: Work,
    pub(crate) is_persistent: bool,
    pub(crate) is_cancelled: bool,
    pub(crate) state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Not started, or complete.
    Idle,
    UnderWay,
    /// Under way, and in a call that may complete it.
    Watched,
}

impl Request {
    pub(crate) fn new(key: usize, id: u64, work: Work) -> Request {
        Request { key, id, work, is_persistent: false, is_cancelled: false, state: State::UnderWay }
    }

    /// One that stays when it is complete, and has to be started.
    pub(crate) fn persistent(key: usize, work: Work) -> Request {
        Request { is_persistent: true, state: State::Idle, ..Request::new(key, 0, work) }
    }

    /// A persistent one is started again, under a new number.
    pub(crate) fn begin(&mut self, id: u64) {
        (self.state, self.id) = (State::UnderWay, id);
        if let Work::Partitioned { partitions, left, .. } = &mut self.work {
            *left = *partitions;
        }
    }

    pub(crate) fn is_under_way(&self) -> bool {
        self.state != State::Idle
    }

    /// Whose message completes it: communicator and rank. Of several neighbours none is named.
    pub(crate) fn awaits(&self) -> Option<(u32, u32)> {
        match self.work {
            Work::Recv(Wanted { comm, from, .. }) | Work::SendRecv(_, Wanted { comm, from, .. }) => Some((comm, from)),
            Work::Exchange { comm, .. } => Some((comm, ANYBODY)),
            Work::Send(_)
            | Work::Partitioned { .. }
            | Work::Collective { .. }
            | Work::Access { .. }
            | Work::File(_)
            | Work::Message { .. } => None,
        }
    }
}

const SHARDS: usize = 64;
const FIRST: usize = 64;

static TABLE: [Spin<Shard>; SHARDS] = [const { Spin::new(Shard::EMPTY) }; SHARDS];

/// Keeps a request; returns what was open under its handle and will not be seen to complete.
pub(crate) fn insert(request: Request) -> Option<Request> {
    shard(request.key).lock().insert(request)
}

/// What is known of a handle.
pub(crate) fn get(key: usize) -> Option<Request> {
    let shard = shard(key).lock();
    shard.find(key).map(|at| shard.slot(at))
}

/// Forgets a handle; returns what was known of it.
pub(crate) fn remove(key: usize) -> Option<Request> {
    shard(key).lock().remove(key)
}

/// Changes what is known of a handle; returns what it was.
pub(crate) fn change(key: usize, change: impl FnOnce(&mut Request)) -> Option<Request> {
    let mut shard = shard(key).lock();
    let at = shard.find(key)?;
    let before = shard.slot(at);
    let mut after = before;
    change(&mut after);
    shard.set(at, after);
    Some(before)
}

/// A call that may complete a request begins; returns the request if it is under way.
pub(crate) fn watch(key: usize) -> Option<Request> {
    let mut shard = shard(key).lock();
    let at = shard.find(key)?;
    let request = shard.slot(at);
    if !request.is_under_way() {
        return None;
    }
    shard.set(at, Request { state: State::Watched, ..request });
    Some(request)
}

/// A request has completed: one that is not persistent is forgotten, unless its handle is another one's by now.
pub(crate) fn finish(request: &Request) {
    let mut shard = shard(request.key).lock();
    let Some(at) = shard.find(request.key) else { return };
    if shard.slot(at).id != request.id {
        return;
    }
    if request.is_persistent {
        shard.set(at, Request { is_cancelled: false, state: State::Idle, ..*request });
    } else {
        shard.remove_at(at);
    }
}

fn shard(key: usize) -> &'static Spin<Shard> {
    // The upper bits of the product choose the shard, those below the slot.
    &TABLE[(hash(key) >> 58) as usize % SHARDS]
}

fn hash(key: usize) -> u64 {
    (key as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Open addressing in system memory; empty slots have the key 0.
struct Shard {
    slots: *mut Request,
    capacity: usize,
    count: usize,
}

// SAFETY: the memory belongs to the shard, which is behind a lock.
unsafe impl Send for Shard {}

impl Shard {
    const EMPTY: Shard = Shard { slots: std::ptr::null_mut(), capacity: 0, count: 0 };

    fn home(&self, key: usize) -> usize {
        (hash(key) >> 26) as usize & (self.capacity - 1)
    }

    fn slot(&self, at: usize) -> Request {
        // SAFETY: callers give positions below the capacity.
        unsafe { *self.slots.add(at) }
    }

    fn key(&self, at: usize) -> usize {
        // SAFETY: callers give positions below the capacity; the memory began as zeros, which is a key of nothing.
        unsafe { (*self.slots.add(at)).key }
    }

    fn set(&mut self, at: usize, request: Request) {
        // SAFETY: callers give positions below the capacity, and the table is borrowed alone.
        unsafe { *self.slots.add(at) = request };
    }

    fn find(&self, key: usize) -> Option<usize> {
        if self.capacity == 0 || key == 0 {
            return None;
        }
        let mut at = self.home(key);
        while self.key(at) != 0 {
            if self.key(at) == key {
                return Some(at);
            }
            at = (at + 1) & (self.capacity - 1);
        }
        None
    }

    fn insert(&mut self, request: Request) -> Option<Request> {
        if let Some(at) = self.find(request.key) {
            let before = self.slot(at);
            self.set(at, request);
            return (before.state == State::UnderWay).then_some(before);
        }
        if request.key == 0 || (self.count + 1) * 4 > self.capacity * 3 && !self.grow() {
            return None;
        }
        let mut at = self.home(request.key);
        while self.key(at) != 0 {
            at = (at + 1) & (self.capacity - 1);
        }
        self.set(at, request);
        self.count += 1;
        None
    }

    fn remove(&mut self, key: usize) -> Option<Request> {
        let at = self.find(key)?;
        let request = self.slot(at);
        self.remove_at(at);
        Some(request)
    }

    /// Empties a slot and moves later ones of the same run back, so that searches need no marks of removed slots.
    fn remove_at(&mut self, mut hole: usize) {
        let mask = self.capacity - 1;
        let mut at = (hole + 1) & mask;
        while self.key(at) != 0 {
            let home = self.home(self.key(at));
            // Whether the hole lies between its home and where it is.
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.set(hole, self.slot(at));
                hole = at;
            }
            at = (at + 1) & mask;
        }
        // SAFETY: `hole` is below the capacity.
        unsafe { (*self.slots.add(hole)).key = 0 };
        self.count -= 1;
    }

    /// Doubles the memory; false if there is none.
    #[cold]
    fn grow(&mut self) -> bool {
        let capacity = if self.capacity == 0 { FIRST } else { self.capacity * 2 };
        let Some(memory) = memory::allocate(capacity * size_of::<Request>()) else { return false };
        let old = std::mem::replace(self, Shard { slots: memory.cast(), capacity, count: 0 });
        for at in (0..old.capacity).filter(|at| old.key(*at) != 0) {
            self.insert(old.slot(at));
        }
        if old.capacity > 0 {
            // SAFETY: allocated here with this size; everything was moved.
            unsafe { memory::free(old.slots.cast(), old.capacity * size_of::<Request>()) };
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECV: Work = Work::Recv(Wanted { comm: 0, from: 0, tag: None });

    fn request(key: usize) -> Request {
        Request::new(key, key as u64 + 1000, Work::Recv(Wanted { comm: key as u32, from: 0, tag: None }))
    }

    /// A wait that completes it.
    fn complete(key: usize) -> Option<u64> {
        let request = watch(key)?;
        finish(&request);
        Some(request.id)
    }

    #[test]
    fn many_requests_come_and_go() {
        let key = |i: usize| 0x7f00_0000_0000 + i * 64;
        for i in 0..50_000 {
            assert!(insert(request(key(i))).is_none());
        }
        for i in (0..50_000).step_by(3) {
            assert_eq!(complete(key(i)), Some(key(i) as u64 + 1000));
            assert!(complete(key(i)).is_none());
        }
        for i in 0..50_000 {
            assert_eq!(get(key(i)).is_some(), i % 3 != 0, "{i}");
        }
        for i in 0..50_000 {
            assert_eq!(remove(key(i)).is_some(), i % 3 != 0, "{i}");
        }
        assert!((0..50_000).all(|i| get(key(i)).is_none()));
    }

    #[test]
    fn persistent_requests_stay() {
        let key = 0x6600_0000_0040;
        assert!(insert(Request::persistent(key, RECV)).is_none());
        assert!(complete(key).is_none(), "not started");
        change(key, |request| request.begin(7));
        assert_eq!((complete(key), complete(key)), (Some(7), None));
        assert!(insert(request(key)).is_none(), "an inactive one was not under way");
        assert!(remove(key).is_some() && get(key).is_none());
    }

    #[test]
    fn a_handle_that_was_given_again_is_another_request() {
        let key = 0x6600_0000_0080;
        insert(request(key));
        assert_eq!(insert(Request::new(key, 5, RECV)).map(|lost| lost.id), Some(key as u64 + 1000));
        // A wait has begun; the library completes, and another thread gets the handle before the wait comes back.
        let waited = watch(key).expect("it is under way");
        assert!(insert(Request::new(key, 6, RECV)).is_none(), "its wait will tell its end");
        finish(&waited);
        assert_eq!(complete(key), Some(6));
        assert!(insert(request(0)).is_none() && get(0).is_none(), "no handle is 0");
    }
}
