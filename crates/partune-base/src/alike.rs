//! Which known word somebody may have meant.

/// The known words that are nearest to one that is none, at most so many: those that have it in them first, then by letters that
/// differ, of equals in the order of the alphabet. None where none is near: a third of its letters may differ.
pub fn alike<'a>(word: &str, known: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let wanted = word.to_lowercase();
    let far = wanted.len().max(3) / 3;
    let distance = |known: &str| match known.to_lowercase() {
        known if wanted.len() >= 3 && known.contains(&wanted) => 0,
        known if known.len().abs_diff(wanted.len()) > far => usize::MAX,
        known => strsim::levenshtein(&known, &wanted),
    };
    let distances = known.into_iter().map(|known| (distance(known), known));
    let mut near: Vec<(usize, &str)> = distances.filter(|(distance, _)| *distance <= far).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(most).map(|(_, known)| known).collect()
}

#[cfg(test)]
mod tests {
    use super::alike;

    #[test]
    fn the_nearest_words_come_first_and_far_ones_not_at_all() {
        let known = ["analyze", "advise", "compare", "record", "run", "tune"];
        assert_eq!(alike("analize", known, 1), ["analyze"]);
        assert_eq!(alike("Recrod", known, 1), ["record"]);
        assert_eq!(alike("rum", known, 2), ["run"]);
        assert_eq!(alike("mpirun", known, 9), [""; 0]);
        assert_eq!(alike("", known, 9), [""; 0]);
        // A part of a name stands for the name.
        assert_eq!(alike("solve", ["presolve", "solver", "solv", "sale"], 2), ["presolve", "solver"]);
    }
}
