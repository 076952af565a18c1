//! Settings that are worth keeping, as a file of hints, and which variables such a file sets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use partune_advice::{Value, knobs};
use partune_hints::{Datum, File, Knob};
use thiserror::Error;

use crate::tune::Tried;

/// What a file of hints says that can be set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hints {
    /// The command that was recorded or tuned.
    pub program: String,
    /// Variables and their values.
    pub environment: BTreeMap<String, String>,
    /// Knobs that nobody here knows.
    pub unknown: Vec<String>,
    /// All that it says.
    pub file: File,
}

/// Why a file of hints is not followed.
#[derive(Debug, Error)]
#[error("{}: {reason}", path.display())]
pub struct HintsError {
    pub path: PathBuf,
    /// With the line and a remedy.
    pub reason: String,
}

/// Reads a file. Knobs that are not known are left out; a known one may set its own variables only.
pub fn read_hints(path: &Path) -> Result<Hints, HintsError> {
    let error = |reason: String| HintsError { path: path.to_owned(), reason };
    let unread = |it: std::io::Error| error(format!("{it}\n  remedy: name a file that partune hints -o wrote"));
    let bytes = partune_files::read_regular(path).map_err(unread)?;
    read(&String::from_utf8_lossy(&bytes)).map_err(error)
}

fn read(text: &str) -> Result<Hints, String> {
    let file = partune_hints::read(text).map_err(|fault| fault.to_string())?;
    let mut hints = Hints { program: file.program.clone(), ..Hints::default() };
    for knob in &file.knob {
        let Some(known) = knobs().iter().find(|known| known.is(&knob.what)) else {
            hints.unknown.push(knob.what.clone());
            continue;
        };
        if knob.environment.is_empty() {
            return Err(format!("`environment` of {} says nothing\n  remedy: {ANEW}", knob.what));
        }
        for (name, set) in &knob.environment {
            if !known.sets(name) {
                return Err(format!(
                    "`environment` of {} sets {name}, which is none of its own\n  remedy: {ANEW}",
                    knob.what
                ));
            }
            hints.environment.insert(name.clone(), set.clone());
        }
    }
    hints.file = file;
    Ok(hints)
}

const ANEW: &str = "let partune tune -o write it";

/// TOML, with the evidence of each.
pub fn tuned_hints(command: &str, pes: usize, tried: &[Tried]) -> String {
    let run = vec![("pes".to_owned(), Datum::Integer(pes as i64))];
    let knob = tried.iter().filter(|it| it.kept).filter_map(knob).collect();
    File { program: command.to_owned(), run, knob, ..File::default() }.to_string()
}

fn knob(tried: &Tried) -> Option<Knob> {
    let setting = &tried.setting;
    let measured = tried.measured.as_ref().ok()?;
    let set = match &setting.value {
        Value::Number(number) => Datum::Integer(i64::try_from(*number).unwrap_or(i64::MAX)),
        Value::Text(text) => Datum::Text(text.clone()),
    };
    let predicted = if setting.predicted.is_most { "predicted_saves_at_most_s" } else { "predicted_saves_s" };
    let evidence = [
        (predicted, setting.predicted.saving.saves_s),
        ("saves_s", measured.saved.estimate),
        ("saves_low_s", measured.saved.low),
        ("saves_high_s", measured.saved.high),
        ("confidence", measured.saved.confidence),
    ];
    let evidence = evidence.map(|(name, seconds)| (name.to_owned(), Datum::Float(seconds)));
    let runs = ("runs".to_owned(), Datum::Integer(measured.runs as i64));
    Some(Knob {
        what: setting.what.clone(),
        value: Some(set),
        environment: setting.environment.iter().cloned().collect(),
        evidence: evidence.into_iter().chain([runs]).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "hints = 1\nprogram = \"mpirun -n 2 ./app\"\n[[place]]\narray = \"rows\"\nmap = \"cyclic\"\n";

    #[test]
    fn what_a_file_says_is_set() {
        let text = "[[knob]]
            what = \"collective:bcast\"
            value = \"ring\"
            environment = { OMPI_MCA_coll_tuned_bcast_algorithm = \"ring\", OMPI_MCA_coll_tuned_use_dynamic_rules = \"1\" }
            [[knob]]
            what = \"rank_map\"
            value = \"by_node\"
            [[knob]]
            what = \"eager_limit\"
            value = 65536
            environment.OMPI_MCA_btl_tcp_eager_limit = \"65536\"";
        let hints = read(&format!("{HEAD}{text}")).expect("it is a file of hints");
        assert_eq!(hints.program, "mpirun -n 2 ./app");
        let names: Vec<&str> = hints.environment.keys().map(String::as_str).collect();
        let expected = [
            "OMPI_MCA_btl_tcp_eager_limit",
            "OMPI_MCA_coll_tuned_bcast_algorithm",
            "OMPI_MCA_coll_tuned_use_dynamic_rules",
        ];
        assert_eq!(names, expected);
        assert_eq!(hints.environment["OMPI_MCA_coll_tuned_bcast_algorithm"], "ring");
        assert_eq!(hints.unknown, ["rank_map"]);
        assert_eq!(hints.file.place.len(), 1);
        assert_eq!(read(HEAD).map(|hints| hints.environment.len()), Ok(0));
    }

    #[test]
    fn what_is_wrong_is_refused() {
        let limit = |environment: &str| format!("{HEAD}[[knob]]\nwhat = \"eager_limit\"\nenvironment = {environment}");
        for (text, reason) in [
            ("hints = ", "line 1: "),
            ("program = \"a\"", "line 1: it has no hints"),
            ("hints = 2\nprogram = \"a\"", "line 1: its hints are not of version 1"),
            ("hints = \"1\"\nprogram = \"a\"", "line 1: its hints are not of version 1"),
            ("hints = 1", "line 1: it does not say of which program it is"),
            ("hints = 1\nprogram = \"a\"\nknob = 3", "line 3: `knob` is no array of tables"),
            (&format!("{HEAD}[[knob]]\nwhat = 3"), "line 7: knob 1: `what` is no text"),
            (&limit("3"), "line 8: knob 1: `environment` of eager_limit is no table"),
            (&limit("{}"), "`environment` of eager_limit says nothing"),
            (
                &limit("{ UCX_RNDV_THRESH = 3 }"),
                "line 8: knob 1: `environment` of eager_limit has a value of UCX_RNDV_THRESH that is no text",
            ),
            (
                &limit("{ LD_PRELOAD = \"x.so\" }"),
                "`environment` of eager_limit sets LD_PRELOAD, which is none of its own",
            ),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.starts_with(reason) && error.contains("\n  remedy: "), "{text}: {error}");
        }
    }
}
