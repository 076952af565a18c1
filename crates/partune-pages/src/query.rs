//! What a question asks for: parameters with their limits. Whatever is not in order is reported, never guessed.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::error::Error;

/// Parameters of a question, decoded; each at most once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// From the part of an address after `?`. Only keys of a list are taken.
    pub(crate) fn new(text: &str, known: &[&str]) -> Result<Query, Error> {
        let mut rows: Vec<(String, String)> = Vec::new();
        for part in text.split('&').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let (Some(key), Some(value)) = (decoded(key), decoded(value)) else {
                return Err(Error::question("a parameter is no text in UTF-8", "encode it as addresses are encoded"));
            };
            if !known.contains(&key.as_str()) {
                let remedy = match known {
                    [] => "leave it out".to_owned(),
                    known => format!("known are {}", known.join(", ")),
                };
                return Err(Error::question(format!("{key} is no parameter here"), remedy));
            }
            if rows.iter().any(|(other, _)| *other == key) {
                return Err(Error::question(format!("{key} is there twice"), "give it once"));
            }
            rows.push((key, value));
        }
        Ok(Query(rows))
    }

    /// The text of a parameter.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// A number within limits.
    pub(crate) fn number<T>(&self, key: &str, limits: RangeInclusive<T>) -> Result<Option<T>, Error>
    where
        T: FromStr + PartialOrd + Display,
    {
        let Some(text) = self.text(key) else { return Ok(None) };
        let value = text.parse::<T>().ok().filter(|value| limits.contains(value));
        let wrong = || {
            let remedy = format!("give an integer from {} to {}", limits.start(), limits.end());
            Error::question(format!("{key} is no number that is possible here"), remedy)
        };
        value.map(Some).ok_or_else(wrong)
    }

    /// A number that must be there.
    pub(crate) fn needed<T>(&self, key: &str, limits: RangeInclusive<T>) -> Result<T, Error>
    where
        T: FromStr + PartialOrd + Display,
    {
        self.number(key, limits)?.ok_or_else(|| Error::question(format!("{key} is missing"), format!("add {key}=…")))
    }

    /// One of some words; the first if it is not there.
    pub(crate) fn word<T: Copy>(&self, key: &str, words: &[(&str, T)]) -> Result<T, Error> {
        let text = self.text(key).unwrap_or(words[0].0);
        let found = words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            Error::question(format!("{key} is none of the words that are possible"), words.join(", "))
        })
    }
}

/// Undoes percent-encoding; `None` for what is no encoding, or no UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                (digit(rest.next())? * 16 + digit(rest.next())?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_once() {
        let query = Query::new("text=a%2Bb+c%C3%A9&&n=-5", &["n", "text"]).unwrap();
        assert_eq!(query.text("text"), Some("a+b cé"));
        assert_eq!(query.number("n", -9..=9), Ok(Some(-5)));
        assert_eq!(query.number::<u32>("none", 0..=9), Ok(None));
    }

    #[test]
    fn what_is_not_in_order_is_told() {
        for text in ["x=1", "n=1&n=2", "n=%", "n=%2", "n=%zz", "n=%ff", "n"] {
            let number = Query::new(text, &["n"]).and_then(|query| query.needed("n", 0u32..=9));
            assert!(number.is_err(), "{text}");
        }
        for value in ["", "-1", "10", "1.5", "1e3", "99999999999999999999", "0x1", " 1"] {
            let query = Query::new(&format!("n={value}"), &["n"]).unwrap();
            assert!(query.number("n", 0u32..=9).is_err(), "{value}");
        }
        let query = Query::new("by=bytes", &["by"]).unwrap();
        assert!(query.word("by", &[("count", 1)]).is_err());
        assert_eq!(query.word("other", &[("count", 1), ("bytes", 2)]), Ok(1));
    }
}
