//! Lines and stacks of a view whose answer can be worked out by hand, and of long runs against a look at everything.

use partune_analysis::Waits;
use partune_base::{PeId, Time};
use partune_index::Index;
use partune_picture::{Fold, Lines, Moved, Stacks, moved};
use partune_testkit::{pe, trace};
use partune_trace::{Trace, VisitIx};

/// Ten times: PE 0 sends late, so PE 1 waits a little more each time; then a barrier for which PE 0 is early.
fn ring() -> Trace {
    use std::fmt::Write;
    let (mut zero, mut one) = (String::new(), String::new());
    for turn in 0..10 {
        let at = turn * 100;
        let sent = at + 10 + turn;
        let _ = write!(
            zero,
            "work {at}..{sent} MPI_Send {sent}..{} send(to=1, bytes=8) MPI_Barrier {}..{} barrier ",
            sent + 5,
            at + 50,
            at + 90
        );
        let _ = write!(
            one,
            "MPI_Recv {}..{} recv(from=0, bytes=8) MPI_Barrier {}..{} barrier ",
            at + 5,
            sent + 6,
            at + 80,
            at + 90
        );
    }
    trace(&format!("pe 0: main 0..1000 {{ {zero} }}\npe 1: main 0..1000 {{ {one} }}"))
}

#[test]
fn the_longest_waits_of_a_view_are_told() {
    let trace = ring();
    let index = Index::build(&trace);
    let waits = Waits::find(&trace, &index);
    let lines = Lines::new(&waits, &index);
    let one = Fold::new(vec![pe(&trace, 1)], 4);
    let lengths = |begin, end, most| {
        let found = lines.waits(&waits, &one, Time(begin), Time(end), most);
        (found.rows.iter().map(|wait| wait.duration().0).collect::<Vec<i64>>(), found.count)
    };
    // PE 1 waits from 5 to 10 + turn in every turn.
    assert_eq!(lengths(0, 1000, 3), (vec![14, 13, 12], 10));
    assert_eq!(lengths(0, 300, 9), (vec![7, 6, 5], 3));
    assert_eq!(lengths(108, 109, 9), (vec![6], 1), "a view inside of a wait");
    assert_eq!(lengths(30, 100, 9), (vec![], 0), "nobody waits between");
}

#[test]
fn messages_are_told_if_they_are_few() {
    let trace = ring();
    let index = Index::build(&trace);
    let both = Fold::new(trace.active_pes().collect(), 4);
    let found = |fold: &Fold, begin, end, most| {
        let found = moved(&trace, &index, fold, Time(begin), Time(end), most);
        (found.rows.len(), found.count)
    };
    assert_eq!(found(&both, 0, 1000, 50), (10, 10), "each once");
    assert_eq!(found(&both, 0, 250, 50), (3, 3));
    assert_eq!(found(&both, 60, 99, 50), (0, 0));
    assert_eq!(found(&Fold::new(vec![pe(&trace, 0)], 1), 0, 1000, 50).0, 10, "one end is enough");
    let (rows, count) = found(&both, 0, 1000, 4);
    assert!(rows == 0 && count > 4, "too many: none, and how many");
    let first = moved(&trace, &index, &both, Time(0), Time(50), 9).rows[0];
    assert!(matches!(first, Moved::Message(_)));
    let ((from, sent), (to, received)) = first.ends(&trace);
    assert_eq!((from, to, sent.0 < received.0), (pe(&trace, 0), pe(&trace, 1), true));
}

#[test]
fn one_sided_accesses_go_where_the_bytes_go() {
    let trace = trace(
        "pe 0: main 0..100 { shmem_putmem 10..20 put(to=1, bytes=8) shmem_getmem 30..40 get(from=1, bytes=4) }
         pe 1: main 0..100",
    );
    let index = Index::build(&trace);
    let fold = Fold::new(trace.active_pes().collect(), 4);
    let found = moved(&trace, &index, &fold, Time(0), Time(100), 9);
    let ways: Vec<(u32, u32)> = found
        .rows
        .iter()
        .map(|line| {
            let ((from, _), (to, _)) = line.ends(&trace);
            (from.0, to.0)
        })
        .collect();
    assert_eq!(ways, [(0, 1), (1, 0)]);
}

#[test]
fn collectives_are_in_the_view_in_which_their_last_member_came() {
    let trace = ring();
    let index = Index::build(&trace);
    let lines = Lines::new(&Waits::find(&trace, &index), &index);
    let all = lines.collectives(Time(0), Time(1000), 4);
    assert_eq!((all.rows.len(), all.count), (4, 10));
    let one = lines.collectives(Time(180), Time(181), 4);
    assert_eq!((one.rows.len(), one.count), (1, 1));
    assert_eq!(lines.collectives(Time(181), Time(280), 4).count, 0);
}

#[test]
fn what_is_open_is_found_from_anywhere() {
    // Functions in functions, so many that the outer ones began many blocks before.
    let trace = trace(
        "pe 0: main 0..10000 { outer 100..9000 { repeat 800 every 10 { call 101..109 { work 103..106 } } } late 9500..9600 }",
    );
    let stacks = Stacks::new(&trace);
    let visits = &trace.streams()[PeId(0)].visits;
    for moment in (0..10_050).step_by(7) {
        let moment = Time(moment);
        let open = |visit: &u32| visits.enter[*visit as usize] <= moment && visits.exit[*visit as usize] > moment;
        let expected: Vec<VisitIx> = (0..visits.len() as u32).filter(open).map(VisitIx).collect();
        assert_eq!(stacks.open(&trace, PeId(0), moment), expected, "{moment:?}");
    }
    let within = stacks.within(&trace, PeId(0), Time(500), Time(520), 100).expect("they are few");
    let touch = |visit: &VisitIx| visits.at(*visit).enter < Time(520) && visits.at(*visit).exit > Time(500);
    assert!(within.len() >= 5 && within.iter().all(touch), "{within:?}");
    assert!(stacks.within(&trace, PeId(0), Time(0), Time(10_000), 100).is_none(), "too many");
    assert!(stacks.open(&trace, PeId(9), Time(5)).is_empty(), "no such PE");
}
