//! The arguments of facts, and what their words stand for.

use partune_base::{FileId, GroupId, PeId, Time, WindowId};
use partune_trace::NO_REQUEST;

use crate::facts::Here;
use crate::lexer::Source;
use crate::names::Names;
use crate::syntax::{Fact, integer, pe_id};

/// The arguments of a fact, taken one by one.
pub(crate) struct Given<'a, 's> {
    fact: &'a Fact,
    pub(crate) here: Here,
    names: &'a Names,
    /// Those that were not taken yet.
    pub(crate) left: Vec<(Option<String>, String)>,
    source: &'a Source<'s>,
}

impl<'a, 's> Given<'a, 's> {
    pub(crate) fn new(source: &'a Source<'s>, names: &'a Names, fact: &'a Fact, here: Here) -> Self {
        Self { fact, here, names, left: fact.arguments.clone(), source }
    }

    pub(crate) fn fail(&self, message: &str) -> ! {
        self.source.fail(self.fact.line, message)
    }

    pub(crate) fn at_enter(&self) -> Time {
        self.fact.time.map_or(self.here.enter, |time| Time(time + self.here.shift))
    }

    pub(crate) fn at_exit(&self) -> Time {
        self.fact.time.map_or(self.here.exit, |time| Time(time + self.here.shift))
    }

    /// The argument with one of these names; the name "" stands for the first that has none.
    pub(crate) fn optional(&mut self, keys: &[&str]) -> Option<String> {
        let position =
            keys.iter().find_map(|key| self.left.iter().position(|(name, _)| name.as_deref().unwrap_or("") == *key))?;
        Some(self.left.remove(position).1)
    }

    pub(crate) fn number(&mut self, keys: &[&str]) -> Option<u64> {
        let word = self.optional(keys)?;
        Some(integer(&word).unwrap_or_else(|| self.fail(&format!("`{word}` is not a number"))) as u64)
    }

    pub(crate) fn need(&mut self, keys: &[&str]) -> u64 {
        self.number(keys).unwrap_or_else(|| self.fail(&format!("`{}` needs `{}`", self.fact.name, keys[0])))
    }

    pub(crate) fn time(&mut self, key: &str) -> Option<Time> {
        self.number(&[key]).map(|time| Time(time as i64 + self.here.shift))
    }

    pub(crate) fn tag(&mut self) -> u32 {
        self.number(&["tag"]).unwrap_or(0) as u32
    }

    pub(crate) fn bytes(&mut self) -> u64 {
        self.number(&["bytes"]).unwrap_or(0)
    }

    pub(crate) fn request(&mut self) -> u64 {
        self.number(&["req"]).unwrap_or(NO_REQUEST)
    }

    pub(crate) fn pe(&mut self, keys: &[&str]) -> PeId {
        match self.optional(keys) {
            Some(word) => self.find_pe(&word),
            None => self.fail(&format!("`{}` needs `{}`", self.fact.name, keys[0])),
        }
    }

    pub(crate) fn find_pe(&self, word: &str) -> PeId {
        let relative = word.starts_with(['+', '-']).then(|| integer(word)).flatten();
        let id = match relative {
            Some(by) => {
                let rank = (i64::from(self.here.rank) + by).rem_euclid(i64::from(self.names.ranks));
                Some((rank as u32, self.here.thread))
            }
            None => pe_id(word),
        };
        let pe = id.and_then(|id| self.names.pes.get(&id));
        *pe.unwrap_or_else(|| self.fail(&format!("there is no PE {word}")))
    }

    /// The group, `world` if it is not given; `first` if it may stand without its name.
    pub(crate) fn group(&mut self, first: bool) -> GroupId {
        let word = self.optional(if first { &["group", ""] } else { &["group"] });
        let word = word.as_deref().unwrap_or("world");
        *self.names.groups.get(word).unwrap_or_else(|| self.fail(&format!("there is no group {word}")))
    }

    /// The file; none if it is not given.
    pub(crate) fn file(&mut self) -> FileId {
        let name = self.optional(&["file"]);
        name.and_then(|name| self.names.files.get(&name).copied()).unwrap_or(FileId::NONE)
    }

    /// The window, the first one if it is not given.
    pub(crate) fn window(&mut self, first: bool) -> WindowId {
        let Some(word) = self.optional(if first { &["win", ""] } else { &["win"] }) else {
            return WindowId(0);
        };
        *self.names.windows.get(&word).unwrap_or_else(|| self.fail(&format!("there is no window {word}")))
    }
}
