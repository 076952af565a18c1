//! The file of operations: what it says, what is refused and where, and what becomes of a trace.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use partune_base::Span;
use partune_operations::{Figures, Operations, read};
use partune_trace::{Completion, Participants, Role, Trace};
use proptest::prelude::*;

fn operation(entry: &str) -> Operations {
    read(&format!("[[operation]]\n{entry}")).unwrap()
}

/// What a text is refused for.
fn refused(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

/// Ticks of 0.1 ms: a barrier of 12.5 ms, 2 ms after the operation before, of which 10 ms are waiting, with 1536 bytes.
const BARRIER: Figures<'_> = Figures {
    role: Role::GroupSync,
    construct: "MPI_Barrier",
    ticks_per_second: 10_000,
    time: Span(125),
    gap_before: Span(20),
    waiting: Span(100),
    bytes: 1536,
};

fn holds(when: &str) -> bool {
    let file = read(&format!("[[pattern]]\nname = 'p'\nwhen = '''{when}'''"))
        .unwrap_or_else(|error| panic!("{when}: {error}"));
    file.patterns[0].when.holds(&BARRIER)
}

#[test]
fn conditions_mean_what_they_say() {
    for yes in [
        "role = group_sync",
        "role != send and construct = MPI_Barrier",
        "construct = 'MPI_*' and construct = \"MPI_Barrier\"",
        "gap_before >= 2 ms and not gap_before > 2ms",
        "gap_before = 2000us and gap_before = 0.002 s and gap_before = 2000000 ns and gap_before != 2.000001 ms",
        "time > 12.4999999999 ms and time<12.5000000001 ms",
        "bytes = 1.5 KiB and bytes = 1536 B and bytes < 1.6 kB and bytes > 0",
        "waiting < time and time > waiting",
        "0 < waiting and 5 ms <= waiting",
        "(role = send or role = group_sync) and not (role = send or time < 1 s and time > 1 s)",
        // `and` binds closer than `or`.
        "role = group_sync or role = send and time > 1 s",
        "not not role = group_sync",
        "duration = time",
    ] {
        assert!(holds(yes), "{yes}");
    }
    for no in [
        "role = send",
        "role != group_sync",
        "construct = MPI_Barrie",
        "construct = 'PMPI_*'",
        "gap_before > 2 ms",
        "gap_before < 2 ms",
        "bytes > 1.5 KiB",
        "(role = group_sync or role = send) and time > 1 s",
        "not role = group_sync",
    ] {
        assert!(!holds(no), "{no}");
    }
}

#[test]
fn a_condition_tells_below_which_time_it_never_holds() {
    for (when, shortest) in [
        ("time > 5 ms", 5_000),
        ("5 ms <= time and time > 1 us", 5_000),
        ("time > 1.0009 ms and construct = MPI_*", 1_000),
        ("time > 5 ms or time > 2 ms", 2_000),
        ("time > 5 ms or role = send", 0),
        ("time < 5 ms", 0),
        ("not time > 5 ms", 0),
        ("waiting > 5 ms", 0),
        ("time > 100000 s", 100_000_000_000),
    ] {
        let condition = partune_operations::condition(when).unwrap();
        assert_eq!(condition.shortest(1_000_000), Span(shortest), "{when}");
    }
}

#[test]
fn operations_have_what_the_file_says_and_else_what_is_usual() {
    let file = read(
        "[[operation]]\nname = 'exchange'\nrole = 'comm_sync'\n\
         [[operation]]\nname = 'my_*'\nrole = 'group_sync'\ngroup = 'world'\n\
         [[operation]]\nname = 'ask'\nrole = 'probe'\ncompletion = 'nonblocking'",
    );
    let rules = file.unwrap().rules;
    let told: Vec<_> = rules.iter().map(|it| (it.name.as_str(), it.role, it.group, it.completion)).collect();
    assert_eq!(
        told,
        [
            ("exchange", Role::CommSync, None, Completion::Blocking),
            ("my_*", Role::GroupSync, Some(Participants::World), Completion::Blocking),
            ("ask", Role::Probe, None, Completion::NonBlocking),
        ]
    );
    assert!(read("").unwrap().is_empty());
}

#[test]
fn what_is_wrong_is_told_with_line_column_and_remedy() {
    let pattern = |when: &str| refused(&format!("# mine\n[[pattern]]\nname = 'p'\nwhen = \"{when}\""));
    for (text, told) in [
        (
            "[[operation]]\nname = 'f'\nrole = 'grop_sync'",
            "line 3, column 9: \"grop_sync\" is no role\n  remedy: write group_sync",
        ),
        ("[[operation]]\nname = 'f'\nroll = 'send'", "line 3, column 1: unknown field `roll`"),
        ("[[operation]]\nname = 'f'", "line 1, column 1: missing field `role`"),
        ("[[operation]]\nname = '*'\nrole = 'send'", "line 2, column 9: the name would be that of every function"),
        ("[[operation]]\nname = 'f'\nrole = 'user'", "line 3, column 9: user is no role of operations"),
        (
            "[[operation]]\nname = 'f'\nrole = 'send'\ngroup = 'world'",
            "line 4, column 10: send is no operation of a group",
        ),
        ("[[operation]]\nname = 'f'\nrole = 'scan'\ngroup = 'word'", "line 4, column 10: \"word\" is no group"),
        (
            "[[operation]]\nname = 'f'\nrole = 'recv'\ncompletion = 'late'",
            "line 4, column 15: \"late\" is no completion",
        ),
        ("[[pattern]]\nname = 'a b'\nwhen = 'time > 1 s'", "line 2, column 9: \"a b\" cannot be the name"),
        (
            "[[pattern]]\nname = 'a'\nwhen = 'time > 1 s'\n[[pattern]]\nname = 'a'\nwhen = 'time > 2 s'",
            "line 5, column 9: there are two patterns a",
        ),
        ("operation", "line 1, column "),
    ] {
        let said = refused(text);
        assert!(said.starts_with(told) && said.contains("\n  remedy: "), "{text}: {said}");
    }
    for (when, told) in [
        ("role = grup_sync", "line 4, column 16: \"grup_sync\" is no role\n  remedy: write group_sync"),
        ("time > 2 msec", "line 4, column 18: \"msec\" is no unit"),
        ("time > 2", "line 4, column 17: the number has no unit"),
        ("time > 2 KiB", "line 4, column 16: a time is compared with a number of bytes"),
        ("gap > 2 ms", "line 4, column 9: \"gap\" is nothing that is known of an operation"),
        ("tim > 2 ms", "line 4, column 9: \"tim\" is nothing that is known of an operation\n  remedy: write time"),
        ("time > 2 ms and", "line 4, column 24: the condition ends too early"),
        ("time > 2 ms role = send", "line 4, column 21: the condition ends before this"),
        ("(time > 2 ms", "line 4, column 21: a ) is missing"),
        ("role < send", "line 4, column 14: names have no order"),
        ("time 2 ms", "line 4, column 14: a comparison is missing"),
        ("time > 1.2.3 ms", "line 4, column 16: 1.2.3 is no number"),
        ("", "line 4, column 9: the condition ends too early"),
    ] {
        let said = pattern(when);
        assert!(said.starts_with(told) && said.contains("\n  remedy: "), "{when}: {said}");
    }
    assert!(pattern(&"(".repeat(1000)).contains("nested too deeply"));
    assert!(pattern(&"not ".repeat(400)).contains("nested too deeply"));
    assert!(pattern(&" ".repeat(2001)).starts_with("line 4, column 9: a text of more than 2000 bytes\n  remedy: "));
}

proptest! {
    /// Whatever a file says, it is read or refused.
    #[test]
    fn no_text_panics(text in "\\PC{0,60}", when in "[a-z_0-9 .=<>!()'*µs]{0,60}", words in proptest::collection::vec(
        proptest::sample::select(vec!["role", "construct", "time", "gap_before", "bytes", "waiting", "=", "!=", "<", ">=", "and", "or", "not", "(",
            ")", "2", "0", "99999999999999999999", "ms", "KiB", "send", "'x", "*"]), 0..20),
    ) {
        let _ = read(&text);
        for when in [when, words.join(" "), text] {
            if let Ok(file) = read(&format!("[[pattern]]\nname = 'p'\nwhen = {}", toml_text(&when))) {
                file.patterns[0].when.holds(&BARRIER);
                let most = Figures { time: Span(i64::MAX), bytes: u64::MAX, ticks_per_second: u64::MAX, ..BARRIER };
                file.patterns[0].when.holds(&most);
            }
        }
    }
}

/// A text as TOML writes it.
fn toml_text(text: &str) -> String {
    let escaped: Vec<String> = text.chars().map(|letter| format!("\\U{:08x}", u32::from(letter))).collect();
    format!("\"{}\"", escaped.concat())
}

/// Roles of the visits of the first PE, those of operations in capitals.
fn visits(trace: &Trace) -> Vec<String> {
    let pe = partune_testkit::pe(trace, 0);
    let stream = &trace.streams()[pe];
    let name = |at: u32| {
        let visit = partune_trace::VisitIx(at);
        let region = trace.region_of(pe, visit);
        let name = format!("{} {}", trace.strings().get(region.name), region.role.name());
        if stream.operations.contains(&visit) { name.to_uppercase() } else { name }
    };
    (0..stream.visits.len() as u32).map(name).collect()
}

const EXCHANGE: &str = "
    resolution 1
    pe 0: main 0..100 { exchange 10..60 { pack 10..20 MPI_Send 20..60 send(to=1, bytes=8) }  block lines 70..80 }
    pe 1: main 0..100 { exchange 50..60 { MPI_Recv 50..60 recv(from=0, bytes=8) } }";

#[test]
fn the_outermost_operation_counts_and_has_what_was_recorded_inside() {
    let before = partune_testkit::trace(EXCHANGE);
    assert_eq!(visits(&before), ["main user", "exchange user", "pack user", "MPI_SEND SEND", "lines user"]);
    let file = read(
        "[[operation]]\nname = 'exchange'\nrole = 'comm_sync'\n[[operation]]\nname = 'pac*'\nrole = 'management'\n\
         [[operation]]\nname = 'lines'\nrole = 'io'",
    );
    let trace = file.unwrap().assign(before);
    let roles = ["main user", "EXCHANGE COMM_SYNC", "pack management", "MPI_Send send", "LINES IO"];
    assert_eq!(visits(&trace), roles);
    let stream = &trace.streams()[partune_testkit::pe(&trace, 0)];
    assert_eq!(stream.sends[0].visit.0, 1, "the message is the exchange's");
    assert!(trace.quality().entries().is_empty(), "{:?}", trace.quality().entries());
}

#[test]
fn what_changes_nothing_is_told_with_the_nearest_name() {
    let told = |entry: &str| -> Vec<String> {
        let trace = operation(entry).assign(partune_testkit::trace(EXCHANGE));
        assert_eq!(visits(&trace), visits(&partune_testkit::trace(EXCHANGE)));
        trace
            .quality()
            .entries()
            .iter()
            .map(|it| format!("{}: {} ({})", it.code.name(), it.message, it.remedy))
            .collect()
    };
    let near = told("name = 'exchang'\nrole = 'comm_sync'");
    let said = "unused-operation: exchang of the file of operations does not occur in this run (the run has exchange;";
    assert!(near.len() == 1 && near[0].starts_with(said), "{near:?}");
    let taken = told("name = 'MPI_Send'\nrole = 'recv'");
    assert!(taken.len() == 1 && taken[0].contains("it is an operation already"), "{taken:?}");
    let strange = told("name = 'nothing_like_it'\nrole = 'recv'");
    assert!(strange.len() == 1 && strange[0].contains("where it is instrumented or marked"), "{strange:?}");
}

#[test]
fn the_manual_lists_the_roles_of_operations() {
    let page = include_str!("../../../docs/operations.md");
    let (_, list) = page.split_once("\nRoles: ").unwrap();
    let (list, _) = list.split_once(".\n").unwrap();
    let listed: Vec<&str> = list.split(',').map(|role| role.trim().trim_matches('`')).collect();
    let roles = Role::ALL.into_iter().filter(|role| !role.is_transparent());
    assert_eq!(listed, roles.map(Role::name).collect::<Vec<_>>());
}
