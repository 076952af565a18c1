//! Which signals a thread holds back by its own will, so that those which a handler holds back can be told from them.
#![allow(unreachable_pub, reason = "what the program calls has the C library's names")]

use std::ffi::c_int;
use std::mem::transmute;

use crate::next::{Next, named};
use crate::signals::{is_own, may_be_in_handler};
use crate::{thread_word, ticks};

/// Signals as bits, of 1 to 64.
pub(crate) type Bits = u64;

thread_word! {
    /// What the thread holds back itself; 0 until something is known of that.
    HeldBackWord, "partune_collect_held_back"
}

/// Those that the calling thread holds back itself, as far as that is known.
pub(crate) fn own_will() -> Bits {
    HeldBackWord::get() as Bits
}

/// The calling thread, which is in no handler, holds back what it does now by its own will.
pub fn begin() {
    HeldBackWord::set(held_back().unwrap_or(0) as usize);
}

/// What the calling thread holds back, by whosever will; none if the system does not say. This takes no lock and no memory.
pub(crate) fn held_back() -> Option<Bits> {
    // SAFETY: zero is a valid set, and a place for what is stored.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        (libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set) == 0).then(|| bits(&set))
    }
}

/// Ticks that are on reach the calling thread, whatever the one that made it held back.
pub(crate) fn let_ticks_come() {
    let Some(signal) = ticks::signal() else { return };
    // SAFETY: zero is a valid set.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut set, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
    }
}

fn bits(set: &libc::sigset_t) -> Bits {
    // SAFETY: a set begins with a bit for each signal, from 1 on.
    unsafe { std::ptr::from_ref(set).cast::<Bits>().read() }
}

/// What a thread holds back after such a call.
fn after(before: Bits, how: c_int, asked: Bits) -> Bits {
    match how {
        libc::SIG_BLOCK => before | asked,
        libc::SIG_UNBLOCK => before & !asked,
        _ => asked,
    }
}

type Changes = unsafe extern "C" fn(c_int, *const libc::sigset_t, *mut libc::sigset_t) -> c_int;

macro_rules! changes {
    ($($name:ident)*) => {$(
        /// Holds signals back, or lets them come; the recorder's ticks always come, as long as it has their signal.
        ///
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(how: c_int, set: *const libc::sigset_t, old: *mut libc::sigset_t) -> c_int {
            static NEXT: Next = Next::new(named(concat!(stringify!($name), "\0")));
            // SAFETY: the type of the C library's function.
            let real = unsafe { transmute::<usize, Changes>(NEXT.address()) };
            if set.is_null() {
                // SAFETY: as it was asked for.
                return unsafe { real(how, set, old) };
            }
            // SAFETY: the program's sets, which may be one; the first is read before the second is written.
            unsafe {
                let mut asked = set.read();
                if let Some(signal) = ticks::signal().filter(|signal| how != libc::SIG_UNBLOCK && is_own(*signal)) {
                    libc::sigdelset(&raw mut asked, signal);
                }
                // The system forgets what a handler changes when that ends.
                let is_lasting = !may_be_in_handler();
                let mut before = asked;
                let result = real(how, &raw const asked, &raw mut before);
                if result == 0 {
                    if is_lasting {
                        HeldBackWord::set(after(bits(&before), how, bits(&asked)) as usize);
                    }
                    if !old.is_null() {
                        old.cast::<Bits>().write(bits(&before));
                    }
                }
                result
            }
        }
    )*};
}

changes! {
    pthread_sigmask
    sigprocmask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_changes() {
        assert_eq!(after(0b0011, libc::SIG_BLOCK, 0b0110), 0b0111);
        assert_eq!(after(0b0011, libc::SIG_UNBLOCK, 0b0110), 0b0001);
        assert_eq!(after(0b0011, libc::SIG_SETMASK, 0b0110), 0b0110);
    }
}
