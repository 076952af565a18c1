//! Roles: what a construct does, whatever its paradigm calls it.
//!
//! This is the generic operation type of PPW (Su, "Parallel Performance Wizard", its figures 4-4 to 4-7). The set is closed:
//! analyses match on it exhaustively and know nothing else of a construct, above all not its name.

/// Declares the roles: the name in JSON and in tables, what exclusive time counts as, and a property where a role has one.
macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident $name:literal $activity:ident $($property:ident)?,)*) => {
        /// The generic type of an operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum Role {
            $($(#[$doc])* $role,)*
        }

        impl Role {
            pub const ALL: [Role; [$(Role::$role),*].len()] = [$(Role::$role),*];

            /// The name used in JSON and in tables.
            pub fn name(self) -> &'static str {
                match self {
                    $(Role::$role => $name,)*
                }
            }

            /// What its exclusive time counts as.
            pub fn activity(self) -> Activity {
                match self {
                    $(Role::$role => Activity::$activity,)*
                }
            }

            fn property(self) -> Property {
                match self {
                    $(Role::$role => property!($($property)?),)*
                }
            }
        }
    };
}

macro_rules! property {
    () => {
        Property::None
    };
    (collective) => {
        Property::Collective
    };
    (transparent) => {
        Property::Transparent
    };
}

#[derive(PartialEq)]
enum Property {
    None,
    /// All PEs of a group take part in it together.
    Collective,
    /// Code inside it is the user's.
    Transparent,
}

roles! {
    /// Start-up of the paradigm; synchronises all PEs.
    Init "init" Management collective,
    /// Shut-down of the paradigm; synchronises all PEs.
    Finalize "finalize" Management collective,
    /// Asks for something that is known locally (rank, size, time); never waits.
    Inquiry "inquiry" Management,
    /// Barrier over a group, single-phase.
    GroupSync "group_sync" Synchronization collective,
    /// First half of a split-phase barrier (`upc_notify`, `MPI_Ibarrier`).
    GroupNotify "group_notify" Synchronization collective,
    /// Second half of a split-phase barrier (`upc_wait`).
    GroupWait "group_wait" Synchronization collective,
    /// One root gives to all (broadcast, scatter).
    OneToAll "one_to_all" Communication collective,
    /// All give to one root (reduce, gather).
    AllToOne "all_to_one" Communication collective,
    /// All give to all (allreduce, allgather, alltoall).
    AllToAll "all_to_all" Communication collective,
    /// Each gets from those before it (scan, exscan).
    Scan "scan" Communication collective,
    /// Collective creation or release of a communicator, window, file or symmetric memory.
    GlobalAlloc "global_alloc" Management collective,
    /// Writes to memory of another PE.
    Put "put" Communication,
    /// Reads memory of another PE.
    Get "get" Communication,
    /// Atomic read-modify-write on memory of another PE.
    Atomic "atomic" Communication,
    /// Waits for, or tests, operations that this PE started (handles, fence, quiet, flush).
    CommSync "comm_sync" Communication,
    /// Waits for, or tests, work that this PE gave to a device: kernels and copies in its streams.
    DeviceWait "device_wait" Synchronization,
    /// RMA synchronisation in which all PEs of a group wait for each other: a fence.
    RmaGroupSync "rma_group_sync" Synchronization collective,
    /// Lets the PEs of a group access the own memory: opens an exposure epoch; never waits.
    RmaPost "rma_post" Synchronization,
    /// Begins to access memory of the PEs of a group: opens an access epoch; may wait for their posts.
    RmaStart "rma_start" Synchronization,
    /// Ends an access epoch; may wait for the posts, if the start did not.
    RmaComplete "rma_complete" Synchronization,
    /// Ends an exposure epoch: waits for the completes of the PEs that had access.
    RmaWait "rma_wait" Synchronization,
    /// Sends a message.
    Send "send" Communication,
    /// Receives a message.
    Recv "recv" Communication,
    /// Sends and receives in one operation.
    SendRecv "send_recv" Communication,
    /// Looks whether a message has come.
    Probe "probe" Communication,
    /// Gets exclusive or shared access.
    LockAcquire "lock_acquire" Synchronization,
    /// Gives it back.
    LockRelease "lock_release" Synchronization,
    /// Waits until a memory location, a flag or a condition has a value.
    WaitOnValue "wait_on_value" Synchronization,
    /// Makes such a condition true.
    Signal "signal" Synchronization,
    /// A section in which threads share work (loop, sections, single); code inside is user code.
    WorkSharing "work_sharing" Computation transparent,
    /// A region that runs on a team of PEs; code inside is user code.
    Parallel "parallel" Computation transparent,
    /// Creates a task.
    TaskCreate "task_create" Management,
    /// The body of a task; code inside is user code.
    TaskRun "task_run" Computation transparent,
    /// Waits for tasks.
    TaskWait "task_wait" Synchronization,
    /// Creates another PE, or joins one.
    PeManagement "pe_management" Management,
    /// Reads, writes or positions a file.
    Io "io" Io,
    /// A call of the paradigm that does none of the above (datatypes, info objects, groups, error handlers).
    Management "management" Management,
    /// The measurement system itself (buffer flush, recording off).
    Measurement "measurement" Measurement,
    /// User code: a function, loop or phase.
    User "user" Computation transparent,
}

impl Role {
    /// Whether code inside it is the user's, so that the operation itself is not an operation but a frame of the call path.
    pub fn is_transparent(self) -> bool {
        self.property() == Property::Transparent
    }

    /// Whether barriers order nothing that an operation of this role does.
    pub fn is_neutral(self) -> bool {
        matches!(self, Role::Inquiry | Role::Management | Role::Measurement) || self.is_transparent()
    }

    /// Whether all PEs of a group take part in it together.
    pub fn is_collective(self) -> bool {
        self.property() == Property::Collective
    }

    /// How many rounds an operation of so many PEs needs, and how often its bytes pass: by binomial trees, dissemination and pairwise exchange.
    pub fn shape(self, pes: f64) -> (f64, f64) {
        let pes = pes.max(2.0);
        let rounds = pes.log2();
        match self {
            Role::OneToAll | Role::AllToOne | Role::Scan => (rounds, rounds),
            Role::AllToAll => (rounds, 2.0 * (pes - 1.0) / pes),
            Role::GroupSync | Role::RmaGroupSync => (rounds, 0.0),
            _ => (1.0, 1.0),
        }
    }

    /// Who takes part in it, unless the construct says otherwise.
    pub const fn participants(self) -> Participants {
        match self {
            Role::Init | Role::Finalize => Participants::World,
            Role::GroupSync
            | Role::GroupNotify
            | Role::GroupWait
            | Role::OneToAll
            | Role::AllToOne
            | Role::AllToAll
            | Role::Scan
            | Role::GlobalAlloc
            | Role::RmaGroupSync => Participants::Group,
            Role::SendRecv | Role::RmaPost | Role::RmaStart | Role::RmaComplete | Role::RmaWait => Participants::Named,
            Role::Put | Role::Get | Role::Atomic | Role::Send | Role::Recv | Role::Probe | Role::PeManagement => {
                Participants::Peer
            }
            Role::LockAcquire | Role::LockRelease | Role::WaitOnValue | Role::Signal => Participants::Object,
            Role::WorkSharing | Role::Parallel | Role::TaskCreate | Role::TaskRun | Role::TaskWait => {
                Participants::Team
            }
            Role::Inquiry
            | Role::CommSync
            | Role::DeviceWait
            | Role::Io
            | Role::Management
            | Role::Measurement
            | Role::User => Participants::Own,
        }
    }
}

/// Who takes part in an operation, and so how its parts on several PEs are put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Participants {
    /// Only the PE that calls it.
    #[default]
    Own,
    /// One other PE, which a row names: the k-th of a channel meets the k-th, or the two that have the same number.
    Peer,
    /// Every PE that it names: the k-th of A that names B meets the k-th of B that names A, and nobody else.
    Named,
    /// The members of a group that was made before: the k-th of the group on each. A row says which group; without one it can only be
    /// the group of everybody where there is no smaller one.
    Group,
    /// The members of a set that the call itself describes, as of a group. Without a row nobody knows which set.
    Set,
    /// All PEs of the paradigm: the k-th on each. It needs no row.
    World,
    /// The threads of the innermost team: the k-th in the parallel region on each.
    Team,
    /// Whoever uses the same lock, flag or memory.
    Object,
}

/// When a call of a construct comes back, relative to what it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Completion {
    /// When its own part is done (`MPI_Send`, `shmem_putmem`); it may have waited for others.
    #[default]
    Blocking,
    /// Not before the partner took part (`MPI_Ssend`).
    Synchronous,
    /// After copying; it never waits for the partner (`MPI_Bsend`).
    Buffered,
    /// At once; a [`Role::CommSync`] operation completes it (`MPI_Isend`, `shmem_put_nbi`).
    NonBlocking,
    /// At once, and nothing was started yet (`MPI_Send_init`).
    Persistent,
}

/// What the time of an operation counts as, at the highest level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activity {
    Computation,
    Communication,
    Synchronization,
    Io,
    /// Start-up and shut-down of a paradigm, management calls.
    Management,
    /// Time spent by the recorder.
    Measurement,
}

impl Activity {
    pub const ALL: [Activity; 6] = [
        Activity::Computation,
        Activity::Communication,
        Activity::Synchronization,
        Activity::Io,
        Activity::Management,
        Activity::Measurement,
    ];

    /// The name used in JSON and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Activity::Computation => "computation",
            Activity::Communication => "communication",
            Activity::Synchronization => "synchronization",
            Activity::Io => "io",
            Activity::Management => "management",
            Activity::Measurement => "measurement",
        }
    }
}
