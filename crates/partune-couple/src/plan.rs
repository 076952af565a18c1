//! The plan of an experiment: a TOML file.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{CoupleError, count};

/// What is to be measured, and what predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// For the shell, with `{size}` and `{pes}`; started in `folder`.
    pub command: String,
    pub folder: PathBuf,
    pub environment: BTreeMap<String, String>,
    pub sizes: Vec<f64>,
    pub pes: Vec<u32>,
    /// Kernels of chains, ascending, each 2 or more.
    pub lengths: Vec<usize>,
    /// The plan itself says which; otherwise what a loop is too short for is left out.
    pub lengths_are_asked: bool,
    /// Launches for each size and number of PEs.
    pub launches: u32,
    /// Seconds of one launch that are for measuring.
    pub budget_s: f64,
    /// The relative standard error at which a launch may end before.
    pub confidence: f64,
    /// Rounds at least, if the budget lasts.
    pub rounds: u32,
    /// Seconds after which a launch is ended.
    pub timeout_s: f64,
    pub results: PathBuf,
    /// What the program's loop has to be; empty: whatever it is.
    pub order: Vec<String>,
    /// Sizes and numbers of PEs that are not measured.
    pub predict: Vec<(f64, u32)>,
}

/// One launch of the command.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    pub size: f64,
    pub pes: u32,
    pub number: u32,
    /// What lines of it are called: what was asked, so that lines of another plan are none of this one.
    pub label: String,
    pub command: String,
}

impl Launch {
    /// `size 24 on 2 PEs`.
    pub fn place(&self) -> String {
        format!("size {} on {}", self.size, count(self.pes, "PE"))
    }
}

/// A word in braces that is not put in. What a shell has with braces (`${NAME}`, `{1..4}`, `{ ...; }`) is its own.
fn unknown_place(text: &str) -> Option<&str> {
    let is_word = |inside: &str| !inside.is_empty() && inside.chars().all(|it| it.is_ascii_alphabetic() || it == '_');
    text.match_indices('{').filter(|(at, _)| !text[..*at].ends_with('$')).find_map(|(at, _)| {
        let word = &text[at..=at + text[at..].find('}')?];
        (is_word(&word[1..word.len() - 1]) && !["{size}", "{pes}"].contains(&word)).then_some(word)
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    command: String,
    sizes: Vec<f64>,
    pes: Vec<u32>,
    lengths: Option<Vec<usize>>,
    #[serde(default = "launches")]
    launches: u32,
    #[serde(default = "budget")]
    budget_s: f64,
    #[serde(default = "confidence")]
    confidence: f64,
    #[serde(default = "rounds")]
    rounds: u32,
    timeout_s: Option<f64>,
    results: Option<PathBuf>,
    #[serde(default, rename = "loop")]
    order: Vec<String>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    #[serde(default)]
    predict: Vec<Elsewhere>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Elsewhere {
    size: f64,
    pes: u32,
}

fn launches() -> u32 {
    3
}
fn budget() -> f64 {
    20.0
}
fn confidence() -> f64 {
    0.005
}
fn rounds() -> u32 {
    7
}

impl Plan {
    /// Reads a plan. Files and folders that it names are relative to its own folder.
    pub fn read(path: &Path) -> Result<Plan, CoupleError> {
        let bytes = partune_files::read_regular(path)
            .map_err(|error| CoupleError::Unreadable { path: path.to_owned(), error })?;
        Plan::parse(path, &String::from_utf8_lossy(&bytes))
    }

    pub(crate) fn parse(path: &Path, text: &str) -> Result<Plan, CoupleError> {
        let file: File = toml::from_str(text).map_err(|error| {
            let begin = error.span().map_or(0, |span| span.start);
            let line = text.char_indices().filter(|(at, letter)| *at < begin && *letter == '\n').count() + 1;
            CoupleError::Syntax { path: path.to_owned(), line, message: error.message().to_owned() }
        })?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let results = file.results.unwrap_or_else(|| {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            PathBuf::from(format!("{stem}.results.jsonl"))
        });
        let mut plan = Plan {
            command: file.command,
            folder: folder.to_owned(),
            environment: file.environment,
            sizes: file.sizes,
            pes: file.pes,
            lengths_are_asked: file.lengths.is_some(),
            lengths: file.lengths.unwrap_or_else(|| vec![2, 3]),
            launches: file.launches,
            budget_s: file.budget_s,
            confidence: file.confidence,
            rounds: file.rounds,
            timeout_s: file.timeout_s.unwrap_or(5.0 * file.budget_s + 60.0),
            results: folder.join(results),
            order: file.order,
            predict: file.predict.iter().map(|it| (it.size, it.pes)).collect(),
        };
        plan.lengths.sort_unstable();
        plan.check().map_err(|(key, message)| CoupleError::Value { path: path.to_owned(), key, message })?;
        Ok(plan)
    }

    fn check(&self) -> Result<(), (&'static str, String)> {
        let positive = |key: &'static str, value: f64| {
            let is = value > 0.0 && value < 1e15;
            if is { Ok(()) } else { Err((key, format!("{value} is no positive number"))) }
        };
        let once = |key: &'static str, values: &[f64]| {
            values.iter().try_for_each(|value| positive(key, *value))?;
            let twice = values
                .iter()
                .enumerate()
                .find(|(at, value)| values[..*at].iter().any(|it| it.total_cmp(value).is_eq()));
            match (values, twice) {
                ([], _) => Err((key, "at least one is needed".to_owned())),
                (_, Some((_, value))) => Err((key, format!("{value} is there twice"))),
                _ => Ok(()),
            }
        };
        once("sizes", &self.sizes)?;
        once("pes", &self.pes.iter().map(|pes| f64::from(*pes)).collect::<Vec<_>>())?;
        once("lengths", &self.lengths.iter().map(|length| *length as f64).collect::<Vec<_>>())?;
        if self.lengths[0] < 2 || self.lengths.iter().any(|length| *length > 1024) {
            return Err(("lengths", "chains have 2 to 1024 kernels".to_owned()));
        }
        if !self.order.is_empty()
            && let Err(CoupleError::TooLong { kernels, length }) = self.lengths_of(self.order.len())
        {
            return Err(("lengths", format!("`loop` has {kernels} kernels, so there are no chains of {length}")));
        }
        positive("budget_s", self.budget_s)?;
        positive("confidence", self.confidence)?;
        positive("timeout_s", self.timeout_s)?;
        positive("rounds", f64::from(self.rounds))?;
        positive("launches", f64::from(self.launches))?;
        for (size, pes) in &self.predict {
            positive("predict.size", *size)?;
            positive("predict.pes", f64::from(*pes))?;
        }
        for (key, values) in [("{size}", self.sizes.len()), ("{pes}", self.pes.len())] {
            let is_used = self.command.contains(key) || self.environment.values().any(|value| value.contains(key));
            if values > 1 && !is_used {
                return Err(("command", format!("{key} is not in it, and there are {values} of them")));
            }
        }
        let places = || std::iter::once(&self.command).chain(self.environment.values());
        if let Some(other) = places().find_map(|text| unknown_place(text)) {
            return Err(("command", format!("{other} is nothing that is put in: there are {{size}} and {{pes}}")));
        }
        if self.command.trim().is_empty() { Err(("command", "it is empty".to_owned())) } else { Ok(()) }
    }

    /// All launches, so that each size and number of PEs has one before any has two: what disturbs for a while disturbs all alike.
    pub fn launches(&self) -> Vec<Launch> {
        let asked = self.fingerprint();
        let lengths: Vec<String> = self.lengths.iter().map(ToString::to_string).collect();
        let lengths = lengths.join(",");
        let mut all = Vec::new();
        for number in 1..=self.launches {
            for size in &self.sizes {
                for pes in &self.pes {
                    let label = format!("size={size} pes={pes} launch={number} lengths={lengths} command={asked:016x}");
                    let command = filled(&self.command, *size, *pes);
                    all.push(Launch { size: *size, pes: *pes, number, label, command });
                }
            }
        }
        all
    }

    /// What a launch sees in its environment besides the variables of the measurement.
    pub fn environment(&self, launch: &Launch) -> impl Iterator<Item = (&str, String)> {
        self.environment.iter().map(|(name, value)| (name.as_str(), filled(value, launch.size, launch.pes)))
    }

    /// The core-hours of launches that take so many seconds each.
    pub fn core_hours(&self, launches: &[Launch], seconds: f64) -> f64 {
        launches.iter().map(|it| f64::from(it.pes) * seconds / 3600.0).sum()
    }

    /// Kernels of chains in a loop of so many.
    pub fn lengths_of(&self, kernels: usize) -> Result<Vec<usize>, CoupleError> {
        let (possible, too_long): (Vec<usize>, Vec<usize>) =
            self.lengths.iter().partition(|length| **length <= kernels);
        match too_long.first() {
            Some(length) if self.lengths_are_asked || possible.is_empty() => {
                Err(CoupleError::TooLong { kernels, length: *length })
            }
            _ => Ok(possible),
        }
    }

    /// Of the command and its environment (FNV-1a): the same in every version.
    fn fingerprint(&self) -> u64 {
        let mut text = self.command.clone();
        for (name, value) in &self.environment {
            let _ = write!(text, "\0{name}={value}");
        }
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

fn filled(text: &str, size: f64, pes: u32) -> String {
    text.replace("{size}", &size.to_string()).replace("{pes}", &pes.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Plan, String> {
        Plan::parse(Path::new("runs/app.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_plan_is_all_launches_one_of_each_first() {
        let plan = parse("command = 'mpirun -n {pes} ./app {size}'\nsizes = [8, 16.5]\npes = [1, 2]\nlaunches = 2\n")
            .expect("a plan");
        let launches = plan.launches();
        assert_eq!(launches.len(), 8);
        assert_eq!(launches[3].command, "mpirun -n 2 ./app 16.5");
        assert!(launches[3].label.starts_with("size=16.5 pes=2 launch=1 lengths=2,3 command="));
        assert_eq!((launches[4].size, launches[4].pes, launches[4].number), (8.0, 1, 2));
        assert_eq!(plan.results, Path::new("runs/app.results.jsonl"));
        // By hand: 2 launches on 1 and on 2 PEs, for 2 sizes: 12 times 20 s.
        assert!((plan.core_hours(&launches, plan.budget_s) - 240.0 / 3600.0).abs() < 1e-12);
    }

    /// What was asked for and cannot be is an error; what nobody asked for is left out.
    #[test]
    fn chains_are_no_longer_than_the_loop() {
        let plan = |more: &str| parse(&format!("command = 'app'\nsizes = [8]\npes = [1]\n{more}")).expect("a plan");
        let default = plan("");
        assert_eq!(default.lengths_of(3).expect("both"), [2, 3]);
        assert_eq!(default.lengths_of(2).expect("one of them"), [2]);
        assert!(matches!(default.lengths_of(1), Err(CoupleError::TooLong { kernels: 1, length: 2 })));
        assert!(matches!(plan("lengths = [2, 3]").lengths_of(2), Err(CoupleError::TooLong { kernels: 2, length: 3 })));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let good = "command = 'app {size}'\nsizes = [8]\npes = [1]\n";
        for (text, said) in [
            ("command = 'app'\nsizes = [8]\n", "runs/app.toml: line 1: missing field `pes`"),
            ("command = 'app'\nsizes = [8, 8]\npes = [1]\n", "runs/app.toml: sizes: 8 is there twice"),
            (
                "command = 'app'\nsizes = [8, 9]\npes = [1]\n",
                "runs/app.toml: command: {size} is not in it, and there are 2 of them",
            ),
            ("command = 'app'\nsizes = []\npes = [1]\n", "runs/app.toml: sizes: at least one is needed"),
            ("command = 'app'\nsizes = [nan]\npes = [1]\n", "runs/app.toml: sizes: NaN is no positive number"),
            ("command = 'app'\nsizes = [1]\npes = [0]\n", "runs/app.toml: pes: 0 is no positive number"),
            (&format!("{good}lengths = [1]\n"), "runs/app.toml: lengths: chains have 2 to 1024 kernels"),
            (
                &format!("{good}lengths = [2, 3]\nloop = ['a', 'b']\n"),
                "runs/app.toml: lengths: `loop` has 2 kernels, so there are no chains of 3",
            ),
            (&format!("{good}budget = 3\n"), "runs/app.toml: line 4: unknown field `budget`"),
            (&format!("{good}budget_s = -3\n"), "runs/app.toml: budget_s: -3 is no positive number"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.starts_with(said), "{error}");
            assert!(error.contains("\n  remedy: "), "{error}");
        }
    }
}
