//! Interned strings: equal text has equal ids.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::StringId;
use crate::printable::{printable, shortened};
use crate::table::{Id, Table};

/// A set of strings with dense ids in the order of their first use.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    texts: Table<StringId, Box<str>>,
    ids: HashMap<Box<str>, StringId>,
}

impl Strings {
    /// The id of `text`, new if it was not seen before.
    pub fn intern(&mut self, text: &str) -> StringId {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = self.texts.push(text.into());
        self.ids.insert(text.into(), id);
        id
    }

    /// The text of an id; empty for none.
    pub fn get(&self, id: StringId) -> &str {
        self.texts.get(id).map_or("", |text| text)
    }

    /// Makes every text [`printable`] and at most about so many bytes long; ids stay. Texts that differed may be equal then, and keep an id
    /// each.
    pub fn make_printable(&mut self, most: usize) {
        for text in &mut self.texts {
            if let Cow::Owned(short) = shortened(text, most) {
                *text = short.into();
            }
            if let Cow::Owned(clean) = printable(text) {
                *text = clean.into();
            }
        }
    }

    /// How many distinct strings there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// All texts with their ids, in the order of first use.
    pub fn iter(&self) -> impl Iterator<Item = (StringId, &str)> {
        self.texts.iter().enumerate().map(|(index, text)| (StringId::from_index(index), &**text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_text_has_equal_ids() {
        let mut strings = Strings::default();
        let a = strings.intern("a");
        assert_ne!(a, strings.intern("b"));
        assert_eq!(a, strings.intern("a"));
        assert_eq!(strings.get(a), "a");
        assert_eq!(strings.get(StringId::NONE), "");
    }
}
