//! Roles: what a construct does, whatever its paradigm calls it.
//!
//! This is the generic operation type of PPW (Su, "Parallel Performance Wizard", its figures 4-4 to 4-7). The set is closed:
//! analyses match on it exhaustively and know nothing else of a construct, above all not its name.

/// The generic type of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Start-up of the paradigm; synchronises all PEs.
    Init,
    /// Shut-down of the paradigm; synchronises all PEs.
    Finalize,
    /// Asks for something that is known locally (rank, size, time); never waits.
    Inquiry,
    /// Barrier over a group, single-phase.
    GroupSync,
    /// First half of a split-phase barrier (`upc_notify`, `MPI_Ibarrier`).
    GroupNotify,
    /// Second half of a split-phase barrier (`upc_wait`).
    GroupWait,
    /// One root gives to all (broadcast, scatter).
    OneToAll,
    /// All give to one root (reduce, gather).
    AllToOne,
    /// All give to all (allreduce, allgather, alltoall).
    AllToAll,
    /// Each gets from those before it (scan, exscan).
    Scan,
    /// Collective creation or release of a communicator, window, file or symmetric memory.
    GlobalAlloc,
    /// Writes to memory of another PE.
    Put,
    /// Reads memory of another PE.
    Get,
    /// Atomic read-modify-write on memory of another PE.
    Atomic,
    /// Waits for, or tests, operations that this PE started (handles, fence, quiet, flush).
    CommSync,
    /// Waits for, or tests, work that this PE gave to a device: kernels and copies in its streams.
    DeviceWait,
    /// RMA synchronisation in which all PEs of a group wait for each other: a fence.
    RmaGroupSync,
    /// Lets the PEs of a group access the own memory: opens an exposure epoch; never waits.
    RmaPost,
    /// Begins to access memory of the PEs of a group: opens an access epoch; may wait for their posts.
    RmaStart,
    /// Ends an access epoch; may wait for the posts, if the start did not.
    RmaComplete,
    /// Ends an exposure epoch: waits for the completes of the PEs that had access.
    RmaWait,
    /// Sends a message.
    Send,
    /// Receives a message.
    Recv,
    /// Sends and receives in one operation.
    SendRecv,
    /// Looks whether a message has come.
    Probe,
    /// Gets exclusive or shared access.
    LockAcquire,
    /// Gives it back.
    LockRelease,
    /// Waits until a memory location, a flag or a condition has a value.
    WaitOnValue,
    /// Makes such a condition true.
    Signal,
    /// A section in which threads share work (loop, sections, single); code inside is user code.
    WorkSharing,
    /// A region that runs on a team of PEs; code inside is user code.
    Parallel,
    /// Creates a task.
    TaskCreate,
    /// The body of a task; code inside is user code.
    TaskRun,
    /// Waits for tasks.
    TaskWait,
    /// Creates another PE, or joins one.
    PeManagement,
    /// Reads, writes or positions a file.
    Io,
    /// A call of the paradigm that does none of the above (datatypes, info objects, groups, error handlers).
    Management,
    /// The measurement system itself (buffer flush, recording off).
    Measurement,
    /// User code: a function, loop or phase.
    User,
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

impl Role {
    pub const ALL: [Role; 39] = [
        Role::Init,
        Role::Finalize,
        Role::Inquiry,
        Role::GroupSync,
        Role::GroupNotify,
        Role::GroupWait,
        Role::OneToAll,
        Role::AllToOne,
        Role::AllToAll,
        Role::Scan,
        Role::GlobalAlloc,
        Role::Put,
        Role::Get,
        Role::Atomic,
        Role::CommSync,
        Role::DeviceWait,
        Role::RmaGroupSync,
        Role::RmaPost,
        Role::RmaStart,
        Role::RmaComplete,
        Role::RmaWait,
        Role::Send,
        Role::Recv,
        Role::SendRecv,
        Role::Probe,
        Role::LockAcquire,
        Role::LockRelease,
        Role::WaitOnValue,
        Role::Signal,
        Role::WorkSharing,
        Role::Parallel,
        Role::TaskCreate,
        Role::TaskRun,
        Role::TaskWait,
        Role::PeManagement,
        Role::Io,
        Role::Management,
        Role::Measurement,
        Role::User,
    ];

    /// The name used in JSON and in tables.
    pub fn name(self) -> &'static str {
        match self {
            Role::Init => "init",
            Role::Finalize => "finalize",
            Role::Inquiry => "inquiry",
            Role::GroupSync => "group_sync",
            Role::GroupNotify => "group_notify",
            Role::GroupWait => "group_wait",
            Role::OneToAll => "one_to_all",
            Role::AllToOne => "all_to_one",
            Role::AllToAll => "all_to_all",
            Role::Scan => "scan",
            Role::GlobalAlloc => "global_alloc",
            Role::Put => "put",
            Role::Get => "get",
            Role::Atomic => "atomic",
            Role::CommSync => "comm_sync",
            Role::DeviceWait => "device_wait",
            Role::RmaGroupSync => "rma_group_sync",
            Role::RmaPost => "rma_post",
            Role::RmaStart => "rma_start",
            Role::RmaComplete => "rma_complete",
            Role::RmaWait => "rma_wait",
            Role::Send => "send",
            Role::Recv => "recv",
            Role::SendRecv => "send_recv",
            Role::Probe => "probe",
            Role::LockAcquire => "lock_acquire",
            Role::LockRelease => "lock_release",
            Role::WaitOnValue => "wait_on_value",
            Role::Signal => "signal",
            Role::WorkSharing => "work_sharing",
            Role::Parallel => "parallel",
            Role::TaskCreate => "task_create",
            Role::TaskRun => "task_run",
            Role::TaskWait => "task_wait",
            Role::PeManagement => "pe_management",
            Role::Io => "io",
            Role::Management => "management",
            Role::Measurement => "measurement",
            Role::User => "user",
        }
    }

    /// Whether code inside it is the user's, so that the operation itself is not an operation but a frame of the call path.
    pub fn is_transparent(self) -> bool {
        matches!(self, Role::User | Role::WorkSharing | Role::Parallel | Role::TaskRun)
    }

    /// Whether all PEs of a group take part in it together.
    pub fn is_collective(self) -> bool {
        match self {
            Role::Init
            | Role::Finalize
            | Role::GroupSync
            | Role::GroupNotify
            | Role::GroupWait
            | Role::OneToAll
            | Role::AllToOne
            | Role::AllToAll
            | Role::Scan
            | Role::GlobalAlloc
            | Role::RmaGroupSync => true,
            Role::Inquiry
            | Role::Put
            | Role::Get
            | Role::Atomic
            | Role::CommSync
            | Role::DeviceWait
            | Role::RmaPost
            | Role::RmaStart
            | Role::RmaComplete
            | Role::RmaWait
            | Role::Send
            | Role::Recv
            | Role::SendRecv
            | Role::Probe
            | Role::LockAcquire
            | Role::LockRelease
            | Role::WaitOnValue
            | Role::Signal
            | Role::WorkSharing
            | Role::Parallel
            | Role::TaskCreate
            | Role::TaskRun
            | Role::TaskWait
            | Role::PeManagement
            | Role::Io
            | Role::Management
            | Role::Measurement
            | Role::User => false,
        }
    }

    /// What its exclusive time counts as.
    pub fn activity(self) -> Activity {
        match self {
            Role::User | Role::WorkSharing | Role::Parallel | Role::TaskRun => Activity::Computation,
            Role::OneToAll
            | Role::AllToOne
            | Role::AllToAll
            | Role::Scan
            | Role::Put
            | Role::Get
            | Role::Atomic
            | Role::Send
            | Role::Recv
            | Role::SendRecv
            | Role::Probe
            | Role::CommSync => Activity::Communication,
            Role::GroupSync
            | Role::GroupNotify
            | Role::GroupWait
            | Role::DeviceWait
            | Role::RmaGroupSync
            | Role::RmaPost
            | Role::RmaStart
            | Role::RmaComplete
            | Role::RmaWait
            | Role::LockAcquire
            | Role::LockRelease
            | Role::WaitOnValue
            | Role::Signal
            | Role::TaskWait => Activity::Synchronization,
            Role::Io => Activity::Io,
            Role::Init
            | Role::Finalize
            | Role::Inquiry
            | Role::GlobalAlloc
            | Role::TaskCreate
            | Role::PeManagement
            | Role::Management => Activity::Management,
            Role::Measurement => Activity::Measurement,
        }
    }
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
