//! The runtime's own functions, which come after ours in the loader's order.
//!
//! A program may bring its runtime in a library that is in nobody's order but its own: modules of Python do. Then it is the one that the caller's
//! library brought.

use std::ffi::{CStr, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use partune_collect::frame::Frame;
use partune_collect::loader::symbol;

/// A function of the runtime.
pub(crate) struct Function {
    name: &'static CStr,
    /// The one that is in everybody's order; 0 if none was found yet.
    address: AtomicUsize,
    /// Where libraries begin that brought their own, and these.
    others: Mutex<Vec<(usize, usize)>>,
}

impl Function {
    pub(crate) const fn new(name: &'static CStr) -> Function {
        Function { name, address: AtomicUsize::new(0), others: Mutex::new(Vec::new()) }
    }

    /// Its address, for a call that came from this frame.
    #[inline]
    pub(crate) fn address(&self, frame: Frame) -> usize {
        match self.address.load(Ordering::Relaxed) {
            0 => self.find(frame),
            address => address,
        }
    }

    #[cold]
    fn find(&self, frame: Frame) -> usize {
        if let Some(address) = symbol(libc::RTLD_NEXT, self.name) {
            self.address.store(address, Ordering::Relaxed);
            return address;
        }
        let found = about(frame.return_address()).and_then(|about| {
            let begin = about.dli_fbase as usize;
            let mut others = self.others.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some((_, address)) = others.iter().find(|(other, _)| *other == begin) {
                return Some(*address);
            }
            // SAFETY: a name of the loader's; it is only asked for what is loaded.
            let handle = unsafe { libc::dlopen(about.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
            let address =
                Some(handle).filter(|handle| !handle.is_null()).and_then(|handle| symbol(handle, self.name))?;
            others.push((begin, address));
            Some(address)
        });
        found.unwrap_or_else(|| self.missing())
    }

    /// A program that calls it has it, since it was linked with it.
    fn missing(&self) -> ! {
        let name = self.name.to_string_lossy();
        partune_collect::note(&format!("the program calls {name}, which no library has that it was linked with"));
        std::process::abort()
    }
}

/// What the loader knows of the object that an address lies in.
fn about(address: usize) -> Option<libc::Dl_info> {
    // SAFETY: a structure of pointers, filled by the call.
    let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: any address and the structure.
    (unsafe { libc::dladdr(address as *const c_void, &raw mut about) } != 0).then_some(about)
}

/// Calls the runtime's function of a name with words, which is how all arguments of these functions are passed; a word comes back.
macro_rules! call {
    ($frame:expr, $name:ident($($word:expr),*)) => {{
        static FUNCTION: $crate::runtime::Function = $crate::runtime::Function::new(
            // SAFETY: a name, and its end.
            unsafe { std::ffi::CStr::from_bytes_with_nul_unchecked(concat!(stringify!($name), "\0").as_bytes()) },
        );
        let address = FUNCTION.address($frame);
        // SAFETY: the function has as many arguments, each of which is a word.
        let function = unsafe { std::mem::transmute::<usize, unsafe extern "C" fn($($crate::runtime::word!($word)),*) -> usize>(address) };
        // SAFETY: the arguments that the program gave.
        unsafe { function($($word),*) }
    }};
}

macro_rules! word {
    ($word:expr) => {
        usize
    };
}

pub(crate) use {call, word};
