//! What can be counted by hand.

use partune_base::PeId;
use partune_mds::{Counts, Options, Outcome};

use crate::support::{followed, phase, recorded};

/// Two PEs write neighbouring records of three numbers in turn, `n` times each. Lines have 32 bytes: the first record is in line 0, the second in lines
/// 0 and 1.
const NEIGHBOURS: &str = "param n: int = 10; param pad: int = 3;
    domain elem = 0..1; data Pos[elem, 3]: f64; layout Pos: pad 3 -> pad, base 0;
    decompose elem -> 2 by block; machine { line 32 };
    main = seq (t = 1, n) phase write forall (e in elem) task { writes Pos[e, *] };";

#[test]
fn false_sharing_is_counted_to_the_unit() {
    for n in [1, 2, 10, 1000] {
        let outcome = followed(NEIGHBOURS, &[("n", n)]);
        let counts = outcome.counts();
        let n = n as u64;
        // Line 0 is new to both, line 1 to the second; from the second turn on each write finds line 0 taken.
        let wanted = Counts { writes: 6 * n, cold: 3, false_sharing: 2 * n - 2, ..Counts::default() };
        assert_eq!(counts, wanted, "{n} turns");
        assert_eq!(outcome.phases[0].turns, n);
        // Bytes 0 to 23 of line 0, and 24 to 47 of lines 0 and 1.
        let sets: Vec<(u64, u64)> = outcome.phases[0].pes.iter().map(|pe| (pe.lines, pe.bytes)).collect();
        assert_eq!(sets, [(1, 24), (2, 24)]);
    }
}

#[test]
fn padding_ends_it() {
    let counts = followed(NEIGHBOURS, &[("pad", 4)]).counts();
    assert_eq!(counts, Counts { writes: 60, cold: 2, ..Counts::default() });
}

/// In each of three turns two PEs read and write a line of their own, both read a third one, and PE 0 writes that.
#[test]
fn who_has_a_line_alone_writes_it_without_an_upgrade_if_the_machine_can() {
    let source = "param exclusive: int = 0; domain i = 0..7; domain one = 0..0; data Own[i]: f64; data All[one]: f64;
        decompose i -> 2 by block; machine { line 32; upgrade 1; exclusive exclusive };
        main = seq (t = 1, 3) {
          phase own forall (k in i) task { reads Own[k]; writes Own[k] };
          phase read forall (k in i) task { reads All[0] };
          phase write forall (k in one on 0) task { writes All[0] } };";
    // The first write of an own line, which is modified from then on; and each of the third one, which the other has read before.
    for (exclusive, own, all) in [(0, 2, 3), (1, 0, 3)] {
        let outcome = followed(source, &[("exclusive", exclusive)]);
        let upgrades = ["own", "read", "write"].map(|name| phase(&outcome, name).counts().upgrades);
        assert_eq!(upgrades, [own, 0, all], "exclusive {exclusive}");
        // Lines come as they did: two new ones, the third new to both, and again to PE 1 after each write but the last.
        let counts = outcome.counts();
        assert_eq!((counts.cold, counts.true_sharing, counts.false_sharing), (4, 2, 0));
        assert!((counts.upgrades_s() - (own + all) as f64).abs() < 1e-9);
    }
}

/// A PE reads two lines in turn where there is room for one, and then writes the first; another one reads that, and writes it.
#[test]
fn who_finds_a_line_thrown_out_has_it_alone_until_somebody_else_reads_it() {
    let source = "param exclusive: int = 0; domain one = 0..0; data A[one]: f64; data B[one]: f64;
        decompose one -> 2 by block; machine { line 32; cache 32; memory 5; upgrade 1; exclusive exclusive };
        main = {
          phase first forall (k in one on 0) task { reads A[0] };
          phase other forall (k in one on 0) task { reads B[0] };
          phase again forall (k in one on 0) task { reads A[0]; writes A[0] };
          phase elsewhere forall (k in one on 1) task { reads A[0]; writes A[0] } };";
    for (exclusive, own) in [(0, 1), (1, 0)] {
        let outcome = followed(source, &[("exclusive", exclusive)]);
        let upgrades = ["first", "other", "again", "elsewhere"].map(|name| phase(&outcome, name).counts().upgrades);
        assert_eq!(upgrades, [0, 0, own, 1], "exclusive {exclusive}");
        assert_eq!((outcome.counts().cold, outcome.counts().capacity), (3, 1));
    }
}

/// A row of 16 numbers, four in a line, two PEs. Each turn every number becomes the mean of its neighbours, from one array to the other and back.
const STENCIL: &str = "domain cell = 0..15; domain inner = 1..14; data A[cell], B[cell]: f64;
    decompose cell -> 2 by block; machine { line 32; memory 100; near 10; upgrade 1 };
    let half(i) = i div 8;
    proc sweep = { phase there forall (i in inner on half(i)) task { reads A[i-1], A[i+1]; writes B[i]; weight 1 };
                   phase back forall (i in inner on half(i)) task { reads B[i-1], B[i+1]; writes A[i]; weight 1 } };
    main = seq (t = 1, 3) sweep;";

#[test]
fn a_stencil_by_hand() {
    let source = STENCIL.replace("data A[cell], B[cell]: f64;", "data A[cell]: f64; data B[cell]: f64;");
    let outcome = followed(&source, &[]);
    let (there, back) = (phase(&outcome, "there"), phase(&outcome, "back"));
    // 14 tasks, each of two reads and a write, in each of three turns.
    for row in [there, back] {
        let counts = row.counts();
        assert_eq!((counts.reads, counts.writes, row.turns), (84, 42, 3));
        assert_eq!(row.pes.iter().map(|pe| pe.tasks).collect::<Vec<_>>(), [21, 21]);
    }
    // PE 0 reads A[0..8] of lines 0 to 2 and writes B[1..7] of lines 0 and 1; PE 1 reads A[7..15] of lines 1 to 3 and writes B[8..14] of two.
    let first: Vec<u64> = there.pes.iter().map(|pe| pe.counts.cold).collect();
    assert_eq!(first, [5, 5]);
    assert_eq!(there.pes.iter().map(|pe| (pe.lines, pe.bytes)).collect::<Vec<_>>(), [(5, 16 * 8), (5, 16 * 8)]);
    // Back, B[0..8] are read and A[1..7] written: only line 2 of B is new to PE 0, and line 1 of it to PE 1.
    assert_eq!(back.pes.iter().map(|pe| pe.counts.cold).collect::<Vec<_>>(), [1, 1]);
    // From the second turn on A[8] is new to PE 0 and A[7] to PE 1, written by the other one: true sharing, once a turn.
    assert_eq!(there.pes.iter().map(|pe| pe.counts.true_sharing).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(back.pes.iter().map(|pe| pe.counts.true_sharing).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(outcome.counts().false_sharing, 0, "borders of lines are borders of PEs");
    // One number of 8 bytes each way; in the first turn nobody has written A.
    let flow: Vec<_> =
        outcome.flow.iter().map(|it| (it.writer, it.reader, it.from_others(), it.pairs.clone())).collect();
    assert_eq!(flow, [(0, 1, 48, vec![(0, 1, 24), (1, 0, 24)]), (1, 0, 32, vec![(0, 1, 16), (1, 0, 16)])]);
    // Own and others': 12 of the 14 reads a PE and turn are of inner cells that somebody wrote (B[0] and B[15] nobody wrote).
    assert_eq!(outcome.flow[0].bytes, 3 * 8 * 26);
}

#[test]
fn what_shares_nothing_is_silent() {
    // Blocks that begin at lines: reads and writes of one's own only.
    let outcome = followed(
        "domain i = 0..1023; data A[i]: f64; data B[i]: f64; decompose i -> 4 by block; machine { memory 1; near 1; far 1; upgrade 1; barrier 1 };
         main = seq (t = 1, 5) { phase a forall (k in i) task { reads A[k]; updates B[k]; weight 2 }; barrier };",
        &[],
    );
    let counts = outcome.counts();
    let sharing = counts.true_sharing + counts.false_sharing + counts.migrated + counts.capacity;
    assert_eq!((sharing, counts.cold, counts.upgrades), (0, 256, 128));
    assert!(outcome.flow.iter().all(|flow| flow.from_others() == 0 && flow.pairs.is_empty()));
    let bounds = outcome.bounds;
    assert_eq!((bounds.imbalance_s, bounds.phases_s, bounds.turns_s, bounds.false_sharing_s), (0.0, 0.0, 0.0, 0.0));
    assert_eq!((bounds.ideal_s, bounds.synchronisation_s), (5.0 * 256.0 * 2.0, 5.0));
    assert_eq!(outcome.run_s, 2560.0 + 64.0 + 32.0 + 5.0);
}

/// A cache of two lines: the read of A[0] finds it thrown out, written back if it was modified, and the write after it asks for it alone.
#[test]
fn who_threw_a_line_out_has_it_no_longer_alone() {
    for first in ["writes", "reads"] {
        let outcome = followed(
            &format!(
                "domain q = 0..0; data A[3]: i64; decompose q -> 1 by block; machine {{ line 8; cache 16; memory 100; upgrade 7 }};
                 main = phase p forall (i in q) {{ task {{ {first} A[0] }}; task {{ reads A[1] }}; task {{ reads A[2] }}; task {{ reads A[0] }}; task {{ writes A[0] }} }};"
            ),
            &[],
        );
        let counts = outcome.counts();
        assert_eq!((counts.cold, counts.capacity, counts.upgrades), (3, 1, 1), "{first}");
        assert_eq!(outcome.run_s, 4.0 * 100.0 + 7.0, "{first}");
    }
    // A write that misses has the line alone.
    let outcome = followed(
        "domain q = 0..0; data A[3]: i64; decompose q -> 1 by block; machine { line 8; cache 16; memory 100; upgrade 7 };
         main = phase p forall (i in q) { task { writes A[0] }; task { reads A[1] }; task { reads A[2] }; task { writes A[0] }; task { writes A[0] } };",
        &[],
    );
    assert_eq!((outcome.counts().capacity, outcome.counts().upgrades, outcome.run_s), (1, 0, 400.0));
}

/// A square falls into quarters, rows first; a strip at its weight; what is far apart goes apart.
#[test]
fn coordinates_are_bisected() {
    let square = |by: &str| {
        followed(
            &format!(
                "domain d = 1..4 x 0..3; data A[d]: f64; decompose d -> 4 by {by}; machine {{ line 8; memory 1; near 2 }};
                 let x(i, j) = j; let y(i, j) = i; main = seq (t = 1, 2) forall (i, j in d) task {{ reads A[i, 3 - j]; updates A[i, j]; weight i }};"
            ),
            &[],
        )
    };
    assert_eq!(square("rcb"), square("owner(i, j) = (i - 1) div 2*2 + j div 2"));
    // The other axis is the first.
    assert_eq!(square("rcb(x, y)"), square("owner(i, j) = j div 2*2 + (i - 1) div 2"));
    assert_ne!(square("rcb"), square("rcb(x, y)"));
    let tasks = |by: &str| {
        let model = format!(
            "domain d = 0..5; data A[d]: f64; table w[d] = [3, 1, 1, 1, 1, 1]; table at[d] = [5, 0, 1, 2, 3, 4]; let far(i) = i + [i > 1]*50;
             decompose d -> 2 by {by}; main = phase p forall (i in d) task {{ updates A[i]; weight w[i] }};"
        );
        followed(&model, &[]).phases[0].pes.iter().map(|pe| (pe.tasks, pe.work_s)).collect::<Vec<_>>()
    };
    assert_eq!(tasks("rcb"), [(3, 5.0), (3, 3.0)]);
    assert_eq!(tasks("rcb(weight w)"), [(2, 4.0), (4, 4.0)]);
    // Index 0 is the last.
    assert_eq!(tasks("rcb(at, weight w)"), [(4, 4.0), (2, 4.0)]);
    assert_eq!(tasks("rcb(far, weight w)"), [(2, 4.0), (4, 4.0)]);
}

/// Rows of cells, each PE one, each cell after the one above: PE p begins p cells later, and waits no more.
const WAVEFRONT: &str = "let N = 4; domain g = 0..N-1 x 0..5; data A[g]: f64; decompose g -> N by owner(i, j) = i; event done[N, 6];
    main = phase sweep forall (i, j in g) { if (i > 0) await done[i - 1, j]; task { updates A[i, j]; weight 2 }; post done[i, j] };";

#[test]
fn who_waits_for_an_event_begins_when_it_is_posted() {
    let outcome = followed(WAVEFRONT, &[]);
    assert_eq!(outcome.run_s, 2.0 * (6.0 + 3.0));
    let sweep = phase(&outcome, "sweep");
    // Until the first cell above is done, and then at the end for those below.
    assert_eq!(sweep.pes.iter().map(|pe| (pe.tasks, pe.work_s, pe.wait_s)).collect::<Vec<_>>(), [(6, 12.0, 6.0); 4]);
    let bounds = outcome.bounds;
    assert_eq!((bounds.ideal_s, bounds.events_s, bounds.imbalance_s, bounds.sum()), (12.0, 3.0, 3.0, 18.0));
    // Without events, and in the other direction of loops: nobody waits; row after row: all one after the other.
    assert_eq!(followed(&WAVEFRONT.replace("if (i > 0) await done[i - 1, j];", ""), &[]).run_s, 12.0);
    let all = followed(&WAVEFRONT.replace("await done[i - 1, j]", "await done[i - 1, 5]"), &[]);
    assert_eq!((all.run_s, all.bounds.events_s), (48.0, (12.0 + 24.0 + 36.0) / 4.0));
    // A slow cell, which others wait for, one after the other.
    let slow = followed(&WAVEFRONT.replace("weight 2", "weight 2 + [i = 1]*[j = 2]*10"), &[]);
    assert_eq!((slow.run_s, phase(&slow, "sweep").pes[3].wait_s), (28.0, 16.0));
    // Whoever comes first takes the next cell: two rows begin with the first done.
    let dealt = followed(&WAVEFRONT.replace("forall (i, j in g)", "forall (i, j in g) schedule self(6)"), &[]);
    assert_eq!(dealt.run_s, 18.0);
    // Whoever posts first counts, in whatever order PEs are followed; what an index posts before its task is posted before it waits.
    let twice = followed(
        "event e; domain d = 0..2; data A[d]: f64; decompose d -> 3 by block;
         main = forall (i in d) { if (i = 1) await e; task { updates A[i]; weight if i = 0 then 100 else if i = 2 then 50 else 100 }; if (i != 1) post e };",
        &[],
    );
    assert_eq!(twice.run_s, 150.0);
    let ring = followed(
        "event e[3]; domain d = 0..2; data A[d]: f64; decompose d -> 3 by block;
         main = forall (i in d) { post e[i]; await e[(i + 1) mod 3]; task { updates A[i]; weight 4 } };",
        &[],
    );
    assert_eq!((ring.run_s, ring.bounds.events_s), (4.0, 0.0));
    // Who waits for a time that is known touches its lines then, and not before what others do meanwhile: the read at 50 is no miss by the write at 100.
    let later = |c: i64| {
        followed(
            "param c: int = 0; event e; domain d = 0..5; data A[4]: f64; table own = [0, 0, 1, 1, 2, 2]; decompose d -> 3 by table(own);
             machine { line 64; near 1; memory 0; upgrade 1 };
             main = phase p forall (i in d) { if (i = 0) task { weight c }; if (i = 1) { task { weight 100 - c }; post e }; if (i = 2) task { weight 1 };
               if (i = 3) { await e; task { writes A[0] } }; if (i = 4) task { reads A[0]; weight 50 }; if (i = 5) task { reads A[0] } };",
            &[("c", c)],
        )
    };
    assert_eq!((later(0).counts(), later(0).counts().true_sharing), (later(2).counts(), 0));
    // Outside of loops the first PE posts, and all wait.
    let outside = followed(
        "event go; domain d = 0..3; data A[d]: f64; decompose d -> 4 by block;
         main = { phase a forall (i in d) nowait task { updates A[i]; weight 1 + 4*[i = 0] }; post go; await go; phase b forall (i in d) task { reads A[i]; weight 1 } };",
        &[],
    );
    assert_eq!((outside.run_s, outside.bounds.events_s), (6.0, 3.0));
}

#[test]
fn waits_for_events_are_recorded_where_they_are() {
    let (_, trace) = recorded(WAVEFRONT, &Options::default()).expect("it can be followed");
    let seen: Vec<(String, i64, i64)> = trace.streams()[PeId(2)]
        .visits
        .iter()
        .map(|visit| {
            let region = trace.regions()[trace.paths().region(visit.path)];
            let second = 1_000_000_000;
            (trace.strings().get(region.name).to_owned(), visit.enter.0 / second, visit.exit.0 / second)
        })
        .collect();
    let wanted =
        [("omp parallel", 0, 18), ("sweep", 0, 18), ("pthread_cond_wait", 0, 4), ("omp implicit barrier", 16, 18)];
    assert_eq!(seen, wanted.map(|(name, enter, exit)| (name.to_owned(), enter, exit)));
}

/// A mesh of 8 by 8 elements whose numbers go to and fro: neighbours have numbers far apart, and the first eight have the contact. The versions of
/// the published study: blocks or subdomains, padded or not, threads bound or not, one barrier or two.
const CRASH: &str = "param pad: int = 3; param unbound: int = 7; param second: int = 1;
    param T: int = 6; param us: time = 1;
    let number(x, y) = (y*8 + x)*37 mod 64; let place(e) = e*45 mod 64;
    let px(e) = place(e) mod 8; let py(e) = place(e) div 8;
    domain elem = 0..63; data Pos[elem, 3]: f64; data Vel[elem, 3]: f64; data Force[elem, 3]: f64;
    layout Pos, Vel, Force: pad 3 -> pad;
    machine { line 32; memory us/10; near us/10; upgrade us/10; barrier us; unbound unbound };
    let contact(e) = [e < 16]*8*us; let owner(e) = OWNER;
    decompose elem -> 4 by owner(e) = owner(e);
    main = seq (t = 1, T) {
      phase Contact forall (e in elem) task {
        reads Pos[e, *], Pos[number(max(px(e) - 1, 0), py(e)), *], Pos[number(min(px(e) + 1, 7), py(e)), *],
              Pos[number(px(e), max(py(e) - 1, 0)), *], Pos[number(px(e), min(py(e) + 1, 7)), *];
        writes Force[e, *]; weight us + contact(e) };
      barrier; if (second = 1) barrier;
      phase Update forall (e in elem) task { reads Force[e, *]; updates Pos[e, *], Vel[e, *]; weight us };
      barrier; if (second = 1) barrier
    };";

fn crash(owner: &str, pad: i64, unbound: i64, second: i64) -> Outcome {
    followed(&CRASH.replace("OWNER", owner), &[("pad", pad), ("unbound", unbound), ("second", second)])
}

#[test]
fn the_versions_of_crash_have_their_signs() {
    let (blocks, quarters) = ("e div 16", "(py(e) div 4)*2 + px(e) div 4");
    let sp = crash(blocks, 3, 7, 1);
    let sd = crash(quarters, 3, 7, 1);
    let sd2 = crash(quarters, 4, 7, 1);
    let sd3 = crash(quarters, 4, 0, 1);
    let sd4 = crash(quarters, 4, 0, 0);
    // Subdomains: less to communicate and more even work, and neighbours in lines belong to others.
    assert!(sd.bounds.communication_s < sp.bounds.communication_s, "{:?} {:?}", sp.bounds, sd.bounds);
    assert!(sd.bounds.imbalance_s < sp.bounds.imbalance_s, "{:?} {:?}", sp.bounds, sd.bounds);
    assert!(
        sd.counts().false_sharing > sp.counts().false_sharing && sd.bounds.false_sharing_s > sp.bounds.false_sharing_s
    );
    // A record a line: no false sharing, and three quarters of a line are used.
    assert!(sd.counts().false_sharing > 0);
    assert_eq!((sd2.counts().false_sharing, sd2.bounds.false_sharing_s), (0, 0.0));
    assert!(sd2.phases.iter().flat_map(|phase| &phase.pes).all(|pe| pe.bytes == pe.lines * 24));
    // Threads that stay where they are bring nothing with them.
    assert!(sd2.counts().migrated > 0 && sd2.phases.iter().flat_map(|phase| &phase.pes).any(|pe| pe.moved > 0));
    assert_eq!(sd3.counts().migrated, 0);
    assert!(sd3.phases.iter().flat_map(|phase| &phase.pes).all(|pe| pe.moved == 0) && sd3.run_s < sd2.run_s);
    // One of two barriers in a row less: half of the synchronisation, and all else as before.
    assert_eq!(sd3.bounds.synchronisation_s, 24.0);
    assert_eq!(sd4.bounds.synchronisation_s, 12.0);
    assert_eq!(sd3.counts(), sd4.counts());
    assert_eq!([&sp, &sd, &sd2, &sd3].map(|it| it.bounds.sum() > sd4.bounds.sum()), [true; 4]);
}
