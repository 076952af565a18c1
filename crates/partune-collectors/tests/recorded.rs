//! What is told of calls.

use crate::run::{Left, attribute, mpis, run, run_in};

#[test]
fn bytes_of_collectives() {
    // Of each operation: its number in OTF2, its root, and what each rank sends and receives.
    const NO_ROOT: u64 = 0xffff_ffff;
    #[rustfmt::skip]
    const EXPECTED: &[(u64, u64, [[u64; 2]; 3])] = &[
        (1, 1, [[0, 20], [60, 20], [0, 20]]),
        (2, 0, [[8, 24], [8, 0], [8, 0]]),
        (2, 0, [[0, 16], [8, 0], [8, 0]]),
        (3, 2, [[4, 0], [8, 0], [12, 24]]),
        (5, 0, [[20, 0], [0, 8], [0, 12]]),
        (11, NO_ROOT, [[48, 48], [48, 48], [48, 48]]),
        (11, NO_ROOT, [[32, 32], [32, 32], [32, 32]]),
        (7, NO_ROOT, [[12, 24], [24, 24], [36, 24]]),
        (7, NO_ROOT, [[8, 20], [16, 16], [24, 12]]),
        (10, NO_ROOT, [[14, 14], [14, 14], [14, 14]]),
        (9, NO_ROOT, [[0, 0], [0, 0], [0, 0]]),
        (13, NO_ROOT, [[24, 12], [24, 24], [24, 36]]),
        (16, NO_ROOT, [[24, 24], [24, 24], [24, 24]]),
        (14, NO_ROOT, [[12, 4], [8, 8], [4, 12]]),
        (15, NO_ROOT, [[8, 0], [4, 4], [0, 8]]),
    ];
    for mpi in mpis() {
        for (rank, left) in run(mpi, "collectives.c", 3, &[]) {
            let ends = left.of("MpiCollectiveEnd");
            assert_eq!(ends.len(), EXPECTED.len(), "{mpi}");
            for (number, (end, (op, root, bytes))) in ends.iter().zip(EXPECTED).enumerate() {
                let found = ["collective_op", "root", "size_sent", "size_received"].map(|name| attribute(end, name));
                let [sent, received] = bytes[rank];
                assert_eq!(found, [*op, *root, sent, received], "{mpi}, rank {rank}, operation {number}");
            }
            assert_eq!(left.of("MpiCollectiveBegin").len(), EXPECTED.len());
        }
    }
}

#[test]
fn every_request_ends_once() {
    const MANY: usize = 200;
    for mpi in mpis() {
        for (rank, left) in run(mpi, "requests.c", 2, &[]) {
            let at = format!("{mpi}, rank {rank}");
            // Two times many, one with a status, one freed.
            let sent = requests(&left, "MpiIsend");
            assert_eq!(sent.len(), 2 * MANY + 2, "{at}");
            assert_eq!(sent, requests(&left, "MpiIsendComplete"), "{at}");
            // Two times many, one with a status; the one that was cancelled came to nothing.
            let posted = requests(&left, "MpiIrecvRequest");
            let (received, cancelled) = (requests(&left, "MpiIrecv"), requests(&left, "MpiRequestCancelled"));
            assert_eq!((received.len(), cancelled.len()), (2 * MANY + 1, 1), "{at}");
            let mut ended = [received, cancelled].concat();
            ended.sort_unstable();
            assert_eq!(posted, ended, "{at}");
            let mut tags: Vec<u64> =
                left.of("MpiIrecv").iter().map(|event| attribute(event, "msg_tag")).filter(|tag| *tag > 9).collect();
            tags.sort_unstable();
            let twice = (10..MANY as u64).flat_map(|tag| [tag, tag]);
            assert_eq!(tags, twice.collect::<Vec<_>>(), "{at}");
            // The blocking one whose error was returned, and those to and from nobody, are not there.
            assert_eq!(left.of("MpiRecv").len(), 1, "{at}");
            assert_eq!(left.of("MpiSend").len(), usize::from(rank == 0), "{at}");
        }
    }
}

/// Numbers of the requests in events of a kind, sorted.
fn requests(left: &Left, kind: &str) -> Vec<u64> {
    let mut numbers: Vec<u64> = left.of(kind).iter().map(|event| attribute(event, "request_id")).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn threads_do_not_take_each_others_requests() {
    const MESSAGES: usize = 3 * 300 * 3;
    for mpi in mpis() {
        for (rank, left) in run(mpi, "threads.c", 2, &[("PARTUNE_BUFFER", "4194304")]) {
            let kinds = ["MpiIsend", "MpiIsendComplete", "MpiIrecvRequest", "MpiIrecv", "MpiRequestCancelled"];
            let counts = kinds.map(|kind| left.of(kind).len());
            assert_eq!(counts, [MESSAGES, MESSAGES, MESSAGES, MESSAGES, 0], "{mpi}, rank {rank}");
            assert_eq!(requests(&left, "MpiIrecvRequest"), requests(&left, "MpiIrecv"), "{mpi}, rank {rank}");
        }
    }
}

#[test]
fn accesses_are_completed_by_what_completes_them() {
    for mpi in mpis() {
        for (rank, left) in run(mpi, "windows.c", 2, &[]) {
            let peer = 1 - rank as u64;
            // Without the attributes that are the same in all.
            let told: Vec<(&str, u64, u64)> = left
                .events
                .iter()
                .filter_map(|(_, event)| {
                    let kind = event.split(' ').next()?;
                    let of = |name| attribute(event, name);
                    match kind {
                        "RmaPut" | "RmaGet" => Some((kind, of("remote"), of("bytes"))),
                        "RmaAtomic" => Some((kind, of("bytes_sent"), of("bytes_received"))),
                        "RmaRequestLock" => Some((kind, of("remote"), of("lock_type"))),
                        "RmaReleaseLock" => Some((kind, of("remote"), 0)),
                        "RmaCollectiveEnd" => Some((kind, of("collective_op"), of("sync_level"))),
                        "RmaGroupSync" => Some((kind, of("group"), of("sync_level"))),
                        "RmaOpCompleteRemote" | "RmaOpCompleteNonBlocking" => Some((kind, 0, 0)),
                        _ => None,
                    }
                })
                .collect();
            let (fence, remote, local) =
                (("RmaCollectiveEnd", 0, 3), ("RmaOpCompleteRemote", 0, 0), ("RmaOpCompleteNonBlocking", 0, 0));
            let everybody = 0xffff_ffff;
            let expected = [
                ("RmaCollectiveEnd", 21, 1),
                fence,
                ("RmaPut", peer, 8),
                ("RmaGet", rank as u64, 4),
                remote,
                remote,
                fence,
                ("RmaRequestLock", peer, 0),
                ("RmaPut", peer, 12),
                remote,
                ("RmaAtomic", 16, 0),
                ("RmaAtomic", 4, 4),
                // The lock is given back when the call begins. When it ends, the two accesses since the flush, which have one number, are complete.
                ("RmaReleaseLock", peer, 0),
                remote,
                ("RmaRequestLock", everybody, 1),
                ("RmaPut", peer, 16),
                local,
                ("RmaReleaseLock", everybody, 0),
                ("RmaGroupSync", 0, 1),
                ("RmaGroupSync", 0, 1),
                ("RmaPut", peer, 4),
                remote,
                ("RmaGroupSync", 0, 3),
                ("RmaGroupSync", 0, 3),
                ("RmaCollectiveEnd", 22, 1),
            ];
            assert_eq!(told, expected, "{mpi}, rank {rank}");
            assert_eq!(
                left.lines("group")[0][1..],
                ["0".to_owned(), "0".to_owned(), peer.to_string()],
                "{mpi}, rank {rank}"
            );
        }
    }
}

#[test]
fn fortran_passes_addresses_that_mean_something() {
    for (mpi, module) in mpis().into_iter().flat_map(|mpi| [(mpi, "mpi"), (mpi, "mpi_f08")]) {
        for (rank, left) in run(mpi, &format!("sentinels.f90:{module}"), 2, &[]) {
            let at = format!("{mpi}, {module}, rank {rank}");
            let sizes = |kind: &str, name: &str| -> Vec<u64> {
                left.of(kind).iter().map(|event| attribute(event, name)).collect()
            };
            // In place, nothing goes to and comes from the process itself.
            assert_eq!(sizes("MpiCollectiveEnd", "size_sent"), [16, 32], "{at}");
            let (sent, received) = (sizes("MpiSend", "msg_length"), sizes("MpiRecv", "msg_length"));
            assert_eq!([sent, received].concat(), [12], "{at}");
            let mut received = sizes("MpiIrecv", "msg_length");
            received.sort_unstable();
            assert_eq!(received, [4, 8, 12], "{at}");
            assert_eq!(sizes("MpiIrecv", "sender"), [1 - rank as u64; 3], "{at}");
            assert_eq!(left.of("MpiIsendComplete").len(), 3, "{at}");
            assert_eq!(left.lines("name")[0][3], "all%20of%20us", "{at}");
        }
    }
}

#[test]
fn communicators_are_the_same_for_all_members() {
    for mpi in mpis() {
        let found = run(mpi, "communicators.c", 4, &[]);
        // Sequence, members, remote members.
        let comms = |rank: usize| -> Vec<[String; 3]> {
            let lines = found[&rank].lines("comm");
            lines.iter().map(|line| [line[3].clone(), line[4].clone(), line[5].clone()]).collect()
        };
        let known = |text: &[&str]| text.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let describe = |comms: Vec<[String; 3]>| comms.iter().map(|words| words.join(" ")).collect::<Vec<_>>();
        let even = ["0 0-3 -", "0 R -", "0 0,2 -", "1 0,2 -", "2 0,2 -", "3 0,2 -", "0 3,2,1,0 -"];
        for rank in 0..4_usize {
            let members = if rank % 2 == 0 { "0,2" } else { "1,3" };
            let inter = if rank % 2 == 0 { "0 0,2 1,3" } else { "0 1,3 0,2" };
            let expected = even.map(|text| text.replace('R', &rank.to_string()).replace("0,2", members));
            let mut expected: Vec<String> = expected.into();
            if rank == 0 {
                // Made of itself alone, as the second with these members.
                expected.push("1 0 -".to_owned());
            }
            expected.push(inter.to_owned());
            assert_eq!(describe(comms(rank)), expected, "{mpi}, rank {rank}");
            assert_eq!(found[&rank].lines("name")[0][1..], known(&["comm", "2", "half%20of%20it"]));
            // The handle of the copies is used again; each broadcast is on its own.
            let ends = found[&rank].of("MpiCollectiveEnd");
            let broadcasts = ends.iter().filter(|event| attribute(event, "collective_op") == 1);
            let on: Vec<u64> = broadcasts.map(|event| attribute(event, "communicator")).collect();
            assert_eq!(on, [3, 4, 5, 6], "{mpi}, rank {rank}");
        }
    }
}

#[test]
fn clocks_are_compared_where_they_may_differ() {
    for mpi in mpis() {
        for (rank, left) in run(mpi, "communicators.c", 4, &[("PARTUNE_CLOCK_SYNC", "always")]) {
            let points = left.lines("sync");
            assert_eq!(points.len(), 2, "{mpi}, rank {rank}: at the begin and at the end");
            for point in points {
                let (offset, deviation): (i64, f64) =
                    (point[2].parse().expect("ticks"), point[3].parse().expect("ticks"));
                // Here they are one clock.
                assert!(offset.unsigned_abs() as f64 <= deviation + 1.0, "{mpi}, rank {rank}: {point:?}");
            }
        }
        for left in run(mpi, "communicators.c", 4, &[]).values() {
            assert!(left.lines("sync").is_empty(), "{mpi}: one machine has one clock");
        }
    }
}

/// A process that cannot record takes part in what all of them do, so that the others do not wait for it.
#[test]
fn who_cannot_record_holds_up_nobody() {
    for mpi in mpis() {
        let nowhere = [("PARTUNE_DIR", "/proc/nowhere"), ("PARTUNE_CLOCK_SYNC", "always")];
        for program in ["communicators.c", "windows.c"] {
            let ranks = if program == "windows.c" { 2 } else { 4 };
            let folder = run_in(mpi, program, ranks, false, &nowhere);
            assert!(!folder.path().join("parts").exists(), "{mpi}");
        }
    }
}

#[test]
fn nobody_asked() {
    for mpi in mpis() {
        let folder = run_in(mpi, "requests.c", 2, false, &[]);
        let files = std::fs::read_dir(folder.path()).expect("the folder").flatten().map(|file| file.file_name());
        assert_eq!(files.collect::<Vec<_>>(), ["program"], "{mpi}");
    }
}
