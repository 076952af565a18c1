//! Functions whose calls the user does not want: a list that the launcher wrote.

use std::collections::HashMap;
use std::sync::OnceLock;

use partune_parts::choice::Choice;

use crate::log;

/// Whether calls of a function are left out. What is said of the function itself counts more than what is said of its family.
pub(crate) fn has_left_out(name: &str, family: &str) -> bool {
    let said = said();
    [name, family].iter().find_map(|name| said.get(*name).copied()).unwrap_or(false)
}

/// By name whether it is left out. Read when recording begins.
pub(crate) fn said() -> &'static HashMap<String, bool> {
    static SAID: OnceLock<HashMap<String, bool>> = OnceLock::new();
    SAID.get_or_init(read)
}

fn read() -> HashMap<String, bool> {
    let Some(path) = std::env::var_os("PARTUNE_CHOICE").filter(|path| !path.is_empty()) else {
        return HashMap::new();
    };
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            let Choice { words, left_out, kept } = Choice::parse(&text);
            log::choice(words);
            let said = |names: Vec<&str>, is_out| {
                names.into_iter().map(move |name| (name.to_owned(), is_out)).collect::<Vec<_>>()
            };
            said(left_out, true).into_iter().chain(said(kept, false)).collect()
        }
        Err(error) => {
            log::note(&format!("all functions are recorded: {}: {error}", path.display()));
            HashMap::new()
        }
    }
}
