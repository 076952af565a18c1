//! How a process ended, as partune's recorder says it in properties of archives.

/// Of a process: `finalize`, `exit`, `abort`, `killed`, or `signal` and its number.
pub const END: &str = "PARTUNE::END";
pub const FINALIZE: &str = "finalize";
pub const KILLED: &str = "killed";
pub const ABORT: &str = "abort";
pub const EXIT: &str = "exit";
/// Comes before the number of a signal.
pub const SIGNAL: &str = "signal ";
/// When a process died of a signal, in ticks; of one that was killed, when the command had ended, which is at the latest.
pub const TIME: &str = "PARTUNE::END_TIME";
/// Where a process died of a signal: functions from the innermost outwards, with [`CALLED_FROM`] between them.
pub const PLACE: &str = "PARTUNE::END_PLACE";
pub const CALLED_FROM: &str = " < ";
/// Of a PE of a process that was killed: when it was seen last after its last event, in ticks, and where, as above.
pub const SEEN_TIME: &str = "PARTUNE::SEEN_TIME";
pub const SEEN_PLACE: &str = "PARTUNE::SEEN_PLACE";
/// Of a PE whose last operation has no end: the communicator in which it waits, and for which rank of it; without that for all of it or for
/// anybody.
pub const AWAITED_COMM: &str = "PARTUNE::AWAITED_COMM";
pub const AWAITED_RANK: &str = "PARTUNE::AWAITED_RANK";
/// Whom else the operation waits for: communicators and ranks as `4:1 4:2`.
pub const AWAITED_ALSO: &str = "PARTUNE::AWAITED_ALSO";
/// The same of a PE that waits for another thread of its process: for which location.
pub const AWAITED_LOCATION: &str = "PARTUNE::AWAITED_LOCATION";
