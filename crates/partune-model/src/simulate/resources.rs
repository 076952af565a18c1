//! Resources of a simulation: servers, their queues, and what is counted about them.

use crate::diagnostic::{Diagnostic, Span};
use crate::shape::{Shape, at, lay_out};

use super::time::{Clock, Stop};
use crate::code::Value;

/// Queues that one model may have.
const MAX_QUEUES: u32 = 1 << 24;
pub(super) const NONE: u32 = u32::MAX;

/// Uses that wait: equal ones, so many.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<T> {
    pub(super) duration: T,
    pub(super) since: T,
    pub(super) then: u32,
    pub(super) count: u32,
}

struct Node<T> {
    entry: Entry<T>,
    next: u32,
}

/// One queue with its servers.
#[derive(Clone)]
struct Queue<T> {
    free: u32,
    head: u32,
    tail: u32,
    waiting: u64,
    most: u64,
    uses: u64,
    busy: T,
    /// Since when so many wait, and their time so far.
    changed: T,
    area: f64,
}

pub(super) struct Servers<T> {
    shapes: Vec<Shape>,
    /// Of each shape, servers behind a queue.
    behind: Vec<u32>,
    queues: Vec<Queue<T>>,
    nodes: Vec<Node<T>>,
    free: u32,
}

/// What was counted about a queue, in units of the model.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counted {
    pub(super) position: u32,
    pub(super) uses: u64,
    pub(super) busy: f64,
    pub(super) most: u64,
    pub(super) area: f64,
}

impl<T: Copy + Ord + Default> Servers<T> {
    /// Lays out all queues.
    pub(super) fn new(mut shapes: Vec<Shape>, servers: Vec<u32>) -> Result<Self, Diagnostic> {
        let total = lay_out(&mut shapes, MAX_QUEUES, "resources")?;
        let mut queues = Vec::with_capacity(total as usize);
        for (shape, servers) in shapes.iter().zip(&servers) {
            let zero = T::default();
            let queue = Queue {
                free: *servers,
                head: NONE,
                tail: NONE,
                waiting: 0,
                most: 0,
                uses: 0,
                busy: zero,
                changed: zero,
                area: 0.0,
            };
            queues.extend(std::iter::repeat_n(queue, shape.count().unwrap_or_default() as usize));
        }
        Ok(Servers { shapes, behind: servers, queues, nodes: Vec::new(), free: NONE })
    }

    /// The name of a queue with its index, and its servers.
    pub(super) fn name(&self, position: u32) -> (String, u32) {
        let of = at(&self.shapes, position).map(|(number, shape)| (shape.name(position), self.behind[number]));
        of.unwrap_or_default()
    }

    /// The queue at an index.
    #[inline]
    pub(super) fn place(
        &self,
        resource: u32,
        index: &[Value],
        variables: &[i64],
        span: Span,
    ) -> Result<u32, Diagnostic> {
        self.shapes[resource as usize].place(index, variables, span)
    }

    /// Takes a server, or waits; true if there was one. Equal neighbours in the queue merge where the caller says they may.
    #[inline]
    pub(super) fn take<C: Clock<Time = T>>(
        &mut self,
        resource: u32,
        now: T,
        entry: Entry<T>,
        merge: bool,
        clock: &C,
    ) -> Result<bool, Stop> {
        let queue = &mut self.queues[resource as usize];
        queue.uses += 1;
        queue.busy = clock.add(queue.busy, entry.duration)?;
        if queue.free > 0 {
            queue.free -= 1;
            return Ok(true);
        }
        queue.waited(now, clock);
        queue.waiting += 1;
        queue.most = queue.most.max(queue.waiting);
        if merge && queue.tail != NONE {
            let last = &mut self.nodes[queue.tail as usize].entry;
            if last.duration == entry.duration && last.then == entry.then && last.count < u32::MAX {
                last.count += 1;
                return Ok(false);
            }
        }
        let node = Node { entry, next: NONE };
        let at = if self.free == NONE {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            let at = self.free;
            self.free = self.nodes[at as usize].next;
            self.nodes[at as usize] = node;
            at
        };
        if queue.tail == NONE {
            queue.head = at;
        } else {
            self.nodes[queue.tail as usize].next = at;
        }
        queue.tail = at;
        Ok(false)
    }

    /// Gives a server back, and to the next in the queue.
    #[inline]
    pub(super) fn release<C: Clock<Time = T>>(&mut self, resource: u32, now: T, clock: &C) -> Option<Entry<T>> {
        let queue = &mut self.queues[resource as usize];
        if queue.head == NONE {
            queue.free += 1;
            return None;
        }
        queue.waited(now, clock);
        queue.waiting -= 1;
        let at = queue.head;
        let node = &mut self.nodes[at as usize];
        let entry = node.entry;
        node.entry.count -= 1;
        if node.entry.count == 0 {
            queue.head = node.next;
            if queue.head == NONE {
                queue.tail = NONE;
            }
            node.next = self.free;
            self.free = at;
        }
        Some(entry)
    }

    pub(super) fn queues(&self) -> u32 {
        self.queues.len() as u32
    }

    /// The counts of all queues that were used.
    pub(super) fn counted<C: Clock<Time = T>>(&self, clock: &C) -> Vec<Counted> {
        let used = self.queues.iter().enumerate().filter(|(_, queue)| queue.uses > 0);
        used.map(|(position, queue)| Counted {
            position: position as u32,
            uses: queue.uses,
            busy: clock.to_f64(queue.busy),
            most: queue.most,
            area: queue.area,
        })
        .collect()
    }
}

impl<T: Copy + Ord> Queue<T> {
    #[inline]
    fn waited<C: Clock<Time = T>>(&mut self, now: T, clock: &C) {
        if now != self.changed {
            if self.waiting > 0 {
                self.area += self.waiting as f64 * (clock.to_f64(now) - clock.to_f64(self.changed));
            }
            self.changed = now;
        }
    }
}
