//! What holds of every model; and nothing panics, whatever is written.

use std::collections::BTreeMap;

use partune_mds::{Counts, Options, Outcome, Part};
use partune_model::{Values, format, lower, parse};
use proptest::prelude::*;

use crate::support::{recorded, tried};

#[path = "../../../fuzz/model_data.rs"]
mod fuzz;

/// Changes of models like these.
const TRIES: &[&str] = &[
    "layout A: pad 3 -> 8",
    "layout A, B: group",
    "decompose d -> 3 by cyclic; machine { cache 1024; line 32 }",
    "schedule a self(2); nowait b",
    "fuse a, b",
    "fuse b, a; remove barrier after a",
    "remove barrier after a",
    "machine { unbound 3; node(q) = q; barrier 0 }; alt main",
];

fn any_model() -> impl Strategy<Value = String> {
    let by = prop_oneof![
        Just("block".to_owned()),
        Just("cyclic".to_owned()),
        Just("rcb".to_owned()),
        (1..5_i64).prop_map(|k| format!("block_cyclic({k})")),
        (1..9_i64).prop_map(|k| format!("owner(i) = i*{k} mod P")),
    ];
    let how = prop_oneof![Just("static"), Just("self(1)"), Just("self(3)"), Just("guided(2)"), Just("static nowait")];
    let line = prop_oneof![Just(8), Just(32), Just(64), Just(256)];
    (by, how, line, (1..5_u8, 1..40_u8), (0..9_u8, 3..6_u8), (0..3_u8, 0..3_u8, (0..2_u8, 0..2_u8))).prop_map(
        |(by, how, line, (pes, count), (cache, pad), (unbound, memory, (group, exclusive)))| {
            let last = if pad == 5 { "nowait" } else { "" };
            let layout = if group == 1 { "layout A, B: group;".to_owned() } else { format!("layout A, B: pad 3 -> {pad};") };
            format!(
                "let P = {pes}; domain d = 0..{count} - 1; data A[d, 3]: f64; data B[d, 3]: f32; {layout} decompose d -> P by {by};
                 machine {{ line {line}; cache {cache}*256; memory {memory}; near 2; far 3; upgrade 1; barrier 1; unbound {unbound}; exclusive {exclusive}; node(q) = q mod 2 }};
                 proc third = phase c forall (i in d) {last} task {{ updates B[i, *]; weight (i + 1) mod 3 }};
                 main = seq (t = 1, 3) {{ phase a forall (i in d) schedule {how} task {{ reads A[(i*5 + t) mod {count}, *]; writes B[i, *]; weight i mod 3 }};
                   barrier; phase b forall (i in d) task {{ reads B[k, t - 1] for k in max(i - 2, 0)..i; updates A[i, *]; weight 1 }}; if (P > 2) barrier; third; if (P > 9) barrier }};"
            )
        },
    )
}

/// Times are whole seconds here, so that nothing is rounded: each PE works, waits for lines and for others in the trace as in the figures.
fn same_when_recorded(source: &str, outcome: &Outcome) -> Result<(), TestCaseError> {
    let (again, trace) = recorded(source, &Options::default()).map_err(TestCaseError::fail)?;
    prop_assert_eq!(outcome, &again);
    let seconds = |ns: i64| ns as f64 / 1e9;
    prop_assert_eq!(seconds(trace.end().0), outcome.run_s);
    for (pe, stream) in trace.streams().iter_ids() {
        let mut lines: BTreeMap<&str, i64> = BTreeMap::new();
        let (mut barriers, mut paths, mut phases) = (0, 0, 0);
        for visit in stream.visits.iter() {
            let region = trace.regions()[trace.paths().region(visit.path)];
            let duration = visit.duration().0;
            match trace.strings().get(region.name) {
                "omp parallel" => paths += 1,
                "a" | "b" | "c" | "outside of phases" => phases += duration,
                "omp implicit barrier" | "omp barrier" => barriers += duration,
                reason => *lines.entry(reason).or_default() += duration,
            }
        }
        let rows = || outcome.phases.iter().map(|phase| phase.pes[pe.0 as usize]);
        let counts = rows().fold(Counts::default(), |mut counts, row| {
            counts.add(&row.counts);
            counts
        });
        let (work, wait) = rows().fold((0.0, 0.0), |(work, wait), row| (work + row.work_s, wait + row.wait_s));
        let reason = |name: &str| seconds(lines.get(name).copied().unwrap_or_default());
        let told = [
            reason("first use of lines"),
            reason("cache too small"),
            reason("true sharing"),
            reason("false sharing"),
            reason("moved threads"),
            reason("upgrades of lines"),
        ];
        prop_assert_eq!(
            told,
            [
                counts.cold_s,
                counts.capacity_s,
                counts.true_sharing_s,
                counts.false_sharing_s,
                counts.migrated_s,
                counts.upgrades_s()
            ]
        );
        prop_assert_eq!(lines.len(), told.iter().filter(|it| **it > 0.0).count(), "{:?}", lines);
        prop_assert_eq!(seconds(barriers), wait + outcome.bounds.synchronisation_s);
        // Barriers at the end of a loop are in its phase.
        prop_assert_eq!(paths, 1);
        prop_assert!(
            seconds(phases) >= work + counts.latency_s && seconds(phases) <= outcome.run_s,
            "{} {}",
            phases,
            work
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn figures_agree_with_each_other(source in any_model()) {
        let outcome = tried(&source, &[], &Options::default()).map_err(|told| TestCaseError::fail(format!("{told}\n{source}")))?;
        let bounds = outcome.bounds;
        prop_assert!((bounds.sum() - outcome.run_s).abs() <= 1e-9 * outcome.run_s, "{bounds:?} {}", outcome.run_s);
        let parts: Vec<f64> = Part::ALL.iter().map(|part| bounds.part(*part)).collect();
        prop_assert!((parts.iter().sum::<f64>() - outcome.run_s).abs() <= 1e-9 * outcome.run_s, "{bounds:?}");
        prop_assert!(parts.iter().all(|part| *part >= -1e-9 * outcome.run_s.max(1.0)), "{bounds:?}");
        let gaps = [bounds.ideal_s, bounds.communication_s, bounds.false_sharing_s, bounds.migration_s, bounds.imbalance_s, bounds.phases_s, bounds.turns_s];
        prop_assert!(gaps.iter().all(|gap| *gap >= -1e-9), "{bounds:?}");
        // Each PE works, waits for data or for others, all the time.
        for pe in 0..outcome.pes {
            let time = |it: &partune_mds::PeRow| it.work_s + it.counts.latency_s + it.wait_s;
            let sum: f64 = outcome.phases.iter().map(|phase| time(&phase.pes[pe])).sum();
            prop_assert!((sum + bounds.synchronisation_s - outcome.run_s).abs() <= 1e-9 * outcome.run_s.max(1.0));
        }
        for phase in &outcome.phases {
            let (mut data, of_pes) = (Counts::default(), phase.counts());
            phase.data.iter().for_each(|row| data.add(&row.counts));
            prop_assert_eq!(data.misses(), of_pes.misses());
            prop_assert!(phase.misses.windows(2).all(|pair| pair[0] >= pair[1]), "larger caches miss no more");
            prop_assert!(phase.pes.iter().all(|pe| pe.bytes <= pe.lines * outcome.line));
        }
        let read: u64 = outcome.flow.iter().map(|flow| flow.bytes).sum();
        prop_assert!(read <= 8 * outcome.counts().reads);
        if outcome.pes == 1 {
            let counts = outcome.counts();
            prop_assert_eq!(counts.true_sharing + counts.false_sharing + counts.migrated, 0);
        }
        // Where upgrades take no time, who meets whom in a line does not depend on the protocol.
        let by = |exclusive: &str| {
            let source = source.replace("upgrade 1", "upgrade 0").replace("exclusive 0", "exclusive 1");
            tried(&source.replace("exclusive 1", exclusive), &[], &Options::default()).map_err(TestCaseError::fail)
        };
        let (msi, mesi) = (by("exclusive 0")?.counts(), by("exclusive 1")?.counts());
        prop_assert!(mesi.upgrades <= msi.upgrades, "{mesi:?} {msi:?}");
        prop_assert_eq!(Counts { upgrades: 0, ..mesi }, Counts { upgrades: 0, ..msi });
        same_when_recorded(&source, &outcome)?;
        let formatted = format(&source).unwrap_or_default();
        prop_assert_eq!(tried(&formatted, &[], &Options::default()), Ok(outcome));
    }

    #[test]
    fn no_text_makes_it_panic(source in any_model(), changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, 0..40_usize), 1..6)) {
        let mut bytes = source.into_bytes();
        for (at, what, with) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match what {
                0 => drop(bytes.remove(at)),
                1 => bytes[at] = b" (){}[];|,:=<>+-*/^0123456789abcdefP.\n-9"[with],
                2 => bytes.insert(at, b"(){}[];|*/-^\"#.0123456789 (){}[];|*/-^\"#"[with]),
                _ => bytes.truncate(at.max(1)),
            }
        }
        fuzz::model_data(&bytes);
    }

    /// Changes of changes, and what becomes of the model under those that are right.
    #[test]
    fn no_try_makes_it_panic(source in any_model(), changes in prop::collection::vec((any::<prop::sample::Index>(), 0..4_u8, 0..40_usize), 0..3), at in 0..TRIES.len()) {
        let mut text = TRIES[at].as_bytes().to_vec();
        for (at, what, with) in changes {
            let at = at.index(text.len().max(1));
            match what {
                0 if at < text.len() => drop(text.remove(at)),
                1 if at < text.len() => text[at] = b" (){}[];|,:=<>+-*/^0123456789abcdefP.\n-9"[with],
                2 => text.insert(at.min(text.len()), b"(){}[];|*/-^\"#.0123456789 (){}[];|*/-^\"#"[with]),
                _ => text.truncate(at.max(1)),
            }
        }
        fuzz::model_data(&[source.as_bytes(), b"\n--try\n", &text].concat());
    }
}

/// What the loops over domains are in the other readings: bounds on the same times, where nothing but weights takes time.
#[test]
fn estimates_bound_what_is_followed() {
    for (how, exact) in [("static", true), ("self(1)", false)] {
        let source = format!(
            "param N: int = 20; param P: int = 3; domain d = 0..N-1; data A[d]: f64; decompose d -> P by block; machine {{ barrier 2 }};
             main = seq (t = 1, 4) {{ forall (i in d) schedule {how} task {{ writes A[i]; weight i }}; barrier }};"
        );
        let (file, told) = parse(&source);
        assert!(told.is_empty() && format(&source).is_some(), "{told:?}");
        let values = partune_model::defaults(&file, &Values::new());
        let model = lower(&source, &file, &values, &|_| Err(String::new())).0.expect("it is right");
        let term = &model.alternatives[0].term;
        let simulated = partune_model::simulate::simulate(&model, term, &partune_model::simulate::Options::default());
        let simulated = simulated.expect("it runs").makespan.to_f64();
        let bounds = partune_model::estimate::bounds(&model, term).expect("all is known");
        let followed = tried(&source, &[], &Options::default()).expect("it is right").run_s;
        assert!(bounds.head_tail.to_f64() <= followed, "{how}: {bounds:?} {followed}");
        assert_eq!(simulated, followed, "{how}");
        assert!(!exact || (followed - 4.0 * (99.0 + 2.0)).abs() < 1e-9, "{followed}");
    }
}
