//! Knobs: what a library can be told without changing the program, as data. For `tune`, which tries them, and for hints files, which keep them.

use std::sync::OnceLock;

use serde::Deserialize;

/// Something that can be set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knob {
    /// In hints files.
    pub what: String,
    /// For people, and what it does.
    pub name: String,
    pub text: String,
    /// What predicts it, with `{value}` to be filled in.
    change: String,
    library: Vec<Library>,
}

/// How a knob is called in a library.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// What its version begins with.
    version: String,
    /// A command that prints what the installed library has.
    pub lists: Vec<String>,
    /// Part of a line of that, where `{}` is a word without a colon.
    finds: String,
    /// The variable of the environment, with the same word.
    sets: String,
}

impl Knob {
    /// The change that predicts a value.
    pub fn change(&self, value: u64) -> String {
        self.change.replace("{value}", &value.to_string())
    }

    /// Where to look for it in a library that says this of its version.
    pub fn libraries<'a>(&'a self, version: &'a str) -> impl Iterator<Item = &'a Library> {
        self.library.iter().filter(move |library| version.starts_with(&library.version))
    }
}

impl Library {
    /// The variables to set, by what the library lists of itself. Empty if it has none such.
    pub fn variables(&self, listing: &str) -> Vec<String> {
        let mut found: Vec<String> = listing.lines().filter_map(|line| self.variable(line)).collect();
        found.sort();
        found.dedup();
        found
    }

    fn variable(&self, line: &str) -> Option<String> {
        let Some((before, _)) = self.finds.split_once("{}") else {
            return line.contains(&self.finds).then(|| self.sets.clone());
        };
        let rest = &line[line.find(before)? + before.len()..];
        let word = rest.split(':').next().filter(|word| !word.is_empty())?;
        line.contains(&self.finds.replace("{}", word)).then(|| self.sets.replace("{}", word))
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
