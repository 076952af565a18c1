//! Records OpenMP inside the user's program.
//!
//! The runtimes of LLVM, Intel and AMD call a tool that they find in the process: [`ompt`]. GCC's runtime (libgomp) has no tools interface, so its entry
//! points are ours: the functions that the compiler calls for a directive, and the locks that programs call themselves. Each notes what it is about and calls the runtime's own. What the compiler does without the runtime cannot be seen so:
//! loops of a static schedule, `master`, and who runs a `single`; their barriers and the code around them can.
//!
//! A team's region is begun by each member where its part begins ([`team`]). Its last barrier is inside of the runtime, so each member comes to a
//! barrier of its own before: that is where it waits, and the runtime's is over at once then.
//!
//! The same functions are where a run that is not recorded is given other schedules and teams: [`adapt`].
#![allow(unsafe_code, reason = "functions of the program and of its runtime")]
#![allow(unreachable_pub, non_snake_case, reason = "what the program calls has the runtime's names")]

mod adapt;
mod awake;
mod bodies;
mod locks;
mod ompt;
mod recent;
mod runtime;
mod sync;
mod tasks;
mod team;
mod work;

use partune_collect::{Kind, Region};

/// A construct of OpenMP, as partune's table of paradigms spells it.
const fn construct(name: &'static str) -> Region {
    Region::new(name, Kind::Construct(NAME))
}

const NAME: &str = "OpenMP";
