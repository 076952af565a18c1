//! Rust text taken apart into code, comments and string literals, for the checks of `tidy`.
//!
//! Not a parser: it knows just enough of the lexical grammar to say what a character belongs to, so that a rule
//! about code does not fire on a comment and a rule about literals does not fire on code. Lines are kept: every
//! part has as many line breaks as the text it comes from.

/// A piece of a file and the line (from 1) on which it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// One file, taken apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    /// The text with comments and the insides of string and character literals blanked.
    pub(crate) plain: String,
    /// String literals without quotes, escapes untouched.
    pub(crate) literals: Vec<Piece>,
    /// Comments with their markers.
    pub(crate) comments: Vec<Piece>,
}

impl Code {
    /// Takes `text` apart. Never fails: an open comment or literal reaches to the end.
    pub(crate) fn parse(text: &str) -> Self {
        let mut out = Code::default();
        let mut rest = text;
        let mut line = 1;
        let mut after_word = false;
        while let Some(first) = rest.chars().next() {
            let (kind, length) = if rest.starts_with("//") {
                (Kind::Comment, rest.find('\n').unwrap_or(rest.len()))
            } else if rest.starts_with("/*") {
                (Kind::Comment, block_comment(rest))
            } else if let Some((open, length)) = string_literal(rest).filter(|_| first == '"' || !after_word) {
                (Kind::Literal { open }, length)
            } else if first == '\'' {
                char_literal(rest).map_or((Kind::Code, 1), |length| (Kind::Literal { open: 0 }, length))
            } else {
                (Kind::Code, first.len_utf8())
            };
            let (piece, tail) = rest.split_at(length);
            match kind {
                Kind::Code => out.plain.push_str(piece),
                Kind::Comment => {
                    out.comments.push(Piece { line, text: piece.to_owned() });
                    blank(&mut out.plain, piece);
                }
                Kind::Literal { open } => {
                    if open > 0 {
                        let inner = piece[open..].trim_end_matches('#');
                        let inner = inner.strip_suffix('"').unwrap_or(inner);
                        out.literals.push(Piece { line, text: inner.to_owned() });
                    }
                    blank(&mut out.plain, piece);
                }
            }
            after_word = matches!(kind, Kind::Code) && (first.is_alphanumeric() || first == '_');
            line += piece.matches('\n').count();
            rest = tail;
        }
        out
    }

    /// The line from which on the file is tests: that of a `#[cfg(test)]` with a module in braces after it.
    /// By our custom nothing but tests follows.
    pub(crate) fn tests_begin(&self) -> usize {
        let mut lines = self.plain.lines().enumerate().peekable();
        while let Some((index, line)) = lines.next() {
            if line.trim() == "#[cfg(test)]"
                && lines.peek().is_some_and(|(_, next)| next.starts_with("mod ") && next.trim_end().ends_with('{'))
            {
                return index + 1;
            }
        }
        usize::MAX
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Code,
    Comment,
    /// `open` is the length of the opening quote with its prefix; 0 for a character.
    Literal {
        open: usize,
    },
}

fn blank(code: &mut String, piece: &str) {
    code.extend(piece.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
}

/// The length of the block comment at the start of `text`; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The lengths of the opening quote and of the whole string literal at the start of `text`.
fn string_literal(text: &str) -> Option<(usize, usize)> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|p| {
        let after = text.strip_prefix(p).unwrap_or_default();
        after.starts_with('"') || (p.ends_with('r') && after.trim_start_matches('#').starts_with('"'))
    })?;
    let hashes = text[prefix.len()..].chars().take_while(|&c| c == '#').count();
    let open = prefix.len() + hashes + 1;
    let body = text.get(open..)?;
    if prefix.ends_with('r') {
        let close = format!("\"{}", "#".repeat(hashes));
        return Some((open, body.find(&close).map_or(text.len(), |end| open + end + close.len())));
    }
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some((open, open + at + 1)),
            _ => {}
        }
    }
    Some((open, text.len()))
}

/// The length of the character literal at the start of `text`; none where the quote begins a lifetime.
fn char_literal(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        chars.next();
        return chars.find(|&(_, c)| c == '\'').map(|(at, _)| at + 1);
    }
    chars.next().filter(|&(_, c)| c == '\'').map(|(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_comments_and_literals_come_apart() {
        let text = "//! top\nlet a: &'static str = \"x // \\\" y\"; /* a /* b */ \"c\" */ let b = '\"';\nr#\"q\"#; b\"z\" // end";
        let parts = Code::parse(text);
        let texts = |pieces: &[Piece]| pieces.iter().map(|p| (p.line, p.text.clone())).collect::<Vec<_>>();
        let piece = |line, text: &str| (line, text.to_owned());
        assert_eq!(texts(&parts.literals), [piece(2, "x // \\\" y"), piece(3, "q"), piece(3, "z")]);
        assert_eq!(
            texts(&parts.comments),
            [piece(1, "//! top"), piece(2, "/* a /* b */ \"c\" */"), piece(3, "// end")]
        );
        assert_eq!(parts.plain.lines().count(), text.lines().count());
        assert!(parts.plain.contains("&'static str"));
        assert!(!parts.plain.contains('"'));
    }

    #[test]
    fn a_name_that_ends_like_a_prefix_is_no_literal_and_open_ends_do_no_harm() {
        assert_eq!(Code::parse("hdr\"x\"").literals.len(), 1);
        for open in ["\"abc", "r#\"abc", "/* abc", "'", "'\\", "b'", "\\"] {
            Code::parse(open);
        }
        assert!(Code::parse("impl<'a> T<'a> for U {}").plain.contains("impl<'a> T<'a> for U {}"));
    }

    #[test]
    fn tests_begin_at_the_test_module() {
        assert_eq!(Code::parse("//! a\n\n#[cfg(test)]\nmod tests {\n}\n").tests_begin(), 3);
        assert_eq!(Code::parse("#[cfg(test)]\nmod tests;\nfn f() {}\n").tests_begin(), usize::MAX);
        assert_eq!(Code::parse("#[cfg(test)]\nfn f() {}\n").tests_begin(), usize::MAX);
    }
}
