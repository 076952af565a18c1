//! The server over a real socket: what it answers on real archives, and what it refuses.

mod answers;
mod refusals;
mod site;
