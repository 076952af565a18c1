//! Parameters that handlers ask for, by what they mean, wherever a function has them.

/// A meaning of a parameter. `build.rs` says which names of the standard have it, and gives every function its [`Places`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Place {
    /// The communicator that a call works on.
    Comm,
    /// Where a new communicator is stored, or one that is freed.
    CommOut,
    Group,
    /// One buffer, or the send buffer.
    Send,
    Recv,
    SendCount,
    SendCounts,
    SendType,
    SendTypes,
    RecvCount,
    RecvCounts,
    RecvType,
    RecvTypes,
    /// Where an access begins in the target's window, what it touches there, and the unit that a window counts in.
    TargetDisplacement,
    TargetType,
    Unit,
    Partitions,
    FirstReady,
    LastReady,
    /// The rank that a message goes to, or that memory is accessed at.
    Target,
    Source,
    SendTag,
    RecvTag,
    Root,
    Message,
    Request,
    Requests,
    /// Number of requests, or of new communicators' processes.
    Many,
    Index,
    /// Number of completed requests.
    OutCount,
    Indices,
    Flag,
    Status,
    Statuses,
    Win,
    WinOut,
    LockType,
    File,
    FileOut,
    /// Where an access to a file begins in its view.
    Offset,
    /// A name given to an object, or of a file.
    Text,
    Level,
    Session,
}

/// How many there are.
pub(crate) const PLACES: usize = Place::Session as usize + 1;

/// Of each meaning, the position of the parameter in a function; [`NOWHERE`] if it has none.
pub(crate) type Places = [u8; PLACES];

pub(crate) const NOWHERE: u8 = u8::MAX;

/// The places of a function from those that it has.
pub(crate) const fn places(some: &[(Place, u8)]) -> Places {
    let mut places = [NOWHERE; PLACES];
    let mut at = 0;
    while at < some.len() {
        places[some[at].0 as usize] = some[at].1;
        at += 1;
    }
    places
}
