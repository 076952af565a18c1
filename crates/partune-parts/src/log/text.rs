//! A text as one word.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::str::Split;

use super::Field;

/// A text; where it is empty its word is `-`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text<'a>(pub Cow<'a, str>);

impl<'a> Text<'a> {
    pub(super) fn of_word(word: &'a str) -> Text<'a> {
        Text(match word {
            "-" => Cow::Borrowed(""),
            plain if !plain.contains('%') => Cow::Borrowed(plain),
            escaped => Cow::Owned(unescape(escaped)),
        })
    }

    pub fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl<'a> Field<'a> for Text<'a> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            "" => return f.write_char('-'),
            "-" => return f.write_str("%2d"),
            _ => {}
        }
        for c in self.0.chars() {
            if c == '%' || c.is_whitespace() || c.is_control() {
                let mut buffer = [0; 4];
                c.encode_utf8(&mut buffer).bytes().try_for_each(|byte| write!(f, "%{byte:02x}"))?;
            } else {
                f.write_char(c)?;
            }
        }
        Ok(())
    }

    fn read(words: &mut Split<'a, char>) -> Option<Self> {
        words.next().map(Text::of_word)
    }
}

fn unescape(word: &str) -> String {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
