//! Which functions of MPI are recorded: what a user says becomes a list of those that are left out, before the program starts.
//!
//! For [`crate::launch`]. What a word means is in [`partune_paradigm::kinds`].

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use partune_paradigm::kinds;
use partune_parts::choice::Choice;

use crate::RecordError;

/// A word that says some functions: a class (`p2p`), a role (`inquiry`), a name (`MPI_Iprobe`), or the begin of names (`MPI_Type_*`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    word: String,
    functions: Vec<&'static str>,
}

/// A word that says none.
#[derive(Debug, thiserror::Error)]
#[error("{word} is no kind of functions and no function of MPI{}", .near.map(|near| format!(": is it {near}?")).unwrap_or_default())]
pub struct UnknownKind {
    word: String,
    near: Option<&'static str>,
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Kind, UnknownKind> {
        let word = word.trim();
        let found = kinds::functions(word).ok_or_else(|| UnknownKind { word: word.to_owned(), near: near(word) })?;
        Ok(Kind { word: word.to_owned(), functions: found.into_iter().map(|construct| construct.name).collect() })
    }
}

/// The known word that is nearest, if it is near.
fn near(word: &str) -> Option<&'static str> {
    let wanted = word.to_lowercase();
    let far = wanted.len().max(3) / 3;
    let distances = kinds::words().map(|known| (strsim::levenshtein(&known.to_lowercase(), &wanted), known));
    distances.filter(|(distance, _)| *distance <= far).min().map(|(_, known)| known)
}

/// Writes what is left out to a file in `parts`; the variable that leads there, if anything is.
pub(crate) fn resolve(only: &[Kind], not: &[Kind], parts: &Path) -> Result<Option<OsString>, RecordError> {
    if only.is_empty() && not.is_empty() {
        return Ok(None);
    }
    let path = parts.join("choice");
    let text = Choice { words: &words(only, not), left_out: left_out(only, not) }.text();
    fs::write(&path, text).map_err(RecordError::file(&path))?;
    Ok(Some(path.into()))
}

fn left_out(only: &[Kind], not: &[Kind]) -> Vec<&'static str> {
    let has = |kinds: &[Kind], name: &&str| kinds.iter().any(|kind| kind.functions.contains(name));
    let all = kinds::all().map(|construct| construct.name);
    all.filter(|name| !only.is_empty() && !has(only, name) || has(not, name)).collect()
}

/// What was chosen, for people.
fn words(only: &[Kind], not: &[Kind]) -> String {
    let list = |option: &str, kinds: &[Kind]| {
        let words: Vec<&str> = kinds.iter().map(|kind| kind.word.as_str()).collect();
        (!words.is_empty()).then(|| format!("{option} {}", words.join(",")))
    };
    [list("--only", only), list("--not", not)].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(words: &[&str]) -> Vec<Kind> {
        words.iter().map(|word| word.parse().expect("a known word")).collect()
    }

    #[test]
    fn what_is_not_chosen_is_left_out() {
        let out = left_out(&kinds(&["p2p", "collective"]), &kinds(&["test", "MPI_Barrier"]));
        let is_out = |name: &str| out.contains(&name);
        assert!(["MPI_Put", "MPI_Iprobe", "MPI_Barrier", "MPI_Comm_dup"].into_iter().all(is_out));
        assert!(!["MPI_Send", "MPI_Wait", "MPI_Allreduce"].into_iter().any(is_out));
        assert_eq!(left_out(&[], &kinds(&["MPI_Recv"])), ["MPI_Recv"]);
        assert_eq!(
            words(&kinds(&["p2p"]), &kinds(&["MPI_Recv", "MPI_Type_*"])),
            "--only p2p --not MPI_Recv,MPI_Type_*"
        );
    }

    #[test]
    fn unknown_words_are_errors_with_the_nearest_known_one() {
        let said = |word: &str| word.parse::<Kind>().map_err(|error| error.to_string());
        let unknown = "is no kind of functions and no function of MPI";
        assert_eq!(said("MPI_Iprob"), Err(format!("MPI_Iprob {unknown}: is it MPI_Iprobe?")));
        assert_eq!(said("colective"), Err(format!("colective {unknown}: is it collective?")));
        assert_eq!(said("something_else"), Err(format!("something_else {unknown}")));
    }
}
