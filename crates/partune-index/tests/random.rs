//! Random runs: what was matched when the run was made is what is found.

use std::collections::BTreeMap;
use std::fmt::Write;

use partune_index::{Index, clock_repair};
use partune_testkit::pe;
use partune_trace::Trace;
use proptest::prelude::*;

use crate::index;

/// Random choices, used one after the other, round and round.
struct Choices<'a> {
    entropy: &'a [u32],
    next: usize,
}

impl Choices<'_> {
    fn below(&mut self, limit: usize) -> usize {
        self.next += 1;
        self.entropy[self.next % self.entropy.len()] as usize % limit
    }
}

/// A message to be: ranks, channel, and whether each side blocks.
#[derive(Clone, Copy, Debug)]
struct Plan {
    from: usize,
    to: usize,
    group: usize,
    tag: usize,
    blocking_send: bool,
    blocking_recv: bool,
}

const RANKS: usize = 4;

fn plans() -> impl Strategy<Value = Vec<Plan>> {
    let plan = (0..RANKS, 0..RANKS, 0..2_usize, 0..3_usize, any::<bool>(), any::<bool>()).prop_map(
        |(from, to, group, tag, blocking_send, blocking_recv)| Plan {
            from,
            to,
            group,
            tag,
            blocking_send,
            blocking_recv,
        },
    );
    proptest::collection::vec(plan, 0..120)
}

fn entropy() -> impl Strategy<Value = Vec<u32>> {
    proptest::collection::vec(any::<u32>(), 64..256)
}

/// What a rank still has to do, and what it wrote so far.
#[derive(Default)]
struct Rank {
    text: String,
    time: i64,
    /// Requests in use, and the message of each; numbers are used again as soon as they are free.
    open: BTreeMap<usize, usize>,
    /// The message of each receive, in the order of completion.
    received: Vec<usize>,
    sent: usize,
}

impl Rank {
    fn visit(&mut self, name: &str, fact: &str) {
        let _ = writeln!(self.text, "{name} {}..{} {fact}", self.time, self.time + 5);
        self.time += 7;
    }

    fn request(&mut self, message: usize) -> usize {
        let free = (0..=self.open.len()).find(|number| !self.open.contains_key(number)).unwrap_or(0);
        self.open.insert(free, message);
        free
    }
}

/// Goes on, or ends if nothing is left to do.
macro_rules! continue_or_break {
    ($sends:ident, $posts:ident, $own:ident, $rank:ident) => {{
        if $sends[$rank].is_empty() && $posts[$rank].is_empty() && $own.open.is_empty() {
            break;
        }
        continue;
    }};
}
/// A run of the plans: its text, for each rank the messages in the order of its receives, and the send row of each message.
fn run(plans: &[Plan], choices: &mut Choices<'_>) -> (String, Vec<Vec<usize>>, Vec<u32>) {
    let mut ranks: Vec<Rank> = (0..RANKS).map(|_| Rank::default()).collect();
    let mut send_rows = vec![0; plans.len()];
    let mut posts: Vec<Vec<usize>> = (0..RANKS).map(|to| post_order(plans, to, choices)).collect();
    let mut sends: Vec<Vec<usize>> =
        (0..RANKS).map(|from| (0..plans.len()).rev().filter(|it| plans[*it].from == from).collect()).collect();
    for rank in 0..RANKS {
        loop {
            let own = &mut ranks[rank];
            let channel = |plan: &Plan| format!("tag={}, group=g{}", plan.tag, plan.group);
            match choices.below(3) {
                0 => {
                    let Some(message) = sends[rank].pop() else { continue_or_break!(sends, posts, own, rank) };
                    let plan = &plans[message];
                    send_rows[message] = own.sent as u32;
                    own.sent += 1;
                    if plan.blocking_send {
                        own.visit("MPI_Send", &format!("send({}, {})", plan.to, channel(plan)));
                    } else {
                        own.visit(
                            "MPI_Isend",
                            &format!("send({}, {}, req={})", plan.to, channel(plan), 1000 + message),
                        );
                    }
                }
                1 => {
                    let Some(message) = posts[rank].pop() else { continue_or_break!(sends, posts, own, rank) };
                    let plan = &plans[message];
                    if plan.blocking_recv {
                        own.received.push(message);
                        own.visit("MPI_Recv", &format!("recv({}, {})", plan.from, channel(plan)));
                    } else {
                        let request = own.request(message);
                        own.visit("MPI_Irecv", &format!("posted({request})"));
                    }
                }
                _ => {
                    let which = choices.below(own.open.len().max(1));
                    let Some((&request, &message)) = own.open.iter().nth(which) else {
                        continue_or_break!(sends, posts, own, rank)
                    };
                    own.open.remove(&request);
                    own.received.push(message);
                    let plan = &plans[message];
                    own.visit("MPI_Wait", &format!("recv({}, {}, req={request})", plan.from, channel(plan)));
                }
            }
        }
    }
    let mut text = "group g0 = 0 1 2 3\ngroup g1 = 0 1 2 3\n".to_owned();
    for (number, rank) in ranks.iter().enumerate() {
        let _ = writeln!(text, "pe {number}: main 0..{} {{\n{}}}", rank.time + 10, rank.text);
    }
    (text, ranks.into_iter().map(|rank| rank.received).collect(), send_rows)
}

/// The messages of a rank in the order of their posts, last first: channels mixed at random, each in its own order.
fn post_order(plans: &[Plan], to: usize, choices: &mut Choices<'_>) -> Vec<usize> {
    let key = |message: &usize| (plans[*message].from, plans[*message].group, plans[*message].tag);
    let all: Vec<usize> = (0..plans.len()).filter(|it| plans[*it].to == to).collect();
    let mut slots: Vec<usize> = all.clone();
    for i in (1..slots.len()).rev() {
        slots.swap(i, choices.below(i + 1));
    }
    let mut order: Vec<usize> = Vec::new();
    let mut taken: BTreeMap<_, usize> = BTreeMap::new();
    for slot in slots {
        let count = taken.entry(key(&slot)).or_default();
        order.extend(all.iter().filter(|message| key(message) == key(&slot)).nth(*count));
        *count += 1;
    }
    order.reverse();
    order
}

/// What a run of a few ranks does next.
#[derive(Clone, Copy, Debug)]
enum Act {
    Work(usize, i64),
    Send(usize, usize),
    Receive(usize),
    Barrier,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        3 => (0..RANKS, 10..5000_i64).prop_map(|(rank, time)| Act::Work(rank, time)),
        4 => (0..RANKS, 0..RANKS).prop_map(|(from, to)| Act::Send(from, to)),
        4 => (0..RANKS).prop_map(Act::Receive),
        1 => Just(Act::Barrier),
    ];
    proptest::collection::vec(act, 1..200)
}

/// The text of a causal run as seen by clocks that are off by an offset and a drift (in 1/10,000).
fn skewed(acts: &[Act], clocks: &[(i64, i64)]) -> String {
    let mut now = [0_i64; RANKS];
    let mut texts = vec![String::new(); RANKS];
    let mut flying: Vec<Vec<(usize, i64)>> = vec![Vec::new(); RANKS];
    let clock = |rank: usize, time: i64| 10 + time + clocks[rank].0 + time * clocks[rank].1 / 10_000;
    let mut visit = |rank: usize, name: &str, from: i64, to: i64, fact: &str| {
        let _ = writeln!(texts[rank], "{name} {}..{} {fact}", clock(rank, from), clock(rank, to));
    };
    for act in acts {
        match *act {
            Act::Work(rank, time) => {
                visit(rank, "work", now[rank], now[rank] + time, "");
                now[rank] += time;
            }
            Act::Send(from, to) if from != to => {
                flying[to].push((from, now[from] + 1));
                visit(from, "MPI_Send", now[from], now[from] + 20, &format!("send({to})"));
                now[from] += 30;
            }
            Act::Receive(rank) if !flying[rank].is_empty() => {
                let (from, sent) = flying[rank].remove(0);
                let end = (now[rank] + 3).max(sent + 2);
                visit(rank, "MPI_Recv", now[rank], end, &format!("recv({from})"));
                now[rank] = end + 5;
            }
            Act::Send(..) | Act::Receive(_) => {}
            Act::Barrier => {
                let last = now.iter().max().copied().unwrap_or(0);
                for (rank, now) in now.iter_mut().enumerate() {
                    visit(rank, "MPI_Barrier", *now, last + 4, "barrier");
                    *now = last + 10;
                }
            }
        }
    }
    let ends = now.iter().max().copied().unwrap_or(0) + 1_000_000;
    let body = |(rank, text): (usize, &String)| format!("pe {rank}: main 0..{} {{\n{text}}}\n", clock(rank, ends));
    texts.iter().enumerate().map(body).collect()
}

/// All times of a PE in an order that does not depend on them.
fn times(trace: &Trace) -> Vec<Vec<i64>> {
    let of = |stream: &partune_trace::Stream| {
        let visits = &stream.visits;
        visits.enter.iter().chain(&visits.exit).chain(stream.recvs.iter().map(|row| &row.time)).map(|it| it.0).collect()
    };
    trace.streams().iter().map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn messages_are_recovered(plans in plans(), entropy in entropy()) {
        let (text, received, send_rows) = run(&plans, &mut Choices { entropy: &entropy, next: 0 });
        let (trace, index) = index(&text);
        prop_assert_eq!(index.messages.len(), plans.len());
        for (rank, received) in received.iter().enumerate() {
            let receiver = pe(&trace, rank as u32);
            for (recv, &message) in received.iter().enumerate() {
                let found = index.messages.of_recv(receiver, recv).expect("every receive is matched");
                prop_assert_eq!(found.sender, pe(&trace, plans[message].from as u32));
                prop_assert_eq!(found.send, send_rows[message]);
                prop_assert_eq!(index.messages.of_send(found.sender, found.send as usize), Some(found));
            }
        }
        prop_assert_eq!(index.messages.unmatched_sends + index.messages.unmatched_recvs, 0);
    }

    #[test]
    fn clocks_are_repaired(acts in acts(), clocks in proptest::collection::vec((0..400_i64, 0..20_i64), RANKS)) {
        let (trace, index) = index(&skewed(&acts, &clocks));
        let found = index.clocks.found;
        let before = times(&trace);
        let (fixed, done) = clock_repair::repair(trace, &index);
        let after = times(&fixed);
        prop_assert!(found.trustworthy());
        prop_assert_eq!(done.unresolved, 0);
        let left = Index::build(&fixed).clocks.found;
        prop_assert!(!left.is_needed(), "{:?}", left);
        let mut moved = 0;
        for (before, after) in before.iter().zip(&after) {
            let mut pairs: Vec<(i64, i64)> = before.iter().copied().zip(after.iter().copied()).collect();
            moved += pairs.iter().filter(|(before, after)| before != after).count();
            prop_assert!(pairs.iter().all(|(before, after)| after >= before), "nothing moves back");
            pairs.sort_unstable();
            prop_assert!(pairs.is_sorted_by_key(|(_, after)| *after), "order within a PE is kept");
        }
        prop_assert_eq!(moved > 0, found.is_needed());
    }

    #[test]
    fn threads_do_not_matter(plans in plans(), entropy in entropy(), acts in acts()) {
        let (text, _, _) = run(&plans, &mut Choices { entropy: &entropy, next: 0 });
        for text in [text, skewed(&acts, &[(0, 0), (300, 3), (10, 0), (200, 9)])] {
            let all = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool can be made");
                pool.install(|| {
                    let (trace, index) = index(&text);
                    let (fixed, done) = clock_repair::repair(trace, &index);
                    format!("{index:?} {:?} {done:?} {:?}", Index::build(&fixed), times(&fixed))
                })
            };
            prop_assert_eq!(all(1), all(8));
        }
    }
}
