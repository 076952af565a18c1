//! Functions whose calls the user does not want: a list that the launcher wrote.

use std::collections::HashSet;
use std::sync::OnceLock;

use partune_parts::choice::Choice;

use crate::log;

/// Whether calls of a function are left out.
pub fn has_left_out(name: &str) -> bool {
    static LEFT_OUT: OnceLock<HashSet<String>> = OnceLock::new();
    LEFT_OUT.get_or_init(read).contains(name)
}

fn read() -> HashSet<String> {
    let Some(path) = std::env::var_os("PARTUNE_CHOICE").filter(|path| !path.is_empty()) else {
        return HashSet::new();
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            let Choice { words, left_out } = Choice::parse(&text);
            log::choice(words);
            left_out.into_iter().map(str::to_owned).collect()
        }
        Err(error) => {
            log::note(&format!("all functions are recorded: {}: {error}", path.display()));
            HashSet::new()
        }
    }
}
