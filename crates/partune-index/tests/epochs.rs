//! Access and exposure epochs of windows: whose post let whom go on, and what is not told where events are missing.

use partune_base::GroupId;
use partune_index::{Binding, Index, TieKind, Ties};
use partune_testkit::builder;
use partune_trace::{RmaSyncKind, Trace};

use crate::{index, notes};

/// What depended on another PE in an epoch: (PE, operation's name, when it could go on, PE of the cause).
fn found(trace: &Trace, index: &Index) -> Vec<(u32, String, i64, u32)> {
    let rows = index.rma.value_waits.iter().map(|wait| {
        let name = trace.strings().get(trace.region_of(wait.pe, wait.operation).name);
        (wait.pe.0, name.trim_start_matches("MPI_").to_owned(), wait.fulfilled.0, wait.cause.pe.0)
    });
    rows.collect()
}

fn rows(expected: &[(u32, &str, i64, u32)]) -> Vec<(u32, String, i64, u32)> {
    expected.iter().map(|(pe, name, at, cause)| (*pe, (*name).to_owned(), *at, *cause)).collect()
}

const UNPAIRED: &str =
    "epochs of windows have no counterpart on the other PE, or it is not clear which; no waiting is told of them";
const UNENDED: &str =
    "epochs of windows begin and do not end, or end and did not begin (post and wait, start and complete)";

#[test]
fn the_last_of_the_group_counts() {
    let (trace, index) = index(
        "group targets = 1 2
         group origin = 0
         pe 0: main 0..100 { MPI_Win_start 10..40 epoch(targets) MPI_Win_complete 60..61 epoch(targets) }
         pe 1: main 0..100 { MPI_Win_post 20..21 epoch(origin) MPI_Win_wait 50..62 epoch(origin) }
         pe 2: main 0..100 { MPI_Win_post 30..31 epoch(origin) MPI_Win_wait 70..71 epoch(origin) }",
    );
    let expected = [(0, "Win_start", 30, 2), (1, "Win_wait", 60, 0), (2, "Win_wait", 70, 0)];
    assert_eq!(found(&trace, &index), rows(&expected));
    assert_eq!(notes(&index), [""; 0]);
    // The wait of PE 2 came after the complete: it depended on it, but did not wait.
    let shape = |row: Binding| (row.kind, row.taker.pe.0, row.since.0, row.gift.place.pe.0, row.gift.time.0);
    let ties = Ties::build(&trace, &index);
    let binding: Vec<_> = trace.pes().ids().flat_map(|pe| ties.binding(&trace, &index, pe)).map(shape).collect();
    assert_eq!(binding, [(TieKind::Value, 0, 10, 2, 30), (TieKind::Value, 1, 50, 0, 60)]);
}

#[test]
fn windows_and_partners_are_counted_apart() {
    let (trace, index) = index(
        "group all = 0 1 2
         group zero = 0
         group one = 1
         group two = 2
         window a = all
         window b = all
         pe 0: main 0..200 {
             MPI_Win_post 0..1 epoch(two, win=b)  MPI_Win_post 1..2 epoch(one, win=a)
             MPI_Win_wait 30..41 epoch(one, win=a)  MPI_Win_post 50..51 epoch(two, win=a)
             MPI_Win_wait 60..90 epoch(two, win=b)  MPI_Win_wait 100..150 epoch(two, win=a)
         }
         pe 1: main 0..200 { MPI_Win_start 10..12 epoch(zero, win=a)  MPI_Win_complete 40..41 epoch(zero, win=a) }
         pe 2: main 0..200 {
             MPI_Win_start 20..51 epoch(zero, win=a)  MPI_Win_start 52..53 epoch(zero, win=b)
             MPI_Win_complete 80..81 epoch(zero, win=b)  MPI_Win_complete 140..141 epoch(zero, win=a)
         }",
    );
    let expected = [
        (0, "Win_wait", 40, 1),
        (0, "Win_wait", 80, 2),
        (0, "Win_wait", 140, 2),
        (1, "Win_start", 10, 0),
        (2, "Win_start", 50, 0),
        (2, "Win_start", 52, 0),
    ];
    assert_eq!(found(&trace, &index), rows(&expected));
    assert_eq!(notes(&index), [""; 0]);
}

/// PE 0 accesses PE 1 and PE 2, which post when the text says; its start comes back at once.
fn late_posts(one: &str, two: &str) -> String {
    format!(
        "group targets = 1 2
         group origin = 0
         pe 0: main 0..100 {{
             MPI_Win_start 10..11 epoch(targets)
             MPI_Put 20..30 put(1, id=1)  MPI_Get 40..50 get(2, id=2)
             MPI_Win_complete 60..70 epoch(targets)
         }}
         pe 1: main 0..100 {{ MPI_Win_post {one} epoch(origin) MPI_Win_wait 80..81 epoch(origin) }}
         pe 2: main 0..100 {{ MPI_Win_post {two} epoch(origin) MPI_Win_wait 80..81 epoch(origin) }}"
    )
}

#[test]
fn whoever_was_at_it_when_the_post_came_waited_for_it() {
    let of_origin = |one: &str, two: &str| {
        let (trace, index) = index(&late_posts(one, two));
        let mut found = found(&trace, &index);
        found.retain(|row| row.0 == 0);
        found
    };
    assert_eq!(of_origin("2..3", "4..5"), rows(&[(0, "Win_start", 10, 2)]));
    assert_eq!(of_origin("25..26", "45..46"), rows(&[(0, "Put", 25, 1), (0, "Get", 45, 2)]));
    assert_eq!(of_origin("25..26", "65..66"), rows(&[(0, "Put", 25, 1), (0, "Win_complete", 65, 2)]));
    // An access to another target, and what lies between the calls, did not wait.
    assert_eq!(of_origin("45..46", "25..26"), []);
    assert_eq!(of_origin("15..16", "35..36"), []);
}

#[test]
fn a_fence_recorded_with_a_group_is_no_start() {
    let (trace, index) = index(
        "group zero = 0
         group one = 1
         pe 0: main 0..100 { MPI_Win_fence 0..2 epoch MPI_Win_start 10..30 epoch(one) MPI_Win_complete 40..41 epoch(one) }
         pe 1: main 0..100 { MPI_Win_fence 0..2 epoch MPI_Win_post 20..21 epoch(zero) MPI_Win_wait 30..41 epoch(zero) }",
    );
    assert_eq!(found(&trace, &index), rows(&[(0, "Win_start", 20, 1), (1, "Win_wait", 40, 0)]));
}

#[test]
fn lost_epochs_are_told_and_the_others_not_paired() {
    let text = |first: &str, last: &str| {
        format!(
            "group zero = 0
             group one = 1
             pe 0: main 0..100 {{
                 {first}
                 MPI_Win_start 30..45 epoch(one)  MPI_Win_complete 46..47 epoch(one)
                 {last}
             }}
             pe 1: main 0..100 {{
                 MPI_Win_post 1..2 epoch(zero)  MPI_Win_wait 10..22 epoch(zero)
                 MPI_Win_post 40..41 epoch(zero)  MPI_Win_wait 42..48 epoch(zero)
             }}"
        )
    };
    let first = "MPI_Win_start 3..4 epoch(one)  MPI_Win_complete 20..21 epoch(one)";
    let (trace, whole) = index(&text(first, ""));
    let pairs = [(0, "Win_start", 3, 1), (0, "Win_start", 40, 1), (1, "Win_wait", 20, 0), (1, "Win_wait", 46, 0)];
    assert_eq!(found(&trace, &whole), rows(&pairs));

    let (trace, lost) = index(&text("", ""));
    assert_eq!((found(&trace, &lost), notes(&lost)), (rows(&[]), vec![format!("{UNPAIRED} x3")]));

    // The run was cut off in the third: the first two are whole.
    let (trace, cut) = index(&text(first, "MPI_Win_start 90..100 epoch(one)"));
    assert_eq!(found(&trace, &cut), rows(&pairs));
    assert_eq!(notes(&cut), [format!("{UNENDED} x1"), format!("{UNPAIRED} x1")]);

    // Without the first complete its wait has no end that is known; the second is whole.
    let (trace, half) = index(&text("MPI_Win_start 3..4 epoch(one)", ""));
    assert_eq!(found(&trace, &half), rows(&[pairs[0], pairs[1], pairs[3]]));
    assert_eq!(notes(&half), [format!("{UNENDED} x1")]);
}

#[test]
fn an_epoch_closed_for_another_group_is_two() {
    let (trace, index) = index(
        "group targets = 1 2
         group one = 1
         group origin = 0
         pe 0: main 0..100 { MPI_Win_start 10..40 epoch(targets) MPI_Win_complete 60..61 epoch(one) }
         pe 1: main 0..100 { MPI_Win_post 20..21 epoch(origin) MPI_Win_wait 50..62 epoch(origin) }
         pe 2: main 0..100",
    );
    assert_eq!(found(&trace, &index), []);
    assert_eq!(notes(&index), [format!("{UNENDED} x2"), format!("{UNPAIRED} x4")]);
}

#[test]
fn an_unknown_group_says_nothing() {
    let mut built = builder(
        "group zero = 0
         group one = 1
         pe 0: main 0..100 { MPI_Win_start 10..40 epoch(one) MPI_Win_complete 60..61 epoch(one) }
         pe 1: main 0..100 { MPI_Win_post 20..21 epoch(zero) MPI_Win_wait 50..62 epoch(zero) }",
    );
    let mut close_only = builder(
        "group zero = 0
         group one = 1
         pe 0: main 0..100 { MPI_Win_start 10..40 epoch(one) MPI_Win_complete 60..61 epoch(one) }
         pe 1: main 0..100 { MPI_Win_post 20..21 epoch(zero) MPI_Win_wait 50..62 epoch(zero) }",
    );
    for row in &mut built.streams.as_mut_slice()[0].rma_syncs {
        row.kind = RmaSyncKind::Group(GroupId::NONE);
    }
    let trace = built.seal();
    let index = Index::build(&trace);
    assert_eq!(found(&trace, &index), []);
    let unknown = "epochs of windows (post, start) are for a group that the archive does not define x1";
    assert_eq!(notes(&index), [unknown.to_owned(), format!("{UNPAIRED} x1")]);

    // One of the two is enough: there is only one epoch that it can close.
    close_only.streams.as_mut_slice()[0].rma_syncs[0].kind = RmaSyncKind::Group(GroupId::NONE);
    let trace = close_only.seal();
    let expected = [(0, "Win_start", 20, 1), (1, "Win_wait", 60, 0)];
    assert_eq!(found(&trace, &Index::build(&trace)), rows(&expected));
}

#[test]
fn threads_act_for_their_process() {
    let (trace, index) = index(
        "group zero = 0.0
         group one = 1.0
         group all = 0.0 1.0
         window a = all
         pe 0: main 0..100 { MPI_Win_start 10..12 epoch(one) }
         pe 0.1: main 0..100 { MPI_Win_complete 60..61 epoch(one) }
         pe 1: main 0..100 { MPI_Win_post 5..6 epoch(zero) MPI_Win_wait 50..62 epoch(zero) }",
    );
    let (origin, thread, target) = (0, 1, 2);
    assert_eq!(found(&trace, &index), rows(&[(origin, "Win_start", 10, target), (target, "Win_wait", 60, thread)]));
    assert_eq!(notes(&index), [""; 0]);
}

#[test]
fn tests_wait_and_nobody_waits_for_himself() {
    let (trace, index) = index(
        "group both = 0 1
         pe 0: main 0..100 {
             MPI_Win_post 0..1 epoch(both)  MPI_Win_start 2..10 epoch(both)
             MPI_Win_complete 20..21 epoch(both)  MPI_Win_test 22..40 epoch(both)
         }
         pe 1: main 0..100 {
             MPI_Win_post 5..6 epoch(both)  MPI_Win_start 7..8 epoch(both)
             MPI_Win_complete 30..31 epoch(both)  MPI_Win_wait 32..33 epoch(both)
         }",
    );
    let expected = [(0, "Win_start", 5, 1), (0, "Win_test", 30, 1), (1, "Win_start", 7, 0), (1, "Win_wait", 32, 0)];
    assert_eq!(found(&trace, &index), rows(&expected));
    assert_eq!(notes(&index), [""; 0]);
}

/// Two PEs, with 5,000 posts and starts that name 4,000 PEs, would be 80,000,000 partners of 20,000 rows. Those of a window beside it count.
#[test]
fn partners_are_linear_in_rows() {
    const PES: usize = 4000;
    let all = (0..PES).map(|pe| pe.to_string()).collect::<Vec<_>>().join(" ");
    let epochs = |open: &str, close: &str, group: &str, window: &str, count: i64, from: i64| -> String {
        let one = |turn: i64| {
            let at = from + 20 * turn;
            let end = at + 10;
            format!(
                "MPI_Win_{open} {at}..{} epoch({group}, win={window}) MPI_Win_{close} {end}..{} epoch({group}, win={window}) ",
                at + 5,
                end + 5
            )
        };
        (0..count).map(one).collect::<Vec<_>>().concat()
    };
    let text = |turns: i64, group: &str| {
        let main = |inside: String| format!("main 0..10000000 {{ {inside} }}");
        let starts = epochs("start", "complete", "one", "b", 1, 2);
        let posts = epochs("post", "wait", "zero", "b", 1, 3);
        let (of_zero, of_one) = if group == "all" { ("all", "all") } else { ("one", "zero") };
        let mut lines = vec![
            format!("group all = {all}\ngroup zero = 0\ngroup one = 1\nwindow a = all\nwindow b = all"),
            format!("pe 0: {}", main(starts + &epochs("start", "complete", of_zero, "a", turns, 100))),
            format!("pe 1: {}", main(posts + &epochs("post", "wait", of_one, "a", turns, 101))),
        ];
        lines.extend((2..PES).map(|pe| format!("pe {pe}: main 0..1")));
        lines.join("\n")
    };
    let beside = rows(&[(0, "Win_start", 3, 1), (1, "Win_wait", 13, 0)]);
    let (trace, index) = self::index(&text(5000, "all"));
    let told = "epochs of windows name so many partners that they were not paired; no waiting is told of them x10000";
    assert_eq!(notes(&index), [told]);
    assert_eq!(found(&trace, &index), beside);
    // As many rows, which name each other.
    let (trace, index) = self::index(&text(5000, "each other"));
    assert_eq!(notes(&index), [""; 0]);
    assert_eq!(found(&trace, &index).len(), 2 + 2 * 5000);
    // Few rows may name many.
    let (_, index) = self::index(&text(10, "all"));
    assert_eq!(notes(&index), [format!("{UNPAIRED} x{}", 2 * 10 * (PES - 2))]);
}

/// Other handles of the same members.
#[test]
fn a_group_is_its_members() {
    let (trace, index) = index(
        "group one = 1 2
         group other = 2 1
         group third = 1
         group zero = 0
         pe 0: main 0..100 { MPI_Win_start 10..40 epoch(one) MPI_Win_complete 60..61 epoch(other) }
         pe 1: main 0..100 { MPI_Win_post 20..21 epoch(zero) MPI_Win_wait 50..62 epoch(zero) }
         pe 2: main 0..100 { MPI_Win_post 30..31 epoch(zero) MPI_Win_wait 50..62 epoch(zero) }",
    );
    assert_eq!(found(&trace, &index), rows(&[(0, "Win_start", 30, 2), (1, "Win_wait", 60, 0), (2, "Win_wait", 60, 0)]));
    let (_, index) = self::index(
        "group one = 1 2
         group third = 1
         group zero = 0
         pe 0: main 0..100 { MPI_Win_start 10..40 epoch(one) MPI_Win_complete 60..61 epoch(third) }
         pe 1: main 0..100 { MPI_Win_post 20..21 epoch(zero) MPI_Win_wait 50..62 epoch(zero) }
         pe 2: main 0..100",
    );
    assert!(notes(&index).contains(&format!("{UNENDED} x2")), "{:?}", notes(&index));
}
