//! The codec by itself: records do not depend on how the text comes.

use partune_paraver::codec::{Communicator, Counts, Header, Pcf, Record, Row, Scanner, Sink};
use proptest::prelude::*;

#[derive(Default, PartialEq, Eq, Debug)]
struct Lines(Vec<String>);

impl Sink for Lines {
    fn record(&mut self, record: &Record<'_>) {
        self.0.push(format!("{record:?}"));
    }

    fn line(&mut self, line: &[u8]) {
        self.0.push(String::from_utf8_lossy(line).into_owned());
    }
}

fn read(text: &[u8], piece: usize) -> (Lines, Counts) {
    let (mut scanner, mut lines) = (Scanner::default(), Lines::default());
    text.chunks(piece.max(1)).for_each(|piece| scanner.feed(piece, &mut lines));
    let counts = scanner.finish(&mut lines);
    (lines, counts)
}

#[test]
fn records_have_their_fields() {
    let text = b"1:2:3:4:5:6:7:8\n2:1:1:2:3:4:5:6:7:8\n3:1:2:3:4:5:6:7:8:9:10:11:12:13:14\n";
    let (lines, counts) = read(text, 1000);
    assert_eq!(
        lines.0,
        [
            "State { object: Object { cpu: 2, application: 3, task: 4, thread: 5 }, begin: 6, end: 7, state: 8 }",
            "Events { object: Object { cpu: 1, application: 1, task: 2, thread: 3 }, time: 4, pairs: [[5, 6], [7, 8]] }",
            "Communication { send: End { object: Object { cpu: 1, application: 2, task: 3, thread: 4 }, logical: 5, physical: 6 }, \
             recv: End { object: Object { cpu: 7, application: 8, task: 9, thread: 10 }, logical: 11, physical: 12 }, size: 13, tag: 14 }",
        ]
    );
    assert_eq!(counts, Counts { records: 3, ..Counts::default() });
}

#[test]
fn headers_and_communicators() {
    let header =
        Header::read(b"#Paraver (09/10/2019 at 16:09):11528373565_ns:2(2,4):2:2(1:1,3:2):1(1:2),3").expect("a header");
    assert_eq!(
        (header.resolution, header.end, header.nodes, header.broken),
        (1_000_000_000, Some(11_528_373_565), 2, false)
    );
    let tasks: Vec<Vec<(u64, u64)>> =
        header.applications.iter().map(|tasks| tasks.iter().map(|task| (task.threads, task.node)).collect()).collect();
    assert_eq!(tasks, [vec![(1, 1), (3, 2)], vec![(1, 2)]]);
    assert!(Header::read(b"# Paraver").is_none());
    let intra = Communicator::read(b"c:1:7:2:1:4");
    assert_eq!(intra, Some(Communicator::Intra { application: 1, id: 7, tasks: vec![1, 4] }));
    let inter = Communicator::read(b"i:1:9:7:2:8");
    assert_eq!(inter, Some(Communicator::Inter { application: 1, id: 9, groups: [(1, 7), (2, 8)] }));
    assert_eq!([&b"c:1:7:3:1:4"[..], b"c:1", b"x:1:2:3"].map(Communicator::read), [None, None, None]);
}

#[test]
fn names() {
    let pcf = Pcf::read(
        b"DEFAULT_OPTIONS\nLEVEL THREAD\n\nSTATES\n0    Idle\n3  Waiting a message\n\nSTATES_COLOR\n0 {1,2,3}\n\nEVENT_TYPE\n9   50000001    MPI Point-to-point\n\
          9 50000002 MPI Collective\nVALUES\n41   MPI_Sendrecv\n0   Outside MPI\n41 twice\n\n\nEVENT_TYPE\n7  42000050 PAPI_TOT_INS [Instr]\n\nGRADIENT_COLOR\n0 {0,255,2}\n",
    );
    assert_eq!((pcf.states[&3].as_str(), pcf.states.len()), ("Waiting a message", 2));
    assert_eq!(pcf.event_type(50_000_001), Some("MPI Point-to-point"));
    assert_eq!(
        [50_000_001, 50_000_002, 42_000_050].map(|id| pcf.value(id, 41)),
        [Some("MPI_Sendrecv"), Some("MPI_Sendrecv"), None]
    );
    let row = Row::read(
        b"LEVEL CPU SIZE 1\n1.a\n\nLEVEL NODE SIZE 1\na\n\nLEVEL THREAD SIZE 2\nTHREAD 1.1.1\nTHREAD 1.2.1\n",
    );
    assert_eq!(
        (row.nodes, row.tasks, row.threads),
        (vec!["a".into()], vec![], vec!["THREAD 1.1.1".into(), "THREAD 1.2.1".into()])
    );
}

proptest! {
    #[test]
    fn pieces_make_no_difference(lines in prop::collection::vec("[123]:[0-9:]{0,40}|[c#][0-9:a-z]{0,20}|[ -~]{0,30}|1:1:1:1:1:5:-1:3", 0..30), piece in 1..200_usize) {
        let text = lines.join("\n");
        prop_assert_eq!(read(text.as_bytes(), piece), read(text.as_bytes(), usize::MAX));
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000), piece in 1..500_usize) {
        prop_assert_eq!(read(&bytes, piece), read(&bytes, usize::MAX));
    }

    /// The fast way says the same as the way by fields, which a space makes it take.
    #[test]
    fn both_ways_read_the_same(lines in prop::collection::vec("[123](:[0-9]{1,20}){3,16}", 0..20)) {
        let fast = read((lines.join("\n") + "\n").as_bytes(), 1000);
        let slow = read((lines.join(" \n") + " \n").as_bytes(), 1000);
        prop_assert_eq!(fast, slow);
    }
}
