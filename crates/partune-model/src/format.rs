//! The formatter: one way to space and indent, the writer's lines kept.
//!
//! Works on tokens, so comments stay where they are and nothing is lost; lines end where the writer ended them. What it gives formats to
//! itself.

use crate::diagnostic::Diagnostic;
use crate::lexer::{Kind, Token, tokens};

const INDENT: &str = "  ";

/// The text in standard form; none if it holds what is no token.
pub fn format(source: &str) -> Option<String> {
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    let tokens = tokens(source, &mut diagnostics);
    if !diagnostics.is_empty() {
        return None;
    }
    let mut text = String::new();
    let mut depth: usize = 0;
    let mut previous: Option<Token<'_>> = None;
    let mut before: Option<Token<'_>> = None;
    // Whether an item is under way, so that a new line continues it.
    let mut inside = false;
    for token in tokens.iter().filter(|token| token.kind != Kind::End) {
        let closes = token.kind == Kind::Sign && matches!(token.text, ")" | "]" | "}");
        if closes {
            depth = depth.saturating_sub(1);
        }
        let gap = previous.map_or("", |previous| &source[previous.span.end as usize..token.span.begin as usize]);
        let breaks = gap.matches('\n').count();
        if breaks > 0 {
            text.push('\n');
            if breaks > 1 && !closes {
                text.push('\n');
            }
            let continued = inside && depth == 0 && token.kind != Kind::Comment && !closes;
            text.push_str(&INDENT.repeat(depth + usize::from(continued)));
        } else if token.kind == Kind::Comment && previous.is_some() {
            // Comments that the writer put in a column stay there.
            text.push_str(&" ".repeat(gap.chars().count().max(1)));
        } else if previous.is_some_and(|previous| {
            spaced(before, previous, *token, !gap.is_empty()) || runs_together(previous, *token)
        }) {
            text.push(' ');
        }
        text.push_str(&written(*token));
        if token.kind == Kind::Sign && matches!(token.text, "(" | "[" | "{") {
            depth += 1;
        }
        if token.kind != Kind::Comment {
            inside = !(depth == 0 && token.text == ";");
        }
        before = previous.filter(|previous| previous.kind != Kind::Comment);
        previous = Some(*token);
    }
    if !text.is_empty() {
        text.push('\n');
    }
    Some(text)
}

fn written(token: Token<'_>) -> String {
    match token.kind {
        Kind::Text => format!("\"{}\"", token.text),
        Kind::Comment => {
            let body = token.text.trim_start_matches('#').trim_start_matches('/').trim();
            if body.is_empty() { "//".to_owned() } else { format!("// {body}") }
        }
        _ => token.text.to_owned(),
    }
}

/// Whether two tokens without a space would be read as others: `-` and `>=` as `->` and `=`.
fn runs_together(left: Token<'_>, right: Token<'_>) -> bool {
    let both = format!("{}{}", written(left), written(right));
    tokens(&both, &mut Vec::new()).first().is_some_and(|first| first.text != left.text)
}

/// Whether a space stands between two tokens of a line.
fn spaced(before: Option<Token<'_>>, left: Token<'_>, right: Token<'_>, gap: bool) -> bool {
    const WORDS: &[&str] = &[
        "if", "then", "else", "while", "where", "seq", "par", "and", "or", "not", "div", "mod", "from", "in", "choose",
        "sum", "forall", "weight",
    ];
    const ARITHMETIC: &[&str] = &["+", "-", "*", "/"];
    const OPERATORS: &[&str] = &["=", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "||", "|", "->"];
    let sign = |token: Token<'_>, list: &[&str]| token.kind == Kind::Sign && list.contains(&token.text);
    let word = |token: Token<'_>| token.kind == Kind::Word && WORDS.contains(&token.text);
    if right.kind == Kind::Comment {
        return true;
    }
    // A minus that has nothing to its left belongs to what follows.
    let no_value = |token: Token<'_>| {
        sign(token, OPERATORS) || sign(token, &["(", "[", "{", ",", ":", ";", "^", ".."]) || word(token)
    };
    if sign(left, &["-"]) && before.is_none_or(no_value) {
        return false;
    }
    // Arithmetic is as loose or tight as the writer made it.
    if sign(left, ARITHMETIC) || sign(right, ARITHMETIC) {
        return gap || word(left);
    }
    // All that follows, in a list: `nbr[elem, ..]`.
    if sign(left, &[","]) && sign(right, &[".."]) {
        return true;
    }
    if sign(left, &["^", "..", "(", "["]) || sign(right, &["^", "..", ")", "]", ",", ";", ":"]) {
        return false;
    }
    if sign(right, &["("]) {
        return word(left) || sign(left, OPERATORS) || sign(left, &[",", "{", ";", ":", ")"]);
    }
    if sign(right, &["["]) {
        return left.kind != Kind::Word && left.kind != Kind::Number || word(left);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_formatted_stays_as_it_is() {
        let signs = "|| <= >= != .. -> ( ) [ ] { } ; , : = < > + - * / ^ | ∥ ≥".split(' ');
        let words: Vec<&str> = signs.chain(["x", "if", "1", "2.5ms", "1.", "\"t\"", "// c\n", "#/ d\n"]).collect();
        let mut texts = Vec::new();
        for a in &words {
            for b in &words {
                for c in &words {
                    texts.extend([" ", ""].map(|gap| [*a, *b, *c].join(gap)));
                }
            }
        }
        let mut formatted = 0;
        for text in texts {
            let Some(once) = format(&text) else { continue };
            assert_eq!(format(&once).as_deref(), Some(once.as_str()), "{text:?}");
            let of = |text: &str| -> Vec<(Kind, String)> {
                tokens(text, &mut Vec::new()).iter().map(|token| (token.kind, written(*token))).collect()
            };
            assert_eq!(of(&once), of(&text), "{text:?}");
            formatted += 1;
        }
        assert!(formatted > 50_000, "{formatted}");
        assert_eq!(format("- >= x").as_deref(), Some("- >= x\n"));
        assert_eq!(format("let a = 2 *-x;").as_deref(), Some("let a = 2 *-x;\n"));
    }
}
