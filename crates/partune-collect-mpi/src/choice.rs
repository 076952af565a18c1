//! Functions whose calls the user does not want: a list that the launcher wrote.

use std::collections::HashSet;
use std::sync::OnceLock;

use crate::mpi::complain;
use partune_parts::choice::Choice;

/// Whether calls of a function are left out. Its large-count form is it, and so is an extension that MPI took over.
pub(crate) fn has_left_out(name: &str) -> bool {
    static LEFT_OUT: OnceLock<HashSet<String>> = OnceLock::new();
    let left_out = LEFT_OUT.get_or_init(read);
    let stem = name.strip_suffix("_c").unwrap_or(name);
    left_out.contains(stem) || stem.strip_prefix("MPIX_").is_some_and(|rest| left_out.contains(&format!("MPI_{rest}")))
}

fn read() -> HashSet<String> {
    let Some(path) = std::env::var_os("PARTUNE_CHOICE").filter(|path| !path.is_empty()) else {
        return HashSet::new();
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            let Choice { words, left_out } = Choice::parse(&text);
            partune_collect::choice(words);
            left_out.into_iter().map(str::to_owned).collect()
        }
        Err(error) => {
            complain(&format!("all functions are recorded: {}: {error}", path.display()));
            HashSet::new()
        }
    }
}
