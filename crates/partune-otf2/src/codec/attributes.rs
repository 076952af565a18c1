//! Typed values, and the lists of them that may stand before any event.
//!
//! For importers: an attribute list carries what the event's record has no column for (a byte offset, a process id, a tag of a tool).
//! The ids of the attributes and the references among the values are local; [`Attribute::map`] translates both.

use super::cursor::Cursor;
use super::error::Flaw;
use super::idmap::{MapIds, Mapping};
use super::view::{Encoded, Items};
use super::wire::{put_c32, put_c64};

macro_rules! values {
    ($($id:literal $(#[$doc:meta])* $name:ident($ty:ty) $wire:ident $(=> $map:ident)?,)*) => {
        /// A value after its type; references are ids of definitions.
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub enum Value {
            $($(#[$doc])* $name($ty),)*
            /// A value of a type that is newer than this codec: a reference, as only those may still be added.
            Other(u8, u64),
        }

        impl Value {
            /// The byte that stands for the type.
            pub fn kind(self) -> u8 {
                match self {
                    $(Value::$name(_) => $id,)*
                    Value::Other(kind, _) => kind,
                }
            }

            /// Reads a value of type `kind`.
            pub fn read(kind: u8, from: &mut Cursor<'_>) -> Result<Value, Flaw> {
                match kind {
                    $($id => from.$wire().map(|bits| Value::$name(Bits::of(bits))),)*
                    other => from.c64().map(|bits| Value::Other(other, bits)),
                }
            }

            /// Appends the value without its type.
            pub(crate) fn write(self, to: &mut Vec<u8>) {
                match self {
                    $(Value::$name(value) => put::$wire(to, value.bits()),)*
                    Value::Other(_, bits) => put_c64(to, bits),
                }
            }

            /// Translates a reference; other values stay as they are.
            #[must_use]
            pub fn map(self, maps: &impl MapIds) -> Value {
                match self {
                    $($(Value::$name(id) => Value::$name(maps.map(Mapping::$map, u64::from(id)) as $ty),)?)*
                    other => other,
                }
            }
        }
    };
}

/// A value and the bits that are stored for it.
trait Bits<T> {
    fn of(bits: T) -> Self;
    fn bits(self) -> T;
}

macro_rules! bits {
    ($($wire:ty => $ty:ty: $of:expr, $bits:expr;)*) => {
        $(impl Bits<$wire> for $ty {
            fn of(bits: $wire) -> $ty {
                let of: fn($wire) -> $ty = $of;
                of(bits)
            }
            fn bits(self) -> $wire {
                let bits: fn($ty) -> $wire = $bits;
                bits(self)
            }
        })*
    };
}

bits! {
    u8 => u8: |v| v, |v| v;
    u8 => i8: |v| v as i8, |v| v as u8;
    u16 => u16: |v| v, |v| v;
    u16 => i16: |v| v as i16, |v| v as u16;
    u32 => u32: |v| v, |v| v;
    u32 => i32: |v| v as i32, |v| v as u32;
    u32 => f32: f32::from_bits, f32::to_bits;
    u64 => u64: |v| v, |v| v;
    u64 => i64: |v| v as i64, |v| v as u64;
    u64 => f64: f64::from_bits, f64::to_bits;
}

/// The writers of the encodings, under the names that their readers have in [`Cursor`].
mod put {
    pub(super) use super::{put_c32 as c32, put_c64 as c64};

    pub(super) fn u8(to: &mut Vec<u8>, bits: u8) {
        to.push(bits);
    }
    pub(super) fn u16(to: &mut Vec<u8>, bits: u16) {
        to.extend(bits.to_le_bytes());
    }
    pub(super) fn u32(to: &mut Vec<u8>, bits: u32) {
        to.extend(bits.to_le_bytes());
    }
    pub(super) fn u64(to: &mut Vec<u8>, bits: u64) {
        to.extend(bits.to_le_bytes());
    }
}

values! {
    1 /// OTF2_TYPE_UINT8
        U8(u8) u8,
    2 /// OTF2_TYPE_UINT16
        U16(u16) u16,
    3 /// OTF2_TYPE_UINT32
        U32(u32) c32,
    4 /// OTF2_TYPE_UINT64
        U64(u64) c64,
    5 /// OTF2_TYPE_INT8
        I8(i8) u8,
    6 /// OTF2_TYPE_INT16
        I16(i16) u16,
    7 /// OTF2_TYPE_INT32
        I32(i32) c32,
    8 /// OTF2_TYPE_INT64
        I64(i64) c64,
    9 /// OTF2_TYPE_FLOAT
        F32(f32) u32,
    10 /// OTF2_TYPE_DOUBLE
        F64(f64) u64,
    11 /// OTF2_TYPE_STRING
        String(u32) c32 => String,
    12 /// OTF2_TYPE_ATTRIBUTE
        Attribute(u32) c32 => Attribute,
    13 /// OTF2_TYPE_LOCATION
        Location(u64) c64 => Location,
    14 /// OTF2_TYPE_REGION
        Region(u32) c32 => Region,
    15 /// OTF2_TYPE_GROUP
        Group(u32) c32 => Group,
    16 /// OTF2_TYPE_METRIC
        Metric(u32) c32 => Metric,
    17 /// OTF2_TYPE_COMM
        Comm(u32) c32 => Comm,
    18 /// OTF2_TYPE_PARAMETER
        Parameter(u32) c32 => Parameter,
    19 /// OTF2_TYPE_RMA_WIN
        RmaWin(u32) c32 => RmaWin,
    20 /// OTF2_TYPE_SOURCE_CODE_LOCATION
        SourceCodeLocation(u32) c32 => SourceCodeLocation,
    21 /// OTF2_TYPE_CALLING_CONTEXT
        CallingContext(u32) c32 => CallingContext,
    22 /// OTF2_TYPE_INTERRUPT_GENERATOR
        InterruptGenerator(u32) c32 => InterruptGenerator,
    23 /// OTF2_TYPE_IO_FILE
        IoFile(u32) c32 => IoFile,
    24 /// OTF2_TYPE_IO_HANDLE
        IoHandle(u32) c32 => IoHandle,
    25 /// OTF2_TYPE_LOCATION_GROUP
        LocationGroup(u32) c32 => LocationGroup,
}

/// An attribute of an event: which one, and its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attribute {
    /// The attribute's definition, a local id.
    pub attribute: u32,
    /// Its value; references are local ids.
    pub value: Value,
}

impl Attribute {
    /// Translates the ids in it.
    #[must_use]
    pub fn map(self, maps: &impl MapIds) -> Attribute {
        let attribute = maps.map(Mapping::Attribute, u64::from(self.attribute)) as u32;
        Attribute { attribute, value: self.value.map(maps) }
    }

    fn read(from: &mut Cursor<'_>) -> Result<Attribute, Flaw> {
        let attribute = from.c32()?;
        let kind = from.u8()?;
        Ok(Attribute { attribute, value: Value::read(kind, from)? })
    }
}

/// The attributes of one event, decoded while they are iterated over.
#[derive(Clone, Copy)]
pub struct AttributeList<'a>(Source<'a>);

#[derive(Clone, Copy)]
enum Source<'a> {
    Bytes(Encoded<'a>),
    Slice(&'a [Attribute]),
}

impl<'a> AttributeList<'a> {
    /// A list of ready attributes, for a writer.
    pub fn new(attributes: &'a [Attribute]) -> Self {
        AttributeList(Source::Slice(attributes))
    }

    /// Reads a list, from its count on.
    pub(crate) fn read(from: &mut Cursor<'a>) -> Result<Self, Flaw> {
        let count = from.c32()?;
        Encoded::read(u64::from(count), from, |from| Attribute::read(from).map(|_| ()))
            .map(|bytes| AttributeList(Source::Bytes(bytes)))
    }

    /// The number of attributes.
    pub fn len(&self) -> usize {
        match self.0 {
            Source::Bytes(bytes) => bytes.len(),
            Source::Slice(slice) => slice.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The attributes in the order they are stored in.
    pub fn iter(&self) -> Items<'a, Attribute> {
        match self.0 {
            Source::Bytes(bytes) => Items::bytes(bytes, Attribute::read),
            Source::Slice(slice) => Items::slice(slice),
        }
    }

    /// Appends the list as a record; none if it is empty. The C library keeps no empty lists either.
    pub(crate) fn put(&self, scratch: &mut Vec<u8>, to: &mut Vec<u8>) {
        if self.is_empty() {
            return;
        }
        scratch.clear();
        put_c32(scratch, self.len() as u32);
        for Attribute { attribute, value } in self {
            put_c32(scratch, attribute);
            scratch.push(value.kind());
            value.write(scratch);
        }
        to.push(super::chunk::ATTRIBUTE_LIST);
        super::output::put_length(to, scratch.len(), self.data_bound());
        to.extend_from_slice(scratch);
    }

    /// Upper bound of the list's data, by the C library's count: 5 bytes, and 15 for each attribute.
    fn data_bound(&self) -> u64 {
        5 + 15 * self.len() as u64
    }

    /// Upper bound of the list as a record, by the same count.
    pub(crate) fn bound(&self) -> u64 {
        if self.is_empty() {
            return 0;
        }
        let data = self.data_bound();
        data + if data < 0xff { 2 } else { 10 }
    }
}

impl<'a> IntoIterator for &AttributeList<'a> {
    type Item = Attribute;
    type IntoIter = Items<'a, Attribute>;
    fn into_iter(self) -> Items<'a, Attribute> {
        self.iter()
    }
}

impl std::fmt::Debug for AttributeList<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl PartialEq for AttributeList<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}
