//! One-sided communication, as OpenSHMEM and as windows of MPI: who ended the wait where several could have, and silence where
//! nobody did.

use partune_analysis::Pattern;

use super::{Case, silent};

#[test]
fn of_two_writers_the_last_one_in_time_counts() {
    let text = |first: &str, second: &str| {
        format!(
            "paradigm OpenSHMEM
             pe 0: main 0..50 {{ work 0..2  shmem_int_wait_until 2..20 wait_change }}
             pe 1: main 0..50 {{ shmem_int_p {first} put(to=0, bytes=4) }}
             pe 2: main 0..50 {{ shmem_int_p {second} put(to=0, bytes=4) }}"
        )
    };
    let case = Case::new(&text("5..7", "12..15"));
    assert_eq!(case.found(), [(Pattern::WaitOnValue, 0, 2, 15, Some(2))]);
    // It was late after 12 of its own, and took 3: 13·12/15 = 10.4 and 13·3/15 = 2.6.
    let causes: Vec<_> = case.finding().causes.iter().map(|cause| (cause.pe.0, cause.time.0)).collect();
    assert_eq!(causes, [(2, 10), (2, 3)]);
    // The other order, and one that comes after the wait.
    assert_eq!(Case::new(&text("12..15", "5..7")).found(), [(Pattern::WaitOnValue, 0, 2, 15, Some(1))]);
    assert_eq!(Case::new(&text("5..7", "21..22")).found(), [(Pattern::WaitOnValue, 0, 2, 7, Some(1))]);
    silent(&text("0..1", "30..31"));
}

#[test]
fn a_test_for_a_value_does_not_wait() {
    let text = "paradigm OpenSHMEM
         pe 0: main 0..50 { work 0..2  shmem_int_test 2..20 }
         pe 1: main 0..50 { shmem_int_p 12..15 put(to=0, bytes=4) }";
    silent(text);
    assert_eq!(
        Case::new(&text.replace("int_test", "int_wait_until")).found(),
        [(Pattern::WaitOnValue, 0, 2, 15, Some(1))]
    );
}

#[test]
fn a_write_counts_when_it_is_done_at_its_target() {
    let text = |notify: &str| {
        format!(
            "paradigm MPI
             pe 0: main 0..50 {{ work 0..2  wait_for_notice 2..20 wait_change }}
             pe 1: main 0..50 {{ MPI_Put 3..4 put(to=0, bytes=4, id=7)  MPI_Win_flush {notify} complete(7, kind=remote) }}"
        )
    };
    assert_eq!(Case::new(&text("9..14")).index.rma.value_waits[0].fulfilled.0, 14);
    assert_eq!(Case::new(&text("30..34")).index.rma.value_waits[0].fulfilled.0, 20, "under way when the wait ended");
}

#[test]
fn a_lock_is_handed_over_from_pe_to_pe() {
    for (acquire, release) in [("shmem_set_lock", "shmem_clear_lock"), ("MPI_Win_lock", "MPI_Win_unlock")] {
        let case = Case::new(&format!(
            "pe 0: main 0..50 {{ {acquire} 0..1 lock(1)  work 1..10  {release} 10..11 unlock(1) }}
             pe 1: main 0..50 {{ work 0..2  {acquire} 2..11 lock(1)  work 11..20  {release} 20..21 unlock(1) }}
             pe 2: main 0..50 {{ work 0..3  {acquire} 3..21 lock(1)  work 21..30  {release} 30..31 unlock(1) }}"
        ));
        assert_eq!(case.found(), [(Pattern::WaitOnLock, 1, 2, 10, Some(0)), (Pattern::WaitOnLock, 2, 3, 20, Some(1)),]);
        // PE 2 waited for PE 0 from 3 to 10, then from 11 to 20 for PE 1; nobody had the lock between them.
        let finding = case.finding();
        let causes: Vec<_> = finding.causes.iter().map(|cause| (cause.pe.0, cause.time.0)).collect();
        assert_eq!(causes, [(0, 15), (1, 9)]);
        assert_eq!((finding.time.0, finding.unexplained.0), (25, 1));
        silent(&format!(
            "pe 0: main 0..50 {{ {acquire} 0..1 lock(1)  {release} 1..2 unlock(1) }}
             pe 1: main 0..50 {{ work 0..2  {acquire} 2..3 lock(1)  {release} 3..4 unlock(1) }}
             pe 2: main 0..50 {{ work 0..4  {acquire} 4..5 lock(1)  {release} 5..6 unlock(1) }}"
        ));
    }
}

#[test]
fn readers_do_not_wait_for_readers() {
    let text = |second: &str| {
        format!(
            "pe 0: main 0..50 {{ MPI_Win_lock 0..1 lock(1, shared)  work 1..10  MPI_Win_unlock 10..11 unlock(1) }}
             pe 1: main 0..50 {{ work 0..2  MPI_Win_lock 2..11 {second}  MPI_Win_unlock 12..13 unlock(1) }}"
        )
    };
    assert_eq!(Case::new(&text("lock(1)")).found(), [(Pattern::WaitOnLock, 1, 2, 10, Some(0))]);
    // PE 0 does not hold it against another reader; but it got it in one tick, so nobody knows what eight of PE 1's nine were for.
    assert_eq!(Case::new(&text("lock(1, shared)")).found(), [(Pattern::WaitOnLock, 1, 3, 11, None)]);
}

/// PE 0 asks for the lock at 2 and gets it at 5; its holder is not seen to give it back, or not seen at all. In tenths.
#[test]
fn a_lock_is_waited_for_whoever_is_seen_with_it() {
    let text = |other: &str| {
        format!(
            "pe 0: main 0..100 {{ work 0..20  shmem_set_lock 20..50 lock(1)  shmem_clear_lock 60..61 unlock(1) }}
             pe 1: main 0..100 {{ {other} }}"
        )
    };
    let never = Case::new(&text("work 0..5  shmem_set_lock 5..6 lock(1)  work 6..90"));
    assert_eq!(never.found(), [(Pattern::WaitOnLock, 0, 20, 50, Some(1))]);
    let finding = never.finding();
    assert_eq!((finding.causes[0].pe.0, finding.causes[0].time.0, finding.unexplained.0), (1, 30, 0));
    assert_eq!(never.name(finding.causes[0].path), "main/shmem_set_lock");
    // Of PE 1 only an acquisition in one tick is known, long after: 29 of the 30 are nobody's.
    let later = Case::new(&text("work 0..70  shmem_set_lock 70..71 lock(1)  shmem_clear_lock 80..81 unlock(1)"));
    assert_eq!(later.found(), [(Pattern::WaitOnLock, 0, 21, 50, None)]);
    assert_eq!((later.finding().time.0, later.finding().unexplained.0), (29, 29));
    // Nobody else was ever seen with it.
    assert_eq!(Case::new(&text("work 0..90")).found(), [(Pattern::WaitOnLock, 0, 20, 50, None)]);
    // PE 1 got it while PE 0 had it already, and had asked when nobody had.
    silent(
        "pe 0: main 0..100 { shmem_set_lock 20..21 lock(1)  shmem_clear_lock 60..61 unlock(1) }
         pe 1: main 0..100 { work 0..70  shmem_set_lock 70..71 lock(1) }",
    );
}

/// Windows of MPI tell when they were asked and given back, but not when they were granted.
#[test]
fn a_slow_call_without_recorded_grant_is_no_wait() {
    silent(
        "pe 0: main 0..900 { MPI_Win_lock 2..700 request(7)  MPI_Win_unlock 800..810 release(7) }
         pe 1: main 0..900",
    );
}

#[test]
fn a_fence_waits_for_the_last() {
    let case = Case::new(
        "pe 0: main 0..50 { MPI_Put 1..2 put(to=1, id=3)  MPI_Win_fence 2..21 rma_sync complete(3, kind=remote) }
         pe 1: main 0..50 { work 0..20  MPI_Win_fence 20..21 rma_sync }
         pe 2: main 0..50 { work 0..12  MPI_Win_fence 12..21 rma_sync }",
    );
    assert_eq!(case.found(), [(Pattern::LateFence, 0, 2, 20, Some(1)), (Pattern::LateFence, 2, 12, 20, Some(1)),]);
    // PE 0 waited 10 of its 18 for both others, so each pays half; the last 8 it and PE 2 waited for PE 1.
    let causes: Vec<_> = case.finding().causes.iter().map(|cause| (cause.pe.0, cause.time.0)).collect();
    assert_eq!(causes, [(1, 21), (2, 5)]);
    silent("pe 0 1 2: main 0..50 { work 0..20  MPI_Win_fence 20..21 rma_sync }");
}

/// Two origins access PE 2; it posts at `post`, waits from `wait` on, and PE 0 and PE 1 are done at 20 and 14.
fn epoch(post: &str, wait: &str, second: &str) -> String {
    format!(
        "group targets = 2
         group origins = 0 1
         pe 0: main 0..50 {{
             work 0..2  MPI_Win_start 2..11 epoch(targets)  MPI_Put 11..12 put(to=2, id=1)  work 12..20
             MPI_Win_complete 20..21 epoch(targets) complete(1, kind=remote)
         }}
         pe 1: main 0..50 {{ work 0..3  MPI_Win_start 3..11 epoch(targets)  work 11..14  {second} }}
         pe 2: main 0..50 {{ MPI_Win_post {post} epoch(origins)  MPI_Win_wait {wait} epoch(origins) }}"
    )
}

#[test]
fn epochs_wait_for_the_last_post_and_the_last_complete() {
    let done = "MPI_Win_complete 14..15 epoch(targets)";
    let case = Case::new(&epoch("10..11", "12..22", done));
    assert_eq!(
        case.found(),
        [
            (Pattern::LateFence, 0, 2, 10, Some(2)),
            (Pattern::LateFence, 1, 3, 10, Some(2)),
            (Pattern::LateFence, 2, 12, 20, Some(0)),
        ]
    );
    // PE 2 pays for 8 and 7, since it came late with its post. From then on PE 0 worked 8 and put 1, which is why PE 2 waited 8 itself.
    let findings = case.run("wait_states").findings;
    let charged = findings.iter().map(|it| {
        (case.name(it.path), it.causes.iter().map(|cause| (cause.pe.0, cause.time.0, cause.via.len())).collect())
    });
    let charged: Vec<(String, Vec<_>)> = charged.collect();
    assert_eq!(
        charged,
        [
            ("main/MPI_Win_start".to_owned(), vec![(2, 15, 0)]),
            ("main/MPI_Win_wait".to_owned(), vec![(0, 7, 0), (0, 1, 0)])
        ]
    );
    silent(&epoch("1..2", "30..31", done));
    // Without the complete of PE 1 nobody knows how long PE 2 had to wait.
    assert_eq!(Case::new(&epoch("1..2", "12..22", "")).found(), []);
}

/// The complete comes between two tests: the first of them waited, and the work after it did not.
#[test]
fn tests_of_an_epoch_wait_in_a_row() {
    let case = Case::new(
        "resolution 1000
         group target = 1
         group origin = 0
         pe 0: main 0..50 { MPI_Win_start 1..2 epoch(target)  work 2..20  MPI_Win_complete 20..21 epoch(target) }
         pe 1: main 0..50 {
             MPI_Win_post 0..1 epoch(origin)  MPI_Win_test 3..6  work 6..30  MPI_Win_test 30..31 epoch(origin)
         }",
    );
    assert_eq!(case.found(), [(Pattern::LateFence, 1, 3, 6, Some(0))]);
}

/// The same, but the start of PE 0 came back before the post, as MPI allows.
#[test]
fn a_start_that_came_back_did_not_wait() {
    let text = |post: i64| {
        let later = post + 1;
        format!(
            "group target = 1
             group origin = 0
             pe 0: main 0..50 {{
                 MPI_Win_start 2..3 epoch(target)  work 3..6  MPI_Put 6..9 put(to=1, id=1)  work 9..12
                 MPI_Win_complete 12..20 epoch(target) complete(1, kind=remote)
             }}
             pe 1: main 0..50 {{ work 0..{post}  MPI_Win_post {post}..{later} epoch(origin)  MPI_Win_wait 40..41 epoch(origin) }}"
        )
    };
    let at_put = Case::new(&text(8));
    assert_eq!(at_put.found(), [(Pattern::LateFence, 0, 6, 8, Some(1))]);
    let at_complete = Case::new(&text(18));
    assert_eq!(at_complete.found(), [(Pattern::LateFence, 0, 12, 18, Some(1))]);
    // Who pays: the post, late because of the work before it.
    let finding = at_complete.finding();
    let post = ["main/MPI_Win_post", "main/work"].map(str::to_owned);
    assert_eq!(at_complete.causes(&finding), [(1, post[0].clone(), post[1].clone(), 6)]);
    assert_eq!((finding.time.0, finding.unexplained.0), (6, 0));
    silent(&text(5));
    silent(&text(1));
}

/// The target posted late; from then on the origin works, and that alone is why the target waits for its end.
#[test]
fn who_waited_for_a_post_was_together_with_who_posted() {
    let case = Case::new(
        "group target = 0
         group origin = 1
         pe 0: main 0..200 { prepare 0..60  MPI_Win_post 60..61 epoch(origin)  MPI_Win_wait 61..162 epoch(origin) }
         pe 1: main 0..200 {
             MPI_Win_start 2..61 epoch(target)  work 61..160  MPI_Put 160..161 put(to=0, id=1)
             MPI_Win_complete 161..162 epoch(target) complete(1, kind=remote)
         }",
    );
    assert_eq!(case.found()[0], (Pattern::LateFence, 0, 61, 161, Some(1)));
    let mut findings = case.run("wait_states").findings;
    findings.retain(|it| case.name(it.path).ends_with("MPI_Win_wait"));
    let causes = case.causes(&findings[0]);
    assert!(causes.iter().all(|cause| cause.0 == 1), "{causes:?}");
}

#[test]
fn the_second_epoch_needs_the_second_post() {
    let case = Case::new(
        "group zero = 0
         group one = 1
         pe 0: main 0..90 { repeat 2 every 40 { MPI_Win_start 2..9 epoch(one)  MPI_Win_complete 9..10 epoch(one) } }
         pe 1: main 0..90 {
             MPI_Win_post 1..2 epoch(zero)  MPI_Win_wait 8..11 epoch(zero)
             MPI_Win_post 46..47 epoch(zero)  MPI_Win_wait 48..51 epoch(zero)
         }",
    );
    assert_eq!(
        case.found(),
        [
            (Pattern::LateFence, 0, 42, 46, Some(1)),
            (Pattern::LateFence, 1, 8, 9, Some(0)),
            (Pattern::LateFence, 1, 48, 49, Some(0)),
        ]
    );
}

/// `count` PEs put to the last one, each time all at once; each put takes `ticks`.
fn all_at_once(count: u32, ticks: i64, more: &str) -> String {
    let puts = |rank: u32| {
        format!(
            "pe {rank}: main 0..9000 {{ repeat 10 every {ticks} {{ shmem_putmem 0..{ticks} put(to={count}, bytes=64) }} {more} }} "
        )
    };
    let all: String = (0..count).map(puts).collect();
    format!("paradigm OpenSHMEM {all} pe {count}: main 0..9000")
}

/// Four PEs always put to one, each put takes 4 ms instead of 1: k transfers share the target, so each was served for a quarter.
#[test]
fn where_everything_competes_the_overlap_tells_what_one_needs() {
    let case = Case::new(&all_at_once(4, 400, ""));
    let found = case.found();
    assert_eq!(found.len(), 40);
    assert!(found.iter().all(|row| row.0 == Pattern::CompetingPutGet && row.3 - row.2 == 300), "{found:?}");
    // Each pays what it made the three others wait: 10 puts, 300 each, shared equally.
    let finding = case.finding();
    let causes: Vec<_> = finding.causes.iter().map(|cause| (cause.pe.0, cause.time.0)).collect();
    assert_eq!((causes, finding.unexplained.0), (vec![(0, 3000), (1, 3000), (2, 3000), (3, 3000)], 0));
    // One at a time.
    silent(&all_at_once(1, 400, ""));
}

/// The same, but puts of other sizes were alone at the target (one tells nothing, three make a line: 100 for 64 bytes), or one of
/// the same size.
#[test]
fn what_was_alone_tells_what_an_access_needs() {
    let alone = |bytes: u32, at: i64, took: i64| format!("shmem_putmem {at}..{} put(to=2, bytes={bytes})", at + took);
    // Two PEs always at once take 400: served for 200 each.
    let with = |more: &str| {
        let text = all_at_once(2, 400, "");
        text.replacen("} pe 1", &format!("{more} }} pe 1"), 1).replacen("}  pe 1", &format!("{more} }}  pe 1"), 1)
    };
    let waited = |more: &str| {
        let found = Case::new(&with(more)).found();
        assert!(found.iter().all(|row| row.0 == Pattern::CompetingPutGet && row.3 - row.2 == found[0].3 - found[0].2));
        (found.len(), found.first().map_or(0, |row| row.3 - row.2))
    };
    assert_eq!(waited(""), (20, 200));
    assert_eq!(waited(&alone(8, 5000, 90)), (20, 200));
    // 96 for 32 bytes, 108 for 128 and 112 for 160: t(s) = 92 + s/8.
    let line = [alone(32, 5000, 96), alone(128, 5200, 108), alone(160, 5400, 112)].join(" ");
    assert_eq!(waited(&line), (20, 300));
    assert_eq!(waited(&alone(64, 5000, 150)), (20, 250));
    // It takes as long alone: nothing competes.
    assert_eq!(waited(&alone(64, 5000, 400)), (0, 0));
}

/// With two, three or four PEs at once a put takes 100: sharing does not make it longer. In turn, 100 to 400: the last waited 300.
#[test]
fn accesses_that_take_as_long_with_more_at_once_do_not_compete() {
    let at = |rank: u32, begin: i64, took: i64| {
        format!("pe {rank}: main 0..9000 {{ shmem_putmem {begin}..{} put(to=4, bytes=64) ", begin + took)
    };
    let texts = [[100; 4], [100, 200, 300, 400]].map(|took| {
        let more = |rank: u32| {
            if rank < 2 { format!("shmem_putmem 1000..{} put(to=4, bytes=64) }}", 1100) } else { "}".to_owned() }
        };
        let all: String = (0..4).map(|rank| at(rank, 0, took[rank as usize]) + &more(rank)).collect();
        format!("paradigm OpenSHMEM {all} pe 4: main 0..9000")
    });
    silent(&texts[0]);
    let waited: Vec<_> = Case::new(&texts[1]).found().iter().map(|row| (row.1, row.3 - row.2)).collect();
    assert_eq!(waited, [(1, 100), (2, 200), (3, 300)]);
}

/// A put is done at its target at 38; a barrier from 10 on completes it, and PE 1 comes to that at 12: the first 2 are for PE 1.
#[test]
fn a_barrier_waits_for_accesses_that_nothing_else_completes() {
    let text = |completion: &str| {
        format!(
            "paradigm OpenSHMEM
             pe 0: main 0..50 {{ shmem_putmem_nbi 0..1 put(to=1, bytes=64, id=7)  work 1..10  {completion} }}
             pe 1: main 0..50 {{ work 0..12  shmem_barrier_all 12..40 barrier }}"
        )
    };
    let barrier = Case::new(&text("shmem_barrier_all 10..40 barrier complete(7, kind=remote)@38"));
    assert_eq!(
        barrier.found(),
        [(Pattern::WaitAtBarrier, 0, 10, 12, Some(1)), (Pattern::CompetingPutGet, 0, 12, 38, None)]
    );
    let unexplained: Vec<_> =
        barrier.run("wait_states").findings.iter().map(|it| (it.time.0, it.unexplained.0)).collect();
    assert_eq!(unexplained, [(2, 0), (26, 26)]);
    // A message that came 40 before it was sent: the clocks do not tell when PE 1 came to the barrier.
    let unaligned = text("shmem_barrier_all 10..40 barrier complete(7, kind=remote)@38  MPI_Send 45..46 send(to=1)");
    let unaligned = Case::new(&unaligned.replace("work 0..12", "work 0..1  MPI_Recv 1..5 recv(from=0)  work 5..12"));
    assert!(!unaligned.index.clocks.aligned);
    assert_eq!(unaligned.found(), []);
    // Complete before anybody came; and asked for, so that nothing but a bound is known.
    let early = Case::new(&text("work 10..12  shmem_barrier_all 12..40 barrier complete(7, kind=remote)@12"));
    assert_eq!(early.found(), []);
    let asked = "shmem_quiet 10..12 complete(7, kind=remote)@12  shmem_barrier_all 12..40 barrier";
    assert_eq!(Case::new(&text(asked)).found(), []);
}

#[test]
fn accesses_of_windows_compete_only_where_they_block() {
    // A put that a later call completes has not waited for anybody: its call came back at once.
    let puts = |rank: u32, last: &str, completion: &str| {
        let alone = format!("MPI_Put {0}..{1} put(to=2, bytes=64)", 10 + 40 * rank, 20 + 40 * rank);
        format!(
            "pe {rank}: main 0..2000 {{ repeat 8 every 100 {{ {alone} }} MPI_Put {last} put(to=2, bytes=64{completion}) }} "
        )
    };
    let text = |completion: &str| {
        format!("{} {} pe 2: main 0..2000", puts(0, "1000..1030", completion), puts(1, "1002..1027", completion))
    };
    assert_eq!(
        Case::new(&text("")).found(),
        [(Pattern::CompetingPutGet, 0, 1000, 1020, Some(1)), (Pattern::CompetingPutGet, 1, 1002, 1017, Some(0)),]
    );
    silent(&text(", id=99"));
}

/// SYNC IMAGES of coarrays, with the images that each names: a row each, as a recorder writes them.
fn images(of: [&str; 3]) -> String {
    let calls = of.map(|calls| {
        let sync = |call: &str| {
            let (span, names) = call.split_once(' ').unwrap_or((call, ""));
            let row = |name: char| format!("notify({name}) wait_notify({name})");
            format!("caf_sync_images {span} {}", names.chars().map(row).collect::<Vec<_>>().join(" "))
        };
        calls.split(", ").filter(|call| !call.is_empty()).map(sync).collect::<Vec<_>>().join(" ")
    });
    let [zero, one, two] = calls;
    format!("pe 0: main 0..100 {{ {zero} }}\npe 1: main 0..100 {{ {one} }}\npe 2: main 0..100 {{ {two} }}")
}

#[test]
fn sync_images_waits_for_those_that_it_names_and_nobody_else() {
    // 0 and 1 meet at 30, 1 and 2 at 60, all three in a row at 90; 2 comes at 5 and is named by nobody before 60.
    let case = Case::new(&images(["10..30 1, 70..90 12", "30..31 0, 60..61 2, 90..91 02", "5..60 1, 80..90 01"]));
    let late = Pattern::LatePartner;
    assert_eq!(
        case.found(),
        [(late, 0, 10, 30, Some(1)), (late, 0, 70, 90, Some(1)), (late, 2, 5, 60, Some(1)), (late, 2, 80, 90, Some(1))]
    );
    // 20 + 20 + 55 + 10, and all of it is 1's doing.
    let finding = case.finding();
    assert_eq!(finding.time.0, 105);
    assert!(finding.causes.iter().all(|cause| cause.pe.0 == 1), "{:?}", finding.causes);
    assert!(case.index.collectives.instances.is_empty(), "it is no meeting of all");
}

#[test]
fn an_image_that_is_not_named_is_never_blamed() {
    // 2 comes last by far, and is not asked for; names itself.
    silent(&images(["10..11 1", "10..11 0", "95..99 2"]));
    // Nobody names back: nothing is claimed of the two, and it is said.
    let case = Case::new(&images(["10..50 1", "20..50 2", "20..50 1"]));
    assert_eq!(case.found(), []);
    let said: Vec<&str> = case.index.quality.entries().iter().map(|it| it.message.as_str()).collect();
    assert!(said.iter().any(|it| it.contains("no counterpart")), "{said:?}");
    // One of two partners is not known: the other alone does not explain the end of the operation.
    assert_eq!(Case::new(&images(["10..50 12", "30..50 0", ""])).found(), []);
}

#[test]
fn images_that_are_not_recorded_are_known_only_where_there_are_two() {
    let two = "pe 0: main 0..100 { caf_sync_images 10..30 }
         pe 1: main 0..100 { caf_sync_images 29..30 }";
    assert_eq!(Case::new(two).found(), [(Pattern::LatePartner, 0, 10, 29, Some(1))]);
    // They do not overlap, so somebody named itself only.
    silent(&two.replace("29..30", "40..50"));
    // Of three, everybody could have named anybody, though all came together.
    let case = Case::new(&format!("{two}\npe 2: main 0..100 {{ caf_sync_images 20..30 }}"));
    assert_eq!(case.found(), []);
    assert!(case.index.quality.entries()[0].message.contains("do not say whom"), "{:?}", case.index.quality);
}

#[test]
fn a_barrier_of_a_set_that_nobody_recorded_is_none_of_all() {
    // Two pairs at the same time: overlap would make one barrier of it.
    let text = |name: &str| {
        format!(
            "paradigm OpenSHMEM
             pe 0: main 0..100 {{ {name} 10..20 }}
             pe 1: main 0..100 {{ {name} 12..20 }}
             pe 2: main 0..100 {{ {name} 10..30 }}
             pe 3: main 0..100 {{ {name} 19..30 }}"
        )
    };
    silent(&text("shmem_barrier"));
    silent(&text("shmem_sync"));
    let all = Case::new(&text("shmem_barrier_all"));
    assert_eq!(all.found()[0], (Pattern::WaitAtBarrier, 0, 10, 19, Some(3)));
    // With the rows it is clear who met whom.
    let rows = text("shmem_barrier").replace("..20 }", "..20 barrier(low) }").replace("..30 }", "..30 barrier(high) }");
    let case = Case::new(&format!("group low = 0 1\ngroup high = 2 3\n{rows}"));
    let barrier = Pattern::WaitAtBarrier;
    assert_eq!(case.found(), [(barrier, 0, 10, 12, Some(1)), (barrier, 2, 10, 19, Some(3))]);
}
