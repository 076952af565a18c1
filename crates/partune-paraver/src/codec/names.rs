//! The names of numbers: `.pcf` has those of states, event types and their values, `.row` those of nodes, tasks and threads.
//!
//! Both are text by sections; what is in no section that is known here (colours, defaults) is passed over. Of two names for one number the
//! first counts. Bytes that are not UTF-8 are replaced.

use rustc_hash::FxHashMap;

/// What a `.pcf` names.
#[derive(Clone, Debug, Default)]
pub struct Pcf {
    pub states: FxHashMap<u64, String>,
    /// Label of each event type, and the position of its values in `values`.
    types: FxHashMap<u64, (String, usize)>,
    /// Types that are declared together share their values.
    values: Vec<FxHashMap<u64, String>>,
}

/// What a `.row` names; each from 1 on in the trace, from 0 on here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub nodes: Vec<String>,
    pub tasks: Vec<String>,
    pub threads: Vec<String>,
}

/// A section of a `.pcf`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Other,
    States,
    Types,
    Values,
}

impl Pcf {
    pub fn read(bytes: &[u8]) -> Pcf {
        let mut pcf = Pcf::default();
        let mut section = Section::Other;
        for line in lines(bytes) {
            let word = line.split_ascii_whitespace().next().unwrap_or("");
            if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
                pcf.entry(section, &line);
                continue;
            }
            section = match word {
                "STATES" => Section::States,
                "EVENT_TYPE" => {
                    pcf.values.push(FxHashMap::default());
                    Section::Types
                }
                "VALUES" if matches!(section, Section::Types | Section::Values) => Section::Values,
                // Digits after the point of values; types may follow.
                "PRECISION" => section,
                _ => Section::Other,
            };
        }
        pcf
    }

    fn entry(&mut self, section: Section, line: &str) {
        match section {
            Section::States => {
                if let Some((state, name)) = numbered(line) {
                    self.states.entry(state).or_insert_with(|| name.to_owned());
                }
            }
            Section::Types => {
                let colour = line.trim_start().split_once(|c: char| c.is_ascii_whitespace());
                if let Some((id, label)) = colour.and_then(|(_, rest)| numbered(rest)) {
                    self.types.entry(id).or_insert_with(|| (label.to_owned(), self.values.len().saturating_sub(1)));
                }
            }
            Section::Values => {
                if let Some((value, name)) = numbered(line)
                    && let Some(values) = self.values.last_mut()
                {
                    values.entry(value).or_insert_with(|| name.to_owned());
                }
            }
            Section::Other => {}
        }
    }

    /// The label of an event type.
    pub fn event_type(&self, id: u64) -> Option<&str> {
        self.types.get(&id).map(|(label, _)| label.as_str())
    }

    /// The name of a value of an event type.
    pub fn value(&self, id: u64, value: u64) -> Option<&str> {
        self.values(id)?.get(&value).map(String::as_str)
    }

    /// All named values of an event type.
    pub fn values(&self, id: u64) -> Option<&FxHashMap<u64, String>> {
        self.types.get(&id).and_then(|(_, values)| self.values.get(*values))
    }
}

impl Row {
    pub fn read(bytes: &[u8]) -> Row {
        let mut row = Row::default();
        let mut names: Option<&mut Vec<String>> = None;
        let mut left = 0;
        for line in lines(bytes) {
            let mut words = line.split_ascii_whitespace();
            if let (Some("LEVEL"), Some(level), Some("SIZE"), Some(size)) =
                (words.next(), words.next(), words.next(), words.next())
                && left == 0
            {
                left = size.parse::<u64>().unwrap_or(0);
                names = match level {
                    "NODE" => Some(&mut row.nodes),
                    "TASK" => Some(&mut row.tasks),
                    "THREAD" => Some(&mut row.threads),
                    _ => None,
                };
            } else if left > 0 {
                left -= 1;
                if let Some(names) = &mut names {
                    names.push(line.trim().to_owned());
                }
            }
        }
        row
    }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line.trim_ascii_end()));
    lines.filter(|line| !line.is_empty())
}

/// A number and the text after it.
fn numbered(line: &str) -> Option<(u64, &str)> {
    let line = line.trim();
    let digits = line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len());
    let (number, text) = line.split_at(digits);
    Some((number.parse().ok()?, text.trim_start()))
}
