//! Records POSIX threads inside the user's program, and those of ISO C; those of C++ and most other languages are made of them.
//!
//! Recorded are a thread's creation, its begin, its end, and who waited for that; and where threads wait for each other: at mutexes, locks of readers and
//! writers, spin locks, conditions, semaphores and barriers. A wrapper tries first. Where a call need not wait, that is all but for
//! a look at the clock, unless it gets a lock that is held for long. A wait that is shorter than a threshold leaves nothing either. Who gives what another thread awaits says so; it
//! sees that one waits by a single load ([`objects`]).
//!
//! Recording begins when the program makes a thread. Threads that libraries of runtimes make, and what these libraries wait for, are their own
//! business ([`partune_collect::callers`]). A thread may be cancelled in any wrapper that waits: what waits is called by it directly, and nothing that would have to
//! be given up is in its frame.
#![allow(unsafe_code, reason = "functions of the program and of the C library")]
#![allow(unreachable_pub, reason = "what the program calls has the C library's names")]

mod awake;
mod barriers;
mod conditions;
mod function;
mod locks;
mod objects;
mod room;
mod semaphores;
mod threads;
mod waits;

use partune_collect::{Kind, Region};

/// A construct, as partune's table of paradigms spells it.
const fn construct(name: &'static str) -> Region {
    Region::new(name, Kind::Construct(NAME))
}

const NAME: &str = "pthread";
