//! The program could have run: visits nest, nothing is received before it was sent, no barrier is left before the last one came,
//! no lock has two holders; and the waits that this gives are those of the answers.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::support::{Read, Record, read, variants, written};
use partune_synth::{Injection, InjectionKind, Memory, Skew, SynthOptions, write};

const BCAST: u8 = 1;
const REDUCE: u8 = 12;

#[test]
fn events_are_met_and_counted() {
    for (name, options) in variants() {
        let written = written(&options);
        let answers = &written.answers;
        assert!(answers.events.abs_diff(options.events) * 50 <= options.events, "{name}: {} events", answers.events);
        let (_, locations) = read(&written.files);
        let counts: Vec<u64> = locations.iter().map(|location| location.events.len() as u64).collect();
        assert_eq!(counts, answers.location_events.iter().map(|(_, events)| *events).collect::<Vec<_>>(), "{name}");
        let begin = locations.iter().filter_map(|location| Some(location.events.first()?.0)).min().unwrap();
        let end = locations.iter().filter_map(|location| Some(location.events.last()?.0)).max().unwrap();
        assert!((end - begin).abs_diff(answers.duration_ns as i64) <= 1, "{name}");
    }
}

#[test]
fn visits_nest() {
    for (name, options) in variants() {
        for location in read(&written(&options).files).1 {
            let mut stack = Vec::new();
            let mut last = 0;
            for (time, record) in location.events {
                assert!(time >= last, "{name}: rank {} thread {}", location.rank, location.thread);
                last = time;
                match record {
                    Record::Enter(region) => stack.push(region),
                    Record::Leave(region) => assert_eq!(stack.pop(), Some(region), "{name}"),
                    _ => {}
                }
            }
            assert_eq!(stack, [], "{name}");
        }
    }
}

/// Calls of constructs with what happened in them.
struct Call {
    rank: usize,
    enter: i64,
    exit: i64,
    records: Vec<(i64, Record)>,
}

/// The innermost visits that hold other events, in order, of main threads.
fn calls(locations: &[Read]) -> Vec<Call> {
    let mut calls = Vec::new();
    for location in locations.iter().filter(|location| location.thread == 0) {
        let mut stack: Vec<Call> = Vec::new();
        for &(time, record) in &location.events {
            match record {
                Record::Enter(_) => {
                    stack.push(Call { rank: location.rank as usize, enter: time, exit: time, records: Vec::new() });
                }
                Record::Leave(_) => {
                    let mut call = stack.pop().expect("visits nest");
                    call.exit = time;
                    calls.push(call);
                }
                other => {
                    if let Some(call) = stack.last_mut() {
                        call.records.push((time, other));
                    }
                }
            }
        }
    }
    calls
}

#[test]
fn messages_are_received_after_they_are_sent() {
    for (name, options) in variants() {
        let written = written(&options);
        let (_, locations) = read(&written.files);
        let calls = calls(&locations);
        let mut sends: HashMap<(usize, usize, u32), VecDeque<i64>> = HashMap::new();
        let mut posted: HashMap<(usize, u64), i64> = HashMap::new();
        for call in &calls {
            for (_, record) in &call.records {
                match *record {
                    Record::Send { to, tag, .. } => {
                        sends.entry((call.rank, to as usize, tag)).or_default().push_back(call.enter);
                    }
                    Record::Posted(request) => {
                        assert_eq!(posted.insert((call.rank, request), call.exit), None, "{name}");
                    }
                    _ => {}
                }
            }
        }
        let mut late_sender = (0, 0);
        for call in &calls {
            let mut latest = i64::MIN;
            for (time, record) in &call.records {
                if let Record::Recv { from, tag, request } = *record {
                    let queue = sends.get_mut(&(from as usize, call.rank, tag)).expect("it was sent");
                    let sent = queue.pop_front().expect("it was sent");
                    assert!(*time >= sent + options.latency_ns as i64, "{name}");
                    latest = latest.max(sent);
                    if let Some(request) = request {
                        assert!(
                            posted.remove(&(call.rank, request)).is_some_and(|posted| posted <= call.enter),
                            "{name}"
                        );
                    }
                }
            }
            if latest > call.enter {
                late_sender = (late_sender.0 + latest - call.enter, late_sender.1 + 1);
            }
        }
        assert!(posted.is_empty() && sends.values().all(VecDeque::is_empty), "{name}: all arrive");
        let total = written.answers.total("late_sender");
        near(name, &options, late_sender, (total.ns, total.count));
    }
}

#[test]
fn collectives_end_after_they_can() {
    /// Rank, enter, end, operation and root.
    type Member = (usize, i64, i64, u8, u32);
    for (name, options) in variants() {
        let written = written(&options);
        let (_, locations) = read(&written.files);
        let mut instances: BTreeMap<(u32, usize), Vec<Member>> = BTreeMap::new();
        let mut next: HashMap<(usize, u32), usize> = HashMap::new();
        for call in calls(&locations) {
            for (time, record) in &call.records {
                if let Record::End { operation, comm, root } = *record {
                    let turn = next.entry((call.rank, comm)).or_default();
                    instances.entry((comm, *turn)).or_default().push((call.rank, call.enter, *time, operation, root));
                    *turn += 1;
                }
            }
        }
        let mut waits = [(0, 0); 3];
        for ((comm, _), members) in &instances {
            let last = members.iter().map(|member| member.1).max().unwrap();
            let root = members.iter().find(|member| member.0 as u32 == member.4).map(|root| root.1);
            let all = comm > &0 || members.len() == options.ranks as usize;
            assert!(all && members.iter().all(|member| member.3 == members[0].3), "{name}: the same operation");
            for &(rank, enter, end, operation, is_root) in members {
                let (slot, until) = match operation {
                    BCAST => (1, root.unwrap()),
                    REDUCE if rank as u32 != is_root => continue,
                    REDUCE => {
                        assert!(end >= last, "{name}");
                        let others = members.iter().filter(|member| member.0 != rank);
                        (2, others.map(|member| member.1).max().unwrap_or(enter))
                    }
                    _ => (0, last),
                };
                assert!(end >= until, "{name}");
                if until > enter {
                    waits[slot].0 += until - enter;
                    waits[slot].1 += 1;
                }
            }
        }
        let of = |constructs: &[&str]| {
            let waits = written.answers.waits.iter().filter(|wait| constructs.contains(&wait.construct));
            waits.fold((0, 0), |sum, wait| (sum.0 + wait.total.ns, sum.1 + wait.total.count))
        };
        near(
            name,
            &options,
            waits[0],
            of(&["MPI_Barrier", "MPI_Allreduce", "shmem_barrier_all", "shmem_double_sum_to_all"]),
        );
        near(name, &options, waits[1], of(&["MPI_Bcast", "shmem_broadcast64"]));
        near(name, &options, waits[2], of(&["MPI_Reduce"]));
    }
}

#[test]
fn locks_have_one_holder() {
    for (name, options) in variants() {
        let (_, locations) = read(&written(&options).files);
        let mut held: BTreeMap<(u32, u64), Vec<(i64, i64)>> = BTreeMap::new();
        for location in &locations {
            // Threads share the lock of their rank, PEs of SHMEM that of the program.
            let owner = if options.threads > 1 { location.rank } else { 0 };
            let mut since = None;
            for (time, record) in &location.events {
                match record {
                    Record::Acquired { .. } => since = Some(*time),
                    Record::Released { lock } => {
                        held.entry((owner, *lock)).or_default().push((since.take().unwrap(), *time));
                    }
                    _ => {}
                }
            }
        }
        assert_eq!(held.is_empty(), !matches!(name, "hybrid" | "shmem"), "{name}");
        for spans in held.values_mut() {
            spans.sort_unstable();
            assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{name}");
        }
    }
}

/// Without drift equal; with drift each wait may be off by the rounding of two times.
fn near(name: &str, options: &SynthOptions, found: (i64, u64), expected: (u64, u64)) {
    let slack = if options.clock_drift_ppb > 0 { 2 * found.1.max(expected.1) } else { 0 };
    assert!(found.0.abs_diff(expected.0 as i64) <= slack, "{name}: {found:?} and {expected:?}");
    assert!(found.1.abs_diff(expected.1) <= slack / 20, "{name}: {found:?} and {expected:?}");
}

#[test]
fn injections_show_where_they_should() {
    let delay_ns = 400_000;
    let cases = [
        (InjectionKind::LateSender, 3, "MPI_Recv", false),
        (InjectionKind::LateReceiver, 2, "MPI_Send", false),
        (InjectionKind::LateBroadcast, 2, "MPI_Bcast", true),
        (InjectionKind::LateAtBarrier, 2, "MPI_Barrier", true),
        (InjectionKind::LateAtNxn, 2, "MPI_Allreduce", true),
    ];
    for (kind, rank, construct, all) in cases {
        let inject = vec![Injection { kind, rank, delay_ns, percent: 50 }];
        let ring_bytes = if kind == InjectionKind::LateReceiver { 100_000 } else { 1000 };
        let options = SynthOptions { ranks: 7, ring_bytes, inject, ..SynthOptions::default() };
        let answers = written(&options).answers;
        let wait = answers.waits.iter().find(|wait| wait.construct == construct).expect("a wait");
        let culprit = wait.causing.iter().find(|share| share.rank == rank).expect("it is blamed");
        let times = answers.injected[0].times;
        let waiting = if all { 6 } else { 1 };
        let expected = delay_ns * times * waiting;
        assert!(times > 3 && culprit.tally.ns > expected * 9 / 10, "{kind:?}: {} of {expected}", culprit.tally.ns);
        assert!(culprit.tally.ns * 10 > wait.total.ns * 8, "{kind:?} is most of {wait:?}");
    }
    let inject = vec![Injection { kind: InjectionKind::EarlyReduce, rank: 2, delay_ns, percent: 100 }];
    let answers = written(&SynthOptions { ranks: 8, inject, ..SynthOptions::default() }).answers;
    let wait = answers.waits.iter().find(|wait| wait.construct == "MPI_Reduce").expect("a wait");
    assert_eq!(wait.waiting.len(), 1);
    assert_eq!(wait.waiting[0].rank, 2);
    assert!(wait.total.ns > delay_ns * answers.injected[0].times * 9 / 10);
}

#[test]
fn a_skewed_location_has_its_share_and_is_not_late() {
    let skew = Some(Skew { rank: 5, share: 0.5 });
    let options = SynthOptions { ranks: 16, events: 400_000, skew, ..SynthOptions::default() };
    let answers = written(&options).answers;
    assert!(answers.events.abs_diff(400_000) < 8_000, "{}", answers.events);
    let share = answers.location_events[5].1 as f64 / answers.events as f64;
    assert!((share - 0.5).abs() < 0.01, "{share}");
    let plain = written(&SynthOptions { skew: None, ..options.clone() }).answers;
    let per_iteration =
        |answers: &partune_synth::Answers| answers.total("wait_at_nxn").ns as f64 / answers.iterations as f64;
    let kernel_growth =
        answers.duration_ns as f64 / answers.iterations as f64 / (plain.duration_ns as f64 / plain.iterations as f64);
    assert!(per_iteration(&answers) < 1.5 * kernel_growth * per_iteration(&plain));
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let (_, options) = variants().swap_remove(9);
    let first = written(&options);
    let second = written(&options);
    assert!(first.files == second.files && first.answers == second.answers);
    let other = written(&SynthOptions { seed: 9, ..options });
    assert!(first.files["traces/1.evt"] != other.files["traces/1.evt"]);
}

#[test]
fn impossible_options_are_refused() {
    let refused = |options: SynthOptions| write(&options, &mut Memory::default()).is_err();
    assert!(refused(SynthOptions { ranks: 0, ..SynthOptions::default() }));
    assert!(refused(SynthOptions { slow: vec![(99, 2.0)], ..SynthOptions::default() }));
    assert!(refused(SynthOptions { skew: Some(Skew { rank: 0, share: 1.0 }), ..SynthOptions::default() }));
    assert!(refused(SynthOptions { model: partune_synth::Model::Shmem, threads: 2, ..SynthOptions::default() }));
}
