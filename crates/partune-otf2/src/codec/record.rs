//! The macros behind the record tables: from a row `id "NAME" Record { attribute: Encoding @Mapping, ... }` they make the type, its reader,
//! its writer and its translation of ids.
//!
//! For `event.rs`, `definition.rs` and `snapshot.rs`. An encoding is a type of `wire.rs`; `@Mapping` marks a local id.

/// The Rust type of an encoding.
macro_rules! value_type {
    (U8 $lt:lifetime) => { u8 };
    (U64 $lt:lifetime) => { u64 };
    (F64 $lt:lifetime) => { f64 };
    (C32 $lt:lifetime) => { u32 };
    (C64 $lt:lifetime) => { u64 };
    (I64 $lt:lifetime) => { i64 };
    (Val $lt:lifetime) => { $crate::codec::attributes::Value };
    (Str $lt:lifetime) => { &$lt [u8] };
    (ShortC32s $lt:lifetime) => { $crate::codec::view::Array<$lt, u32> };
    (C32s $lt:lifetime) => { $crate::codec::view::Array<$lt, u32> };
    (C64s $lt:lifetime) => { $crate::codec::view::Array<$lt, u64> };
    (MetricValues $lt:lifetime) => { $crate::codec::view::Metrics<$lt> };
    (PropertyValues $lt:lifetime) => { $crate::codec::view::Properties<$lt> };
    (Map $lt:lifetime) => { $crate::codec::idmap::IdMapView<$lt> };
}
pub(crate) use value_type;

/// A value with its id translated, if its column is marked so. Arrays of ids are lazy views and stay local.
macro_rules! translated {
    ($maps:ident, $value:expr, C32 $mapping:ident) => {
        $maps.map($crate::codec::idmap::Mapping::$mapping, u64::from($value)) as u32
    };
    ($maps:ident, $value:expr, $wire:ident $($mapping:ident)?) => {
        $value
    };
}
pub(crate) use translated;

/// An enum of timed records: events, and the records of snapshots.
macro_rules! timed_records {
    (
        $(#[$doc:meta])* $Name:ident;
        $($id:literal $label:literal $(#[$row:meta])* $Record:ident { $($field:ident: $wire:ident $(@ $mapping:ident)?),* $(,)? })*
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[allow(missing_docs, reason = "records and attributes have the names of the format")]
        pub enum $Name<'a> {
            $($(#[$row])* $Record { $($field: $crate::codec::record::value_type!($wire 'a)),* },)*
        }

        impl<'a> $Name<'a> {
            /// All record types: the byte that stands for each, and its name as `otf2-print` prints it.
            pub const TYPES: &'static [(u8, &'static str)] = &[$(($id, $label)),*];

            /// The byte that stands for the record type.
            pub fn id(&self) -> u8 {
                match self { $($Name::$Record { .. } => $id,)* }
            }

            /// The name of the record type.
            pub fn name(&self) -> &'static str {
                match self { $($Name::$Record { .. } => $label,)* }
            }

            /// Reads the attributes of a record; `None` if the type is unknown.
            #[allow(clippy::inline_always, reason = "keeps the cursor in registers")]
            #[inline(always)]
            pub(crate) fn read(id: u8, from: &mut $crate::codec::cursor::Cursor<'a>) -> Result<Option<Self>, $crate::codec::error::Flaw> {
                #[allow(unused_imports, clippy::wildcard_imports, reason = "the encodings of the table")]
                use $crate::codec::wire::*;
                match id {
                    $($id => Ok(Some($Name::$Record { $($field: <$wire as Wire>::read(from)?),* })),)*
                    _ => Ok(None),
                }
            }

            /// Appends the attributes.
            pub(crate) fn put(&self, to: &mut Vec<u8>) {
                #[allow(unused_imports, clippy::wildcard_imports, reason = "the encodings of the table")]
                use $crate::codec::wire::*;
                match self {
                    $($Name::$Record { $($field),* } => { $(<$wire as Wire>::write($field, to);)* })*
                }
            }

            /// The bytes that the C library sets aside for the attributes.
            pub(crate) fn bound(&self) -> u64 {
                #[allow(unused_imports, clippy::wildcard_imports, reason = "the encodings of the table")]
                use $crate::codec::wire::*;
                match self {
                    $($Name::$Record { $($field),* } => { 0 $(+ <$wire as Wire>::bound($field))* })*
                }
            }

            /// The record with global ids in place of local ones. Ids inside arrays (the arguments of PROGRAM_BEGIN) stay local: translate
            /// them while iterating.
            #[must_use]
            pub fn map(self, maps: &impl $crate::codec::idmap::MapIds) -> Self {
                match self {
                    $($Name::$Record { $($field),* } => {
                        $Name::$Record { $($field: $crate::codec::record::translated!(maps, $field, $wire $($mapping)?)),* }
                    })*
                }
            }
        }
    };
}
pub(crate) use timed_records;

/// A struct for each record, and an enum of them. Attributes under `later` came with later versions of the format: they are `None` where a
/// record ends before them.
macro_rules! plain_records {
    (
        $(#[$doc:meta])* $Name:ident;
        $($id:literal $label:literal $(#[$row:meta])* $Record:ident $(<$lt:lifetime>)? {
            $($field:ident: $wire:ident),* $(,)?
            $(; later $($late:ident: $late_wire:ident),* $(,)?)?
        })*
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        #[allow(missing_docs, reason = "records have the names of the format")]
        pub enum $Name<'a> {
            $($Record($Record $(<$lt>)?),)*
            /// A record of a type that is newer than this codec, as it is in the buffer.
            Unknown { id: u8, bytes: &'a [u8], endian: $crate::codec::cursor::Endian },
        }

        $(
            $(#[$row])*
            #[derive(Debug, Clone, Copy, PartialEq)]
            #[allow(missing_docs, reason = "attributes have the names of the format, but `id` for `self`")]
            pub struct $Record $(<$lt>)? {
                $(pub $field: $crate::codec::record::value_type!($wire 'a),)*
                $($(pub $late: Option<$crate::codec::record::value_type!($late_wire 'a)>,)*)?
            }

            impl<'a> From<$Record $(<$lt>)?> for $Name<'a> {
                fn from(record: $Record $(<$lt>)?) -> Self {
                    $Name::$Record(record)
                }
            }
        )*

        impl<'a> $Name<'a> {
            /// All record types: the byte that stands for each, and its name as `otf2-print` prints it.
            pub const TYPES: &'static [(u8, &'static str)] = &[$((($id & 0xff) as u8, $label)),*];

            /// The byte that stands for the record type.
            pub fn id(&self) -> u8 {
                match self {
                    $($Name::$Record(_) => ($id & 0xff) as u8,)*
                    $Name::Unknown { id, .. } => *id,
                }
            }

            /// The name of the record type.
            pub fn name(&self) -> &'static str {
                match self {
                    $($Name::$Record(_) => $label,)*
                    $Name::Unknown { .. } => "UNKNOWN",
                }
            }

            /// Reads the attributes of a record that ends at `end`. `key` is its type as the table has it.
            pub(crate) fn read(key: u16, from: &mut $crate::codec::cursor::Cursor<'a>, end: usize) -> Result<Self, $crate::codec::error::Flaw> {
                #[allow(unused_imports, clippy::wildcard_imports, reason = "the encodings of the table")]
                use $crate::codec::wire::*;
                match key {
                    $($id => Ok($Name::$Record($Record {
                        $($field: <$wire as Wire>::read(from)?,)*
                        $($($late: if from.pos() < end { Some(<$late_wire as Wire>::read(from)?) } else { None },)*)?
                    })),)*
                    _ => Ok($Name::Unknown { id: key as u8, bytes: from.take(end.saturating_sub(from.pos()))?, endian: from.endian() }),
                }
            }

            /// Appends the attributes, up to the first that is `None`. Those of an unknown record are copied as they are.
            pub(crate) fn put(&self, to: &mut Vec<u8>) {
                #[allow(unused_imports, clippy::wildcard_imports, reason = "the encodings of the table")]
                use $crate::codec::wire::*;
                match self {
                    $($Name::$Record(record) => {
                        $(<$wire as Wire>::write(&record.$field, to);)*
                        $($(
                            let Some(late) = &record.$late else { return };
                            <$late_wire as Wire>::write(late, to);
                        )*)?
                        let _ = record;
                    })*
                    $Name::Unknown { bytes, .. } => to.extend_from_slice(bytes),
                }
            }

            /// The bytes that the C library sets aside for the attributes.
            pub(crate) fn size(&self) -> u64 {
                #[allow(unused_imports, clippy::wildcard_imports, reason = "the encodings of the table")]
                use $crate::codec::wire::*;
                match self {
                    $($Name::$Record(record) => {
                        0 $(+ <$wire as Wire>::size(&record.$field))*
                        $($(+ record.$late.as_ref().map_or(0, <$late_wire as Wire>::size))*)?
                    })*
                    $Name::Unknown { bytes, .. } => bytes.len() as u64,
                }
            }
        }
    };
}
pub(crate) use plain_records;
