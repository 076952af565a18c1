//! Events of a simulation: which were posted, and who waits for which.

use super::resources::NONE;
use crate::code::Value;
use crate::diagnostic::{Diagnostic, Span};
use crate::shape::{MAX_EVENTS, Shape, at, lay_out};

/// In the place of who waits last.
const POSTED: u32 = NONE - 1;

/// A process that waits: the one that came before it, and since when.
#[derive(Clone, Copy, Default)]
struct Waiting<T> {
    before: u32,
    since: T,
}

pub(super) struct Events<T> {
    shapes: Vec<Shape>,
    /// Of each event who waits last, or that it is posted.
    last: Vec<u32>,
    /// By process.
    waiting: Vec<Waiting<T>>,
}

impl<T: Copy + Default> Events<T> {
    pub(super) fn new(mut shapes: Vec<Shape>) -> Result<Self, Diagnostic> {
        let count = lay_out(&mut shapes, MAX_EVENTS, "events")?;
        Ok(Events { shapes, last: vec![NONE; count as usize], waiting: Vec::new() })
    }

    /// The event at an index.
    pub(super) fn place(&self, event: u32, index: &[Value], variables: &[i64], span: Span) -> Result<u32, Diagnostic> {
        self.shapes[event as usize].place(index, variables, span)
    }

    /// Whether it is posted; if not, the process waits.
    pub(super) fn waits(&mut self, place: u32, id: u32, since: T) -> bool {
        let last = &mut self.last[place as usize];
        if *last == POSTED {
            return false;
        }
        if self.waiting.len() <= id as usize {
            self.waiting.resize(id as usize + 1, Waiting::default());
        }
        self.waiting[id as usize] = Waiting { before: *last, since };
        *last = id;
        true
    }

    /// Posts it; gives those who waited, the last one first, each with since when.
    pub(super) fn post(&mut self, place: u32) -> Vec<(u32, T)> {
        let mut next = std::mem::replace(&mut self.last[place as usize], POSTED);
        let mut waited = Vec::new();
        while next < POSTED {
            let Waiting { before, since } = self.waiting[next as usize];
            waited.push((next, since));
            next = before;
        }
        waited
    }

    /// The first event that somebody waits for, as it is written, and one who does.
    pub(super) fn awaited(&self) -> Option<(String, u32)> {
        let place = self.last.iter().position(|last| *last < POSTED)?;
        Some((at(&self.shapes, place as u32)?.1.name(place as u32), self.last[place]))
    }
}
