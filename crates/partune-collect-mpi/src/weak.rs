//! Weak references to functions that the MPI library lacks are null, as they would be without us.
//!
//! A program made for several versions of MPI refers weakly to what only some have, and looks whether the reference is null (mpi4py does). The loader binds
//! it to our wrapper, since this library has them all. The loader cannot be told otherwise, so each object that was loaded is looked
//! through, once: at start, and before the program gets hold of a function in an object that it opened.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::Range;
use std::slice;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use libc::{Elf64_Phdr, Elf64_Rela, Elf64_Sym};
use partune_collect::modules::{Generation, generation};

use crate::{library, lookup};

/// Run by the loader: what the program was started with.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        settle();
    }
    at_load
};

/// Additions of the loader that were looked at; 0: none, this library is being loaded itself.
static LOADED: AtomicU64 = AtomicU64::new(0);

/// Puts right what was opened since the last time. Not before this library was loaded: who asks then may be the one that gives out memory.
pub(crate) fn settle_opened() {
    if LOADED.load(Ordering::Acquire) != 0 {
        settle();
    }
}

/// Puts right what was loaded since the last time. No lock is held while the loader is asked: it may be held by who waits for ours.
fn settle() {
    let now = generation();
    if LOADED.load(Ordering::Acquire) == now.loaded {
        return;
    }
    let mut objects: Vec<usize> = Vec::new();
    // SAFETY: `list` takes what is given here.
    unsafe { libc::dl_iterate_phdr(Some(list), (&raw mut objects).cast()) };
    let mut search = Search { objects: unseen(now, objects), slots: Vec::new() };
    if !search.objects.is_empty() {
        // Another thread may be opening some of them. A question waits for it, and then all have been bound.
        let _ = library::symbol(libc::RTLD_NEXT, c"dlsym");
        // SAFETY: `look` takes what is given here.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    }
    for slot in &search.slots {
        let is_ours = lookup::wrapper(&slot.name).is_some_and(|(_, wrapper)| wrapper == slot.bound);
        if is_ours && !lookup::is_there(&slot.name) {
            slot.clear();
        }
    }
    LOADED.store(now.loaded, Ordering::Release);
}

/// Objects, by their dynamic sections, that were not seen before; they have been now. Where something was unloaded, another object may lie at its place.
fn unseen(now: Generation, mut objects: Vec<usize>) -> Vec<usize> {
    struct Seen {
        unloaded: u64,
        objects: BTreeSet<usize>,
    }
    static SEEN: Mutex<Seen> = Mutex::new(Seen { unloaded: 0, objects: BTreeSet::new() });
    let mut seen = SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if seen.unloaded != now.unloaded {
        seen.unloaded = now.unloaded;
        seen.objects.clear();
    }
    objects.retain(|object| seen.objects.insert(*object));
    objects
}

/// A word that a weak reference to a function of MPI was bound at.
struct Slot {
    address: usize,
    bound: usize,
    name: CString,
    /// The loader forbade to write there.
    is_locked: bool,
}

impl Slot {
    /// Makes the word null.
    fn clear(&self) {
        static ALONE: Mutex<()> = Mutex::new(());
        let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let page = (self.address & !(page_size() - 1)) as *mut c_void;
        let protect = |how: c_int| {
            // SAFETY: a page of an object's data, which becomes what it was afterwards.
            !self.is_locked || unsafe { libc::mprotect(page, page_size(), how) } == 0
        };
        if protect(libc::PROT_READ | libc::PROT_WRITE) {
            // SAFETY: a word of an object that is loaded, which can be written.
            unsafe { (*(self.address as *const AtomicUsize)).store(0, Ordering::Relaxed) };
            protect(libc::PROT_READ);
        }
    }
}

fn page_size() -> usize {
    // SAFETY: a question about the system.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// What to look at, and what was found.
struct Search {
    objects: Vec<usize>,
    slots: Vec<Slot>,
}

unsafe extern "C" fn list(info: *mut libc::dl_phdr_info, _: usize, objects: *mut c_void) -> c_int {
    // SAFETY: the loader gives valid information, and the list is the one of `settle`.
    let (info, objects) = unsafe { (&*info, &mut *objects.cast::<Vec<usize>>()) };
    // SAFETY: as above.
    objects.extend(unsafe { dynamic(info) });
    0
}

/// Runs while no object can be unloaded.
unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: the loader gives valid information, and the structure is the one of `settle`.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    // SAFETY: as above.
    if let Some(dynamic) = unsafe { dynamic(info) }.filter(|it| search.objects.contains(it)) {
        // SAFETY: a loaded object.
        unsafe { weak(info, dynamic, &mut search.slots) };
    }
    0
}

/// # Safety
/// The information must be the loader's.
unsafe fn segments(info: &libc::dl_phdr_info) -> &[Elf64_Phdr] {
    // SAFETY: as long as it says.
    unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) }
}

/// Where an object's dynamic section lies.
///
/// # Safety
/// The information must be the loader's.
unsafe fn dynamic(info: &libc::dl_phdr_info) -> Option<usize> {
    // SAFETY: as the caller said.
    let segment = unsafe { segments(info) }.iter().find(|segment| segment.p_type == libc::PT_DYNAMIC)?;
    Some(range(info, segment).start)
}

fn range(info: &libc::dl_phdr_info, segment: &Elf64_Phdr) -> Range<usize> {
    let begin = info.dlpi_addr as usize + segment.p_vaddr as usize;
    begin..begin + segment.p_memsz as usize
}

/// Adds what an object's weak references were bound at, by its tables. System V ABI, chapter "Dynamic Linking".
///
/// # Safety
/// The object must be loaded, and its dynamic section there.
unsafe fn weak(info: &libc::dl_phdr_info, dynamic: usize, slots: &mut Vec<Slot>) {
    const WEAK: u8 = 2;
    let base = info.dlpi_addr as usize;
    let [mut symbols, mut strings, mut begin, mut bytes, mut relative] = [0_usize; 5];
    let mut entry = dynamic as *const [usize; 2];
    // SAFETY: the section ends with a zero.
    while let [tag, value] = unsafe { *entry }
        && tag != 0
    {
        // The loader has made addresses of those that are some.
        match tag {
            5 => strings = value,
            6 => symbols = value,
            7 => begin = value,
            8 => bytes = value,
            0x6fff_fff9 => relative = value,
            _ => {}
        }
        // SAFETY: the entry was not the last.
        entry = unsafe { entry.add(1) };
    }
    // In objects that the kernel made there is nothing to bind. Calls have a table of their own, which nobody looks at for null.
    if symbols < base || strings < base || begin < base || begin == 0 {
        return;
    }
    let length = (bytes / size_of::<Elf64_Rela>()).saturating_sub(relative);
    // SAFETY: a table of the object, as long as it says; first come those that name no symbols.
    let relocations = unsafe { slice::from_raw_parts((begin as *const Elf64_Rela).add(relative), length) };
    // SAFETY: the loader's.
    let segments = unsafe { segments(info) };
    let holds = |kind: u32, flag: u32, address: usize| {
        let mut fitting = segments.iter().filter(|it| it.p_type == kind && it.p_flags & flag == flag);
        fitting.find_map(|it| Some(range(info, it)).filter(|range| range.contains(&address)))
    };
    for relocation in relocations {
        // SAFETY: relocations name symbols of the object's table.
        let symbol = unsafe { &*(symbols as *const Elf64_Sym).add((relocation.r_info >> 32) as usize) };
        if symbol.st_info >> 4 != WEAK || symbol.st_shndx != 0 {
            continue;
        }
        // SAFETY: symbols name strings of the object.
        let name = unsafe { CStr::from_ptr((strings as *const c_char).add(symbol.st_name as usize)) };
        let address = base + relocation.r_offset as usize;
        if lookup::may_be_wrapped(name) && holds(libc::PT_LOAD, libc::PF_W, address).is_some() {
            let page = |address: usize| address & !(page_size() - 1);
            let locked = holds(libc::PT_GNU_RELRO, 0, address);
            slots.push(Slot {
                address,
                // SAFETY: the word is in the object's data.
                bound: unsafe { (*(address as *const AtomicUsize)).load(Ordering::Relaxed) },
                name: name.to_owned(),
                // Whole pages only.
                is_locked: locked.is_some_and(|range| page(address) < page(range.end)),
            });
        }
    }
}
