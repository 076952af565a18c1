//! Reductions as our own recorder tells of them: the last contribution is the message, and all are parts of it.

use partune_diag::Code;
use partune_trace::{NO_MATCHING, Trigger};

use crate::texts::{said, steps, stream, with};

/// Each PE contributes to two reductions of collection 7 for target 99: PE 2 last to the first, PE 1 last to the second; PE 0 idles for both results.
fn logs(targets: &str) -> [String; 3] {
    let of_pe = |pe: u32, first: u32, second: u32, more: &str| {
        let part = |time: u32, turn: u32| {
            let (event, begin) = (turn + 1, time - 2);
            format!(
                "2 4 2 {begin} -1 -1 0 0 0 0\n200 0 3 {time} {event} {pe} 8 1 0 7 {turn} 99\n3 0 2 {} -1 {pe} 0 0\n",
                time + 2
            )
        };
        format!("6 0\n{}{}{more}7 100\n", part(first, 0), part(second, 1))
    };
    let result = |begin: u32, end: u32, delivery: u32| {
        format!(
            "14 {begin} 0\n15 {end} 0\n2 0 3 {end} -1 -1 0 0 0 0 0 0 0\n201 {targets} {delivery}\n3 0 3 {} -1 0 0 0\n",
            end + 1
        )
    };
    [of_pe(0, 10, 14, &(result(20, 45, 1) + &result(50, 65, 2))), of_pe(1, 20, 60, ""), of_pe(2, 40, 44, "")]
}

#[test]
fn who_contributed_last_made_the_result() {
    // It may be for one object, or for all.
    for targets in ["99 98", "98 99"] {
        let sts = String::from_utf8(steps()["steps.sts"].clone()).expect("it is text");
        let logs = logs(targets);
        let trace = with(&sts, &logs.each_ref().map(String::as_str));
        let recvs: Vec<_> = stream(&trace, 0).recvs.iter().map(|it| (it.time.0, it.peer.0, it.bytes)).collect();
        assert_eq!(recvs, [(45, 2, 8), (65, 1, 8)]);
        let sends = |pe: u32| stream(&trace, pe).sends.iter().map(|it| (it.time.0, it.peer.0)).collect::<Vec<_>>();
        assert_eq!([sends(0), sends(1), sends(2)], [vec![], vec![(60, 0)], vec![(40, 0)]]);
        let parts =
            |pe: u32| stream(&trace, pe).contributions.iter().map(|it| (it.time.0, it.message)).collect::<Vec<_>>();
        let [first, second] = [2_u64 << 32 | 1, 1_u64 << 32 | 2];
        assert_eq!(parts(0), [(10, first), (14, second)]);
        assert_eq!([parts(1), parts(2)], [[(20, first), (60, second)], [(40, first), (44, second)]]);
        let results: Vec<_> = stream(&trace, 0).executions.iter().filter(|it| it.trigger == Trigger::Message).collect();
        assert_eq!(results.len(), 2);
        assert!(results.iter().all(|it| it.message != NO_MATCHING));
        assert_eq!(said(&trace, Code::OneSidedMessages), 0);
    }
}

#[test]
fn a_result_of_nothing_is_of_nobody() {
    let sts = String::from_utf8(steps()["steps.sts"].clone()).expect("it is text");
    let logs = logs("5 6");
    let trace = with(&sts, &logs.each_ref().map(String::as_str));
    assert!(stream(&trace, 0).recvs.is_empty());
    assert!(stream(&trace, 0).executions.iter().all(|it| it.message == NO_MATCHING));
}
