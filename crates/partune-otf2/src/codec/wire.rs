//! The encodings that attributes of records have: how each is read, written, and how large it may get.
//!
//! For the record tables: the type of a column there is the name of an encoding here. Writers always write little endian.

use super::attributes::Value;
use super::cursor::Cursor;
use super::error::Flaw;
use super::idmap::IdMapView;
use super::view::{Array, ArrayItem, Metrics, Properties};

/// An encoding.
pub trait Wire {
    /// What it encodes.
    type Value<'a>: Copy;
    /// Reads a value.
    fn read<'a>(from: &mut Cursor<'a>) -> Result<Self::Value<'a>, Flaw>;
    /// Appends a value, little endian.
    fn write(value: &Self::Value<'_>, to: &mut Vec<u8>);
    /// The bytes that the C library sets aside for a value in an event file, which decide where a chunk ends there.
    fn bound(value: &Self::Value<'_>) -> u64;
    /// The bytes that it sets aside in a definition file.
    fn size(value: &Self::Value<'_>) -> u64;
}

pub(crate) fn put_c32(to: &mut Vec<u8>, value: u32) {
    if value == u32::MAX { to.push(0xff) } else { put_bytes(to, u64::from(value)) }
}

pub(crate) fn put_c64(to: &mut Vec<u8>, value: u64) {
    if value == u64::MAX { to.push(0xff) } else { put_bytes(to, value) }
}

fn put_bytes(to: &mut Vec<u8>, value: u64) {
    let n = 8 - value.leading_zeros() as usize / 8;
    to.push(n as u8);
    to.extend_from_slice(&value.to_le_bytes()[..n]);
}

pub(crate) fn put_string(to: &mut Vec<u8>, value: &[u8]) {
    // A NUL byte would end the string early for a reader and shift everything after it.
    to.extend(value.iter().copied().take_while(|&byte| byte != 0));
    to.push(0);
}

pub(crate) fn size_c32(value: u32) -> u64 {
    if value == u32::MAX { 1 } else { size_c64(u64::from(value)) }
}

pub(crate) fn size_c64(value: u64) -> u64 {
    if value == u64::MAX { 1 } else { 9 - u64::from(value.leading_zeros()) / 8 }
}

macro_rules! scalar {
    ($(#[$doc:meta])* $name:ident: $ty:ty, $from:ident => $read:expr, ($to:ident, $value:ident) => $write:expr, $bound:literal, $size:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub enum $name {}
        impl Wire for $name {
            type Value<'a> = $ty;
            #[inline]
            fn read($from: &mut Cursor<'_>) -> Result<$ty, Flaw> {
                $read
            }
            #[inline]
            fn write(&$value: &$ty, $to: &mut Vec<u8>) {
                $write;
            }
            fn bound(_: &$ty) -> u64 {
                $bound
            }
            fn size(&$value: &$ty) -> u64 {
                let _ = $value;
                $size
            }
        }
    };
}

scalar!(/// One byte.
    U8: u8, from => from.u8(), (to, v) => to.push(v), 1, 1);
scalar!(/// Eight bytes, not compressed.
    U64: u64, from => from.u64(), (to, v) => to.extend_from_slice(&v.to_le_bytes()), 8, 8);
scalar!(/// A double as its bits.
    F64: f64, from => from.u64().map(f64::from_bits), (to, v) => to.extend_from_slice(&v.to_bits().to_le_bytes()), 8, 8);
scalar!(/// A compressed unsigned integer of 32 bits.
    C32: u32, from => from.c32(), (to, v) => put_c32(to, v), 5, size_c32(v));
scalar!(/// A compressed unsigned integer of 64 bits.
    C64: u64, from => from.c64(), (to, v) => put_c64(to, v), 9, size_c64(v));
scalar!(/// A compressed signed integer of 64 bits: the bits of its two's complement, compressed.
    I64: i64, from => from.c64().map(|v| v as i64), (to, v) => put_c64(to, v as u64), 9, if v < 0 { 9 } else { size_c64(v as u64) });

/// A string that ends with a NUL byte; the value is without it.
#[derive(Debug, Clone, Copy)]
pub enum Str {}

impl Wire for Str {
    type Value<'a> = &'a [u8];
    fn read<'a>(from: &mut Cursor<'a>) -> Result<&'a [u8], Flaw> {
        from.string()
    }
    fn write(value: &&[u8], to: &mut Vec<u8>) {
        put_string(to, value);
    }
    fn bound(value: &&[u8]) -> u64 {
        value.len() as u64 + 1
    }
    fn size(value: &&[u8]) -> u64 {
        Self::bound(value)
    }
}

/// A type byte and a value of that type.
#[derive(Debug, Clone, Copy)]
pub enum Val {}

impl Wire for Val {
    type Value<'a> = Value;
    fn read(from: &mut Cursor<'_>) -> Result<Value, Flaw> {
        let kind = from.u8()?;
        Value::read(kind, from)
    }
    fn write(value: &Value, to: &mut Vec<u8>) {
        to.push(value.kind());
        value.write(to);
    }
    fn bound(_: &Value) -> u64 {
        10
    }
    fn size(_: &Value) -> u64 {
        10
    }
}

macro_rules! array {
    ($(#[$doc:meta])* $name:ident: $count:ident of $item:ident as $ty:ty, $bound:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub enum $name {}
        impl Wire for $name {
            type Value<'a> = Array<'a, $ty>;
            fn read<'a>(from: &mut Cursor<'a>) -> Result<Self::Value<'a>, Flaw> {
                let count = u64::from($count::read(from)?);
                Array::read(count, from)
            }
            fn write(value: &Self::Value<'_>, to: &mut Vec<u8>) {
                let count = value.len().try_into().unwrap_or(0);
                $count::write(&count, to);
                value.iter().take(count as usize).for_each(|item| item.put(to));
            }
            fn bound(value: &Self::Value<'_>) -> u64 {
                $count::bound(&0) + $bound * value.len() as u64
            }
            fn size(value: &Self::Value<'_>) -> u64 {
                let count = value.len().try_into().unwrap_or(0);
                $count::size(&count) + value.iter().map(|item| $item::size(&item)).sum::<u64>()
            }
        }
    };
}

array!(/// A count of one byte and that many compressed integers of 32 bits.
    ShortC32s: U8 of C32 as u32, 5);
array!(/// A compressed count and that many compressed integers of 32 bits.
    C32s: C32 of C32 as u32, 5);
array!(/// A compressed count and that many compressed integers of 64 bits.
    C64s: C32 of C64 as u64, 9);

/// A count of one byte and that many metric values, each after its type.
#[derive(Debug, Clone, Copy)]
pub enum MetricValues {}

impl Wire for MetricValues {
    type Value<'a> = Metrics<'a>;
    #[inline]
    fn read<'a>(from: &mut Cursor<'a>) -> Result<Metrics<'a>, Flaw> {
        Metrics::read(from)
    }
    fn write(value: &Metrics<'_>, to: &mut Vec<u8>) {
        value.put(to);
    }
    fn bound(value: &Metrics<'_>) -> u64 {
        1 + 10 * value.len() as u64
    }
    fn size(value: &Metrics<'_>) -> u64 {
        Self::bound(value)
    }
}

/// The properties of an I/O paradigm: a count of one byte, then property, type and value of each.
#[derive(Debug, Clone, Copy)]
pub enum PropertyValues {}

impl Wire for PropertyValues {
    type Value<'a> = Properties<'a>;
    fn read<'a>(from: &mut Cursor<'a>) -> Result<Properties<'a>, Flaw> {
        Properties::read(from)
    }
    fn write(value: &Properties<'_>, to: &mut Vec<u8>) {
        value.put(to);
    }
    fn bound(value: &Properties<'_>) -> u64 {
        1 + 11 * value.len() as u64
    }
    fn size(value: &Properties<'_>) -> u64 {
        Self::bound(value)
    }
}

/// A map from local to global ids.
#[derive(Debug, Clone, Copy)]
pub enum Map {}

impl Wire for Map {
    type Value<'a> = IdMapView<'a>;
    fn read<'a>(from: &mut Cursor<'a>) -> Result<IdMapView<'a>, Flaw> {
        IdMapView::read(from)
    }
    fn write(value: &IdMapView<'_>, to: &mut Vec<u8>) {
        value.put(to);
    }
    fn bound(value: &IdMapView<'_>) -> u64 {
        Self::size(value)
    }
    fn size(value: &IdMapView<'_>) -> u64 {
        value.size()
    }
}
