//! Files and lines of LLVM's representation: `!DILocation` and what it leads to.

use std::collections::BTreeMap;

/// Descriptions by number.
#[derive(Debug, Default)]
pub(super) struct Places<'a> {
    described: BTreeMap<u32, &'a str>,
}

/// Scopes in scopes that are followed.
const DEPTH: usize = 64;

impl<'a> Places<'a> {
    pub(super) fn new(text: &'a str) -> Places<'a> {
        let described = text.lines().filter_map(|line| {
            let (number, what) = line.strip_prefix('!')?.split_once(" = ")?;
            Some((number.parse().ok()?, what.strip_prefix("distinct ").unwrap_or(what)))
        });
        Places { described: described.collect() }
    }

    /// The line of a place; none if it has none, or is of code that another function has inside.
    pub(super) fn line(&self, place: u32) -> Option<u32> {
        let what = self.described.get(&place).filter(|what| what.starts_with("!DILocation("))?;
        let line = field(what, "line")?.parse().ok().filter(|line| *line > 0)?;
        field(what, "inlinedAt").is_none().then_some(line)
    }

    /// The name of a function by its description, and the file that it is in, with its folder.
    pub(super) fn function(&self, described: u32) -> Option<(String, String)> {
        let what = self.described.get(&described).filter(|what| what.starts_with("!DISubprogram("))?;
        let name = field(what, "name").map(unquoted)?;
        let mut at = number(field(what, "file")?)?;
        // Files that are named by their scopes.
        for _ in 0..DEPTH {
            let what = self.described.get(&at)?;
            if what.starts_with("!DIFile(") {
                let (file, folder) = (unquoted(field(what, "filename")?), field(what, "directory").map(unquoted));
                let is_whole = file.starts_with('/');
                let folder = folder.filter(|folder| !folder.is_empty() && !is_whole);
                return Some((name, folder.map_or(file.clone(), |folder| format!("{folder}/{file}"))));
            }
            at = number(field(what, "file")?)?;
        }
        None
    }
}

fn number(text: &str) -> Option<u32> {
    text.strip_prefix('!')?.parse().ok()
}

/// What a description says of a word: `line` of `!DILocation(line: 5, column: 3, scope: !7)` is `5`.
fn field<'a>(what: &'a str, of: &str) -> Option<&'a str> {
    let inside = what.split_once('(')?.1;
    let (mut begin, mut is_quoted, mut depth) = (0, false, 0_u32);
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b',' | b')' if depth == 0 => {
                let (name, value) = inside[begin..at].split_once(':')?;
                if name.trim() == of {
                    return Some(value.trim());
                }
                begin = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// A text in quotes, where a sign may be written as two digits after a backslash.
fn unquoted(text: &str) -> String {
    let text = text.trim_matches('"');
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'\\').and_then(|it| std::str::from_utf8(it).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
