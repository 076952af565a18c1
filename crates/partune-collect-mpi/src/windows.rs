//! Windows: from handles to numbers in the archive, and what is open in each: accesses, epochs, locks.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use partune_collect::Call;
use partune_collect::definitions;

use crate::comms::Comm;

/// What is kept of a window.
#[derive(Debug)]
pub(crate) struct Window {
    pub(crate) number: u32,
    /// Whether MPI gave its memory.
    pub(crate) is_allocated: bool,
    /// Groups of the open epochs in the archive.
    pub(crate) started: Option<u32>,
    pub(crate) posted: Option<u32>,
    /// Of each rank the accesses that are not complete.
    open: Vec<Open>,
    /// Ranks that have a number, in order of their first access.
    touched: Vec<u32>,
}

/// Accesses to a rank that one call will complete.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    /// That all of them have; 0 if there are none.
    number: u64,
    count: u64,
}

/// How complete accesses are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Here only.
    Origin,
    /// At the target.
    Target,
}

struct Table {
    windows: HashMap<usize, Window>,
    /// How many windows of each communicator there were.
    sequences: HashMap<u32, u32>,
}

static TABLE: Mutex<Option<Table>> = Mutex::new(None);

fn with_table<T>(act: impl FnOnce(&mut Table) -> T) -> T {
    let mut table = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    act(table.get_or_insert_with(|| Table { windows: HashMap::new(), sequences: HashMap::new() }))
}

/// Keeps a window that was just made on a communicator. `kind` is a word for how. Returns its number.
pub(crate) fn register(handle: usize, comm: &Comm, kind: &str, is_allocated: bool) -> u32 {
    with_table(|table| {
        let next = table.sequences.entry(comm.number).or_insert(0);
        let sequence = *next;
        *next += 1;
        let number = definitions::window(comm.number, sequence, kind, "");
        let window = Window {
            number,
            is_allocated,
            started: None,
            posted: None,
            open: vec![Open::default(); comm.size as usize],
            touched: Vec::new(),
        };
        table.windows.insert(handle, window);
        number
    })
}

/// Takes a window whose handle will mean something else.
pub(crate) fn take(handle: usize) -> Option<Window> {
    with_table(|table| table.windows.remove(&handle))
}

/// The handle goes on to mean the window that was taken.
pub(crate) fn give_back(handle: usize, window: Window) {
    with_table(|table| table.windows.insert(handle, window));
}

/// Does something with a window, while no other thread does; none if the window is unknown.
pub(crate) fn with<T>(handle: usize, act: impl FnOnce(&mut Window) -> T) -> Option<T> {
    with_table(|table| table.windows.get_mut(&handle).map(act))
}

impl Window {
    /// The number that accesses to a rank have until they are completed.
    pub(crate) fn access(&mut self, target: u32, call: &mut Call<'_>) -> u64 {
        let Some(open) = self.open.get_mut(target as usize) else { return 0 };
        if open.number == 0 {
            open.number = call.next_id();
            self.touched.push(target);
        }
        open.count += 1;
        open.number
    }

    /// One of these accesses failed, so that there is nothing to complete.
    pub(crate) fn retract(&mut self, target: u32, matching: u64) {
        let Some(open) = self.open.get_mut(target as usize).filter(|open| open.number == matching) else { return };
        open.count -= 1;
        if open.count == 0 {
            *open = Open::default();
            self.touched.retain(|rank| *rank != target);
        }
    }

    /// Tells that the accesses to a rank, or to all, are complete.
    pub(crate) fn complete(&mut self, target: Option<u32>, reach: Reach, call: &mut Call<'_>) {
        for rank in self.touched.iter().filter(|rank| target.is_none_or(|target| **rank == target)) {
            let matching = self.open[*rank as usize].number;
            match reach {
                Reach::Origin => call.rma_complete_non_blocking(self.number, matching),
                Reach::Target => {
                    call.rma_complete_remote(self.number, matching);
                    self.open[*rank as usize] = Open::default();
                }
            }
        }
        self.touched.retain(|rank| self.open[*rank as usize].number != 0);
    }
}
