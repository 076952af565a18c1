//! Names that programs give to regions, as regions.
//!
//! A program names a region by the same text again and again, mostly at the same address, so a thread remembers the last
//! region of an address and compares the text. A text that is new to the process is copied once, under a lock.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};

use crate::region::{Kind, Region};

/// A region that the program named.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) region: Region,
    /// How often it is open, on all threads.
    open: AtomicI64,
    /// Which kinds of misuse were noted.
    told: AtomicU8,
}

type Table = HashMap<(&'static str, &'static str), &'static Named>;

static TABLE: Mutex<Option<Table>> = Mutex::new(None);

const REMEMBERED: usize = 64;

thread_local! {
    static LAST: RefCell<[Option<(usize, &'static Named)>; REMEMBERED]> = const { RefCell::new([None; REMEMBERED]) };
}

/// The region of a name, which should be UTF-8; the same for equal names of one kind.
pub(super) fn find(name: &[u8], kind: Kind) -> &'static Named {
    let address = name.as_ptr() as usize;
    let slot = (address ^ address >> 6) % REMEMBERED;
    // A thread that is ending has no memory left.
    let known = LAST.try_with(|last| last.borrow()[slot]).ok().flatten();
    if let Some((at, named)) = known
        && at == address
        && named.region.kind == kind
        && named.region.name.as_bytes() == name
    {
        return named;
    }
    let named = intern(&String::from_utf8_lossy(name), kind);
    let _ = LAST.try_with(|last| last.borrow_mut()[slot] = Some((address, named)));
    named
}

fn intern(name: &str, kind: Kind) -> &'static Named {
    let mut table = TABLE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let table = table.get_or_insert_default();
    if let Some(named) = table.get(&(kind.word(), name)) {
        return named;
    }
    super::marks::say_at_exit();
    let name: &'static str = name.to_owned().leak();
    let named = Named { region: Region::new(name, kind), open: AtomicI64::new(0), told: AtomicU8::new(0) };
    let named: &'static Named = Box::leak(Box::new(named));
    table.insert((kind.word(), name), named);
    named
}

/// All regions that are open somewhere, by name.
pub(super) fn open() -> Vec<(&'static Named, i64)> {
    let table = TABLE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let all = table.iter().flat_map(HashMap::values).map(|named| (*named, named.count()));
    let mut open: Vec<_> = all.filter(|(_, count)| *count > 0).collect();
    open.sort_by_key(|(named, _)| named.region.name);
    open
}

impl Named {
    /// How often it is open, on all threads.
    pub(super) fn count(&self) -> i64 {
        self.open.load(Ordering::Relaxed)
    }

    pub(super) fn opened(&self) {
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn closed(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a misuse is to be noted: the first time.
    pub(super) fn is_first(&self, misuse: u8) -> bool {
        self.told.fetch_or(misuse, Ordering::Relaxed) & misuse == 0
    }
}
