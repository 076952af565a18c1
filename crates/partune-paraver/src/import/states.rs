//! States as operations, for threads that have nothing else.
//!
//! Extrae writes a state beside each call, which says no more than the call does. Other producers write states alone; then a state stands
//! for the operation that the thread is in.

use partune_trace::Role;

pub(super) const IDLE: u64 = 0;
pub(super) const RUNNING: u64 = 1;
pub(super) const NOT_CREATED: u64 = 2;
pub(super) const NOT_TRACED: u64 = 14;

/// What the states of Paraver are called where no `.pcf` names them, and what a thread does in them.
pub(super) const STATES: [(&str, Role); 28] = [
    ("Idle", Role::User),
    ("Running", Role::User),
    ("Not created", Role::User),
    ("Waiting a message", Role::Recv),
    ("Blocking Send", Role::Send),
    ("Synchronization", Role::CommSync),
    ("Test/Probe", Role::Probe),
    ("Scheduling and Fork/Join", Role::Management),
    ("Wait/WaitAll", Role::CommSync),
    ("Blocked", Role::CommSync),
    ("Immediate Send", Role::Send),
    ("Immediate Receive", Role::Recv),
    ("I/O", Role::Io),
    ("Group Communication", Role::CommSync),
    ("Tracing Disabled", Role::Measurement),
    ("Others", Role::Management),
    ("Send Receive", Role::SendRecv),
    ("Memory transfer", Role::CommSync),
    ("Profiling", Role::Measurement),
    ("On-line analysis", Role::Measurement),
    ("Remote memory access", Role::CommSync),
    ("Atomic memory operation", Role::CommSync),
    ("Memory ordering operation", Role::CommSync),
    ("Distributed locking", Role::CommSync),
    ("Overhead", Role::Management),
    ("One-sided op", Role::CommSync),
    ("Startup latency", Role::CommSync),
    ("Waiting links", Role::CommSync),
];

/// Whether the thread is in some operation then.
pub(super) fn is_operation(state: u64) -> bool {
    ![IDLE, RUNNING, NOT_CREATED, NOT_TRACED].contains(&state)
}
