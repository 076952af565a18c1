//! Rows of a table that are called the same: the ends of their call paths that tell them apart.

use std::collections::BTreeMap;

use partune_engine::Run;

use super::place::PlaceId;

/// For each row, of which its name, its place and the run of that are given, as much of the end of its call path as no other row of its
/// name has: `repl > sl`. With the lines of calls where names alone do not tell: `main:12 > sl`. None where no other row has its name, or where
/// nothing tells them apart.
pub(super) fn tails<N: Ord, I: PlaceId>(rows: &[(N, I, &Run)]) -> Vec<Option<String>> {
    let mut of_name: BTreeMap<&N, Vec<usize>> = BTreeMap::new();
    for (at, (name, ..)) in rows.iter().enumerate() {
        of_name.entry(name).or_default().push(at);
    }
    let mut tails = vec![None; rows.len()];
    for alike in of_name.into_values().filter(|alike| alike.len() > 1) {
        let outwards = |lines: bool| -> Vec<Vec<String>> {
            alike.iter().map(|at| rows[*at].1.outwards(rows[*at].2, lines)).collect()
        };
        let mut paths = outwards(false);
        let mut lengths = telling(&paths);
        if lengths.contains(&None) {
            paths = outwards(true);
            lengths = telling(&paths);
        }
        for ((at, path), length) in alike.into_iter().zip(paths).zip(lengths) {
            tails[at] = length.map(|it| path.into_iter().take(it).rev().collect::<Vec<String>>().join(" > "));
        }
    }
    tails
}

/// Of each path, innermost step first, how many steps no other one has; none where another one is the same.
fn telling(paths: &[Vec<String>]) -> Vec<Option<usize>> {
    let mut order: Vec<usize> = (0..paths.len()).collect();
    order.sort_by_key(|at| &paths[*at]);
    let mut lengths = vec![Some(1); paths.len()];
    // In this order none has more in common with a path than its neighbours.
    for pair in order.windows(2) {
        let (one, other) = (&paths[pair[0]], &paths[pair[1]]);
        let common = one.iter().zip(other).take_while(|(one, other)| one == other).count();
        for at in pair {
            lengths[*at] = lengths[*at].filter(|_| one != other).map(|it| it.max(common + 1));
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use partune_base::CallPathId;
    use partune_engine::Request;

    use super::*;
    use crate::names;

    /// What is printed of each call path whose name others have, in the order in which they are first visited.
    fn told(text: &str) -> Vec<(String, Option<String>)> {
        let diagnosis = partune_engine::analyze(partune_testkit::trace(text), &Request::default(), &());
        let run = &diagnosis.run;
        let rows: Vec<(String, CallPathId, &Run)> =
            run.paths().map(|path| (names::place(run, path), path, run)).collect();
        rows.iter().zip(tails(&rows)).map(|((name, ..), tail)| (name.clone(), tail)).collect()
    }

    fn tails_of(name: &str, text: &str) -> Vec<String> {
        let told = told(text);
        let tail = |(of, tail): (String, Option<String>)| (of == name).then(|| tail.unwrap_or_default());
        told.into_iter().filter_map(tail).collect()
    }

    #[test]
    fn as_much_is_told_as_tells_apart() {
        let text = "pe 0: main@s.c:1 0..90 {
            repl@s.c:8 0..10 { sl@s.c:5 0..10 } serial@s.c:7 10..20 { sl@s.c:5 10..20 }
            setup@s.c:6 20..30 { serial@s.c:7 20..30 { sl@s.c:5 20..30 } } alone@s.c:9 30..40 }";
        assert_eq!(tails_of("sl (s.c:5)", text), ["repl > sl", "main > serial > sl", "setup > serial > sl"]);
        assert_eq!(tails_of("serial (s.c:7)", text), ["main > serial", "setup > serial"]);
        assert_eq!(tails_of("alone (s.c:9)", text), [""]);
    }

    #[test]
    fn lines_of_calls_tell_where_names_do_not() {
        let text = "pe 0: main@s.c:1 0..90 {
            f@s.c:8^s.c:12 0..10 { MPI_Barrier^s.c:9 0..1 } f@s.c:8^s.c:15 10..20 { MPI_Barrier^s.c:9 10..11 } }";
        assert_eq!(tails_of("f (s.c:8)", text), ["main:12 > f", "main:15 > f"]);
        let barriers = tails_of("MPI_Barrier in f (s.c:9)", text);
        assert_eq!(barriers, ["main:12 > f:9 > MPI_Barrier", "main:15 > f:9 > MPI_Barrier"]);
    }

    #[test]
    fn who_calls_itself_is_told_by_how_often() {
        let text = "pe 0: f@s.c:8 0..90 { f@s.c:8 0..50 { f@s.c:8 0..9 } }";
        assert_eq!(tails_of("f (s.c:8)", text), ["f", "f > f", "f > f > f"]);
        // Nothing tells a function apart from itself.
        let diagnosis = partune_engine::analyze(partune_testkit::trace(text), &Request::default(), &());
        let path = diagnosis.run.paths().next().expect("it was called");
        assert_eq!(tails(&[("f", path, &diagnosis.run), ("f", path, &diagnosis.run)]), [None, None]);
    }
}
