//! From words to a tree.

use std::collections::HashMap;

use partune_trace::RegionKind;

use crate::lexer::{Line, Source, Token};

/// A whole text.
#[derive(Default)]
pub(crate) struct Text {
    pub(crate) resolution: u64,
    pub(crate) paradigm: Option<String>,
    pub(crate) groups: Vec<GroupText>,
    /// Streams of each device.
    pub(crate) devices: Vec<Vec<(u32, u32)>>,
    /// PEs whose processes are on each node.
    pub(crate) nodes: Vec<(String, Vec<(u32, u32)>)>,
    /// Name and group.
    pub(crate) windows: Vec<(Line, String, String)>,
    /// Name, values and unit.
    pub(crate) metrics: Vec<(Line, String, Vec<String>)>,
    pub(crate) pes: Vec<((u32, u32), Vec<Item>)>,
}

pub(crate) struct GroupText {
    pub(crate) line: Line,
    /// `group`, `team` or `inter`.
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) members: Vec<String>,
}

#[derive(Clone)]
pub(crate) enum Item {
    Visit(VisitText),
    Repeat { times: u32, first: i64, every: i64, items: Vec<Item> },
}

#[derive(Clone)]
pub(crate) struct VisitText {
    pub(crate) line: Line,
    pub(crate) name: String,
    pub(crate) kind: RegionKind,
    /// File and line.
    pub(crate) source: Option<(String, u32)>,
    /// File and line from which it is called.
    pub(crate) site: Option<(String, u32)>,
    pub(crate) begin: Option<i64>,
    pub(crate) end: Option<i64>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) items: Vec<Item>,
}

#[derive(Clone)]
pub(crate) struct Fact {
    pub(crate) line: Line,
    pub(crate) name: String,
    /// Name, if it has one, and value.
    pub(crate) arguments: Vec<(Option<String>, String)>,
    pub(crate) time: Option<i64>,
}

/// Reads a text.
pub(crate) fn parse(source: &Source<'_>) -> Text {
    let mut parser = Parser { source, tokens: source.tokens(), next: 0, defined: HashMap::new() };
    let mut text = Text::default();
    while let Some(token) = parser.peek(0).cloned() {
        parser.next += 1;
        match token.text.as_str() {
            "resolution" => text.resolution = parser.number() as u64,
            "paradigm" => text.paradigm = Some(parser.word()),
            "group" | "team" | "inter" => {
                let name = parser.word();
                parser.expect("=");
                text.groups.push(GroupText { line: token.line, kind: token.text, name, members: parser.words() });
            }
            "device" | "node" => {
                let name = parser.word();
                parser.expect("=");
                let line = token.line;
                let pe =
                    |word: &String| pe_id(word).unwrap_or_else(|| source.fail(line, &format!("`{word}` is no PE")));
                let pes = parser.words().iter().map(pe).collect();
                if token.text == "node" { text.nodes.push((name, pes)) } else { text.devices.push(pes) }
            }
            "window" => {
                let name = parser.word();
                parser.expect("=");
                text.windows.push((token.line, name, parser.word()));
            }
            "metric" => {
                let name = parser.word();
                text.metrics.push((token.line, name, parser.words()));
            }
            "define" => {
                let name = parser.word();
                let items = parser.block();
                parser.defined.insert(name, items);
            }
            "pe" => {
                let ids = parser.pe_list();
                let items = parser.items();
                text.pes.extend(ids.into_iter().map(|id| (id, items.clone())));
            }
            _ => source.fail(token.line, &format!("`{}` does not begin a definition or PE", token.text)),
        }
    }
    text
}

/// `1_000` is 1000.
pub(crate) fn integer(text: &str) -> Option<i64> {
    text.replace('_', "").parse().ok()
}

const KEYWORDS: [&str; 10] =
    ["resolution", "paradigm", "group", "team", "inter", "device", "node", "window", "metric", "define"];

struct Parser<'a, 's> {
    source: &'a Source<'s>,
    tokens: Vec<Token>,
    next: usize,
    defined: HashMap<String, Vec<Item>>,
}

impl Parser<'_, '_> {
    /// The items of a PE or block, until something else comes.
    fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while let Some(token) = self.peek(0) {
            if token.is("repeat") && !self.range_follows() {
                self.next += 1;
                let times = self.number() as u32;
                self.expect("every");
                let every = self.number();
                items.push(Item::Repeat { times, first: 0, every, items: self.block() });
            } else if token.is("use") && !self.range_follows() {
                self.next += 1;
                let line = self.line();
                let name = self.word();
                let Some(defined) = self.defined.get(&name).cloned() else {
                    self.source.fail(line, &format!("`{name}` is not defined above"));
                };
                let Some(first) = self.moment() else { self.source.fail(line, "`use` needs `@` and a time") };
                items.push(Item::Repeat { times: 1, first, every: 0, items: defined });
            } else if token.is_word() && self.range_follows() {
                items.push(Item::Visit(self.visit(RegionKind::Function)));
            } else if let Some(kind) = marked(token)
                && self.peek(2).is_some_and(is_range)
            {
                self.next += 1;
                items.push(Item::Visit(self.visit(kind)));
            } else if token.is("}") || token.is("pe") || KEYWORDS.iter().any(|word| token.is(word)) {
                break;
            } else {
                self.source.fail(token.line, &format!("`{}` is not followed by its times", token.text));
            }
        }
        items
    }

    fn block(&mut self) -> Vec<Item> {
        self.expect("{");
        let items = self.items();
        self.expect("}");
        items
    }

    fn visit(&mut self, kind: RegionKind) -> VisitText {
        let Token { line, text, quoted } = self.take();
        let (text, site) = if quoted { (text, None) } else { split_place(&text, '^') };
        let (name, source) = if quoted { (text, None) } else { split_place(&text, '@') };
        let times = self.word();
        let (begin, end) = times.split_once("..").unwrap_or_default();
        let bound = |text: &str| {
            let parsed = integer(text);
            if parsed.is_none() && !text.is_empty() {
                self.source.fail(line, &format!("`{times}` is not a pair of times"));
            }
            parsed
        };
        let (begin, end) = (bound(begin), bound(end));
        let mut facts = Vec::new();
        while self.fact_follows() {
            facts.push(self.fact());
        }
        let items = if self.peek(0).is_some_and(|token| token.is("{")) { self.block() } else { Vec::new() };
        VisitText { line, name, kind, source, site, begin, end, facts, items }
    }

    fn fact(&mut self) -> Fact {
        let token = self.take();
        let (name, mut time) = match token.text.split_once('@') {
            Some((name, time)) => (name.to_owned(), integer(time)),
            None => (token.text.clone(), None),
        };
        let mut arguments = Vec::new();
        if self.peek(0).is_some_and(|token| token.is("(")) {
            self.next += 1;
            while !self.peek(0).is_some_and(|token| token.is(")")) {
                let first = self.word();
                if self.peek(0).is_some_and(|token| token.is("=")) {
                    self.next += 1;
                    arguments.push((Some(first), self.word()));
                } else {
                    arguments.push((None, first));
                }
                if self.peek(0).is_some_and(|token| token.is(",")) {
                    self.next += 1;
                }
            }
            self.next += 1;
        }
        if time.is_none() {
            time = self.moment();
        }
        Fact { line: token.line, name, arguments, time }
    }

    /// `@ 12` or `@12`, if it follows.
    fn moment(&mut self) -> Option<i64> {
        let token = self.peek(0).filter(|token| !token.quoted)?.clone();
        let text = token.text.strip_prefix('@')?;
        self.next += 1;
        if text.is_empty() {
            return Some(self.number());
        }
        Some(integer(text).unwrap_or_else(|| self.source.fail(token.line, &format!("`{text}` is not a time"))))
    }

    fn pe_list(&mut self) -> Vec<(u32, u32)> {
        let mut ids = Vec::new();
        loop {
            let token = self.take();
            let text = token.text.trim_end_matches(':');
            if !text.is_empty() {
                let id = pe_id(text);
                ids.push(id.unwrap_or_else(|| self.source.fail(token.line, &format!("`{text}` is not a PE"))));
            }
            if token.text.ends_with(':') {
                return ids;
            }
        }
    }

    /// All words up to the next definition, mark or line.
    fn words(&mut self) -> Vec<String> {
        let line = self.tokens[self.next - 1].line;
        let mut words = Vec::new();
        while self.peek(0).is_some_and(|token| token.is_word() && token.line == line) {
            words.push(self.word());
        }
        words
    }

    fn word(&mut self) -> String {
        let token = self.take();
        if !token.is_word() {
            self.source.fail(token.line, &format!("`{}` where a word should be", token.text));
        }
        token.text
    }

    fn number(&mut self) -> i64 {
        let line = self.line();
        let word = self.word();
        integer(&word).unwrap_or_else(|| self.source.fail(line, &format!("`{word}` is not a number")))
    }

    fn expect(&mut self, mark: &str) {
        let token = self.take();
        if !token.is(mark) {
            self.source.fail(token.line, &format!("`{}` where `{mark}` should be", token.text));
        }
    }

    fn take(&mut self) -> Token {
        let Some(token) = self.tokens.get(self.next).cloned() else {
            self.source.fail(usize::MAX - 1, "the text ends too early")
        };
        self.next += 1;
        token
    }

    fn line(&self) -> Line {
        self.peek(0).map_or(usize::MAX - 1, |token| token.line)
    }

    fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.next + ahead)
    }

    fn range_follows(&self) -> bool {
        self.peek(1).is_some_and(is_range)
    }

    fn fact_follows(&self) -> bool {
        let structural = |token: &Token| {
            ["repeat", "use", "pe"].iter().any(|word| token.is(word)) || KEYWORDS.iter().any(|word| token.is(word))
        };
        // `team(…)` and `metric(…)` are facts, `team x =` and `metric x` are definitions.
        let called = self.peek(1).is_some_and(|token| token.is("("));
        self.peek(0).is_some_and(|token| token.is_word() && !token.quoted && (called || !structural(token)))
            && !self.range_follows()
            && !(self.peek(0).is_some_and(|token| marked(token).is_some()) && self.peek(2).is_some_and(is_range))
    }
}

/// The mark that makes a region something else than a function.
fn marked(token: &Token) -> Option<RegionKind> {
    match token.text.as_str() {
        "phase" if !token.quoted => Some(RegionKind::Phase),
        "iteration" if !token.quoted => Some(RegionKind::Iteration),
        "block" if !token.quoted => Some(RegionKind::Block),
        _ => None,
    }
}

fn is_range(token: &Token) -> bool {
    !token.quoted && token.text.contains("..")
}

/// `3` or `3.1`.
pub(crate) fn pe_id(text: &str) -> Option<(u32, u32)> {
    let (rank, thread) = text.split_once('.').unwrap_or((text, "0"));
    Some((rank.parse().ok()?, thread.parse().ok()?))
}

/// `name@file:line` or `name^file:line`.
fn split_place(word: &str, mark: char) -> (String, Option<(String, u32)>) {
    let parts = word.split_once(mark).and_then(|(name, place)| {
        let (file, line) = place.rsplit_once(':')?;
        Some((name.to_owned(), Some((file.to_owned(), line.parse().ok()?))))
    });
    parts.unwrap_or_else(|| (word.to_owned(), None))
}
