//! What one PE did, in order of time: visits, and the tables of facts beside them (see [`crate::facts`]).

use partune_base::{CallPathId, Span, Time};

use crate::fact::{Change, Fact, Rows};
use crate::facts::Stream;
use crate::kinds::{IoKind, RmaTransferKind};

/// Position of a visit in the columns of its PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VisitIx(pub u32);

impl VisitIx {
    pub const NONE: VisitIx = VisitIx(u32::MAX);

    pub fn is_some(self) -> bool {
        self != Self::NONE
    }

    pub fn some(self) -> Option<Self> {
        self.is_some().then_some(self)
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One execution of a call path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    pub enter: Time,
    pub exit: Time,
    pub path: CallPathId,
}

impl Visit {
    pub fn duration(self) -> Span {
        self.exit.since(self.enter)
    }
}

/// All visits of a PE in the order of their enters, in columns: 20 bytes a visit, 10 an event.
///
/// Visits nest: of two that overlap, the later one lies within the earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    pub enter: Vec<Time>,
    pub exit: Vec<Time>,
    pub path: Vec<CallPathId>,
}

impl Visits {
    /// The last exit: that of the outermost visit around the last one to begin, or of that one itself. Looks at outermost visits only.
    pub fn end(&self) -> Option<Time> {
        let (begin, mut end) = (*self.enter.last()?, *self.exit.last()?);
        let mut outermost = 0;
        while let Some(exit) = self.exit.get(outermost).copied() {
            end = end.max(exit);
            if exit > begin {
                break;
            }
            let next = self.enter[outermost + 1..].iter().position(|enter| *enter >= exit);
            outermost = next.map_or(self.len(), |inside| outermost + 1 + inside);
        }
        Some(end)
    }

    pub fn push(&mut self, visit: Visit) -> VisitIx {
        let index = VisitIx(self.enter.len() as u32);
        self.enter.push(visit.enter);
        self.exit.push(visit.exit);
        self.path.push(visit.path);
        index
    }

    pub fn get(&self, index: VisitIx) -> Option<Visit> {
        (index.index() < self.len()).then(|| self.at(index))
    }

    /// The visit at an index that belongs to this PE.
    pub fn at(&self, index: VisitIx) -> Visit {
        let i = index.index();
        Visit { enter: self.enter[i], exit: self.exit[i], path: self.path[i] }
    }

    pub fn len(&self) -> usize {
        self.enter.len()
    }

    pub fn is_empty(&self) -> bool {
        self.enter.is_empty()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = Visit> + '_ {
        (0..self.len()).map(|i| Visit { enter: self.enter[i], exit: self.exit[i], path: self.path[i] })
    }

    /// Makes room for so many more, and no more than that.
    pub fn reserve_exact(&mut self, more: usize) {
        self.enter.reserve_exact(more);
        self.exit.reserve_exact(more);
        self.path.reserve_exact(more);
    }

    pub fn append(&mut self, more: &mut Visits) {
        self.enter.append(&mut more.enter);
        self.exit.append(&mut more.exit);
        self.path.append(&mut more.path);
    }
}

impl Stream {
    /// Time of the first event; `None` if it has none.
    pub fn begin(&self) -> Option<Time> {
        let rows = self.spans().map(|(first, _)| first).min();
        let present = self.present.map(|(begin, _)| begin);
        [present, self.visits.enter.first().copied(), rows].into_iter().flatten().min()
    }

    /// Time of the last event; `None` if it has none.
    pub fn end(&self) -> Option<Time> {
        let rows = self.spans().map(|(_, last)| last).max();
        [self.present.map(|(_, end)| end), self.visits.end(), rows].into_iter().flatten().max()
    }

    /// The bytes that each transfer sent and received, and the visit it is in, by kind of transfer: messages, parts in collectives that move
    /// something, remote accesses, files.
    pub fn moved(&self) -> impl Iterator<Item = (VisitIx, u64, u64)> + '_ {
        let sends = self.sends.iter().map(|row| (row.visit, row.bytes, 0));
        let recvs = self.recvs.iter().map(|row| (row.visit, 0, row.bytes));
        let parts = self.collectives.iter().filter(|row| row.sent | row.received != 0);
        let accesses = self.transfers.iter().map(|row| match row.kind {
            RmaTransferKind::Get => (row.visit, 0, row.bytes),
            RmaTransferKind::Put | RmaTransferKind::Atomic => (row.visit, row.bytes, 0),
        });
        let files = self.io.iter().filter_map(|row| match row.kind {
            IoKind::Read => Some((row.visit, 0, row.bytes)),
            IoKind::Write => Some((row.visit, row.bytes, 0)),
            IoKind::Flush => None,
        });
        sends.chain(recvs).chain(parts.map(|row| (row.visit, row.sent, row.received))).chain(accesses).chain(files)
    }

    /// Changes what all facts refer to.
    pub fn change(&mut self, by: &mut impl Change) {
        struct Each<'a, C>(&'a mut C);
        impl<C: Change> Rows for Each<'_, C> {
            fn table<F: Fact>(&mut self, rows: &mut Vec<F>) {
                rows.iter_mut().for_each(|row| row.change(self.0));
            }
        }
        self.tables(&mut Each(by));
    }

    /// Changes the visit of every row that has one.
    pub fn map_visits(&mut self, map: impl FnMut(VisitIx) -> VisitIx) {
        struct Map<M>(M);
        impl<M: FnMut(VisitIx) -> VisitIx> Change for Map<M> {
            fn visit(&mut self, visit: &mut VisitIx) {
                if visit.is_some() {
                    *visit = (self.0)(*visit);
                }
            }
        }
        self.change(&mut Map(map));
    }

    /// Leaves out visits, with what lies in them and all that is told of them: by their numbers, as many as there are visits.
    pub fn remove(&mut self, visits: &[bool]) {
        struct Remove<'a>(&'a [bool]);
        struct VisitOf(VisitIx);
        impl Change for VisitOf {
            fn visit(&mut self, visit: &mut VisitIx) {
                self.0 = *visit;
            }
        }
        impl Rows for Remove<'_> {
            fn table<F: Fact>(&mut self, rows: &mut Vec<F>) {
                rows.retain(|row| {
                    let mut of = VisitOf(VisitIx::NONE);
                    let mut row = *row;
                    row.change(&mut of);
                    !self.0.get(of.0.index()).copied().unwrap_or(false)
                });
            }
        }
        let mut gone = visits.to_vec();
        gone.resize(self.visits.len(), false);
        let mut until = Time::MIN;
        for (index, gone) in gone.iter_mut().enumerate() {
            let visit = self.visits.at(VisitIx(index as u32));
            // What lies in a visit that takes no time begins when it does, and is told from what comes next by its path alone: that is left.
            *gone |= visit.enter < until && visit.exit <= until;
            until = if *gone { until.max(visit.exit) } else { until };
        }
        self.tables(&mut Remove(&gone));
        let (mut kept, mut moved) = (Visits::default(), Vec::with_capacity(gone.len()));
        for (visit, gone) in self.visits.iter().zip(&gone) {
            moved.push(if *gone { VisitIx::NONE } else { kept.push(visit) });
        }
        self.visits = kept;
        let at = |visit: VisitIx| moved.get(visit.index()).copied().unwrap_or(VisitIx::NONE);
        self.operations.iter_mut().for_each(|operation| *operation = at(*operation));
        self.operations.retain(|operation| operation.is_some());
        self.map_visits(at);
    }

    /// Changes every time by a function that must not change their order.
    pub fn map_times(&mut self, mut map: impl FnMut(Time) -> Time) {
        struct Map<M>(M);
        impl<M: FnMut(Time) -> Time> Change for Map<M> {
            fn time(&mut self, time: &mut Time) {
                *time = (self.0)(*time);
            }
        }
        self.present = self.present.map(|(begin, end)| (map(begin), map(end)));
        self.visits.enter.iter_mut().for_each(|time| *time = map(*time));
        self.visits.exit.iter_mut().for_each(|time| *time = map(*time));
        self.change(&mut Map(map));
    }

    /// Brings rows into the order of their times; equal times stay as they are. Returns how many were out of order.
    pub fn sort(&mut self) -> u64 {
        struct Sort(u64);
        impl Rows for Sort {
            fn table<F: Fact>(&mut self, rows: &mut Vec<F>) {
                let disorder = rows.windows(2).filter(|pair| pair[1].order() < pair[0].order()).count();
                if disorder > 0 {
                    rows.sort_by_key(Fact::order);
                    self.0 += disorder as u64;
                }
            }
        }
        let mut sort = Sort(0);
        self.tables(&mut sort);
        sort.0
    }

    /// Gives back what growing tables took in excess.
    pub fn shrink(&mut self) {
        struct Shrink;
        impl Rows for Shrink {
            fn table<F: Fact>(&mut self, rows: &mut Vec<F>) {
                rows.shrink_to_fit();
            }
        }
        self.visits.enter.shrink_to_fit();
        self.visits.exit.shrink_to_fit();
        self.visits.path.shrink_to_fit();
        self.tables(&mut Shrink);
    }
}
