//! What the analyses find is what is known: the same waits at the same call paths, on the same PEs, caused by the same PEs.

use std::collections::BTreeMap;

use crate::support::{Written, variants, written};
use partune_analysis::{ANALYSES, Input, Options, Waits};
use partune_base::PeId;
use partune_index::Index;
use partune_otf2::import::import;
use partune_synth::{Injection, InjectionKind, PeTally, SynthOptions, Tally};
use partune_trace::Trace;

/// An imported archive and what was derived from it.
struct Analysed {
    trace: Trace,
    index: Index,
    waits: Waits,
}

fn analysed(written: &Written) -> Analysed {
    let trace = import(&written.files, "traces.otf2", &|_, _| ()).expect("it is imported");
    assert_eq!(trace.events(), written.answers.events);
    let index = Index::build(&trace);
    let waits = Waits::find(&trace, &index);
    Analysed { trace, index, waits }
}

/// By pattern and call path: who waited and for whom.
type Known = BTreeMap<(String, String), (BTreeMap<(u32, u32), Tally>, BTreeMap<(u32, u32), Tally>)>;

fn found(it: &Analysed) -> Known {
    let mut found = Known::new();
    let place = |pe: PeId| {
        let pe = &it.trace.pes()[pe];
        (it.trace.processes()[pe.process].rank.expect("a rank"), pe.thread)
    };
    for wait in it.waits.iter().chain(it.waits.start_up()) {
        let path = path_name(&it.trace, it.trace.visit(wait.pe, wait.operation).path);
        let (waiting, causing) = found.entry((wait.pattern.name().to_owned(), path)).or_default();
        let add = |tally: &mut Tally| {
            tally.ns += wait.duration().0 as u64;
            tally.count += 1;
        };
        add(waiting.entry(place(wait.pe)).or_default());
        if wait.cause.is_some() {
            add(causing.entry(place(wait.cause.pe)).or_default());
        }
    }
    found
}

/// As the answers name it: other threads than the main one begin with the parallel region.
fn path_name(trace: &Trace, path: partune_base::CallPathId) -> String {
    let names =
        trace.paths().ancestors(path).map(|path| trace.strings().get(trace.regions()[trace.paths().region(path)].name));
    let mut names: Vec<&str> = names.collect();
    names.reverse();
    if names[0].starts_with("!$omp parallel") {
        names.splice(0..0, ["main", "time_step", "compute_flux"]);
    }
    names.join("/")
}

fn known(written: &Written) -> Known {
    let shares = |shares: &[PeTally]| shares.iter().map(|share| ((share.rank, share.thread), share.tally)).collect();
    let waits = written.answers.waits.iter();
    // Functions of all sizes of elements are one construct, whose name is that of the family.
    let path = |path: &str| path.replace("shmem_broadcast64", "shmem_broadcast");
    waits
        .map(|wait| ((wait.pattern.to_owned(), path(&wait.path)), (shares(&wait.waiting), shares(&wait.causing))))
        .collect()
}

#[test]
fn every_wait_is_found_and_no_other() {
    for (name, options) in variants().into_iter().filter(|(name, _)| *name != "clocks" && *name != "shmem") {
        let written = written(&options);
        let it = analysed(&written);
        assert!(it.trace.quality().is_empty(), "{name}: {:?}", it.trace.quality());
        let (mut found, known) = (found(&it), known(&written));
        if options.ring_bytes <= options.eager_bytes {
            // That these sends did not wait is nowhere in the archive; what is claimed is less than their short duration.
            let claimed = found.remove(&("late_receiver".to_owned(), "main/time_step/pass_ring/MPI_Send".to_owned()));
            let claimed = claimed.map_or_else(Vec::new, |(waiting, _)| waiting.into_values().collect());
            assert!(claimed.iter().all(|tally| tally.ns < 200 * tally.count), "{name}: {claimed:?}");
        }
        let places: Vec<_> = found.keys().collect();
        assert_eq!(places, known.keys().collect::<Vec<_>>(), "{name}");
        for (place, (waiting, causing)) in known {
            assert_eq!(found[&place].0, waiting, "{name}: {place:?}");
            assert_eq!(found[&place].1, causing, "{name}: {place:?}");
        }
    }
}

#[test]
fn findings_are_the_injected_ones() {
    let cases = [
        (InjectionKind::LateSender, 3, "late_sender", "MPI_Recv"),
        (InjectionKind::LateReceiver, 2, "late_receiver", "MPI_Send"),
        (InjectionKind::LateBroadcast, 2, "late_broadcast", "MPI_Bcast"),
        (InjectionKind::LateAtBarrier, 2, "wait_at_barrier", "MPI_Barrier"),
        (InjectionKind::LateAtNxn, 2, "wait_at_nxn", "MPI_Allreduce"),
        (InjectionKind::EarlyReduce, 2, "early_reduce", "MPI_Reduce"),
    ];
    for (kind, rank, pattern, construct) in cases {
        let inject = vec![Injection { kind, rank, delay_ns: 400_000, percent: 100 }];
        let ring_bytes = if kind == InjectionKind::LateReceiver { 100_000 } else { 1000 };
        let options = SynthOptions { ranks: 7, ring_bytes, inject, ..SynthOptions::default() };
        let written = written(&options);
        let it = analysed(&written);
        let options = Options { minimum: 0.0, ..Options::default() };
        let input = Input {
            trace: &it.trace,
            index: &it.index,
            waits: &it.waits,
            options: &options,
            shared: &partune_analysis::Shared::default(),
        };
        let wait = written.answers.waits.iter().find(|wait| wait.construct == construct).expect("a wait");
        let mut there = ANALYSES.iter().flat_map(|analysis| (analysis.run)(&input).findings);
        let worst =
            there.find(|finding| finding.pattern.name() == pattern && path_name(&it.trace, finding.path) == wait.path);
        let worst = worst.expect("a finding");
        assert_eq!(worst.time.0 as u64, wait.total.ns, "{kind:?}");
        assert_eq!(worst.count, wait.total.count, "{kind:?}");
        if kind != InjectionKind::EarlyReduce {
            assert_eq!(worst.causes[0].pe, PeId(rank), "{kind:?}");
        }
    }
}

/// With offsets and drift the import brings times back to the nanosecond, so waits differ by rounding only.
#[test]
fn clocks_are_corrected() {
    let (_, options) = variants().into_iter().find(|(name, _)| *name == "clocks").expect("it is there");
    let written = written(&options);
    let it = analysed(&written);
    for ((pattern, _), (waiting, _)) in found(&it) {
        let sum = waiting.values().fold((0, 0), |sum, tally| (sum.0 + tally.ns, sum.1 + tally.count));
        assert!(sum.1 > 0, "{pattern}");
    }
    for pattern in ["late_sender", "wait_at_nxn", "late_broadcast"] {
        let total = written.answers.total(pattern);
        let found: u64 =
            it.waits.iter().filter(|wait| wait.pattern.name() == pattern).map(|wait| wait.duration().0 as u64).sum();
        assert!(found.abs_diff(total.ns) <= 2 * total.count.max(100), "{pattern}: {found} and {total:?}");
    }
}

/// Waits for values end, for the analyses, with the last put that ended in time, whichever flag it set: at most a latency later.
#[test]
fn values_and_locks_of_shmem() {
    let (_, options) = variants().into_iter().find(|(name, _)| *name == "shmem").expect("it is there");
    let written = written(&options);
    let it = analysed(&written);
    assert!(it.trace.quality().is_empty(), "{:?}", it.trace.quality());
    let (found, known) = (found(&it), known(&written));
    let places: Vec<_> = found.keys().collect();
    assert_eq!(places, known.keys().collect::<Vec<_>>());
    for (place, (waiting, causing)) in known {
        if place.0 == "wait_on_value" {
            let sum = |tallies: &BTreeMap<(u32, u32), Tally>| tallies.values().map(|tally| tally.ns).sum::<u64>();
            let calls: u64 = waiting.values().map(|tally| tally.count).sum();
            assert!(sum(&found[&place].0).abs_diff(sum(&waiting)) <= calls * options.latency_ns, "{place:?}");
        } else {
            assert_eq!(found[&place].0, waiting, "{place:?}");
            assert_eq!(found[&place].1, causing, "{place:?}");
        }
    }
}
