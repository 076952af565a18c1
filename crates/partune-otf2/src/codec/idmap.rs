//! Maps from the ids that a location's records use to the ids of the global definitions.
//!
//! For importers: read the mapping tables of a location's definition file, keep one [`IdMap`] per [`Mapping`] and hand them to
//! [`Event::map`](super::Event::map). An id without an entry stands for itself, as in the C library (`OTF2_IdMap_GetGlobalId`).

use std::fmt;

use super::cursor::Cursor;
use super::error::Flaw;
use super::view::Encoded;
use super::wire::{put_c64, size_c64};

macro_rules! mappings {
    ($($id:literal $name:ident,)*) => {
        /// The kinds of definitions that have local ids (`OTF2_MappingType`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the names are those of the definitions")]
        pub enum Mapping { $($name = $id,)* }

        impl Mapping {
            /// All kinds; the position in it is the byte that stands for the kind.
            pub const ALL: [Mapping; 15] = [$(Mapping::$name,)*];
        }
    };
}

mappings! {
    0 String, 1 Attribute, 2 Location, 3 Region, 4 Group, 5 Metric, 6 Comm, 7 Parameter, 8 RmaWin, 9 SourceCodeLocation,
    10 CallingContext, 11 InterruptGenerator, 12 IoFile, 13 IoHandle, 14 LocationGroup,
}

impl Mapping {
    /// The kind that a byte stands for.
    pub fn from_byte(byte: u8) -> Option<Mapping> {
        Mapping::ALL.get(usize::from(byte)).copied()
    }
}

/// Something that translates local ids.
pub trait MapIds {
    /// The global id of a local one; the same id where there is nothing to translate.
    fn map(&self, mapping: Mapping, id: u64) -> u64;
}

impl<F: Fn(Mapping, u64) -> u64> MapIds for F {
    fn map(&self, mapping: Mapping, id: u64) -> u64 {
        self(mapping, id)
    }
}

/// A map of ids as a MAPPING_TABLE record holds it. Two are equal if their entries are.
#[derive(Clone, Copy)]
pub enum IdMapView<'a> {
    /// In a buffer that was read.
    Bytes(IdMapBytes<'a>),
    /// The global ids of local ids 0, 1, 2 and so on, for a writer.
    Dense(&'a [u64]),
    /// Pairs of local and global ids, ascending by local id, for a writer.
    Sparse(&'a [(u64, u64)]),
}

/// A map of ids in a buffer, known to be there.
#[derive(Debug, Clone, Copy)]
pub struct IdMapBytes<'a> {
    /// Two integers for each entry of a sparse map, one for each of a dense one.
    integers: Encoded<'a>,
    sparse: bool,
}

impl<'a> IdMapView<'a> {
    pub(crate) fn read(from: &mut Cursor<'a>) -> Result<Self, Flaw> {
        let count = from.c64()?;
        let sparse = match from.u8()? {
            0 => false,
            1 => true,
            other => return Err(Flaw::IdMapMode(other)),
        };
        let count = if sparse { count.saturating_mul(2) } else { count };
        let integers = Encoded::read(count, from, |from| from.c64().map(|_| ()))?;
        Ok(IdMapView::Bytes(IdMapBytes { integers, sparse }))
    }

    /// Whether the map names its local ids.
    pub fn is_sparse(&self) -> bool {
        match self {
            IdMapView::Bytes(bytes) => bytes.sparse,
            IdMapView::Dense(_) => false,
            IdMapView::Sparse(_) => true,
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        match self {
            IdMapView::Bytes(bytes) => bytes.integers.len() >> usize::from(bytes.sparse),
            IdMapView::Dense(ids) => ids.len(),
            IdMapView::Sparse(pairs) => pairs.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `entry` with each local and global id, in stored order.
    pub fn for_each(&self, mut entry: impl FnMut(u64, u64)) {
        match self {
            IdMapView::Bytes(bytes) => {
                let mut integers = super::view::Items::bytes(bytes.integers, Cursor::c64);
                for index in 0..self.len() as u64 {
                    let local = if bytes.sparse { integers.next() } else { Some(index) };
                    if let (Some(local), Some(global)) = (local, integers.next()) {
                        entry(local, global);
                    }
                }
            }
            IdMapView::Dense(ids) => (0..).zip(*ids).for_each(|(local, &global)| entry(local, global)),
            IdMapView::Sparse(pairs) => pairs.iter().for_each(|&(local, global)| entry(local, global)),
        }
    }

    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        put_c64(to, self.len() as u64);
        to.push(u8::from(self.is_sparse()));
        self.for_each(|local, global| {
            if self.is_sparse() {
                put_c64(to, local);
            }
            put_c64(to, global);
        });
    }

    /// The bytes that [`IdMapView::put`] appends.
    pub(crate) fn size(&self) -> u64 {
        let mut size = size_c64(self.len() as u64) + 1;
        self.for_each(|local, global| size += size_c64(global) + if self.is_sparse() { size_c64(local) } else { 0 });
        size
    }
}

impl fmt::Debug for IdMapView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        self.for_each(|local, global| _ = map.entry(&local, &global));
        map.finish()
    }
}

impl PartialEq for IdMapView<'_> {
    fn eq(&self, other: &Self) -> bool {
        let entries = |map: &Self| {
            let mut entries = Vec::new();
            map.for_each(|local, global| entries.push((local, global)));
            entries
        };
        self.is_sparse() == other.is_sparse() && entries(self) == entries(other)
    }
}

/// A map of ids, ready for lookup: a table if it is dense, a binary search if it is sparse. Its memory is that of its entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum IdMap {
    /// Each id stands for itself.
    #[default]
    Identity,
    /// The global ids of the local ids 0, 1, 2 and so on.
    Dense(Vec<u64>),
    /// Pairs of local and global ids, ascending by local id.
    Sparse(Vec<(u64, u64)>),
}

impl IdMap {
    /// The map that a record holds. Of several entries for one local id the first counts.
    pub fn new(view: &IdMapView<'_>) -> IdMap {
        let mut identity = true;
        let mut pairs = Vec::with_capacity(view.len());
        view.for_each(|local, global| {
            identity &= local == global;
            pairs.push((local, global));
        });
        if identity {
            return IdMap::Identity;
        }
        pairs.sort_by_key(|&(local, _)| local);
        pairs.dedup_by_key(|&mut (local, _)| local);
        let dense = pairs.iter().zip(0..).all(|(&(local, _), index)| local == index);
        if dense { IdMap::Dense(pairs.into_iter().map(|(_, global)| global).collect()) } else { IdMap::Sparse(pairs) }
    }

    /// The global id of a local one.
    #[inline]
    pub fn get(&self, local: u64) -> u64 {
        match self {
            IdMap::Identity => local,
            IdMap::Dense(ids) => {
                usize::try_from(local).ok().and_then(|index| ids.get(index)).map_or(local, |&global| global)
            }
            IdMap::Sparse(pairs) => {
                pairs.binary_search_by_key(&local, |&(local, _)| local).map_or(local, |index| pairs[index].1)
            }
        }
    }
}
