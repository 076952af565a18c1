//! The file: TOML in. Reading checks what the types cannot, and says line, column and remedy.

use partune_trace::{Completion, Participants};
use serde::Deserialize;
use toml::Spanned;

use crate::parse::{self, Wrong};
use crate::{Operations, OwnPattern, Rule};

/// Why a text says nothing about operations. The caller adds the name of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}\n  remedy: {remedy}")]
pub struct ReadError {
    pub line: usize,
    pub column: usize,
    pub message: String,
    pub remedy: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    operation: Vec<OperationEntry>,
    #[serde(default)]
    pattern: Vec<PatternEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperationEntry {
    name: Spanned<String>,
    role: Spanned<String>,
    group: Option<Spanned<String>>,
    completion: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternEntry {
    name: Spanned<String>,
    when: Spanned<String>,
    text: Option<Spanned<String>>,
    next: Option<Spanned<String>>,
}

/// Bytes of a condition or of a text for people. Documents say the latter once a finding, and every operation is asked the former.
const LONGEST: usize = 2000;

/// Reads what a file says. Its patterns are kept until the process ends, so this is for what is read a few times.
pub fn read(text: &str) -> Result<Operations, ReadError> {
    let file: File = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let remedy = "see the page operations of the manual for what the file may say";
        error_at(text, Wrong { at, message: error.message().trim().replace('\n', ", "), remedy: remedy.to_owned() })
    })?;
    let rules = file.operation.iter().map(|entry| rule(text, entry)).collect::<Result<_, Wrong>>();
    let rules = rules.map_err(|wrong| error_at(text, wrong))?;
    let mut patterns: Vec<&'static OwnPattern> = Vec::with_capacity(file.pattern.len());
    for entry in file.pattern {
        let at = inside(text, &entry.name);
        let found = pattern(text, entry).map_err(|wrong| error_at(text, wrong))?;
        if patterns.iter().any(|known| known.name == found.name) {
            let message = format!("there are two patterns {}", found.own_name());
            return Err(error_at(text, Wrong { at, message, remedy: "give each a name of its own".to_owned() }));
        }
        patterns.push(Box::leak(Box::new(found)));
    }
    Ok(Operations { rules, patterns })
}

fn rule(text: &str, entry: &OperationEntry) -> Result<Rule, Wrong> {
    let name = entry.name.get_ref();
    if name.strip_suffix('*').unwrap_or(name).trim().is_empty() {
        let remedy = "write the name of a function, or the begin of names and a *";
        let message = "the name would be that of every function".to_owned();
        return Err(Wrong { at: inside(text, &entry.name), message, remedy: remedy.to_owned() });
    }
    let role = parse::role(entry.role.get_ref(), inside(text, &entry.role))?;
    let is_group = |group: &Spanned<String>| {
        let wrong =
            |message: String, remedy: &str| Err(Wrong { at: inside(text, group), message, remedy: remedy.to_owned() });
        if !role.is_collective() {
            return wrong(format!("{} is no operation of a group", role.name()), "leave out the group");
        }
        match group.get_ref().as_str() {
            "world" => Ok(Participants::World),
            "team" => Ok(Participants::Team),
            other => wrong(format!("{other:?} is no group"), "write \"world\" or \"team\", or leave it out"),
        }
    };
    let group = entry.group.as_ref().map(is_group).transpose()?;
    let completion = match entry.completion.as_ref().map(|it| (it, it.get_ref().as_str())) {
        None | Some((_, "blocking")) => Completion::Blocking,
        Some((_, "nonblocking")) => Completion::NonBlocking,
        Some((it, other)) => {
            let remedy = "write \"blocking\" or \"nonblocking\", or leave it out".to_owned();
            return Err(Wrong { at: inside(text, it), message: format!("{other:?} is no completion"), remedy });
        }
    };
    Ok(Rule { name: name.clone(), role, group, completion })
}

fn pattern(text: &str, entry: PatternEntry) -> Result<OwnPattern, Wrong> {
    let name = entry.name.get_ref();
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_letter) {
        let message = format!("{name:?} cannot be the name of a pattern");
        let remedy = "write at most 64 letters, digits, _ and -".to_owned();
        return Err(Wrong { at: inside(text, &entry.name), message, remedy });
    }
    for value in [Some(&entry.when), entry.text.as_ref(), entry.next.as_ref()].into_iter().flatten() {
        if value.get_ref().len() > LONGEST {
            let message = format!("a text of more than {LONGEST} bytes");
            let remedy = "say it shorter, or in several patterns".to_owned();
            return Err(Wrong { at: inside(text, value), message, remedy });
        }
    }
    let begin = inside(text, &entry.when);
    let when = parse::parse(entry.when.get_ref()).map_err(|wrong| Wrong { at: begin + wrong.at, ..wrong })?;
    let words = || entry.when.get_ref().split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(OwnPattern {
        name: format!("{}{name}", OwnPattern::PREFIX),
        text: entry.text.map_or_else(|| format!("Operations with {}.", words()), Spanned::into_inner),
        next: entry.next.map_or_else(|| "look at the longest of them on the time line".to_owned(), Spanned::into_inner),
        when,
    })
}

/// Where the letters of a text in the file begin: behind its quotation marks, unless it is written with escapes.
fn inside(text: &str, value: &Spanned<String>) -> usize {
    let span = value.span();
    let written = text.get(span.clone()).unwrap_or_default();
    span.start + written.get(1..).and_then(|behind| behind.find(value.get_ref().as_str())).map_or(0, |at| at + 1)
}

fn error_at(text: &str, wrong: Wrong) -> ReadError {
    let mut at = wrong.at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    ReadError { line, column, message: wrong.message, remedy: wrong.remedy }
}
