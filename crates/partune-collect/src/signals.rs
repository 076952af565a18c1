//! What is done at signals.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::{errno, masks};

pub(crate) type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Signals are numbered below this.
const SIGNALS: usize = 65;

/// The recorder's own handlers, by their signals.
static OWN: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(0) }; SIGNALS];

/// Whether the calling thread may be in a handler of the program's. That holds back its own signal, unless it was set with `SA_NODEFER`; what a thread
/// [holds back itself](crate::masks) is none, if that is known of it. This takes no lock and no memory.
pub fn may_be_in_handler() -> bool {
    errno::kept(|| {
        let Some(held_back) = masks::held_back() else { return true };
        let mut others = held_back & !masks::own_will();
        while others != 0 {
            if is_programs(others.trailing_zeros() as usize + 1) {
                return true;
            }
            others &= others - 1;
        }
        false
    })
}

/// Whether the program has a handler for a signal.
fn is_programs(signal: usize) -> bool {
    let own = OWN[signal].load(Ordering::Relaxed);
    let is_another = |handler| ![libc::SIG_DFL, libc::SIG_IGN, own].contains(&handler);
    action(signal as c_int).is_some_and(|action| is_another(action.sa_sigaction))
}

/// Calls that were [left alone](is_left_alone).
static LEFT_ALONE: AtomicU64 = AtomicU64::new(0);

/// Whether a call is left alone, and counted, because a handler of the program's may make it: what that has interrupted may have locked what a record
/// needs, the memory of the C library or something of the recorder's own.
pub fn is_left_alone() -> bool {
    let is_left_alone = may_be_in_handler();
    LEFT_ALONE.fetch_add(is_left_alone.into(), Ordering::Relaxed);
    is_left_alone
}

/// Says how many were left alone since it was said last.
pub(crate) fn say() {
    let calls = LEFT_ALONE.swap(0, Ordering::Relaxed);
    if calls > 0 {
        crate::note(&format!("calls that handlers of signals may have made were not recorded: {calls}"));
    }
}

/// Whether the recorder's own handler runs at a signal.
pub(crate) fn is_own(signal: c_int) -> bool {
    let own = usize::try_from(signal).ok().and_then(|signal| Some(OWN.get(signal)?.load(Ordering::Relaxed)));
    own.is_some_and(|own| own != 0 && action(signal).is_some_and(|action| action.sa_sigaction == own))
}

/// What is done now; none for a number that is no signal.
pub(crate) fn action(signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: zero is a valid action, and a place for what is stored.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0).then_some(action)
    }
}

/// Lets a handler run from now on, with other signals held back if `is_alone`. Whether that could be done.
pub(crate) fn handle(signal: c_int, handler: Handler, flags: c_int, is_alone: bool) -> bool {
    // SAFETY: zero is valid; the handler has the type that `SA_SIGINFO` asks for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | flags;
        if let Some(own) = usize::try_from(signal).ok().and_then(|signal| OWN.get(signal)) {
            own.store(action.sa_sigaction, Ordering::Relaxed);
        }
        if is_alone {
            libc::sigfillset(&raw mut action.sa_mask);
        }
        libc::sigaction(signal, &raw const action, std::ptr::null_mut()) == 0
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::{c_int, c_void};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{handle, may_be_in_handler};

    extern "C" fn nothing(_: c_int, _: *mut libc::siginfo_t, _: *mut c_void) {}

    static FOUND: AtomicBool = AtomicBool::new(false);

    extern "C" fn asks(_: c_int) {
        FOUND.store(may_be_in_handler(), Ordering::SeqCst);
    }

    /// Of a thread of its own, whose signals nobody else looks at.
    fn holding_back(signal: c_int) -> bool {
        let asks = move || {
            // SAFETY: zero is a valid set.
            unsafe {
                let mut set: libc::sigset_t = std::mem::zeroed();
                libc::sigaddset(&raw mut set, signal);
                libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            }
            may_be_in_handler()
        };
        std::thread::spawn(asks).join().expect("it ends")
    }

    #[test]
    fn a_handler_holds_its_signal_back_and_who_does_so_itself_is_in_none() {
        let [programs, own, unhandled] = [10, 11, 12].map(|at| libc::SIGRTMIN() + at);
        // SAFETY: a handler that asks.
        unsafe { libc::signal(programs, asks as *const () as usize) };
        assert!(handle(own, nothing, 0, false));
        assert_eq!([programs, own, unhandled].map(holding_back), [false, false, false]);
        assert!(!may_be_in_handler());
        // SAFETY: the signal is handled.
        unsafe { libc::raise(programs) };
        assert!(FOUND.load(Ordering::SeqCst), "in its handler");
    }
}
