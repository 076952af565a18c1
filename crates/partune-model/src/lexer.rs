//! Text into tokens and comments. Never fails: what is no token becomes an error and is skipped.

use crate::diagnostic::{Diagnostic, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a word of the language; `rho`, `μ` and the like are names.
    Word,
    /// Digits with point, exponent and unit of time.
    Number,
    /// In double quotes.
    Text,
    /// One of [`SIGNS`].
    Sign,
    /// From `//` or `#` to the end of the line.
    Comment,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: Kind,
    pub(crate) text: &'a str,
    pub(crate) span: Span,
}

/// Longest first.
const SIGNS: &[&str] = &[
    "||", "<=", ">=", "!=", "..", "->", "(", ")", "[", "]", "{", "}", ";", ",", ":", "=", "<", ">", "+", "-", "*", "/",
    "^", "|",
];

/// Aliases of other spellings: the papers' parallel sign, and comparison signs.
const ALIASES: &[(&str, &str)] = &[("∥", "||"), ("≤", "<="), ("≥", ">="), ("≠", "!="), ("×", "*")];

/// All tokens, comments among them, with an `End` last.
pub(crate) fn tokens<'a>(source: &'a str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Token<'a>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let (kind, text, length) = if first.is_whitespace() || first == '\u{feff}' {
            at += first.len_utf8();
            continue;
        } else if first == '#' || rest.starts_with("//") {
            let length = rest.find('\n').unwrap_or(rest.len());
            (Kind::Comment, &rest[..length], length)
        } else if first.is_ascii_digit() || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            let length = number(rest);
            (Kind::Number, &rest[..length], length)
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'').unwrap_or(rest.len());
            (Kind::Word, &rest[..length], length)
        } else if first == '"' {
            let end = rest[1..].find(['"', '\n']).map(|end| end + 1);
            if let Some(end) = end.filter(|end| rest[*end..].starts_with('"')) {
                (Kind::Text, &rest[1..end], end + 1)
            } else {
                let length = end.unwrap_or(rest.len());
                diagnostics
                    .push(Diagnostic::error(Span::new(at, at + length), "a text without end").help("close it with \""));
                (Kind::Text, &rest[1..length], length)
            }
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Kind::Sign, *sign, sign.len())
        } else if let Some((alias, sign)) = ALIASES.iter().find(|(alias, _)| rest.starts_with(alias)) {
            (Kind::Sign, *sign, alias.len())
        } else {
            let length = first.len_utf8();
            diagnostics.push(Diagnostic::error(Span::new(at, at + length), format!("`{first}` has no meaning here")));
            at += length;
            continue;
        };
        tokens.push(Token { kind, text, span: Span::new(at, at + length) });
        at += length;
    }
    tokens.push(Token { kind: Kind::End, text: "", span: Span::new(source.len(), source.len()) });
    tokens
}

/// The length of a number with exponent and unit; `1..5` is a number and a range sign.
fn number(text: &str) -> usize {
    let digits = |from: usize| from + text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if text[end..].starts_with('.') && !text[end..].starts_with("..") {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let after = digits(end + 1 + sign);
        if after > end + 1 + sign {
            end = after;
        }
    }
    // A unit, or letters that do not belong there: the parser tells.
    end + text[end..].find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len() - end)
}
