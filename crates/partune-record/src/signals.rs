//! What becomes of signals while the command runs: partune outlives them, so that the archive is completed, and the command gets them.
//!
//! The end of a batch job's time comes as a signal to the job's processes, or to partune alone, some seconds before the kill. What a terminal
//! sends it sends to the command as well, so that is not handed on. A signal that was ignored (`nohup`) stays so.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// Those that end a process and that schedulers, shells and terminals send.
const HANDED_ON: [libc::c_int; 7] =
    [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2, libc::SIGXCPU];

static CHILD: AtomicI32 = AtomicI32::new(0);
/// Bits of the signals that came before there was a child.
static EARLY: AtomicU64 = AtomicU64::new(0);

/// Starts a command that signals will be handed on to.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    watch();
    command.spawn()
}

/// Waits for its end, and hands signals on to it until then.
pub(crate) fn wait(mut child: Child) -> io::Result<ExitStatus> {
    hand_to(Some(child.id()));
    let status = child.wait();
    hand_to(None);
    status
}

/// Begins to watch; before the command is started.
#[allow(unsafe_code, reason = "signal handlers")]
fn watch() {
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = hand_on;
    for signal in HANDED_ON {
        // SAFETY: structures of numbers, filled below or by the system.
        let (mut new, mut old): (libc::sigaction, libc::sigaction) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        new.sa_sigaction = handler as usize;
        new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        // SAFETY: asks first, and sets a handler that does only what one may.
        unsafe {
            libc::sigaction(signal, std::ptr::null(), &raw mut old);
            if old.sa_sigaction != libc::SIG_IGN {
                libc::sigaction(signal, &raw const new, std::ptr::null_mut());
            }
        }
    }
}

/// The command is this process; none, once it has ended.
#[allow(unsafe_code, reason = "signals")]
fn hand_to(child: Option<u32>) {
    let child = child.map_or(0, |child| child as i32);
    CHILD.store(child, Ordering::SeqCst);
    let early = EARLY.swap(0, Ordering::SeqCst);
    for signal in HANDED_ON.into_iter().filter(|signal| child > 0 && early & 1 << signal != 0) {
        // SAFETY: a signal to a process that nobody waited for yet.
        unsafe { libc::kill(child, signal) };
    }
}

#[allow(unsafe_code, reason = "a signal handler")]
extern "C" fn hand_on(signal: libc::c_int, about: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system's description of the signal.
    let by_kernel = !about.is_null() && unsafe { (*about).si_code } > 0;
    let from_terminal = by_kernel && [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP].contains(&signal);
    if from_terminal {
        return;
    }
    match CHILD.load(Ordering::SeqCst) {
        0 => {
            EARLY.fetch_or(1 << signal, Ordering::SeqCst);
        }
        // SAFETY: may be called from a handler.
        child => unsafe {
            let errno = libc::__errno_location();
            let before = *errno;
            libc::kill(child, signal);
            *errno = before;
        },
    }
}
