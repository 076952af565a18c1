//! What is done at signals.

use std::ffi::{c_int, c_void};

pub(crate) type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

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
        if is_alone {
            libc::sigfillset(&raw mut action.sa_mask);
        }
        libc::sigaction(signal, &raw const action, std::ptr::null_mut()) == 0
    }
}
