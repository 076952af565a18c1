//! When a PE did something last.

use partune_base::{CallPathId, Time};
use partune_trace::{Stream, Visit};

fn end(visits: &[(i64, i64)]) -> Option<i64> {
    let mut stream = Stream::default();
    for (enter, exit) in visits {
        stream.visits.push(Visit { enter: Time(*enter), exit: Time(*exit), path: CallPathId(0) });
    }
    stream.end().map(|end| end.0)
}

#[test]
fn the_end_is_that_of_the_visit_that_ended_last() {
    assert_eq!(end(&[]), None);
    assert_eq!(end(&[(0, 100), (1, 20), (5, 7), (90, 95)]), Some(100));
    assert_eq!(end(&[(0, 5), (1, 2), (7, 8)]), Some(8));
    // Around the last one to begin, behind others.
    assert_eq!(end(&[(0, 5), (6, 30), (7, 20), (8, 9)]), Some(30));
    // At one moment, one ends, one begins with a visit inside, and one takes no time.
    assert_eq!(end(&[(0, 5), (5, 9), (5, 6)]), Some(9));
    assert_eq!(end(&[(0, 5), (5, 5)]), Some(5));
    assert_eq!(end(&[(0, 5), (5, 5), (5, 8), (8, 8)]), Some(8));
}
