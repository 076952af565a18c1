//! Counters of PAPI, where that is installed.
//!
//! Nothing is built against it: its library is looked for when the first counter is asked for that partune does not know itself, first in the
//! program, which may have brought one. An event set has counters of one component of PAPI, and a thread has sets of its own.

use std::ffi::{CStr, CString, c_char, c_int, c_longlong, c_ulong};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::loader::{self, Library};

/// Names of its library, the newest first.
const LIBRARIES: [&CStr; 7] = [
    c"libpapi.so.7.2",
    c"libpapi.so.7.1",
    c"libpapi.so.7.0",
    c"libpapi.so.6.0",
    c"libpapi.so.5.7",
    c"libpapi.so.7",
    c"libpapi.so",
];
/// Major and minor numbers that its versions can have: who calls it must know both.
const MAJORS: std::ops::RangeInclusive<c_int> = 5..=9;
const MINORS: std::ops::RangeInclusive<c_int> = 0..=9;
const OK: c_int = 0;
/// No event set yet.
const NULL: c_int = -1;

type OfSet = unsafe extern "C" fn(c_int) -> c_int;
type OfNumber = unsafe extern "C" fn(*mut c_int) -> c_int;
type OfValues = unsafe extern "C" fn(c_int, *mut c_longlong) -> c_int;
type Add = unsafe extern "C" fn(c_int, *const c_char) -> c_int;
type Text = unsafe extern "C" fn(c_int) -> *const c_char;
type Asks = unsafe extern "C" fn() -> c_int;
type Threads = unsafe extern "C" fn(unsafe extern "C" fn() -> c_ulong) -> c_int;

/// What is called of it.
struct Papi {
    /// The process that began it: one that this one forks cannot begin it again, and must leave what it inherits alone.
    process: u32,
    create: OfNumber,
    add: Add,
    start: OfSet,
    read: OfValues,
    stop: OfValues,
    empty: OfSet,
    destroy: OfNumber,
    text: Text,
    is_begun: Asks,
    forget_thread: Asks,
}

/// The program has ended PAPI itself, and with it all sets: their numbers may be of others now.
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// A counter among those of a thread: its set, and where it is in that.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) set: usize,
    at: usize,
}

/// The event sets of one thread.
#[derive(Default)]
pub(crate) struct Sets(Vec<Set>);

struct Set {
    number: c_int,
    values: Vec<c_longlong>,
    is_running: bool,
}

impl Sets {
    /// Adds a counter by PAPI's name; or why there is none. It counts from [`Sets::start`] on.
    pub(crate) fn add(&mut self, name: &str) -> Result<Place, String> {
        let papi = papi()?;
        if !papi.goes_on() {
            return Err("the program has ended it".to_owned());
        }
        let text = CString::new(name).map_err(|_| "its name has a zero in it".to_owned())?;
        for (set, known) in self.0.iter_mut().enumerate() {
            // SAFETY: a set that is not destroyed, and a C string.
            if unsafe { (papi.add)(known.number, text.as_ptr()) } == OK {
                return Ok(Place { set, at: known.push() });
            }
        }
        let mut new = Set { number: NULL, values: Vec::new(), is_running: false };
        // SAFETY: a number that it writes.
        papi.check(unsafe { (papi.create)(&raw mut new.number) })?;
        // SAFETY: the new set, and a C string.
        if let Err(why) = papi.check(unsafe { (papi.add)(new.number, text.as_ptr()) }) {
            new.end(papi);
            return Err(why);
        }
        let at = new.push();
        self.0.push(new);
        Ok(Place { set: self.0.len() - 1, at })
    }

    /// Begins to count; returns which sets PAPI refused to start, and why.
    pub(crate) fn start(&mut self) -> Vec<(usize, String)> {
        let Some(papi) = self.used() else { return Vec::new() };
        let start = |(at, set): (usize, &mut Set)| {
            // SAFETY: a set that is not destroyed.
            let refused = papi.check(unsafe { (papi.start)(set.number) });
            set.is_running = refused.is_ok();
            refused.err().map(|why| (at, format!("cannot be counted here: PAPI: {why}")))
        };
        self.0.iter_mut().enumerate().filter_map(start).collect()
    }

    /// Reads all counters.
    pub(crate) fn read(&mut self) {
        let Some(papi) = self.used() else { return };
        for set in &mut self.0 {
            // SAFETY: a set that counts, and room for as many values as it has counters.
            set.is_running = set.is_running && unsafe { (papi.read)(set.number, set.values.as_mut_ptr()) } == OK;
        }
    }

    /// PAPI, which is not looked for where none of its counters is asked for, unless the program has ended it.
    fn used(&self) -> Option<&'static Papi> {
        self.0.first().and_then(|_| papi().ok()).filter(|papi| papi.goes_on())
    }

    /// What a counter was when all were read.
    pub(crate) fn value(&self, place: Place) -> Option<u64> {
        let set = self.0.get(place.set).filter(|set| set.is_running)?;
        set.values.get(place.at).map(|value| u64::try_from(*value).unwrap_or(0))
    }
}

impl Set {
    /// It has one counter more.
    fn push(&mut self) -> usize {
        self.values.push(0);
        self.values.len() - 1
    }
}

impl Drop for Sets {
    /// By the thread that counted.
    fn drop(&mut self) {
        let Some(papi) = self.used() else { return };
        self.0.iter_mut().for_each(|set| set.end(papi));
        // SAFETY: this thread has no sets any more. Another one may get its number.
        unsafe { (papi.forget_thread)() };
    }
}

impl Set {
    fn end(&mut self, papi: &Papi) {
        // SAFETY: made by this process, with room for its values; nobody uses it after this.
        unsafe {
            if self.is_running {
                (papi.stop)(self.number, self.values.as_mut_ptr());
            }
            (papi.empty)(self.number);
            (papi.destroy)(&raw mut self.number);
        }
    }
}

impl Papi {
    /// Whether the program did not end it.
    fn goes_on(&self) -> bool {
        // SAFETY: it looks at a word of its own.
        if !IS_OVER.load(Relaxed) && unsafe { (self.is_begun)() } == 0 {
            IS_OVER.store(true, Relaxed);
        }
        !IS_OVER.load(Relaxed)
    }

    /// Its words for an error.
    fn check(&self, code: c_int) -> Result<(), String> {
        if code == OK {
            return Ok(());
        }
        // SAFETY: it gives a C string of its own, or nothing.
        let text = unsafe { (self.text)(code) };
        // SAFETY: as above.
        let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned());
        Err(text.unwrap_or_else(|| format!("error {code}")))
    }
}

/// PAPI in this process, begun when it is first asked for; or why it is not here.
fn papi() -> Result<&'static Papi, String> {
    static PAPI: OnceLock<Result<Papi, String>> = OnceLock::new();
    let papi = PAPI.get_or_init(begin).as_ref().map_err(Clone::clone)?;
    let is_its_own = papi.process == std::process::id();
    is_its_own.then_some(papi).ok_or_else(|| "it cannot be begun again in a process that another one forked".to_owned())
}

fn begin() -> Result<Papi, String> {
    const INIT: &CStr = c"PAPI_library_init";
    let loaded = loader::symbol(libc::RTLD_DEFAULT, INIT).map(|_| libc::RTLD_DEFAULT);
    let within = loaded.or_else(|| LIBRARIES.iter().find_map(|name| Some(Library::load(name)?.handle)));
    let within = within.ok_or("its library, libpapi.so, is not installed")?;
    let function = |name: &CStr| {
        loader::symbol(within, name).ok_or_else(|| format!("its library has no {}", name.to_string_lossy()))
    };
    // SAFETY: the types that PAPI declares, of all versions.
    let (init, threads, papi) = unsafe {
        let papi = Papi {
            process: std::process::id(),
            create: std::mem::transmute::<usize, OfNumber>(function(c"PAPI_create_eventset")?),
            add: std::mem::transmute::<usize, Add>(function(c"PAPI_add_named_event")?),
            start: std::mem::transmute::<usize, OfSet>(function(c"PAPI_start")?),
            read: std::mem::transmute::<usize, OfValues>(function(c"PAPI_read")?),
            stop: std::mem::transmute::<usize, OfValues>(function(c"PAPI_stop")?),
            empty: std::mem::transmute::<usize, OfSet>(function(c"PAPI_cleanup_eventset")?),
            destroy: std::mem::transmute::<usize, OfNumber>(function(c"PAPI_destroy_eventset")?),
            text: std::mem::transmute::<usize, Text>(function(c"PAPI_strerror")?),
            is_begun: std::mem::transmute::<usize, Asks>(function(c"PAPI_is_initialized")?),
            forget_thread: std::mem::transmute::<usize, Asks>(function(c"PAPI_unregister_thread")?),
        };
        let init = std::mem::transmute::<usize, OfSet>(function(INIT)?);
        (init, std::mem::transmute::<usize, Threads>(function(c"PAPI_thread_init")?), papi)
    };
    let mut versions = MAJORS.flat_map(|major| MINORS.map(move |minor| major << 24 | minor << 16));
    // SAFETY: of another version than its own it does nothing, and says so.
    if !versions.any(|version| unsafe { init(version) } == version) {
        return Err("its library does not begin: of an unknown version, or without any component".to_owned());
    }
    // SAFETY: the C library's function, which is there as long as the process.
    papi.check(unsafe { threads(libc::pthread_self) })?;
    Ok(papi)
}
