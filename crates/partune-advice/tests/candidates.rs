//! Candidates of findings that are made here, with what must come of them by hand.

use partune_advice::{Candidate, Evidence, Options, candidates};
use partune_analysis::{Cause, Finding, Pattern};
use partune_base::{CallPathId, FileId, PeId, Span};
use partune_trace::{Completion, Region, Role, Trace, TraceBuilder};

use crate::{action, gaps};

const MPI: &[&str] = &["MPI"];

fn finding(pattern: Pattern, role: Role, path: u32, time: i64) -> Finding {
    Finding {
        pattern,
        role,
        path: CallPathId(path),
        time: Span(time),
        outside: Span::ZERO,
        count: 1,
        pes: Vec::new(),
        causes: Vec::new(),
        unexplained: Span::ZERO,
        occurrences: Vec::new(),
        file: FileId::NONE,
        facts: Vec::new(),
        waits: None,
        paths: Vec::new(),
    }
}

fn cause(pe: u32, path: u32, origin: Option<u32>, time: i64) -> Cause {
    Cause {
        pe: PeId(pe),
        path: CallPathId(path),
        origin: origin.map_or(CallPathId::NONE, CallPathId),
        time: Span(time),
        passed_on: Span::ZERO,
        via: Vec::new(),
    }
}

/// A receive at 5 waits 90 of 100 for PE 2, which computes at 8 before it sends at 6.
fn late_sender() -> Finding {
    let causes = vec![cause(2, 6, Some(8), 60), cause(2, 9, None, 30), cause(1, 6, Some(8), 10)];
    Finding { causes, ..finding(Pattern::LateSender, Role::Recv, 5, 100) }
}

/// Call paths 0 to 6 are blocking operations of the first paradigm, 7 is one that does not block, and all others are code. The other paradigms
/// have an operation each at the end, and OpenMP a loop with code in it after that.
fn trace(paradigms: &[&str]) -> Trace {
    let mut building = TraceBuilder::default();
    let name = building.strings.intern("f");
    let mut add = |paradigm: Option<&str>, completion: Completion| {
        let paradigm = paradigm.map(|it| building.strings.intern(it));
        let region = paradigm.map_or(Region::of_user(name), |it| Region::of_construct(name, it, Role::Recv));
        let region = building.regions.push(Region { completion, ..region });
        building.paths.push(CallPathId::NONE, region);
    };
    (0..7).for_each(|_| add(Some(paradigms[0]), Completion::Blocking));
    add(Some(paradigms[0]), Completion::NonBlocking);
    (8..200).for_each(|_| add(None, Completion::Blocking));
    paradigms[1..].iter().for_each(|it| add(Some(*it), Completion::Blocking));
    if paradigms.contains(&"OpenMP") {
        let (construct, paradigm) = (building.strings.intern("omp for"), building.strings.intern("OpenMP"));
        let region = building.regions.push(Region::of_construct(construct, paradigm, Role::WorkSharing));
        let around = building.paths.push(CallPathId::NONE, region);
        let code = building.regions.push(Region::of_user(name));
        building.paths.push(around, code);
    }
    building.seal()
}

fn found_with(
    findings: &[Finding],
    shares: &[(&'static str, f64)],
    paradigms: &[&str],
    options: &Options,
) -> Vec<Candidate> {
    let findings: Vec<&Finding> = findings.iter().collect();
    let (trace, gaps) = (trace(paradigms), gaps(shares));
    candidates(&Evidence { trace: &trace, findings: &findings, gaps: &gaps }, options)
}

fn found(findings: &[Finding], shares: &[(&'static str, f64)], paradigms: &[&str]) -> Vec<Candidate> {
    found_with(findings, shares, paradigms, &Options::default())
}

fn of<'a>(found: &'a [Candidate], id: &str) -> Option<&'a Candidate> {
    found.iter().find(|it| it.action.id == id)
}

/// As a candidate or an alternative of one.
fn has(found: &[Candidate], id: &str) -> bool {
    found.iter().any(|it| it.action.id == id || it.alternatives.iter().any(|it| it.id == id))
}

#[test]
fn nothing_found_and_no_gap_is_no_candidate() {
    assert_eq!(found(&[], &[], MPI), []);
    assert_eq!(found(&[], &[("C'", 0.04), ("X", 0.049), ("$", 0.0)], &["MPI", "OpenMP", "pthread"]), []);
}

#[test]
fn a_pattern_of_the_users_own_brings_its_own_advice() {
    let file = "[[pattern]]\nname = \"mine\"\nwhen = \"role = recv and waiting > 2 ms\"\ntext = \"t\"\nnext = \"n\"\n";
    let own = partune_operations::read(file).unwrap().patterns[0];
    let finding =
        Finding { causes: vec![cause(1, 6, Some(8), 100)], ..finding(Pattern::User(own), Role::Recv, 5, 100) };
    assert_eq!(found(&[finding], &[], MPI), []);
}

#[test]
fn a_late_sender_calls_for_its_cause_and_its_place() {
    let found = found(&[late_sender()], &[], MPI);
    let changes: Vec<(&str, &str, i64)> =
        found.iter().map(|it| (it.action.id.as_str(), it.change.unwrap().template(), it.caused.0)).collect();
    assert_eq!(
        changes,
        [
            ("double-buffer", "nonblocking {place}", 100),
            ("pipeline-pieces", "split {place} 4", 100),
            ("dedicate-master", "dedicate {pe}", 90),
            ("A-21", "scale {cause} time*0.8", 70),
            ("late-work", "delay-wait {place} past {cause}", 70),
            ("relieve-late-pe", "balance {cause}", 70),
        ]
    );
    for candidate in &found {
        assert_eq!(candidate.place, CallPathId(5));
        assert_eq!(candidate.cause, Some((PeId(2), CallPathId(8))), "the code, not the send");
        assert_eq!((candidate.findings.as_slice(), candidate.loss), ([0].as_slice(), Span(100)));
    }
}

#[test]
fn one_pe_must_have_made_most_of_it() {
    let mut finding = late_sender();
    assert!(has(&found(std::slice::from_ref(&finding), &[], MPI), "dedicate-master"));
    finding.causes[1].pe = PeId(3);
    assert!(!has(&found(&[finding], &[], MPI), "dedicate-master"), "60 of 100 is less than 80 %");
}

#[test]
fn without_a_known_cause_only_the_place_is_changed() {
    let finding = finding(Pattern::LateSender, Role::Recv, 5, 100);
    let ids: Vec<String> = found(&[finding], &[], MPI).iter().map(|it| it.action.id.clone()).collect();
    assert_eq!(ids, ["double-buffer", "pipeline-pieces"]);
}

#[test]
fn nothing_is_moved_past_itself() {
    let at = |place: u32| Finding {
        causes: vec![cause(1, 6, Some(8), 100)],
        ..finding(Pattern::LateSender, Role::User, place, 100)
    };
    assert!(has(&found(&[at(9)], &[], MPI), "late-work"));
    assert!(!has(&found(&[at(8)], &[], MPI), "late-work"));
}

/// Code at 8 makes others wait at 4 and at 5: it is balanced once, for both.
#[test]
fn the_same_change_for_several_findings_is_one_candidate() {
    let more =
        Finding { path: CallPathId(4), time: Span(300), causes: vec![cause(0, 6, Some(8), 250)], ..late_sender() };
    let found = found(&[late_sender(), more], &[], MPI);
    let balanced: Vec<&Candidate> = found.iter().filter(|it| it.action.id == "relieve-late-pe").collect();
    assert_eq!(balanced.len(), 1);
    let one = balanced[0];
    assert_eq!(
        (one.findings.as_slice(), one.place, one.cause),
        ([1, 0].as_slice(), CallPathId(4), Some((PeId(0), CallPathId(8))))
    );
    assert_eq!((one.loss, one.caused), (Span(400), Span(250 + 70)));
    assert_eq!(found[0].loss, Span(400), "what loses most comes first");
    assert_eq!(found.iter().filter(|it| it.action.id == "double-buffer").count(), 2, "at each place");
}

/// Two rules of collective I/O meet it: one of any access where files take much, one of this pattern.
#[test]
fn a_finding_counts_once_though_two_rules_meet_it() {
    let found = found(&[finding(Pattern::SerialIo, Role::Io, 5, 100)], &[("O", 0.3)], MPI);
    let collective = of(&found, "collective-io").unwrap();
    assert_eq!((collective.findings.as_slice(), collective.loss), ([0].as_slice(), Span(100)));
}

#[test]
fn gaps_choose_among_kinds_of_balance() {
    let uneven =
        Finding { causes: vec![cause(3, 9, None, 100)], ..finding(Pattern::LoadImbalance, Role::User, 9, 100) };
    let balanced = |shares: &[(&'static str, f64)]| {
        let found = found(std::slice::from_ref(&uneven), shares, MPI);
        let balance: Vec<&Candidate> =
            found.iter().filter(|it| it.change.is_some_and(|it| it.template() == "balance {cause}")).collect();
        assert_eq!(balance.len(), 1, "the same change is replayed once");
        std::iter::once(balance[0].action)
            .chain(balance[0].alternatives.iter().copied())
            .map(|it| it.id.clone())
            .collect()
    };
    let ids = |shares: &[(&'static str, f64)]| -> Vec<String> { balanced(shares) };
    assert_eq!(ids(&[]), ["A-28"]);
    // target M', which is 0.2; A-28 does not. Equal ones are in the order of the list.
    assert_eq!(ids(&[("M'", 0.2)]), ["A-32", "A-33", "A-34", "A-35", "A-28"]);
    // are good for issue 20 too, which has D: 0.2 + 0.2 / 2.
    assert_eq!(ids(&[("D", 0.2)]), ["A-37", "A-38", "A-39", "A-28"]);
}

#[test]
fn rules_of_a_paradigm_need_it() {
    let barrier =
        Finding { causes: vec![cause(3, 4, Some(9), 100)], ..finding(Pattern::WaitAtBarrier, Role::GroupSync, 5, 100) };
    let fuzzy = |paradigm: &'static str| has(&found(std::slice::from_ref(&barrier), &[], &[paradigm]), "A-30");
    assert!(fuzzy("MPI") && fuzzy("UPC"));
    assert!(!fuzzy("OpenMP") && !fuzzy("OpenSHMEM") && !fuzzy("CAF"), "no split barrier there");
    // An OpenMP barrier in a program that also uses MPI.
    let in_loop = Finding { causes: vec![cause(3, 4, Some(202), 100)], ..barrier.clone() };
    let hybrid = found(std::slice::from_ref(&in_loop), &[], &["OpenMP", "MPI"]);
    assert!(!has(&hybrid, "A-30") && has(&hybrid, "loop-schedule"));
    assert!(!has(&found(&[barrier], &[], &["OpenMP", "MPI"]), "loop-schedule"), "in no loop");
    // Code is of no paradigm: the run's count.
    let code = Finding { path: CallPathId(9), ..in_loop };
    assert!(has(&found(std::slice::from_ref(&code), &[], &["MPI", "OpenMP"]), "loop-schedule"));
    assert!(!has(&found(&[code], &[], MPI), "loop-schedule"));
}

/// PE 2 was late by code outside of what was recorded, or in an operation of its own.
#[test]
fn what_was_not_recorded_is_advised_without_a_change() {
    let by = |origin| Finding { causes: vec![cause(2, 6, origin, 90)], ..late_sender() };
    let unknown = found(&[by(None)], &[], MPI);
    let relieve = of(&unknown, "relieve-late-pe").unwrap();
    assert_eq!((relieve.change, relieve.caused, relieve.cause), (None, Span(90), Some((PeId(2), CallPathId(6)))));
    assert!(unknown.iter().all(|it| it.change.is_none_or(|change| !change.needs_cause())));
    assert!(!has(&found(&[by(Some(6))], &[], MPI), "relieve-late-pe"), "an operation has no work to share out");
}

#[test]
fn what_does_not_block_is_not_made_so() {
    let waits = |path| Finding { path: CallPathId(path), ..late_sender() };
    assert!(has(&found(&[waits(6)], &[], MPI), "double-buffer"));
    assert!(!has(&found(&[waits(7)], &[], MPI), "double-buffer"));
}

#[test]
fn a_redundant_barrier_is_removed() {
    let found = found(&[finding(Pattern::RedundantBarrier, Role::GroupSync, 5, 100)], &[], MPI);
    assert_eq!(found.len(), 1);
    let only = &found[0];
    assert_eq!((only.action.id.as_str(), only.upper_limit), ("remove-barrier", false));
    assert_eq!(only.change.unwrap().fill("app.c:120", "", ""), "remove app.c:120");
}

#[test]
fn what_cannot_be_predicted_comes_after_and_once() {
    let waits = |path, time| finding(Pattern::WaitForProcessor, Role::User, path, time);
    let found = found(&[waits(9, 500), waits(10, 600), late_sender()], &[], MPI);
    let bind = of(&found, "bind-threads").unwrap();
    assert_eq!(
        (bind.change, bind.place, bind.findings.as_slice(), bind.loss),
        (None, CallPathId(10), [1, 0].as_slice(), Span(1100))
    );
    let first = found.iter().position(|it| it.change.is_none()).unwrap();
    assert!(first > 0 && found[first..].iter().all(|it| it.change.is_none()));
}

#[test]
fn a_gap_alone_calls_for_what_needs_no_place() {
    let found = found(&[], &[("X", 0.3)], &["OpenMP"]);
    let ids: Vec<&str> = found.iter().map(|it| it.action.id.as_str()).collect();
    assert_eq!(ids, ["pad-shared-data", "bind-threads"]);
    assert!(found.iter().all(|it| it.place == CallPathId::NONE && it.findings.is_empty() && it.loss == Span::ZERO));
}

/// Combining messages harms issue 9; competing accesses call for other orders of partners, which help it.
#[test]
fn candidates_that_work_against_each_other_are_named() {
    let small = finding(Pattern::SmallTransfers, Role::Put, 5, 100);
    let competing = finding(Pattern::CompetingPutGet, Role::Put, 6, 90);
    let found = found(&[small, competing], &[], &["OpenSHMEM"]);
    let at = |id: &str| found.iter().position(|it| it.action.id == id).unwrap();
    let harms = &found[at("A-16")].harms;
    assert_eq!(harms.iter().map(|it| (it.candidate, it.issue)).collect::<Vec<_>>(), [(at("stagger-targets"), 9)]);
    assert!(found[at("stagger-targets")].harms.is_empty(), "not the other way round");
    assert!(action("A-16").negative.contains(&9) && action("stagger-targets").helps(9));
}

#[test]
fn there_are_at_most_so_many_and_the_longest_loss_is_among_them() {
    let many: Vec<Finding> = (0..60)
        .map(|at| Finding { path: CallPathId(100 + at), time: Span(1000 + i64::from(at)), ..late_sender() })
        .collect();
    let options = Options { predicted: 10, per_finding: 2, unpredicted: 1, ..Options::default() };
    let few = found_with(&many, &[("W", 0.5)], MPI, &options);
    let predicted: Vec<&Candidate> = few.iter().filter(|it| it.change.is_some()).collect();
    assert_eq!((predicted.len(), few.len()), (10, 11));
    for at in 0..60 {
        assert!(predicted.iter().filter(|it| it.findings[0] == at).count() <= 2);
    }
    assert!(predicted.iter().any(|it| it.findings[0] == 59));
    let all = found_with(&many, &[("W", 0.5)], MPI, &Options::default());
    assert_eq!(all.iter().filter(|it| it.change.is_some()).count(), Options::default().predicted);
}

#[test]
fn the_order_of_findings_changes_nothing_but_positions() {
    let mut findings = vec![
        late_sender(),
        finding(Pattern::SmallTransfers, Role::Put, 5, 100),
        finding(Pattern::WaitOnLock, Role::LockAcquire, 4, 100),
        finding(Pattern::OperationCost, Role::AllToAll, 3, 100),
    ];
    let shares = [("C'", 0.2), ("L", 0.2)];
    let key = |it: &Candidate| (it.action.id.clone(), it.change, it.place, it.loss);
    let forward: Vec<_> = found(&findings, &shares, MPI).iter().map(key).collect();
    findings.reverse();
    assert_eq!(found(&findings, &shares, MPI).iter().map(key).collect::<Vec<_>>(), forward);
    assert!(forward.len() > 10);
}
