//! A run as a program that can be followed again: for each PE what it does, gives and needs, in its order.
//!
//! Work is the time outside of operations, as measured. What an operation takes of its own, and how long it takes from the moment that what it
//! waited for was there, is not part of the program: that is what [`crate::costs`] says of its class.

use partune_base::{CallPathId, PeId, Table, Time};
use partune_trace::VisitIx;

use crate::effects::Treatment;

/// One thing that a PE does: 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// When it did it in the run.
    pub(crate) at: Time,
    /// Ticks of its own code since the step before.
    pub(crate) work: i64,
    pub(crate) what: What,
}

/// Operations are numbered by PE, ties over all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// An operation begins.
    Enters(u32),
    /// It ends: not before its own time is over, nor before what it needs came.
    Leaves(u32),
    Gives(u32),
    /// The operation around needs it; outside of all, the PE waits here.
    Takes(u32),
    /// A thread begins with it, so many ticks later at the earliest.
    Begins(u32),
    /// All that was started and goes on beside the PE's own code is awaited.
    Completes,
    /// Nothing but the end of some work.
    Goes,
}

/// An operation of a PE.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub(crate) visit: VisitIx,
    /// Its class; [`RECORDED`] if it keeps the time it took.
    pub(crate) class: u32,
    /// Whether it waited for a gift of another PE.
    pub(crate) waited: bool,
    /// Ticks from the gift to the end if it waited, else all its own.
    pub(crate) measured: i64,
    pub(crate) treatment: Treatment,
}

/// Of an operation that no cost is known for, and none is asked: management, files, partners that nobody knows.
pub(crate) const RECORDED: u32 = u32::MAX;

/// What operations with one cost have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClassKey {
    pub(crate) path: CallPathId,
    /// 0 for nothing, else one more than the logarithm to base 2 of the bytes.
    pub(crate) size: u8,
    /// The same of PEs that take part.
    pub(crate) partners: u8,
    /// Some partner is on another node.
    pub(crate) remote: bool,
}

/// A run that can be followed.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) steps: Table<PeId, Vec<Step>>,
    pub(crate) operations: Table<PeId, Vec<Operation>>,
    pub(crate) classes: Vec<ClassKey>,
    /// Bytes that an operation of each class moves, on average.
    pub(crate) bytes: Vec<f64>,
    /// How many give to each tie.
    pub(crate) givers: Vec<u32>,
    /// How long after its gift each thread began, where one did.
    pub(crate) delays: Vec<i64>,
}

/// What one PE does, with classes of its own.
pub(crate) struct OfPe {
    pub(crate) steps: Vec<Step>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) classes: Vec<(ClassKey, f64, u32)>,
}

impl Program {
    /// Gives classes one number over all PEs, in the order of their keys.
    pub(crate) fn number_classes(&mut self, parts: &mut [OfPe], known: Option<&[ClassKey]>) {
        let keys = known.map_or_else(
            || {
                let mut keys: Vec<ClassKey> =
                    parts.iter().flat_map(|part| part.classes.iter().map(|it| it.0)).collect();
                keys.sort_unstable();
                keys.dedup();
                keys
            },
            <[ClassKey]>::to_vec,
        );
        let (mut bytes, mut counts) = (vec![0.0; keys.len()], vec![0_u64; keys.len()]);
        for part in parts {
            let number = |key: &ClassKey| keys.binary_search(key).map_or(RECORDED, |number| number as u32);
            let numbers: Vec<u32> = part.classes.iter().map(|class| number(&class.0)).collect();
            for (number, (_, sum, count)) in numbers.iter().zip(&part.classes) {
                if *number != RECORDED {
                    bytes[*number as usize] += sum;
                    counts[*number as usize] += u64::from(*count);
                }
            }
            for operation in part.operations.iter_mut().filter(|operation| operation.class != RECORDED) {
                operation.class = numbers[operation.class as usize];
            }
        }
        bytes.iter_mut().zip(counts).for_each(|(bytes, count)| *bytes /= count.max(1) as f64);
        (self.classes, self.bytes) = (keys, bytes);
    }
}
