//! A word of each thread that is reached without a call, and what a thread gives back when it ends.
//!
//! For what every recorded call looks at first. The compiler reaches the thread-local variables of a shared library by a call into the
//! loader, since libraries may come late. The collectors are there when the program starts; so, on x86-64, the word lies at a distance from
//! the thread pointer that the loader writes down once, and it takes two loads ("initial exec", ELF Handling For Thread-Local
//! Storage, 4.3). Other processors get an ordinary variable, which is as cheap on AArch64.

use std::ffi::c_void;
use std::sync::OnceLock;

/// What is done with something of a thread's when the thread ends. The main thread ends with the process, and does nothing then.
pub struct AtThreadEnd {
    key: OnceLock<Option<libc::pthread_key_t>>,
    act: extern "C" fn(*mut c_void),
}

impl AtThreadEnd {
    /// `act` gets the thing, once, on the thread that it belongs to.
    pub const fn new(act: extern "C" fn(*mut c_void)) -> AtThreadEnd {
        AtThreadEnd { key: OnceLock::new(), act }
    }

    /// The thing of the calling thread, by its address. If the system has no room for it, it stays when the thread ends.
    pub fn set(&self, thing: usize) {
        let make = || {
            let mut key = 0;
            // SAFETY: a number that outlives the call, and a function of its type.
            (unsafe { libc::pthread_key_create(&raw mut key, Some(self.act)) } == 0).then_some(key)
        };
        if let Some(key) = *self.key.get_or_init(make) {
            // SAFETY: a key of this process.
            unsafe { libc::pthread_setspecific(key, thing as *const c_void) };
        }
    }
}

/// Declares a thread's word, 0 at first: a type with `get` and `set`. The symbol must be the only one of its name in a program.
#[macro_export]
macro_rules! thread_word {
    ($(#[$doc:meta])* $name:ident, $symbol:literal) => {
        $(#[$doc])*
        struct $name;

        #[cfg(target_arch = "x86_64")]
        core::arch::global_asm!(
            concat!(".pushsection .tbss.", $symbol, ",\"awT\",@nobits"),
            concat!(".globl ", $symbol),
            concat!(".hidden ", $symbol),
            concat!(".type ", $symbol, ", @object"),
            concat!(".size ", $symbol, ", 8"),
            ".p2align 3",
            concat!($symbol, ":"),
            ".zero 8",
            ".popsection",
        );

        #[cfg(target_arch = "x86_64")]
        impl $name {
            #[allow(clippy::inline_always, reason = "two instructions")]
            #[inline(always)]
            fn get() -> usize {
                let word: usize;
                // SAFETY: reads a word of this thread.
                unsafe {
                    core::arch::asm!(
                        concat!("mov {word}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                        "mov {word}, qword ptr fs:[{word}]",
                        word = out(reg) word,
                        options(nostack, preserves_flags, readonly),
                    );
                }
                word
            }

            fn set(word: usize) {
                // SAFETY: writes the same word.
                unsafe {
                    core::arch::asm!(
                        concat!("mov {place}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                        "mov qword ptr fs:[{place}], {word}",
                        place = out(reg) _,
                        word = in(reg) word,
                        options(nostack, preserves_flags),
                    );
                }
            }
        }

        #[cfg(not(target_arch = "x86_64"))]
        impl $name {
            fn get() -> usize {
                Self::with(std::cell::Cell::get)
            }

            fn set(word: usize) {
                Self::with(|cell| cell.set(word));
            }

            fn with<T>(act: impl FnOnce(&std::cell::Cell<usize>) -> T) -> T {
                thread_local! {
                    static WORD: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
                }
                WORD.with(act)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::AtThreadEnd;

    #[test]
    fn a_thread_that_ends_gives_back_what_it_set() {
        static SUM: AtomicUsize = AtomicUsize::new(0);
        extern "C" fn add(thing: *mut c_void) {
            SUM.fetch_add(thing as usize, Ordering::Relaxed);
        }
        static ADD: AtThreadEnd = AtThreadEnd::new(add);
        for thing in [1_usize, 20] {
            let end = std::thread::spawn(move || ADD.set(thing)).join();
            end.expect("it ends");
        }
        std::thread::spawn(|| {}).join().expect("one that set nothing");
        assert_eq!(SUM.load(Ordering::Relaxed), 21);
    }

    thread_word! {
        /// One of the test.
        Word, "partune_test_word"
    }

    #[test]
    fn every_thread_has_its_own() {
        assert_eq!(Word::get(), 0);
        Word::set(7);
        let other = std::thread::spawn(|| {
            let before = Word::get();
            Word::set(8);
            (before, Word::get())
        });
        assert_eq!(other.join().expect("it ends"), (0, 8));
        assert_eq!(Word::get(), 7);
    }
}
