//! Knobs: what a library can be told without changing the program, as data. For `tune`, which tries them, and for hints files, which keep them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::listing::{self, Form};

/// Something that can be set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knob {
    /// The programming model whose libraries have it.
    pub model: String,
    what: String,
    name: String,
    /// What it does, for people.
    pub text: String,
    pub when: When,
    /// What stands in the names of the constructs that it is about.
    #[serde(default)]
    pub construct: String,
    change: Option<String>,
    most: Option<String>,
    /// Whether it counts only where the environment says it already: the program chooses otherwise.
    #[serde(default)]
    pub replaces: bool,
    /// Those to try, where neither the run nor the library says them.
    #[serde(default)]
    pub values: Vec<Value>,
    library: Vec<Library>,
}

/// What a run has to show for a knob to be worth a look.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Sends wait until their receive is posted.
    LongSends,
    /// Operations of a group; each of them is a case of its own.
    Collectives,
    /// Threads have uneven parts of loops whose schedule the environment says.
    UnevenLoops,
    /// Work waits for processors, and a process of a team of threads has more of them than its share of the processors.
    CrowdedThreads,
    /// Work waits for processors, and processes are bound to fewer than they have PEs, and than there are.
    NarrowBinding,
    /// There are processors for more threads than the teams have.
    IdleProcessors,
}

/// What a knob is set to.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(untagged)]
pub enum Value {
    Number(u64),
    Text(String),
}

/// How a knob is called in a library.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// What its version begins with.
    #[serde(default)]
    version: String,
    /// A command that prints what the installed library has; none where the standard of the model says it.
    #[serde(default)]
    pub lists: Vec<String>,
    /// Part of a line of that.
    #[serde(default)]
    finds: String,
    sets: String,
    /// What has to be set too.
    #[serde(default)]
    with: BTreeMap<String, String>,
    form: Option<Form>,
}

impl Knob {
    /// In hints files; a word is of the case, such as a collective.
    pub fn what(&self, word: Option<&str>) -> String {
        filled(&self.what, word)
    }

    /// For people.
    pub fn name(&self, word: Option<&str>) -> String {
        filled(&self.name, word)
    }

    /// Whether a hints file means it.
    pub fn is(&self, what: &str) -> bool {
        is_filled(&self.what, what)
    }

    /// Whether a variable of the environment is one of those that it may set.
    pub fn sets(&self, variable: &str) -> bool {
        let sets = |it: &Library| is_filled(&it.sets, variable) || it.with.contains_key(variable);
        self.library.iter().any(sets)
    }

    /// The changes that predict a value, at each of some places; none if nothing may predict one.
    pub fn changes(&self, places: &[String], value: &Value) -> Option<Vec<String>> {
        let change = self.change.as_ref()?.replace("{value}", &value.to_string());
        Some(at(&change, places))
    }

    /// The changes that save at least what a value of it saves, by what the run says; none if only values can be predicted.
    pub fn most(&self, places: &[String], factor: f64) -> Option<Vec<String>> {
        Some(at(&self.most.as_ref()?.replace("{factor}", &factor.to_string()), places))
    }

    /// Where to look for it in a library of its model that says this of its version.
    pub fn libraries<'a>(&'a self, version: &'a str) -> impl Iterator<Item = &'a Library> {
        self.library.iter().filter(move |library| version.starts_with(&library.version))
    }
}

fn filled(text: &str, word: Option<&str>) -> String {
    let word = word.unwrap_or_default();
    text.replace("{}", word).replace("{^}", &word.to_uppercase())
}

/// Whether a text is one that some word, of letters, digits and `_`, is filled into.
fn is_filled(form: &str, text: &str) -> bool {
    let Some((before, after)) = form.split_once("{}").or_else(|| form.split_once("{^}")) else { return form == text };
    let word = text.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    word.is_some_and(|word| !word.is_empty() && word.chars().all(|it| it.is_ascii_alphanumeric() || it == '_'))
}

/// A change at each of the places, or as it is if it is of none.
fn at(change: &str, places: &[String]) -> Vec<String> {
    if !change.contains("{place}") {
        return vec![change.to_owned()];
    }
    places.iter().map(|place| change.replace("{place}", place)).collect()
}

impl Library {
    /// The variables to set to a value, by what the library lists of itself. Empty if it has none such.
    pub fn variables(&self, listing: &str, word: Option<&str>) -> Vec<String> {
        let mut found: Vec<String> = if self.lists.is_empty() {
            vec![self.sets.clone()]
        } else {
            listing.lines().filter_map(|line| self.variable(line, word)).collect()
        };
        found.sort();
        found.dedup();
        found
    }

    fn variable(&self, line: &str, word: Option<&str>) -> Option<String> {
        let before = self.finds.split_once("{}").filter(|_| word.is_none());
        let Some((before, _)) = before else {
            return line.contains(&filled(&self.finds, word)).then(|| filled(&self.sets, word));
        };
        let rest = &line[line.find(before)? + before.len()..];
        let word = rest.split(':').next().filter(|word| !word.is_empty());
        line.contains(&filled(&self.finds, word)).then(|| filled(&self.sets, word))
    }

    /// What has to be set besides, whatever the value.
    pub fn with(&self) -> impl Iterator<Item = (String, String)> {
        self.with.iter().map(|(name, value)| (name.clone(), value.clone()))
    }

    /// The values that it lists, in its order, without the one that is set now. `accepts` is asked where a listing leaves open what a name is.
    pub fn values(&self, listing: &str, word: Option<&str>, accepts: &dyn Fn(&str) -> bool) -> Vec<Value> {
        let Some(form) = self.form else { return Vec::new() };
        let names = listing::values(form, listing, &filled(&self.finds, word), accepts);
        names.into_iter().map(Value::Text).collect()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) => f.write_str(text),
        }
    }
}

/// All knobs.
pub fn knobs() -> &'static [Knob] {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        knob: Vec<Knob>,
    }
    static KNOBS: OnceLock<Vec<Knob>> = OnceLock::new();
    KNOBS.get_or_init(|| {
        let file: File = toml::from_str(include_str!("../knobs.toml")).expect("tests read the file of knobs");
        file.knob
    })
}
