//! What all kinds of facts have in common, and the macro that declares them.

use partune_base::{FileId, GroupId, MetricId, ObjectId, PeId, Time, WindowId};

use crate::kinds::{
    HandleKind, IoKind, IoLayer, LockKind, PauseKind, RequestKind, RmaCompletionKind, RmaSyncKind, RmaTransferKind,
    TaskKind, TeamKind,
};
use crate::objects::Trigger;
use crate::{Role, VisitIx};

/// A row of a table of a [`crate::Stream`].
pub trait Fact: Copy + PartialEq {
    /// Rows of a table are in the order of this.
    fn order(&self) -> Time;

    /// When it began and ended; the same where it took no time.
    fn span(&self) -> (Time, Time);

    /// Shows all ids and times to somebody who may change them, in the order of declaration.
    fn change(&mut self, by: &mut impl Change);
}

/// Changes what facts refer to: what is not said is left.
pub trait Change {
    fn visit(&mut self, _: &mut VisitIx) {}
    fn time(&mut self, _: &mut Time) {}
    fn pe(&mut self, _: &mut PeId) {}
    fn group(&mut self, _: &mut GroupId) {}
    fn window(&mut self, _: &mut WindowId) {}
    fn metric(&mut self, _: &mut MetricId) {}
    fn file(&mut self, _: &mut FileId) {}
    fn object(&mut self, _: &mut ObjectId) {}
    /// A number of bytes that were moved.
    fn bytes(&mut self, _: &mut u64) {}
}

/// Does something with all tables of a stream, whatever is in them.
pub trait Rows {
    fn table<F: Fact>(&mut self, rows: &mut Vec<F>);
}

/// A field of a fact.
pub(crate) trait Field {
    fn change(&mut self, by: &mut impl Change);
}

macro_rules! fields {
    ($($field:ty: $change:ident,)*) => {$(
        impl Field for $field {
            fn change(&mut self, by: &mut impl Change) {
                by.$change(self);
            }
        }
    )*};
    ($($plain:ty),*) => {$(
        impl Field for $plain {
            fn change(&mut self, _: &mut impl Change) {}
        }
    )*};
}

fields! {
    VisitIx: visit, Time: time, PeId: pe, GroupId: group, WindowId: window, MetricId: metric, FileId: file, ObjectId: object,
}
fields! {
    u32, u64, f64, bool, Option<u64>, Role, RequestKind, RmaTransferKind, RmaCompletionKind, LockKind, TeamKind, TaskKind, PauseKind, IoKind, IoLayer,
    HandleKind, Trigger
}

impl Field for RmaSyncKind {
    fn change(&mut self, by: &mut impl Change) {
        match self {
            RmaSyncKind::Group(group) => by.group(group),
            RmaSyncKind::Memory
            | RmaSyncKind::NotifyIn
            | RmaSyncKind::NotifyOut
            | RmaSyncKind::WaitChange
            | RmaSyncKind::WindowCreated
            | RmaSyncKind::WindowFreed => {}
        }
    }
}

/// Declares facts, `table: Fact (by order, moves bytes) { fields }`: the type of a row, what is common to all of them, and a stream with its tables.
macro_rules! facts {
    ($($(#[$doc:meta])* $table:ident: $Fact:ident (by $order:ident $(, moves $($bytes:ident)*)?) {
        $($(#[$note:meta])* $field:ident: $Field:ty,)*
    })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub struct $Fact {
                $($(#[$note])* pub $field: $Field,)*
            }

            impl Fact for $Fact {
                #[inline]
                fn order(&self) -> Time {
                    self.$order
                }

                fn span(&self) -> (Time, Time) {
                    let (mut begin, mut end) = (self.$order, self.$order);
                    let mut row = *self;
                    Fact::change(&mut row, &mut crate::fact::Extent { begin: &mut begin, end: &mut end });
                    (begin, end)
                }

                #[inline]
                fn change(&mut self, by: &mut impl Change) {
                    $(Field::change(&mut self.$field, by);)*
                    $($(by.bytes(&mut self.$bytes);)*)?
                }
            }
        )*

        /// Everything one PE did. Rows of every table are in order of time.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Stream {
            /// Number of event records it was read from; in a piece of a run, about that of its piece.
            pub events: u64,
            /// From its first event to its last, where rows do not tell: a piece of a run has none of what lies around it.
            pub present: Option<(Time, Time)>,
            pub visits: Visits,
            /// The operations: visits that are outermost among those with a role that is not transparent. They do not overlap.
            pub operations: Vec<VisitIx>,
            $($(#[$doc])* pub $table: Vec<$Fact>,)*
        }

        impl Stream {
            /// Does something with every table of facts.
            pub fn tables(&mut self, by: &mut impl Rows) {
                $(by.table(&mut self.$table);)*
            }

            /// Adds what the PE did later: its visits, and rows in which visits are numbered for both together.
            pub fn append(&mut self, mut more: Stream) {
                self.events += more.events;
                self.visits.append(&mut more.visits);
                $(self.$table.append(&mut more.$table);)*
            }

            /// Number of facts.
            pub fn facts(&self) -> usize {
                0 $(+ self.$table.len())*
            }

            /// From the first row of each table to the last.
            pub(crate) fn spans(&self) -> impl Iterator<Item = (Time, Time)> {
                [$(crate::fact::span_of_table(&self.$table)),*].into_iter().flatten()
            }
        }
    };
}
pub(crate) use facts;

/// Finds the first and the last time of a row.
pub(crate) struct Extent<'a> {
    pub(crate) begin: &'a mut Time,
    pub(crate) end: &'a mut Time,
}

impl Change for Extent<'_> {
    fn time(&mut self, time: &mut Time) {
        *self.begin = (*self.begin).min(*time);
        *self.end = (*self.end).max(*time);
    }
}

pub(crate) fn span_of_table<F: Fact>(rows: &[F]) -> Option<(Time, Time)> {
    Some((rows.first()?.span().0, rows.last()?.span().1))
}
