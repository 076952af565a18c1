//! What a seal promises, of builders that hold anything: rows in any order, ids from nowhere, visits that cross.

use partune_base::{CallPathId, FileId, GroupId, Id, MetricId, PeId, RegionId, Time, WindowId};
use partune_trace::{
    Change, Collective, Fact, HandleEvent, HandleKind, IoKind, IoLayer, IoTransfer, LockEvent, LockKind, MetricSample,
    Pause, PauseKind, RequestEvent, RequestKind, Role, Rows, Send, Stream, Trace, Visit, VisitIx, Window,
};
use proptest::prelude::*;

use crate::{nested, send};

/// Anything: a kind of row, times and ids that may be from nowhere.
type Wild = (u8, i64, i64, u32, u32);

fn wild() -> impl Strategy<Value = Wild> {
    (0..9_u8, -20..60_i64, -20..60_i64, 0..8_u32, 0..8_u32)
}

fn add(stream: &mut Stream, (kind, begin, end, a, b): Wild) {
    let (visit, time, end) = (VisitIx(a * 3), Time(begin), Time(end));
    match kind {
        0..3 => {
            stream.visits.push(Visit { enter: time, exit: end, path: CallPathId(a % 4) });
        }
        3 => stream.sends.push(Send { peer: PeId(b), group: GroupId(a), ..send(visit.0, begin, 0) }),
        4 => stream.requests.push(RequestEvent { visit, time, kind: RequestKind::Tested, request: 1 }),
        5 => stream.collectives.push(Collective {
            visit,
            begin: time,
            end,
            role: Role::GroupSync,
            group: GroupId(a),
            root: PeId(b),
            sent: 0,
            received: 0,
            request: 0,
        }),
        6 => stream.locks.push(LockEvent { visit, time, kind: LockKind::Acquired, lock: 1, shared: false }),
        7 => stream.metrics.push(MetricSample { visit, time, metric: MetricId(b), value: 1.0 }),
        _ => {
            let (file, layer) = (FileId(b), IoLayer::Direct);
            stream.io.push(IoTransfer {
                visit,
                begin: time,
                end,
                bytes: 1,
                kind: IoKind::Write,
                file,
                layer,
                offset: None,
            });
            stream.handles.push(HandleEvent { visit, time, kind: HandleKind::Opened, file, layer });
            stream.pauses.push(Pause { begin: time, end, kind: PauseKind::Off });
        }
    }
}

fn sealed(rows: &[Wild], paths: &[(u32, u32)]) -> Trace {
    let mut builder =
        nested(&[(Role::User, None), (Role::Send, Some("A")), (Role::User, None), (Role::Recv, Some("A"))]);
    // Parents that come later, and regions that are not there.
    for (parent, region) in paths {
        builder.paths.push(CallPathId(*parent), RegionId(*region));
    }
    let name = builder.strings.intern("window");
    builder.windows.push(Window { name, group: GroupId(3) });
    let mut stream = Stream::default();
    rows.iter().for_each(|row| add(&mut stream, *row));
    builder.streams.push(stream);
    builder.seal()
}

/// Looks whether ids are positions or none.
struct Ids<'a>(&'a Trace);

impl Change for Ids<'_> {
    fn visit(&mut self, id: &mut VisitIx) {
        assert!(!id.is_some() || id.index() < self.0.streams()[PeId(0)].visits.len());
    }

    fn pe(&mut self, id: &mut PeId) {
        assert!(!id.is_some() || id.index() < self.0.pes().len());
    }

    fn group(&mut self, id: &mut GroupId) {
        assert!(!id.is_some() || id.index() < self.0.groups().len());
    }

    fn window(&mut self, id: &mut WindowId) {
        assert!(id.index() < self.0.windows().len());
    }

    fn file(&mut self, id: &mut FileId) {
        assert!(!id.is_some() || id.index() < self.0.files().len());
    }

    fn metric(&mut self, id: &mut MetricId) {
        assert!(!id.is_some() || id.index() < self.0.metrics().len());
    }
}

/// Looks whether tables are in order.
struct Order;

impl Rows for Order {
    fn table<F: Fact>(&mut self, rows: &mut Vec<F>) {
        assert!(rows.is_sorted_by_key(Fact::order));
    }
}

proptest! {
    #[test]
    fn whatever_is_sealed_is_in_order_and_nests(
        rows in prop::collection::vec(wild(), 0..40), paths in prop::collection::vec((0..9_u32, 0..6_u32), 0..4),
    ) {
        let trace = sealed(&rows, &paths);
        let mut stream = trace.streams()[PeId(0)].clone();
        stream.tables(&mut Order);
        stream.change(&mut Ids(&trace));
        let visits: Vec<Visit> = stream.visits.iter().collect();
        prop_assert!(visits.iter().all(|visit| visit.enter <= visit.exit));
        prop_assert!(visits.is_sorted_by_key(|visit| visit.enter));
        for (first, outer) in visits.iter().enumerate() {
            for inner in &visits[first + 1..] {
                prop_assert!(inner.enter >= outer.exit || inner.exit <= outer.exit, "{outer:?} {inner:?}");
            }
        }
        prop_assert!(visits.iter().all(|visit| Some(visit.exit) <= stream.end()));
        for path in trace.paths().ids() {
            let parent = trace.paths().parent(path);
            prop_assert!(!parent.is_some() || parent < path);
            prop_assert!(trace.paths().region(path).index() < trace.regions().len());
        }
        // Who changes nothing is not told of any repair.
        let again = sealed(&[], &[]);
        prop_assert_eq!(again.quality().entries().len(), 1, "the window's group is not defined");
    }
}

#[test]
fn what_is_repaired_is_counted_and_a_good_trace_has_nothing_to_repair() {
    let crossing = (0, 0, 20, 0, 0);
    let inner = (0, 10, 30, 0, 0);
    let (late, early) = ((4, 15, 15, 0, 0), (4, 5, 5, 0, 0));
    let trace = sealed(&[crossing, inner, late, early], &[]);
    let said: Vec<(&str, u64)> = trace.quality().entries().iter().map(|it| (it.message.as_str(), it.count)).collect();
    assert_eq!(
        said,
        [
            ("a region ends after the one it began in; it was ended with that one", 1),
            ("records of a PE are not in the order of time; they were sorted", 1),
            ("something that is referred to is not defined; it is taken as unknown", 1),
        ]
    );
    assert_eq!(trace.streams()[PeId(0)].visits.exit, [Time(20), Time(20)]);
    assert_eq!(trace.streams()[PeId(0)].requests.iter().map(|row| row.time).collect::<Vec<_>>(), [Time(5), Time(15)]);
    let roles = [(Role::User, None)];
    let good = crate::sealed(nested(&roles), &[(0, 20, 0), (5, 10, 0), (10, 20, 0)], |stream| {
        stream.sends = vec![send(0, 5, 0)];
        stream.sends[0].group = GroupId::NONE;
    });
    assert!(good.quality().entries().is_empty(), "{:?}", good.quality());
}
