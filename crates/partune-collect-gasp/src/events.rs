//! The events of UPC: one row each, with its numbers in the two runtimes that have GASP, and what it does by its arguments.
//!
//! GNU UPC and Clang UPC number theirs from 1 on, Berkeley UPC from 1000; a user's own are created by the tool, from [`USERS`] on, which is free in both. So a
//! number says which runtime it is of.

use partune_collect::facts::Collective;

/// Numbers of events that the program creates.
pub(crate) const USERS: std::ops::Range<u32> = 100..1000;

/// An argument of a copy: where data lies, or what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// A pointer to a shared pointer.
    Shared,
    /// A pointer to memory of the thread.
    Private,
    /// An `int`.
    Value,
}

/// When a copy is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// At its end.
    Return,
    /// When its handle was waited for, which is the last argument of its end.
    Sync,
}

/// What an event is, and which arguments it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// A function of the program: its name.
    Function,
    /// A function of C's library, or another one that tells nothing of interest.
    Code,
    /// A loop that is dealt out.
    WorkSharing,
    /// The program ends on all threads together: its status.
    Exit,
    /// It ends on all because of one.
    Abort,
    Barrier,
    Notify,
    Wait,
    /// An operation of which there is no more to tell than when it was.
    Plain,
    /// All threads allocate shared memory together.
    Allocate,
    /// A pointer to a lock.
    Lock,
    /// The same; at its end also whether the thread got it.
    TryLock,
    Unlock,
    /// Where to, where from, and how many bytes. `flagged`: an `int` before says whether it is relaxed.
    Copy {
        flagged: bool,
        to: Side,
        from: Side,
        until: Until,
    },
    /// A handle.
    Sync,
    /// The same; at its end also whether it is complete.
    TrySync,
    /// Where to, where from, then as the shape says.
    Collective(Shape),
}

/// Collective operations of UPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Broadcast,
    Scatter,
    Gather,
    GatherAll,
    Exchange,
    Permute,
    Reduce,
    PrefixReduce,
}

impl Shape {
    pub(crate) fn op(self) -> Collective {
        match self {
            Shape::Broadcast => Collective::Broadcast,
            Shape::Scatter => Collective::Scatter,
            Shape::Gather => Collective::Gather,
            Shape::GatherAll => Collective::Allgather,
            Shape::Exchange => Collective::Alltoall,
            Shape::Permute => Collective::Alltoallv,
            Shape::Reduce => Collective::Reduce,
            Shape::PrefixReduce => Collective::Scan,
        }
    }
}

/// An event, as the paradigm's table names the construct.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: &'static str,
    /// Of GNU and Clang UPC, and of Berkeley UPC; 0 where there is none.
    numbers: [u32; 2],
    pub(crate) does: Does,
}

/// The event of a number.
pub(crate) fn find(number: u32) -> Option<&'static Event> {
    let place = PLACES.get(number as usize)?.checked_sub(1)?;
    EVENTS.get(usize::from(place))
}

/// Of each number the place of its event, plus one; 0 where there is none.
static PLACES: [u8; 1411] = {
    let mut places = [0; 1411];
    let mut at = 0;
    while at < EVENTS.len() {
        let [first, second] = EVENTS[at].numbers;
        places[first as usize] = at as u8 + 1;
        places[second as usize] = at as u8 + 1;
        at += 1;
    }
    places[0] = 0;
    places
};

const fn event(name: &'static str, numbers: [u32; 2], does: Does) -> Event {
    Event { name, numbers, does }
}

const fn copy(name: &'static str, numbers: [u32; 2], [to, from]: [Side; 2], until: Until) -> Event {
    event(name, numbers, Does::Copy { flagged: false, to, from, until })
}

/// An access that the program does not call a function for.
const fn implicit(name: &'static str, numbers: [u32; 2], [to, from]: [Side; 2], until: Until) -> Event {
    event(name, numbers, Does::Copy { flagged: true, to, from, until })
}

const fn collective(name: &'static str, numbers: [u32; 2], shape: Shape) -> Event {
    event(name, numbers, Does::Collective(shape))
}

const OUT: [Side; 2] = [Side::Shared, Side::Private];
const IN: [Side; 2] = [Side::Private, Side::Shared];
const BETWEEN: [Side; 2] = [Side::Shared, Side::Shared];
const FILL: [Side; 2] = [Side::Shared, Side::Value];

const EVENTS: &[Event] = &[
    event("", [1, 1023], Does::Function),
    event("malloc", [2, 1020], Does::Code),
    event("realloc", [3, 1021], Does::Code),
    event("free", [4, 1022], Does::Code),
    event("upc_collective_exit", [5, 1210], Does::Exit),
    event("upc_noncollective_exit", [6, 1211], Does::Abort),
    event("upc_notify", [7, 1100], Does::Notify),
    event("upc_wait", [8, 1101], Does::Wait),
    event("upc_barrier", [9, 0], Does::Barrier),
    event("upc_fence", [10, 0], Does::Plain),
    event("upc_forall", [11, 0], Does::WorkSharing),
    event("upc_global_alloc", [12, 1001], Does::Plain),
    event("upc_all_alloc", [13, 1002], Does::Allocate),
    event("upc_alloc", [14, 1000], Does::Plain),
    event("upc_free", [15, 1003], Does::Plain),
    event("upc_global_lock_alloc", [16, 1010], Does::Plain),
    event("upc_all_lock_alloc", [17, 1011], Does::Allocate),
    event("upc_lock_free", [18, 1012], Does::Plain),
    event("upc_lock", [19, 1014], Does::Lock),
    event("upc_lock_attempt", [20, 1013], Does::TryLock),
    event("upc_unlock", [21, 1015], Does::Unlock),
    copy("upc_memcpy", [22, 1032], BETWEEN, Until::Return),
    copy("upc_memget", [23, 1030], IN, Until::Return),
    copy("upc_memput", [24, 1031], OUT, Until::Return),
    copy("upc_memset", [25, 1033], FILL, Until::Return),
    implicit("upc_get", [26, 1111], IN, Until::Return),
    implicit("upc_put", [27, 1110], OUT, Until::Return),
    implicit("upc_nb_get_init", [28, 1120], IN, Until::Sync),
    event("upc_nb_get_data", [29, 0], Does::Plain),
    implicit("upc_nb_put_init", [30, 1121], OUT, Until::Sync),
    event("upc_nb_put_data", [31, 0], Does::Plain),
    event("upc_nb_sync", [32, 1122], Does::Sync),
    event("upc_cache_miss", [33, 0], Does::Plain),
    event("upc_cache_hit", [34, 0], Does::Plain),
    event("upc_cache_invalidate", [35, 0], Does::Plain),
    collective("upc_all_broadcast", [36, 1300], Shape::Broadcast),
    collective("upc_all_scatter", [37, 1310], Shape::Scatter),
    collective("upc_all_gather", [38, 1320], Shape::Gather),
    collective("upc_all_gather_all", [39, 1330], Shape::GatherAll),
    collective("upc_all_exchange", [40, 1340], Shape::Exchange),
    collective("upc_all_permute", [41, 1350], Shape::Permute),
    collective("upc_all_reduce", [42, 1400], Shape::Reduce),
    collective("upc_all_prefix_reduce", [43, 1410], Shape::PrefixReduce),
    event("bupc_nb_trysync", [0, 1130], Does::TrySync),
    copy("bupc_nb_memget_init", [0, 1131], IN, Until::Sync),
    copy("bupc_nb_memput_init", [0, 1132], OUT, Until::Sync),
    copy("bupc_nb_memcpy_init", [0, 1133], BETWEEN, Until::Sync),
    event("bupc_static_shared", [0, 1140], Does::Plain),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_one_events_and_none_of_a_users() {
        let mut numbers: Vec<u32> = EVENTS.iter().flat_map(|event| event.numbers).filter(|it| *it > 0).collect();
        assert_eq!(numbers.len(), 43 + 35 + 5);
        assert!(numbers.iter().all(|number| !USERS.contains(number) && find(*number).is_some()));
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 43 + 35 + 5);
        assert_eq!((find(0), find(99)), (None, None));
        assert_eq!(find(1031), find(24));
    }
}
