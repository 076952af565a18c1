//! Laws that hold for any trace: waiting is conserved by blame and delay, the critical path by its impacts.

use std::collections::BTreeMap;
use std::fmt::Write;

use partune_analysis::{CriticalPath, Impact, Pattern, shapley};
use partune_base::{CallPathId, Span, Time};
use proptest::prelude::*;

use super::Case;

/// Rounds of work and a collective or a ring of messages, written in the testkit's language. Everybody leaves an operation when
/// all it needs is there.
#[derive(Clone, Debug)]
struct Program {
    /// Per round: what it ends with, and the work of each PE.
    rounds: Vec<(u8, Vec<i64>)>,
}

impl Program {
    fn text(&self) -> String {
        let pes = self.rounds[0].1.len();
        let mut clocks = vec![0_i64; pes];
        let mut lines = vec![String::new(); pes];
        for (kind, work) in &self.rounds {
            let enter: Vec<i64> = clocks.iter().zip(work).map(|(clock, work)| clock + work).collect();
            let last = enter.iter().copied().max().unwrap_or(0);
            for pe in 0..pes {
                let (begin, from) = (enter[pe], enter[(pe + pes - 1) % pes]);
                let (text, end) = match kind % 4 {
                    0 => ("MPI_Barrier B..E barrier".to_owned(), last + 2),
                    1 => ("MPI_Allreduce B..E allreduce".to_owned(), last + 3),
                    2 => ("MPI_Bcast B..E bcast(root=0)".to_owned(), begin.max(enter[0]) + 2),
                    _ => {
                        let end = begin.max(from) + 4;
                        (format!("MPI_Sendrecv B..E send(to=+1) recv(from={})", (pe + pes - 1) % pes), end)
                    }
                };
                let text = text
                    .replace('B', "\u{1}")
                    .replacen("\u{1}..E", &format!("{begin}..{end}"), 1)
                    .replace('\u{1}', "B");
                write!(lines[pe], " work {}..{begin} {text}", clocks[pe]).expect("a string takes all");
                clocks[pe] = end;
            }
        }
        let end = clocks.iter().copied().max().unwrap_or(0);
        let pe = |(pe, line): (usize, &String)| format!("pe {pe}: main 0..{end} {{{line} }}\n");
        lines.iter().enumerate().map(pe).collect()
    }
}

fn programs() -> impl Strategy<Value = Program> {
    (2..6_usize).prop_flat_map(|pes| {
        let round = (any::<u8>(), prop::collection::vec(0..500_i64, pes));
        prop::collection::vec(round, 1..8).prop_map(|rounds| Program { rounds })
    })
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0)
}

/// Programs whose rounds all end with messages.
fn message_programs() -> impl Strategy<Value = Program> {
    programs().prop_map(|mut program| {
        program.rounds.iter_mut().for_each(|(kind, _)| *kind = 3);
        program
    })
}

proptest! {
    #[test]
    fn roots_are_charged_what_delays_cost(program in message_programs()) {
        let case = Case::new(&program.text());
        let mut costs: BTreeMap<(u32, CallPathId), f64> = BTreeMap::new();
        for cost in &case.delays().costs {
            *costs.entry((cost.pe.0, cost.path)).or_default() += cost.short_term + cost.long_term;
        }
        let mut total = 0.0;
        for finding in case.run_all("wait_states").findings {
            total += finding.time.0 as f64;
            let causes: i64 = finding.causes.iter().map(|cause| cause.time.0).sum();
            let rounding = finding.causes.len() as i64 + 2;
            prop_assert!((causes + finding.unexplained.0 - finding.time.0).abs() <= rounding);
            for cause in &finding.causes {
                prop_assert!(cause.passed_on <= cause.time + Span(1) && cause.via.is_empty() == (cause.passed_on.0 == 0));
                *costs.entry((cause.pe.0, cause.origin)).or_default() -= cause.time.0 as f64;
            }
        }
        // Where all waits are looked at and the cap of σ is not reached, the two agree but for rounding.
        prop_assert!(case.delays().unattributed < 1.0);
        for (root, left) in &costs {
            prop_assert!(left.abs() <= 2.0, "{root:?}: {left} of {total}");
        }
    }

    #[test]
    fn groups_cause_what_they_wait(enters in prop::collection::vec(-1000..1000_i64, 0..40)) {
        let (waited, caused) = shapley(&enters.iter().copied().map(Time).collect::<Vec<_>>());
        prop_assert!(close(waited.iter().sum(), caused.iter().sum()));
        prop_assert!(caused.iter().all(|blame| *blame >= -1e-9));
    }

    #[test]
    fn waiting_is_conserved(program in programs()) {
        let case = Case::new(&program.text());
        let total: i64 = case.waits.iter().map(|wait| wait.duration().0).sum();
        // By findings and their causes …
        let findings = case.run("wait_states").findings;
        prop_assert_eq!(findings.iter().map(|finding| finding.time.0).sum::<i64>(), total);
        for finding in &findings {
            prop_assert_eq!(finding.pes.iter().map(|(_, time)| time.0).sum::<i64>(), finding.time.0);
            let causes: i64 = finding.causes.iter().map(|cause| cause.time.0).sum();
            prop_assert!((causes + finding.unexplained.0 - finding.time.0).abs() <= 6 || finding.causes.len() == 5);
        }
        // … and by delays: short and long-term costs together are all waiting, since all of it has a cause.
        let delays = case.delays();
        let costs: f64 = delays.costs.iter().map(|cost| cost.short_term + cost.long_term).sum();
        prop_assert!(close(costs + delays.unattributed, total as f64), "{} + {} != {}", costs, delays.unattributed, total);
        prop_assert!(delays.costs.iter().all(|cost| cost.short_term >= -1e-6 && cost.long_term >= -1e-6));
    }

    #[test]
    fn waits_lie_within_their_operations_and_do_not_overlap(program in programs()) {
        let case = Case::new(&program.text());
        for pe in case.trace.pes().ids() {
            let waits = case.waits.of_pe(pe);
            for wait in waits {
                let operation = case.trace.visit(pe, wait.operation);
                prop_assert!(wait.begin >= operation.enter && wait.end <= operation.exit && wait.begin < wait.end);
                prop_assert!(wait.pattern != Pattern::LateBroadcast || wait.cause.pe.0 == 0);
            }
            prop_assert!(waits.windows(2).all(|pair| pair[0].end <= pair[1].begin));
        }
    }

    #[test]
    fn the_path_is_as_long_as_the_run_and_its_impacts_are_all_time(program in programs()) {
        let case = Case::new(&program.text());
        let path = CriticalPath::find(&case.trace, &case.index, &case.waits);
        prop_assert_eq!(path.length(), case.trace.duration());
        prop_assert!(path.parts.windows(2).all(|pair| pair[1].2 <= pair[0].1));
    }

    #[test]
    fn impacts_sum_to_the_path_on_every_pe(
        critical in prop::collection::vec(0..1000_i64, 1..8),
        pes in prop::collection::vec(prop::collection::vec(0..1000_i64, 8), 1..6),
    ) {
        let spans = |times: &[i64]| times.iter().copied().map(Span).collect::<Vec<_>>();
        let of_pe = |times: &Vec<i64>| (0..).map(CallPathId).zip(spans(&times[..critical.len()])).collect();
        let work: Vec<Vec<(CallPathId, Span)>> = pes.iter().map(of_pe).collect();
        let impact = Impact::of(&spans(&critical), &work);
        prop_assert!(close(impact.total(), critical.iter().sum::<i64>() as f64 * pes.len() as f64));
    }

    #[test]
    fn results_do_not_depend_on_threads(program in programs()) {
        let text = program.text();
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
            pool.install(|| {
                let case = Case::new(&text);
                let outcomes = ["wait_states", "delay", "critical_path", "bottlenecks"].map(|name| case.run(name));
                outcomes.map(|outcome| (outcome.findings, outcome.sections))
            })
        };
        prop_assert_eq!(with(1), with(8));
    }
}
