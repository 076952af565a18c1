//! A job whose processes a launcher of MPI started.
//!
//! One thread of each process does all that MPI does, from its begin to its end, so that messages go on while the others compute, and MPI need not know of threads. Where nothing moves
//! it sleeps, ever longer up to a millisecond: whoever waits leaves the processor to whoever works, which libraries that spin do not. A message is its length and then its bytes, in pieces, since MPI
//! counts them in an `int`.
//!
//! Errors of MPI end the process, as is MPI's default, and with it the job. So does a panic of whoever has the job: it aborts, since the others would wait for ever. A process that is killed is
//! the launcher's to notice.
#![allow(unsafe_code, reason = "functions of a library that is found at run time")]

use std::collections::VecDeque;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use partune_job::{Job, Traffic};
use partune_mpi_abi::{Handle, StatusLayout};

use crate::load::{LoadError, Loaded, load};

/// How long the thread sleeps where nothing moved: at first, where something is awaited, and where nothing is.
const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(1);
const IDLE: Duration = Duration::from_millis(10);
/// Bytes of a piece at most.
const PIECE: usize = 1 << 30;
/// All messages have it.
const TAG: c_int = 23;
/// What the job ends with where a process panics, as Rust programs do.
const PANICKED: c_int = 101;

type Comm = usize;
type Status = [c_int; StatusLayout::MOST];

// Every one returns an error code; handles fit in a `usize` argument of every interface.
crate::functions! {
    Functions "P"
    init "MPI_Init_thread" (*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int;
    finalize "MPI_Finalize" () -> c_int;
    abort "MPI_Abort" (Comm, c_int) -> c_int;
    comm_rank "MPI_Comm_rank" (Comm, *mut c_int) -> c_int;
    comm_size "MPI_Comm_size" (Comm, *mut c_int) -> c_int;
    iprobe "MPI_Iprobe" (c_int, c_int, Comm, *mut c_int, *mut c_int) -> c_int;
    recv "MPI_Recv" (*mut c_void, c_int, usize, c_int, c_int, Comm, *mut c_int) -> c_int;
    isend "MPI_Isend" (*const c_void, c_int, usize, c_int, c_int, Comm, *mut usize) -> c_int;
    irecv "MPI_Irecv" (*mut c_void, c_int, usize, c_int, c_int, Comm, *mut usize) -> c_int;
    test "MPI_Test" (*mut usize, *mut c_int, *mut c_int) -> c_int;
}

/// Why there is no job.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("no thread for the exchange can be started: {0}")]
    Thread(std::io::Error),
}

/// The processes of a job, over MPI.
pub struct MpiJob {
    rank: usize,
    size: usize,
    orders: Sender<Order>,
    /// Until it has ended.
    thread: Option<JoinHandle<()>>,
    sent: AtomicU64,
    waited_ns: AtomicU64,
}

/// What the thread is told to do.
enum Order {
    Send { to: usize, bytes: Vec<u8> },
    Receive { from: usize, reply: SyncSender<Vec<u8>> },
    End,
    Abort,
}

impl MpiJob {
    /// Loads the library of the launcher, or the one named, and initialises it. The launcher says that it started so many processes; where MPI sees others, it is another library's launcher.
    /// Collective over the processes of the job. Once a process.
    pub fn begin(named: Option<&str>, started: usize) -> Result<MpiJob, JobError> {
        let named = named.map(str::to_owned);
        let (orders, taken) = channel();
        let (begun, has_begun) = sync_channel(1);
        let work = move || match Carrier::begin(named.as_deref(), taken, started) {
            Ok(mut carrier) => {
                if begun.send(Ok((carrier.rank, carrier.size))).is_ok() {
                    carrier.work();
                }
            }
            Err(error) => {
                // Nobody waits if the other end is gone.
                let _ = begun.send(Err(error));
            }
        };
        let thread = std::thread::Builder::new().name("mpi".to_owned()).spawn(work).map_err(JobError::Thread)?;
        let (rank, size) = has_begun.recv().expect("the thread answers before it ends")?;
        let (sent, waited_ns) = Default::default();
        Ok(MpiJob { rank, size, orders, thread: Some(thread), sent, waited_ns })
    }

    /// Ends MPI, once all that was sent has left. Collective over the processes of the job: call it where all come at about the same time, since MPI may spin until they have.
    pub fn end(mut self) {
        self.order(Order::End);
        self.join();
    }

    fn order(&self, order: Order) {
        self.orders.send(order).expect("the thread takes orders until it is told to end");
    }

    fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // It has said why.
            let _ = thread.join();
        }
    }
}

impl Drop for MpiJob {
    /// One that was not ended in order is aborted.
    fn drop(&mut self) {
        if self.thread.is_some() && self.orders.send(Order::Abort).is_ok() {
            self.join();
        }
    }
}

impl Job for MpiJob {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn name(&self) -> String {
        let mut host = [0_u8; 256];
        // SAFETY: the buffer is as long as is said, and what is written of it ends with a zero byte, or fills it.
        let failed = unsafe { libc::gethostname(host.as_mut_ptr().cast(), host.len()) };
        let host = CStr::from_bytes_until_nul(&host).ok().filter(|_| failed == 0).map(CStr::to_string_lossy);
        host.map_or_else(|| format!("process {}", self.rank), |host| format!("process {} on {host}", self.rank))
    }

    fn send(&self, to: usize, bytes: Vec<u8>) {
        self.sent.fetch_add(bytes.len() as u64, Relaxed);
        self.order(Order::Send { to, bytes });
    }

    fn receive(&self, from: usize) -> Vec<u8> {
        let begin = Instant::now();
        let (reply, came) = sync_channel(1);
        self.order(Order::Receive { from, reply });
        let bytes = came.recv().expect("the thread answers, or ends the process");
        self.waited_ns.fetch_add(begin.elapsed().as_nanos() as u64, Relaxed);
        bytes
    }

    fn traffic(&self) -> Traffic {
        Traffic { sent: self.sent.load(Relaxed), waited: Duration::from_nanos(self.waited_ns.load(Relaxed)) }
    }
}

/// The thread that does what MPI does.
struct Carrier {
    functions: Functions,
    world: Comm,
    byte: usize,
    rank: usize,
    size: usize,
    any_source: c_int,
    any_tag: c_int,
    orders: Receiver<Order>,
    out: VecDeque<Out>,
    wanted: VecDeque<In>,
    is_ending: bool,
}

/// A message that leaves, and how much of it has: its length first.
struct Out {
    to: c_int,
    length: Box<[u8; 8]>,
    bytes: Vec<u8>,
    has_length: bool,
    done: usize,
    /// Of the piece that is on its way, and how long that is.
    request: Option<(usize, usize)>,
}

/// A message that is awaited; its bytes, once its length is known.
struct In {
    from: c_int,
    bytes: Option<Vec<u8>>,
    done: usize,
    request: Option<(usize, usize)>,
    reply: SyncSender<Vec<u8>>,
}

impl Carrier {
    fn begin(named: Option<&str>, orders: Receiver<Order>, started: usize) -> Result<Carrier, LoadError> {
        let Loaded { library, abi, name, .. } = load(named)?;
        let lacks = |function| LoadError::Function { library: name.clone(), function };
        let functions = Functions::find(&library).map_err(lacks)?;
        let handle =
            |handle: Handle| handle.value(abi, |symbol| library.symbol(symbol)).ok_or_else(|| lacks(handle.name()));
        let (world, byte, numbers) = (handle(Handle::CommWorld)?, handle(Handle::Byte)?, abi.numbers());
        // No other thread calls MPI, and this one begins it.
        let mut provided = 0;
        (functions.init)(std::ptr::null_mut(), std::ptr::null_mut(), numbers.thread_funneled, &raw mut provided);
        let (mut rank, mut size) = (0, 1);
        (functions.comm_rank)(world, &raw mut rank);
        (functions.comm_size)(world, &raw mut size);
        if usize::try_from(size) != Ok(started) {
            (functions.finalize)();
            let (library, started) = (name.clone(), i32::try_from(started).unwrap_or(i32::MAX));
            return Err(LoadError::Foreign { library, found: size, started });
        }
        Ok(Carrier {
            functions,
            world,
            byte,
            rank: rank as usize,
            size: started,
            any_source: numbers.any_source,
            any_tag: numbers.any_tag,
            orders,
            out: VecDeque::new(),
            wanted: VecDeque::new(),
            is_ending: false,
        })
    }

    fn work(&mut self) {
        let mut nap = SHORTEST;
        loop {
            while let Ok(order) = self.orders.try_recv() {
                self.take(order);
                nap = SHORTEST;
            }
            let has_moved = self.advance();
            let is_idle = self.out.is_empty() && self.wanted.is_empty();
            if is_idle && self.is_ending {
                (self.functions.finalize)();
                return;
            }
            if has_moved {
                nap = SHORTEST;
                continue;
            }
            match self.orders.recv_timeout(if is_idle { IDLE } else { nap }) {
                Ok(order) => {
                    self.take(order);
                    nap = SHORTEST;
                }
                Err(RecvTimeoutError::Timeout) => nap = (2 * nap).min(LONGEST),
                // Who had the job is gone without a word.
                Err(RecvTimeoutError::Disconnected) => self.take(Order::Abort),
            }
        }
    }

    fn take(&mut self, order: Order) {
        match order {
            Order::Send { to, bytes } => {
                let length = Box::new((bytes.len() as u64).to_le_bytes());
                self.out.push_back(Out { to: to as c_int, length, bytes, has_length: false, done: 0, request: None });
            }
            Order::Receive { from, reply } => {
                self.wanted.push_back(In { from: from as c_int, bytes: None, done: 0, request: None, reply });
            }
            Order::End => self.is_ending = true,
            Order::Abort => {
                (self.functions.abort)(self.world, PANICKED);
            }
        }
    }

    /// Whether anything moved: the messages that leave first, each to its process, and the one that is awaited first.
    fn advance(&mut self) -> bool {
        let has_left = self.send();
        let has_come = self.receive();
        if !has_left && !has_come {
            // Lets the library move what it holds back.
            self.is_there(self.any_source, self.any_tag);
        }
        has_left || has_come
    }

    /// What goes to one process goes in order, and waits for nothing that goes to others.
    fn send(&mut self) -> bool {
        let (mut at, mut has_left) = (0, false);
        let mut before: Vec<c_int> = Vec::new();
        while let Some(to) = self.out.get(at).map(|out| out.to) {
            if before.contains(&to) {
                at += 1;
                continue;
            }
            before.push(to);
            let waiting = self.out.len();
            has_left |= self.send_piece(at);
            at += 1 - (waiting - self.out.len());
        }
        has_left
    }

    fn send_piece(&mut self, at: usize) -> bool {
        let Carrier { functions, world, byte, out, .. } = self;
        let Some(first) = out.get_mut(at) else { return false };
        if let Some((request, piece)) = &mut first.request {
            if !is_done(functions, request) {
                return false;
            }
            if first.has_length {
                first.done += *piece;
            }
            (first.has_length, first.request) = (true, None);
        }
        let piece = match (first.has_length, first.done == first.bytes.len()) {
            (false, _) => &first.length[..],
            (true, false) => &first.bytes[first.done..first.bytes.len().min(first.done + PIECE)],
            (true, true) => {
                out.remove(at);
                return true;
            }
        };
        // Both lie in memory of their own, which stays where it is and as it is until the request is done.
        let mut request = 0;
        let (at, count) = (piece.as_ptr().cast(), piece.len() as c_int);
        (functions.isend)(at, count, *byte, first.to, TAG, *world, &raw mut request);
        first.request = Some((request, piece.len()));
        true
    }

    fn receive(&mut self) -> bool {
        let Some(first) = self.wanted.front() else { return false };
        if first.bytes.is_none() && !self.is_there(first.from, TAG) {
            return false;
        }
        let Carrier { functions, world, byte, wanted, .. } = self;
        let Some(first) = wanted.front_mut() else { return false };
        let Some(bytes) = &mut first.bytes else {
            let (mut length, mut status) = ([0_u8; 8], Status::default());
            let at = length.as_mut_ptr().cast();
            (functions.recv)(at, 8, *byte, first.from, TAG, *world, status.as_mut_ptr());
            let length = usize::try_from(u64::from_le_bytes(length)).unwrap_or(usize::MAX);
            first.bytes = Some(vec![0; length]);
            return true;
        };
        if let Some((request, piece)) = &mut first.request {
            if !is_done(functions, request) {
                return false;
            }
            first.done += *piece;
            first.request = None;
        }
        if first.done < bytes.len() {
            let end = bytes.len().min(first.done + PIECE);
            let piece = &mut bytes[first.done..end];
            let mut request = 0;
            let (at, count) = (piece.as_mut_ptr().cast(), piece.len() as c_int);
            (functions.irecv)(at, count, *byte, first.from, TAG, *world, &raw mut request);
            first.request = Some((request, piece.len()));
        } else if let Some(In { bytes: Some(bytes), reply, .. }) = wanted.pop_front() {
            // Who asked is gone where it panics.
            let _ = reply.send(bytes);
        }
        true
    }

    fn is_there(&self, from: c_int, tag: c_int) -> bool {
        let (mut found, mut status) = (0, Status::default());
        (self.functions.iprobe)(from, tag, self.world, &raw mut found, status.as_mut_ptr());
        found != 0
    }
}

fn is_done(functions: &Functions, request: &mut usize) -> bool {
    let (mut done, mut status) = (0, Status::default());
    (functions.test)(&raw mut *request, &raw mut done, status.as_mut_ptr());
    done != 0
}
