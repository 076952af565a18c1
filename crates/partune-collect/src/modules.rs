//! The loaded modules and their unwind tables, for the walker: what a running program has in memory for its exceptions.
//!
//! A table is made from the loader's list, in a moment when nothing is recorded, and made again when the loader has loaded or unloaded
//! something since. Walks, also those in a signal's handler, read the last one that was made. An old one stays, since another thread's handler
//! may be reading it; there is one for each time that a program was seen to have loaded something.

use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};

use framehop::{ExplicitModuleSectionInfo, Module, MustNotAllocateDuringUnwind, Unwinder as _, UnwinderNative};

/// Unwind data of a module.
pub(crate) type Data = &'static [u8];

pub(crate) type Table = UnwinderNative<Data, MustNotAllocateDuringUnwind>;

/// What the loader has done so far: how often it loaded and unloaded something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generation {
    pub loaded: u64,
    pub unloaded: u64,
}

/// The modules at one time.
pub(crate) struct Modules {
    pub(crate) table: Table,
    /// Where the recorder's own code is.
    own: Range<usize>,
    /// Where that of the C library and of the loader is.
    system: Vec<Range<usize>>,
    /// The code of each module and its unwind data, in order of addresses.
    frames: Vec<(Range<usize>, Frames)>,
    generation: Generation,
}

/// A module's unwind data: the index of its frames and the frames, each with where it is in memory while the module is loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frames {
    pub(crate) index: (usize, Data),
    pub(crate) frames: (usize, Data),
}

/// Whose code it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Recorder,
    /// Of the C library, the loader, or what the kernel lends.
    System,
    /// The program and its libraries.
    Program,
}

/// How the names of files begin whose code is the system's.
const SYSTEM: [&str; 8] = ["libc.", "libc-", "ld-", "libpthread", "libgcc_s", "libm.", "libdl", "linux-vdso"];

impl Modules {
    /// Whether code is the recorder's.
    pub(crate) fn is_own(&self, address: usize) -> bool {
        self.own.contains(&address)
    }

    /// The unwind data of the module at an address.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn frames_at(&self, address: usize) -> Option<Frames> {
        let after = self.frames.partition_point(|(code, _)| code.start <= address);
        let (code, frames) = self.frames[..after].last()?;
        code.contains(&address).then_some(*frames)
    }

    /// Whose code is at an address.
    pub(crate) fn whose(&self, address: usize) -> Whose {
        let is_system = || self.system.iter().any(|module| module.contains(&address));
        match self.is_own(address) {
            true => Whose::Recorder,
            false if is_system() => Whose::System,
            false => Whose::Program,
        }
    }

    /// Those that were found last; none before [`known`] was asked.
    pub(crate) fn last() -> Option<&'static Modules> {
        // SAFETY: null, or what `known` has leaked.
        unsafe { LAST.load(Ordering::Acquire).as_ref() }
    }
}

static LAST: AtomicPtr<Modules> = AtomicPtr::new(std::ptr::null_mut());

/// The modules that are loaded now. Not for handlers of signals.
pub(crate) fn known() -> &'static Modules {
    static MAKING: Mutex<()> = Mutex::new(());
    let now = generation();
    if let Some(last) = Modules::last().filter(|last| last.generation == now) {
        return last;
    }
    let _making = MAKING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(last) = Modules::last().filter(|last| last.generation == now) {
        return last;
    }
    let made: &'static mut Modules = Box::leak(Box::new(read(Modules::last(), now)));
    LAST.store(made, Ordering::Release);
    made
}

/// What the loader has done by now. Asks it about its first module only.
pub fn generation() -> Generation {
    let first = find(|module| Some(Generation { loaded: module.0.dlpi_adds, unloaded: module.0.dlpi_subs }));
    first.unwrap_or_default()
}

/// Begin, end and bias of the loaded module at an address, and the path of its file.
pub fn module_at(address: usize) -> Option<((usize, usize, usize), String)> {
    find(|module| {
        let segment = module.segments().find(|segment| segment.contains(&address))?;
        Some(((segment.start, segment.end, module.bias()), module.path()))
    })
}

/// A module, as the loader shows it while it lists all.
struct Loaded<'a>(&'a libc::dl_phdr_info);

/// What is looked for in the first module that has it.
fn find<T, F: FnMut(&Loaded<'_>) -> Option<T>>(look: F) -> Option<T> {
    struct Search<T, F> {
        look: F,
        found: Option<T>,
    }
    extern "C" fn visit<T, F: FnMut(&Loaded<'_>) -> Option<T>>(
        info: *mut libc::dl_phdr_info,
        _: usize,
        search: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader calls with a valid structure, and with the search below.
        let (info, search) = unsafe { (&*info, &mut *search.cast::<Search<T, F>>()) };
        search.found = (search.look)(&Loaded(info));
        search.found.is_some().into()
    }
    let mut search = Search { look, found: None };
    // SAFETY: the callback matches its argument.
    unsafe { libc::dl_iterate_phdr(Some(visit::<T, F>), (&raw mut search).cast()) };
    search.found
}

impl Loaded<'_> {
    /// What its addresses are more in memory than in its file.
    fn bias(&self) -> usize {
        self.0.dlpi_addr as usize
    }

    /// Where its parts of a kind are in memory.
    fn parts(&self, kind: u32) -> impl Iterator<Item = Range<usize>> {
        // SAFETY: the loader's structure says where the module's headers are and how many.
        let headers = unsafe { std::slice::from_raw_parts(self.0.dlpi_phdr, self.0.dlpi_phnum.into()) };
        headers.iter().filter(move |header| header.p_type == kind).map(|header| {
            let begin = self.bias().wrapping_add(header.p_vaddr as usize);
            begin..begin + header.p_memsz as usize
        })
    }

    fn segments(&self) -> impl Iterator<Item = Range<usize>> {
        self.parts(libc::PT_LOAD)
    }

    /// The path of its file; the program itself has none here.
    fn path(&self) -> String {
        let name = if self.0.dlpi_name.is_null() {
            String::new()
        } else {
            // SAFETY: the loader's C string.
            unsafe { CStr::from_ptr(self.0.dlpi_name) }.to_string_lossy().into_owned()
        };
        if name.is_empty() { std::env::current_exe().unwrap_or_default().to_string_lossy().into_owned() } else { name }
    }
}

/// A list of modules in the making.
struct Reading {
    modules: Modules,
    /// The list before; without one, these modules came with the program, so that they stay as long as the process.
    last: Option<&'static Modules>,
}

fn read(last: Option<&'static Modules>, generation: Generation) -> Modules {
    let modules = Modules { table: Table::new(), own: 0..0, system: Vec::new(), frames: Vec::new(), generation };
    let mut reading = Reading { modules, last };
    find(|module| {
        reading.add(module);
        None::<()>
    });
    reading.modules.frames.sort_by_key(|(code, _)| code.start);
    reading.modules
}

impl Reading {
    fn add(&mut self, module: &Loaded<'_>) {
        let Some(begin) = module.segments().map(|segment| segment.start).min() else { return };
        let end = module.segments().map(|segment| segment.end).max().unwrap_or(begin);
        let here = read as *const () as usize;
        if module.segments().any(|segment| segment.contains(&here)) {
            self.modules.own = begin..end;
        }
        let path = module.path();
        let name = path.rsplit('/').next().unwrap_or_default();
        if SYSTEM.iter().any(|begin| name.starts_with(begin)) {
            self.modules.system.push(begin..end);
        }
        let Some(header) = module.parts(libc::PT_GNU_EH_FRAME).next() else { return };
        // SAFETY: a segment of a loaded module, which stays while the loader calls.
        let index = unsafe { std::slice::from_raw_parts(header.start as *const u8, header.len()) };
        let Some(frames) = frames(index, header.start) else { return };
        let Some(segment) = module.segments().find(|segment| segment.contains(&frames)) else { return };
        // SAFETY: as above; the table ends somewhere in its segment, which its own end mark says.
        let table = unsafe { std::slice::from_raw_parts(frames as *const u8, segment.end - frames) };
        let kept = self.keep(Frames { index: (header.start, index), frames: (frames, table) });
        self.modules.frames.push((begin..end, kept));
        let (index, table) = (kept.index.1, kept.frames.1);
        let relative = |address: usize, data: &[u8]| {
            let begin = address.wrapping_sub(module.bias()) as u64;
            Some(begin..begin + data.len() as u64)
        };
        let section = ExplicitModuleSectionInfo {
            base_svma: 0,
            eh_frame_hdr_svma: relative(header.start, index),
            eh_frame_svma: relative(frames, table),
            eh_frame_hdr: Some(index),
            eh_frame: Some(table),
            ..ExplicitModuleSectionInfo::default()
        };
        self.modules.table.add_module(Module::new(
            String::new(),
            begin as u64..end as u64,
            module.bias() as u64,
            section,
        ));
    }

    /// Data as long as the process: what may be unloaded is copied, once.
    fn keep(&self, found: Frames) -> Frames {
        let Some(last) = self.last else { return found };
        let known = last.frames.iter().map(|(_, frames)| frames).find(|known| known.index == found.index);
        let copy = |data: &[u8]| -> Data { Vec::leak(data.to_vec()) };
        known.copied().unwrap_or_else(|| Frames {
            index: (found.index.0, copy(found.index.1)),
            frames: (found.frames.0, copy(&found.frames.1[..length(found.frames.1)])),
        })
    }
}

/// Where the frame table begins, by the usual form of its index (LSB, "Exception Frames": version 1, relative to its own place).
fn frames(index: &[u8], at: usize) -> Option<usize> {
    const RELATIVE_TO_PLACE_32: u8 = 0x1b;
    let (head, rest) = index.split_at_checked(4)?;
    let offset = i32::from_le_bytes(rest.get(..4)?.try_into().ok()?);
    (head[0] == 1 && head[1] == RELATIVE_TO_PLACE_32).then_some((at + 4).wrapping_add_signed(offset as isize))
}

/// The length of a frame table: entries with their lengths, and a length of 0 at the end.
fn length(table: &[u8]) -> usize {
    let mut at = 0;
    while let Some(bytes) = table.get(at..at + 4) {
        let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        if length == 0 || length == u32::MAX {
            break;
        }
        at += 4 + length as usize;
    }
    at.min(table.len())
}
