//! Text that may be shown: what steers a terminal, or turns the direction of what follows, is shown as a sign and does nothing.

use std::borrow::Cow;

/// A text without characters that do something instead of being seen: `␛` stands for ESC, `�` for what has no sign of its own.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(|it| sign(it) == it) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.chars().map(sign).collect())
    }
}

/// A text of at most about so many bytes: of a longer one its begin and its end.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let (begin, end) = (text.floor_char_boundary(most / 2), text.ceil_char_boundary(text.len() - most / 2));
    Cow::Owned(format!("{}…{}", &text[..begin], &text[end..]))
}

/// The sign that stands for a character; for most itself.
pub fn sign(it: char) -> char {
    match it {
        // Unicode has a picture for each.
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(it)).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '\u{2421}',
        // The second set of controls, marks of direction, and separators of lines.
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => char::REPLACEMENT_CHARACTER,
        _ => it,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_text_both_ends_are_kept() {
        assert_eq!([shortened("abcdefgh", 8), shortened("abcdefgh", 7)], ["abcdefgh", "abc…fgh"]);
        // Between characters: the first of two bytes is not kept alone.
        assert_eq!(shortened("aéééé", 4), "a…é");
        assert_eq!(shortened("ab", 0), "…");
    }

    #[test]
    fn what_steers_is_a_sign_and_all_else_is_as_it_was() {
        assert_eq!(printable("\x1b[31mred\r\n\t\x7f"), "␛[31mred␍␊␉␡");
        assert_eq!(printable("\u{9b}2J \u{202e}txt.exe\u{2066}\u{200f}\u{2028}"), "�2J �txt.exe���");
        for plain in ["", "std::vec<int>::operator()", "größe × 2 µs", "計算", "e\u{301}", "🧮", "<b>&amp;</b>"]
        {
            assert!(matches!(printable(plain), Cow::Borrowed(same) if same == plain), "{plain}");
        }
    }
}
