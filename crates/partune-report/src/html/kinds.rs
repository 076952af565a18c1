//! Kinds of time: the few colours in which roles are drawn.

use maud::{Markup, html};
use partune_trace::{Activity, Role};

/// What a piece of a picture is. The name is that of its colour in the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Computation,
    Messages,
    Collective,
    Synchronisation,
    OneSided,
    Locks,
    Io,
    Management,
    Measurement,
    Idle,
    Wait,
}

impl Kind {
    pub(super) const ALL: [Kind; 11] = [
        Kind::Computation,
        Kind::Messages,
        Kind::Collective,
        Kind::Synchronisation,
        Kind::OneSided,
        Kind::Locks,
        Kind::Io,
        Kind::Management,
        Kind::Measurement,
        Kind::Idle,
        Kind::Wait,
    ];

    pub(super) fn of(role: Role) -> Kind {
        match role {
            Role::User | Role::WorkSharing | Role::Parallel | Role::TaskRun => Kind::Computation,
            Role::Send | Role::Recv | Role::SendRecv | Role::Probe | Role::CommSync => Kind::Messages,
            Role::OneToAll | Role::AllToOne | Role::AllToAll | Role::Scan => Kind::Collective,
            Role::GroupSync | Role::GroupNotify | Role::GroupWait | Role::TaskWait => Kind::Synchronisation,
            Role::Put
            | Role::Get
            | Role::Atomic
            | Role::RmaGroupSync
            | Role::RmaPost
            | Role::RmaStart
            | Role::RmaComplete
            | Role::RmaWait => Kind::OneSided,
            Role::LockAcquire | Role::LockRelease | Role::WaitOnValue | Role::Signal => Kind::Locks,
            Role::Io => Kind::Io,
            Role::Init
            | Role::Finalize
            | Role::Inquiry
            | Role::GlobalAlloc
            | Role::TaskCreate
            | Role::PeManagement
            | Role::Management => Kind::Management,
            Role::Measurement => Kind::Measurement,
        }
    }

    /// The colour of an activity, which is coarser than a role.
    pub(super) fn of_activity(activity: Activity) -> Kind {
        match activity {
            Activity::Computation => Kind::Computation,
            Activity::Communication => Kind::Messages,
            Activity::Synchronization => Kind::Synchronisation,
            Activity::Io => Kind::Io,
            Activity::Management => Kind::Management,
            Activity::Measurement => Kind::Measurement,
        }
    }

    /// The end of its classes in the style sheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Kind::Computation => "computation",
            Kind::Messages => "messages",
            Kind::Collective => "collective",
            Kind::Synchronisation => "synchronisation",
            Kind::OneSided => "onesided",
            Kind::Locks => "locks",
            Kind::Io => "io",
            Kind::Management => "management",
            Kind::Measurement => "measurement",
            Kind::Idle => "idle",
            Kind::Wait => "wait",
        }
    }

    /// Its words in a legend.
    pub(super) fn label(self) -> &'static str {
        match self {
            Kind::Computation => "computation",
            Kind::Messages => "messages",
            Kind::Collective => "collectives",
            Kind::Synchronisation => "barriers, task waits",
            Kind::OneSided => "one-sided",
            Kind::Locks => "locks, signals",
            Kind::Io => "files",
            Kind::Management => "start-up, management",
            Kind::Measurement => "recorder",
            Kind::Idle => "nothing recorded",
            Kind::Wait => "waiting for another PE",
        }
    }
}

/// A legend: a coloured square and words for each entry.
pub(super) fn legend<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Markup {
    html! {
        ul.legend {
            @for (class, label) in entries {
                li { svg viewBox="0 0 10 10" aria-hidden="true" { rect width="10" height="10" rx="2" class={ "f-" (class) } {} } (label) }
            }
        }
    }
}
