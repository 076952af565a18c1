//! Kinds of time: what roles have in common when they are drawn. What a picture cannot tell apart has one kind.

use partune_trace::{Activity, Role};

/// What a piece of a picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Computation,
    Messages,
    Collective,
    Synchronisation,
    OneSided,
    Locks,
    /// Waiting for work that was given to a device.
    Device,
    Io,
    Management,
    Measurement,
    /// Nothing was recorded.
    Idle,
    /// A part of the others, not one beside them: see [`partune_analysis::Waits`].
    Wait,
}

impl Kind {
    pub const COUNT: usize = 12;

    /// In the order in which they are stacked.
    pub const ALL: [Kind; Kind::COUNT] = [
        Kind::Computation,
        Kind::Messages,
        Kind::Collective,
        Kind::Synchronisation,
        Kind::OneSided,
        Kind::Locks,
        Kind::Device,
        Kind::Io,
        Kind::Management,
        Kind::Measurement,
        Kind::Idle,
        Kind::Wait,
    ];

    pub fn of(role: Role) -> Kind {
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
            Role::DeviceWait => Kind::Device,
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

    /// The kind of an activity, which is coarser than a role; none is idle.
    pub fn of_activity(activity: Option<Activity>) -> Kind {
        match activity {
            Some(Activity::Computation) => Kind::Computation,
            Some(Activity::Communication) => Kind::Messages,
            Some(Activity::Synchronization) => Kind::Synchronisation,
            Some(Activity::Io) => Kind::Io,
            Some(Activity::Management) => Kind::Management,
            Some(Activity::Measurement) => Kind::Measurement,
            None => Kind::Idle,
        }
    }

    /// The name of its colour in style sheets, and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Computation => "computation",
            Kind::Messages => "messages",
            Kind::Collective => "collective",
            Kind::Synchronisation => "synchronisation",
            Kind::OneSided => "onesided",
            Kind::Locks => "locks",
            Kind::Device => "device",
            Kind::Io => "io",
            Kind::Management => "management",
            Kind::Measurement => "measurement",
            Kind::Idle => "idle",
            Kind::Wait => "wait",
        }
    }
}
