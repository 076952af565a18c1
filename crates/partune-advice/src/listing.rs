//! Which values a knob may have, from what an installed library prints of itself. For knobs whose values are names of the library's own.

use serde::Deserialize;

/// How a library lists the values of a knob.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    /// Open MPI: `…enumerator:value:3:ring` for each, and `…value:ring` for the one that is set, by its name.
    Enumerated,
    /// MPICH: one line for the variable, with the position of the value that is set, and a text in which the end of each explanation and the next
    /// name are one word: `VARIABLE=0 … auto - Internal selectionring - Force ring`.
    Described,
}

/// The names in a listing, without the one that is set. `variable` is what its lines have in them.
pub(crate) fn values(form: Form, listing: &str, variable: &str, accepts: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut lines = listing.lines().filter_map(|line| line.split_once(variable)).map(|(_, rest)| rest);
    match form {
        Form::Enumerated => {
            let (mut names, mut now) = (Vec::new(), "");
            for line in lines {
                if let Some(entry) = line.strip_prefix("enumerator:value:") {
                    names.extend(entry.split_once(':').map(|(_, name)| name));
                } else if let Some(set) = line.strip_prefix("value:") {
                    now = set;
                }
            }
            names.into_iter().filter(|name| *name != now).map(str::to_owned).collect()
        }
        Form::Described => {
            let Some((set, text)) = lines.next().and_then(|line| line.trim_start().strip_prefix('=')?.split_once('\t'))
            else {
                return Vec::new();
            };
            let before: Vec<&str> = text.split(" - ").collect();
            let names = before.iter().take(before.len() - 1).map(|text| name_at_end(text, accepts));
            let now: Option<usize> = set.trim().parse().ok();
            names.enumerate().filter(|(at, _)| Some(*at) != now).filter_map(|(_, name)| name).collect()
        }
    }
}

/// The longest end of a text that the library takes for a name.
fn name_at_end(text: &str, accepts: &dyn Fn(&str) -> bool) -> Option<String> {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let text = text.trim_end();
    let word = &text[text.rfind(|it| !is_of_name(it)).map_or(0, |at| at + 1)..];
    // What is not ASCII is of no name, but may stand right before one.
    let word = word.trim_start_matches(|it| !is_of_name(it));
    (0..word.len()).map(|begin| &word[begin..]).find(|name| accepts(name)).map(str::to_owned)
}
