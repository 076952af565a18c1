//! Lines of LLVM's representation: functions, their blocks and instructions, and the words of these.

use std::collections::BTreeMap;

use crate::flow::Block;

/// A function that is defined.
#[derive(Debug, Default)]
pub(super) struct Function<'a> {
    /// Its own description, by number.
    pub(super) described: Option<u32>,
    pub(super) lines: Vec<Line<'a>>,
    pub(super) blocks: Vec<Block>,
    /// Names of the blocks.
    pub(super) names: Vec<&'a str>,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// With its sign: `%7`.
    pub(super) result: Option<&'a str>,
    pub(super) operation: &'a str,
    /// What follows, without what describes it.
    pub(super) rest: &'a str,
    /// The number of its place.
    pub(super) place: Option<u32>,
}

/// The functions that a module defines.
pub(super) fn functions(text: &str) -> Vec<Function<'_>> {
    let mut all = Vec::new();
    let mut open: Option<(Function<'_>, Vec<Vec<&str>>)> = None;
    for line in text.lines() {
        let Some((function, leads)) = &mut open else {
            if line.starts_with("define ") && line.trim_end().ends_with('{') {
                let function = Function { described: number_after(line, "!dbg !"), ..Function::default() };
                open = Some((function, Vec::new()));
            }
            continue;
        };
        if line.starts_with('}') {
            if let Some((mut function, leads)) = open.take() {
                link(&mut function, &leads);
                all.push(function);
            }
            continue;
        }
        let line = without_comment(line);
        let at = function.lines.len();
        let name = line.strip_suffix(':').filter(|_| !line.starts_with([' ', '\t']));
        if name.is_some() || function.blocks.is_empty() && !line.trim().is_empty() {
            function.blocks.push(Block { first: at, end: at, next: Vec::new() });
            function.names.push(name.unwrap_or("").trim_matches('"'));
            leads.push(Vec::new());
        }
        if name.is_some() || line.trim().is_empty() {
            continue;
        }
        if let Some(leads) = leads.last_mut() {
            leads.extend(line.split("label %").skip(1).map(name_of));
        }
        // The debugger's records, and what goes on from the line before.
        if let Some(line) = instruction(line) {
            function.lines.push(line);
            if let Some(block) = function.blocks.last_mut() {
                block.end = at + 1;
            }
        }
    }
    all
}

/// Makes places in the list of blocks of the names that they lead to.
fn link(function: &mut Function<'_>, leads: &[Vec<&str>]) {
    let by_name: BTreeMap<&str, usize> = function.names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
    for (block, names) in function.blocks.iter_mut().zip(leads) {
        block.next = names.iter().filter_map(|name| by_name.get(name).copied()).collect();
        block.next.sort_unstable();
        block.next.dedup();
    }
}

/// A name at the begin of a text, in quotes or not.
fn name_of(text: &str) -> &str {
    match text.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or(""),
        None => text.split(|it: char| !is_of_name(it)).next().unwrap_or(""),
    }
}

fn instruction(line: &str) -> Option<Line<'_>> {
    let line = line.trim();
    if line.starts_with(['#', '!', ']', '}']) {
        return None;
    }
    let place = number_after(line, "!dbg !");
    let (result, what) = match line.split_once(" = ") {
        Some((name, what)) if name.starts_with('%') => (Some(name), what),
        _ => (None, line),
    };
    let what = what.split(", !").next().unwrap_or(what);
    let (operation, rest) = what.split_once(' ').unwrap_or((what, ""));
    Some(Line { result, operation, rest, place })
}

/// The number after the first of such marks.
pub(super) fn number_after(line: &str, mark: &str) -> Option<u32> {
    let rest = &line[line.find(mark)? + mark.len()..];
    rest.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()
}

fn without_comment(line: &str) -> &str {
    let mut is_quoted = false;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b';' if !is_quoted => return line[..at].trim_end(),
            _ => {}
        }
    }
    line.trim_end()
}

fn is_of_name(it: char) -> bool {
    it.is_ascii_alphanumeric() || "-$._".contains(it)
}

/// The words of a line: names with their signs, numbers, and signs each for itself.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    rest: &'a str,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Words<'a> {
        Words { rest: text }
    }

    pub(super) fn peek(&self) -> Option<&'a str> {
        self.clone().next()
    }

    /// Takes the next word if it is this one.
    pub(super) fn accept(&mut self, word: &str) -> bool {
        let mut after = self.clone();
        let is_it = after.next() == Some(word);
        if is_it {
            *self = after;
        }
        is_it
    }

    /// Takes words that say how an operation is done, and not what it is.
    pub(super) fn skip_flags(&mut self) {
        const FLAGS: [&str; 26] = [
            "nsw", "nuw", "nusw", "exact", "inbounds", "nneg", "disjoint", "samesign", "fast", "nnan", "ninf", "nsz",
            "arcp", "contract", "afn", "reassoc", "volatile", "atomic", "tail", "musttail", "notail", "fastcc", "ccc",
            "coldcc", "noundef", "zeroext",
        ];
        while self.peek().is_some_and(|word| FLAGS.contains(&word)) {
            self.next();
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let mut signs = rest.chars();
        let first = signs.next()?;
        let end = match first {
            '%' | '@' if signs.as_str().starts_with('"') => rest[2..].find('"').map_or(rest.len(), |end| end + 3),
            '%' | '@' | '!' | '#' => 1 + signs.as_str().find(|it| !is_of_name(it)).unwrap_or(signs.as_str().len()),
            '"' => signs.as_str().find('"').map_or(rest.len(), |end| end + 2),
            it if is_of_name(it) || it == '+' => {
                let after = &rest[1..];
                1 + after.find(|it| !is_of_name(it) && it != '+').unwrap_or(after.len())
            }
            it => it.len_utf8(),
        };
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        Some(word)
    }
}
