//! Which functions are recorded: what a user says becomes a list of those that are left out, before the program starts.
//!
//! For [`crate::launch`]. What a word means is in [`partune_paradigm::kinds`].

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use partune_base::alike;
use partune_paradigm::kinds::{self, Chosen};
use partune_parts::choice::Choice;

use crate::RecordError;

/// A word that says some functions: a class (`p2p`), a role (`inquiry`), a paradigm (`OpenMP`), a name (`MPI_Iprobe`), or the begin of names
/// (`MPI_Type_*`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    word: String,
    chosen: Chosen,
}

/// A word that says none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{word} is no kind of functions and no function that can be recorded{}", .near.map(|near| format!(": is it {near}?")).unwrap_or_default())]
pub struct UnknownKind {
    word: String,
    near: Option<&'static str>,
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Kind, UnknownKind> {
        let word = word.trim();
        let chosen = kinds::functions(word).ok_or_else(|| UnknownKind { word: word.to_owned(), near: near(word) })?;
        Ok(Kind { word: word.to_owned(), chosen })
    }
}

/// The word that says one function, by its name in an archive and its paradigm's; none if it cannot be left out, or nobody records it.
pub fn word_of(name: &str, paradigm: &str) -> Option<String> {
    let words = [name.to_owned(), format!("{paradigm}:{name}")];
    words.into_iter().find(|word| match kinds::functions(word) {
        Some(Chosen { constructs, .. }) => match constructs[..] {
            [construct] => !kinds::is_always(construct),
            _ => false,
        },
        None => false,
    })
}

/// The known word that is nearest, if it is near.
fn near(word: &str) -> Option<&'static str> {
    alike(word, kinds::words(), 1).pop()
}

/// Writes what is left out to a file in `parts`; the variable that leads there, if anything is.
pub(crate) fn resolve(only: &[Kind], not: &[Kind], parts: &Path) -> Result<Option<OsString>, RecordError> {
    if only.is_empty() && not.is_empty() {
        return Ok(None);
    }
    let path = parts.join("choice");
    let words = words(only, not);
    let (left_out, kept) = left_out(only, not);
    fs::write(&path, Choice { words: &words, left_out, kept }.text()).map_err(RecordError::file(&path))?;
    Ok(Some(path.into()))
}

/// What is left out, and which functions of that are kept all the same.
fn left_out<'a>(only: &'a [Kind], not: &'a [Kind]) -> (Vec<&'a str>, Vec<&'a str>) {
    // A family is said by words for all of it; a function of it also by its own name.
    let says = |kinds: &[Kind], family: &str, function: Option<&str>| {
        let of_family = |chosen: &Chosen| chosen.constructs.iter().any(|construct| construct.name == family);
        let is_said = |chosen: &Chosen| {
            of_family(chosen) && (chosen.function.is_none() || chosen.function.as_deref() == function)
        };
        kinds.iter().any(|kind| is_said(&kind.chosen))
    };
    let is_out = |family: &str, function: Option<&str>| {
        !only.is_empty() && !says(only, family, function) || says(not, family, function)
    };
    let families = kinds::all().filter(|(_, it)| !kinds::is_always(it)).map(|(_, it)| it.name);
    let functions = only
        .iter()
        .chain(not)
        .filter_map(|kind| Some((kind.chosen.function.as_deref()?, kind.chosen.constructs.first()?.name)));
    let (out, kept): (Vec<_>, Vec<_>) = functions
        .filter(|(function, family)| is_out(family, Some(function)) != is_out(family, None))
        .partition(|(function, family)| is_out(family, Some(function)));
    let names =
        |functions: Vec<(&'a str, &str)>| functions.into_iter().map(|(function, _)| function).collect::<Vec<_>>();
    (families.filter(|family| is_out(family, None)).chain(names(out)).collect(), names(kept))
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
        let (only, not) = (kinds(&["p2p", "collective"]), kinds(&["test", "MPI_Barrier"]));
        let (out, kept) = left_out(&only, &not);
        assert!(kept.is_empty());
        let is_out = |name: &str| out.contains(&name);
        assert!(
            ["MPI_Put", "MPI_Iprobe", "MPI_Barrier", "MPI_Comm_dup", "omp critical", "pthread_join", "put"]
                .into_iter()
                .all(is_out)
        );
        assert!(
            !["MPI_Send", "MPI_Wait", "MPI_Allreduce", "omp barrier", "MPI_Init", "omp parallel", "pthread_create"]
                .into_iter()
                .any(is_out)
        );
        assert_eq!(left_out(&[], &kinds(&["MPI_Recv"])), (vec!["MPI_Recv"], vec![]));
        // One function of a family that is one row.
        assert_eq!(left_out(&[], &kinds(&["shmem_int_put"])), (vec!["shmem_int_put"], vec![]));
        assert_eq!(left_out(&[], &kinds(&["shmem_int_put", "shmem_put"])), (vec!["shmem_put"], vec![]));
        let only = kinds(&["shmem_int_put"]);
        let (out, kept) = left_out(&only, &[]);
        assert!(out.contains(&"shmem_put") && out.contains(&"shmem_get") && kept == ["shmem_int_put"]);
        assert_eq!(
            words(&kinds(&["p2p"]), &kinds(&["MPI_Recv", "MPI_Type_*"])),
            "--only p2p --not MPI_Recv,MPI_Type_*"
        );
    }

    #[test]
    fn unknown_words_are_errors_with_the_nearest_known_one() {
        let said = |word: &str| word.parse::<Kind>().map_err(|error| error.to_string());
        let unknown = "is no kind of functions and no function that can be recorded";
        assert_eq!(said("MPI_Iprob"), Err(format!("MPI_Iprob {unknown}: is it MPI_Iprobe?")));
        assert_eq!(said("colective"), Err(format!("colective {unknown}: is it collective?")));
        assert_eq!(said("something_else"), Err(format!("something_else {unknown}")));
    }
}
