//! Findings: places that lose time, how much, and who makes them.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use partune_base::{CallPathId, FileId, PeId, Span, Time};
use partune_operations::OwnPattern;
use partune_trace::{Role, Trace};
use serde::{Deserialize, Serialize};

use crate::useful::role_of_path;

/// What kind of loss a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Pattern {
    /// A receive waits for its send.
    LateSender,
    /// A send waits for its receive.
    LateReceiver,
    WaitAtBarrier,
    /// A collective in which everybody needs everybody waits for its last member.
    WaitAtNxn,
    /// What all share is made or freed (communicators, windows, files, symmetric memory), and everybody waits for the last one.
    WaitAtSetUp,
    /// Receivers of a one-to-all collective wait for its root.
    LateBroadcast,
    /// The root of an all-to-one collective waits for the others.
    EarlyReduce,
    /// A member of a scan waits for those before it.
    EarlyScan,
    WaitOnLock,
    WaitOnValue,
    /// A put or get takes longer while others access the same PE.
    CompetingPutGet,
    /// A group synchronisation of RMA (fence, post/start/complete/wait) waits for its last member.
    LateFence,
    /// An operation that names PEs (SYNC IMAGES) waits for one of them.
    LatePartner,
    /// A thread waits for tasks that others run.
    WaitForTask,
    /// A thread waits for another one to end.
    WaitForThread,
    /// A barrier that orders no conflicting accesses.
    RedundantBarrier,
    SmallTransfers,
    SerialBlockingTransfers,
    LoadImbalance,
    SerialSection,
    PoorLocality,
    HighFrequency,
    /// Accesses to a file that are smaller than its blocks and follow each other.
    SmallAccesses,
    /// One PE reads and writes for all, and the others wait.
    SerialIo,
    /// Every process reads the same bytes.
    SameFileReadByAll,
    /// What was written is sent to the device again and again.
    SyncInLoop,
    /// An operation takes longer than the machine needs, and nobody made it wait.
    AboveBaseline,
    /// What an operation takes where nobody made it wait.
    OperationCost,
    InputOutput,
    WaitOnDevice,
    /// Start-up and shut-down of a paradigm, most of it outside of the run.
    StartUp,
    /// Members of a team have nothing to do while it is forked or joined.
    ForkJoin,
    /// Threads have nothing to do while their process communicates.
    IdleThreads,
    /// PEs could run, and have no processor.
    WaitForProcessor,
    /// One of the user's own.
    #[serde(skip)] // Runs with patterns of the user's own are not dealt out.
    User(&'static OwnPattern),
}

/// Kinds of patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One PE keeps another waiting.
    Wait,
    /// Members of a group that came late keep the others waiting.
    GroupWait,
    /// Time is spent where nobody was late.
    Cost,
    /// Why an operation takes time in which it waits for nobody.
    Reason,
    /// Why PEs wait: some have more to do than others.
    Uneven,
    /// What the user wants to be told of.
    Own,
}

/// What PEs lose time by, as the account of time has it ([`crate::Account`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    Waiting,
    Devices,
    StartUp,
    Transfer,
    Io,
    Idle,
}

/// Who made operations at a place wait: the root, not one that only waited itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    pub pe: PeId,
    /// The call path of its operation (or user code) that ended the first wait; of several the one that ended most.
    pub path: CallPathId,
    /// The call path in which that PE spent the time that made it late: `path` itself if it was in there or nothing more is known.
    /// None for code outside of recorded regions, and for causes that are code themselves.
    pub origin: CallPathId,
    pub time: Span,
    /// The part of `time` that did not come directly, but because others had been kept waiting and passed it on.
    pub passed_on: Span,
    /// These others, the operation nearest to the place first; of several ways the one of the largest part.
    pub via: Vec<(PeId, CallPathId)>,
}

/// One time that it happened.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Occurrence {
    pub pe: PeId,
    pub begin: Time,
    pub end: Time,
    /// Who caused it; none if unknown.
    pub cause: PeId,
}

/// A place that loses time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub pattern: Pattern,
    pub role: Role,
    /// Where: the call path of the operation that waits, or of the code that is slow.
    pub path: CallPathId,
    /// The loss, summed over PEs.
    pub time: Span,
    /// What is lost besides outside of the run, which is what shares are shares of ([`crate::Base`]): by start-up and shut-down.
    pub outside: Span,
    /// How many times.
    pub count: u64,
    /// The loss of each PE that has one, in order of PE.
    pub pes: Vec<(PeId, Span)>,
    /// Who made it, largest first, at most [`crate::Options::details`].
    pub causes: Vec<Cause>,
    /// The part of `time` for which no cause is known, or the cause is no PE's doing.
    pub unexplained: Span,
    /// The longest instances, longest first, at most [`crate::Options::details`].
    pub occurrences: Vec<Occurrence>,
    /// The file that it is about, where it is about one.
    pub file: FileId,
    /// More about it that is specific to the pattern: name and value (bytes, factors, counts).
    #[serde(deserialize_with = "known_facts")]
    pub facts: Vec<(&'static str, f64)>,
    /// What of `time` is waiting that findings of waits have as well, and where most of that is; none for waits themselves.
    pub waits: Option<Told>,
    /// The call paths that lead to this place where there are several, with their part of `time`, largest first: `path` is the first. They end
    /// in one construct in one function; those of places that are told together, in several.
    pub paths: Vec<(CallPathId, Span)>,
}

/// Waiting in which a loss shows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    pub time: Span,
    /// The finding that has most of it.
    pub pattern: Pattern,
    pub path: CallPathId,
}

impl Cause {
    /// Code that took the time itself.
    pub(crate) fn code(pe: PeId, path: CallPathId, time: Span) -> Cause {
        Cause { pe, path, origin: CallPathId::NONE, time, passed_on: Span::ZERO, via: Vec::new() }
    }

    /// Adds what else the same code did.
    pub(crate) fn add(&mut self, other: Cause) {
        self.time += other.time;
        self.passed_on += other.passed_on;
        if self.via.is_empty() {
            self.via = other.via;
        }
    }
}

/// Facts that another process of this program found: their names are words of the program, of which there are few, so each is kept once and for good.
fn known_facts<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<(&'static str, f64)>, D::Error> {
    static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let told: Vec<(String, f64)> = Vec::deserialize(from)?;
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut known = |name: String| {
        if let Some(word) = words.get(name.as_str()) {
            return *word;
        }
        let word: &'static str = Box::leak(name.into_boxed_str());
        words.insert(word);
        word
    };
    Ok(told.into_iter().map(|(name, value)| (known(name), value)).collect())
}

impl Finding {
    /// A finding at a call path, about which nothing is known yet.
    pub(crate) fn at(trace: &Trace, pattern: Pattern, path: CallPathId) -> Finding {
        Finding {
            pattern,
            role: path.some().map_or(Role::User, |path| role_of_path(trace, path)),
            path,
            time: Span::ZERO,
            outside: Span::ZERO,
            count: 0,
            pes: Vec::new(),
            causes: Vec::new(),
            unexplained: Span::ZERO,
            occurrences: Vec::new(),
            file: FileId::NONE,
            facts: Vec::new(),
            waits: None,
            paths: Vec::new(),
        }
    }

    /// Whether a call path leads to its place.
    pub fn leads_there(&self, path: CallPathId) -> bool {
        self.call_paths().any(|it| it == path)
    }

    /// The part of `time` that causes have which are not listed; none where nothing is known of causes.
    pub fn other_causes(&self) -> Span {
        let listed: Span = self.causes.iter().map(|cause| cause.time).sum();
        if self.causes.is_empty() { Span::ZERO } else { (self.time - listed - self.unexplained).clamp_positive() }
    }

    /// The call paths that lead to its place.
    pub fn call_paths(&self) -> impl Iterator<Item = CallPathId> {
        self.shares().map(|(path, _)| path)
    }

    /// The same, each with its part of `time`.
    pub fn shares(&self) -> impl Iterator<Item = (CallPathId, Span)> {
        let alone = self.paths.is_empty().then_some((self.path, self.time));
        alone.into_iter().chain(self.paths.iter().copied())
    }
}

impl Pattern {
    /// All but the user's own.
    pub const ALL: [Pattern; 34] = [
        Pattern::LateSender,
        Pattern::LateReceiver,
        Pattern::WaitAtBarrier,
        Pattern::WaitAtNxn,
        Pattern::WaitAtSetUp,
        Pattern::LateBroadcast,
        Pattern::EarlyReduce,
        Pattern::EarlyScan,
        Pattern::WaitOnLock,
        Pattern::WaitOnValue,
        Pattern::CompetingPutGet,
        Pattern::LateFence,
        Pattern::LatePartner,
        Pattern::WaitForTask,
        Pattern::WaitForThread,
        Pattern::RedundantBarrier,
        Pattern::SmallTransfers,
        Pattern::SerialBlockingTransfers,
        Pattern::LoadImbalance,
        Pattern::SerialSection,
        Pattern::PoorLocality,
        Pattern::HighFrequency,
        Pattern::SmallAccesses,
        Pattern::SerialIo,
        Pattern::SameFileReadByAll,
        Pattern::SyncInLoop,
        Pattern::AboveBaseline,
        Pattern::OperationCost,
        Pattern::InputOutput,
        Pattern::WaitOnDevice,
        Pattern::StartUp,
        Pattern::ForkJoin,
        Pattern::IdleThreads,
        Pattern::WaitForProcessor,
    ];

    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::LateSender => "late_sender",
            Pattern::LateReceiver => "late_receiver",
            Pattern::WaitAtBarrier => "wait_at_barrier",
            Pattern::WaitAtNxn => "wait_at_nxn",
            Pattern::WaitAtSetUp => "wait_at_set_up",
            Pattern::LateBroadcast => "late_broadcast",
            Pattern::EarlyReduce => "early_reduce",
            Pattern::EarlyScan => "early_scan",
            Pattern::WaitOnLock => "wait_on_lock",
            Pattern::WaitOnValue => "wait_on_value",
            Pattern::CompetingPutGet => "competing_put_get",
            Pattern::LateFence => "late_fence",
            Pattern::LatePartner => "late_partner",
            Pattern::WaitForTask => "wait_for_task",
            Pattern::WaitForThread => "wait_for_thread",
            Pattern::RedundantBarrier => "redundant_barrier",
            Pattern::SmallTransfers => "small_transfers",
            Pattern::SerialBlockingTransfers => "serial_blocking_transfers",
            Pattern::LoadImbalance => "load_imbalance",
            Pattern::SerialSection => "serial_section",
            Pattern::PoorLocality => "poor_locality",
            Pattern::HighFrequency => "high_frequency",
            Pattern::SmallAccesses => "small_accesses",
            Pattern::SerialIo => "serial_io",
            Pattern::SameFileReadByAll => "same_file_read_by_all",
            Pattern::SyncInLoop => "sync_in_loop",
            Pattern::AboveBaseline => "above_baseline",
            Pattern::OperationCost => "operation_cost",
            Pattern::InputOutput => "input_output",
            Pattern::WaitOnDevice => "wait_on_device",
            Pattern::StartUp => "start_up",
            Pattern::ForkJoin => "fork_join",
            Pattern::IdleThreads => "idle_threads",
            Pattern::WaitForProcessor => "wait_for_processor",
            Pattern::User(own) => &own.name,
        }
    }

    /// What kind of statement a finding of this pattern is.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Pattern::LateSender
            | Pattern::LateReceiver
            | Pattern::LateBroadcast
            | Pattern::EarlyReduce
            | Pattern::EarlyScan
            | Pattern::WaitOnLock
            | Pattern::WaitOnValue
            | Pattern::CompetingPutGet
            | Pattern::LatePartner
            | Pattern::WaitForTask
            | Pattern::WaitForThread => Kind::Wait,
            Pattern::WaitAtBarrier | Pattern::WaitAtNxn | Pattern::WaitAtSetUp | Pattern::LateFence => Kind::GroupWait,
            Pattern::OperationCost
            | Pattern::InputOutput
            | Pattern::WaitOnDevice
            | Pattern::StartUp
            | Pattern::ForkJoin
            | Pattern::IdleThreads
            | Pattern::WaitForProcessor => Kind::Cost,
            Pattern::RedundantBarrier
            | Pattern::SmallTransfers
            | Pattern::SerialBlockingTransfers
            | Pattern::PoorLocality
            | Pattern::HighFrequency
            | Pattern::SmallAccesses
            | Pattern::SerialIo
            | Pattern::SameFileReadByAll
            | Pattern::SyncInLoop
            | Pattern::AboveBaseline => Kind::Reason,
            Pattern::LoadImbalance | Pattern::SerialSection => Kind::Uneven,
            Pattern::User(_) => Kind::Own,
        }
    }

    /// Whether its time is waiting inside operations, so that findings of such patterns do not overlap and may be summed.
    pub fn is_wait(self) -> bool {
        match self.kind() {
            Kind::Wait | Kind::GroupWait => true,
            Kind::Cost | Kind::Reason | Kind::Uneven | Kind::Own => false,
        }
    }

    /// Whether a finding of it tells of such a loss. Imbalance is told with the waits in which it shows; where it shows in none, PEs idle.
    pub fn tells(self, loss: Loss) -> bool {
        match self {
            Pattern::WaitOnDevice => loss == Loss::Devices,
            Pattern::StartUp => loss == Loss::StartUp,
            Pattern::InputOutput | Pattern::SmallAccesses | Pattern::SameFileReadByAll | Pattern::SyncInLoop => {
                loss == Loss::Io
            }
            Pattern::SerialIo => loss == Loss::Waiting,
            _ => match self.kind() {
                Kind::Wait | Kind::GroupWait => loss == Loss::Waiting,
                Kind::Uneven => matches!(loss, Loss::Waiting | Loss::Idle),
                Kind::Reason => loss == Loss::Transfer,
                Kind::Cost if self == Pattern::OperationCost => loss == Loss::Transfer,
                Kind::Cost => loss == Loss::Idle,
                Kind::Own => false,
            },
        }
    }

    /// Whether a place has one finding of it, whatever call paths and lines lead there; imbalance is of call paths.
    pub fn is_of_place(self) -> bool {
        self.kind() != Kind::Uneven
    }
}
