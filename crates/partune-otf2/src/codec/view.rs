//! Arrays of records, decoded while they are iterated over: a record borrows them, so reading one never allocates.
//!
//! For readers, where a view lies over bytes that were walked once (so that iteration cannot fail), and for writers, where it lies over a
//! slice of ready items. Two views are equal if their items are.

use std::fmt;

use super::attributes::Value;
use super::cursor::Cursor;
use super::error::Flaw;
use super::wire::{put_c32, put_c64};

/// Items in a buffer, known to be there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Encoded<'a> {
    at: Cursor<'a>,
    count: u32,
}

impl<'a> Encoded<'a> {
    /// Walks over `count` items with `skip`. An item has at least a byte, so a count beyond the bytes is refused at once.
    #[inline]
    pub(crate) fn read(
        count: u64,
        from: &mut Cursor<'a>,
        skip: impl Fn(&mut Cursor<'a>) -> Result<(), Flaw>,
    ) -> Result<Self, Flaw> {
        if count > from.rest().len() as u64 {
            return Err(Flaw::Truncated);
        }
        let at = *from;
        for _ in 0..count {
            skip(from)?;
        }
        Ok(Encoded { at, count: u32::try_from(count).map_err(|_| Flaw::Truncated)? })
    }

    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }
}

type ReadItem<'a, T> = fn(&mut Cursor<'a>) -> Result<T, Flaw>;

/// Iterator over the items of a view.
#[derive(Debug, Clone)]
pub struct Items<'a, T>(Rest<'a, T>);

#[derive(Debug, Clone)]
enum Rest<'a, T> {
    Bytes { at: Cursor<'a>, left: u32, read: ReadItem<'a, T> },
    Slice(std::slice::Iter<'a, T>),
}

impl<'a, T> Items<'a, T> {
    pub(crate) fn bytes(encoded: Encoded<'a>, read: ReadItem<'a, T>) -> Self {
        Items(Rest::Bytes { at: encoded.at, left: encoded.count, read })
    }

    pub(crate) fn slice(items: &'a [T]) -> Self {
        Items(Rest::Slice(items.iter()))
    }
}

impl<T: Copy> Iterator for Items<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match &mut self.0 {
            Rest::Bytes { at, left, read } => {
                *left = left.checked_sub(1)?;
                read(at).ok()
            }
            Rest::Slice(items) => items.next().copied(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match &self.0 {
            Rest::Bytes { left, .. } => *left as usize,
            Rest::Slice(items) => items.len(),
        };
        (left, Some(left))
    }
}

impl<T: Copy> ExactSizeIterator for Items<'_, T> {}

/// What an [`Array`] holds: a compressed integer.
pub trait ArrayItem: Copy + PartialEq + fmt::Debug {
    /// Reads one.
    fn get(from: &mut Cursor<'_>) -> Result<Self, Flaw>;
    /// Appends one, little endian.
    fn put(self, to: &mut Vec<u8>);
}

impl ArrayItem for u32 {
    fn get(from: &mut Cursor<'_>) -> Result<u32, Flaw> {
        from.c32()
    }
    fn put(self, to: &mut Vec<u8>) {
        put_c32(to, self);
    }
}

impl ArrayItem for u64 {
    fn get(from: &mut Cursor<'_>) -> Result<u64, Flaw> {
        from.c64()
    }
    fn put(self, to: &mut Vec<u8>) {
        put_c64(to, self);
    }
}

macro_rules! view {
    ($(#[$doc:meta])* $name:ident $(<$t:ident: $bound:ident>)? of $item:ty, $read:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'a $(, $t)?>(View<'a, $item>);

        impl<'a $(, $t: $bound)?> $name<'a $(, $t)?> {
            /// A view over ready items, for a writer.
            pub fn new(items: &'a [$item]) -> Self {
                $name(View::Slice(items))
            }

            /// The number of items.
            #[inline]
            pub fn len(&self) -> usize {
                match self.0 {
                    View::Bytes(bytes) => bytes.len(),
                    View::Slice(items) => items.len(),
                }
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The items in order.
            #[inline]
            pub fn iter(&self) -> Items<'a, $item> {
                match self.0 {
                    View::Bytes(bytes) => Items::bytes(bytes, $read),
                    View::Slice(items) => Items::slice(items),
                }
            }
        }

        impl<'a $(, $t: $bound)?> IntoIterator for &$name<'a $(, $t)?> {
            type Item = $item;
            type IntoIter = Items<'a, $item>;
            fn into_iter(self) -> Items<'a, $item> {
                self.iter()
            }
        }

        impl<$($t: $bound)?> fmt::Debug for $name<'_ $(, $t)?> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self).finish()
            }
        }

        impl<$($t: $bound)?> PartialEq for $name<'_ $(, $t)?> {
            fn eq(&self, other: &Self) -> bool {
                self.iter().eq(other.iter())
            }
        }
    };
}

#[derive(Clone, Copy)]
enum View<'a, T> {
    Bytes(Encoded<'a>),
    Slice(&'a [T]),
}

view!(/// Compressed integers: members of a group, arguments of a program, coordinates.
    Array<T: ArrayItem> of T, T::get);

view!(/// The values of a METRIC event.
    Metrics of Metric, Metric::read);

view!(/// The properties of an I/O paradigm: which one, and its value.
    Properties of (u8, Value), read_property);

impl<'a, T: ArrayItem> Array<'a, T> {
    pub(crate) fn read(count: u64, from: &mut Cursor<'a>) -> Result<Self, Flaw> {
        Encoded::read(count, from, |from| T::get(from).map(|_| ())).map(|bytes| Array(View::Bytes(bytes)))
    }
}

/// A metric's value: a type byte (4 u64, 8 i64, 10 double) and 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// The type of the value, numbered as in [`Value`].
    pub kind: u8,
    /// Its bits.
    pub bits: u64,
}

impl Metric {
    /// The value as a double, converted from its type.
    pub fn to_f64(self) -> f64 {
        match self.kind {
            8 => self.bits as i64 as f64,
            10 => f64::from_bits(self.bits),
            _ => self.bits as f64,
        }
    }

    fn read(from: &mut Cursor<'_>) -> Result<Metric, Flaw> {
        Ok(Metric { kind: from.u8()?, bits: from.c64()? })
    }
}

impl<'a> Metrics<'a> {
    #[inline]
    pub(crate) fn read(from: &mut Cursor<'a>) -> Result<Self, Flaw> {
        let count = from.u8()?;
        Encoded::read(u64::from(count), from, |from| Metric::read(from).map(|_| ()))
            .map(|bytes| Metrics(View::Bytes(bytes)))
    }

    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        let count = u8::try_from(self.len()).unwrap_or(u8::MAX);
        to.push(count);
        for Metric { kind, bits } in self.iter().take(usize::from(count)) {
            to.push(kind);
            put_c64(to, bits);
        }
    }
}

fn read_property(from: &mut Cursor<'_>) -> Result<(u8, Value), Flaw> {
    let property = from.u8()?;
    let kind = from.u8()?;
    Ok((property, Value::read(kind, from)?))
}

impl<'a> Properties<'a> {
    pub(crate) fn read(from: &mut Cursor<'a>) -> Result<Self, Flaw> {
        let count = from.u8()?;
        Encoded::read(u64::from(count), from, |from| read_property(from).map(|_| ()))
            .map(|bytes| Properties(View::Bytes(bytes)))
    }

    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        let count = u8::try_from(self.len()).unwrap_or(u8::MAX);
        to.push(count);
        for (property, value) in self.iter().take(usize::from(count)) {
            to.extend([property, value.kind()]);
            value.write(to);
        }
    }
}
