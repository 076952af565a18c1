//! The objects that methods ran on: numbered by each PE as it meets them, and then by all together.

use std::collections::BTreeMap;

use partune_base::{Id, ObjectId, PeId, StringId};
use partune_trace::{Object, TraceBuilder};
use rustc_hash::{FxHashMap, FxHashSet};

/// Numbers of identity that are kept; arrays have no more dimensions.
const MOST: usize = 6;

/// The class of an object, and its identity: as many numbers as are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    chare: u32,
    count: u8,
    numbers: [i32; MOST],
}

/// The objects of a PE.
#[derive(Default)]
pub(super) struct Objects {
    keys: Vec<Key>,
    known: FxHashMap<Key, ObjectId>,
    last: Option<(Key, ObjectId)>,
}

impl Objects {
    /// The number, on this PE, of the object of a class with this identity; none where the log does not tell. What the runtime does on its own (`is_call`) it does on the
    /// object that ran last, if it has the identity of that; of a class that only stands in for others there is no object.
    pub(super) fn of(
        &mut self,
        chare: u32,
        (dimensions, is_stand_in): (Option<usize>, bool),
        identity: &[i64],
        is_call: bool,
    ) -> ObjectId {
        if identity.is_empty() {
            return ObjectId::NONE;
        }
        let told = dimensions.filter(|count| *count > 0).unwrap_or(identity.len()).min(identity.len()).min(MOST);
        let mut numbers = [0; MOST];
        for (to, from) in numbers.iter_mut().zip(&identity[..told]) {
            *to = *from as i32;
        }
        let key = Key { chare, count: told as u8, numbers };
        if let Some((last, number)) = self.last {
            let same = is_call && dimensions == Some(0) && last.numbers == numbers && numbers != [0; MOST];
            if last == key || same {
                return number;
            }
        }
        if is_stand_in {
            return ObjectId::NONE;
        }
        let keys = &mut self.keys;
        let number = *self.known.entry(key).or_insert_with(|| {
            keys.push(key);
            ObjectId::from_index(keys.len() - 1)
        });
        self.last = Some((key, number));
        number
    }
}

/// Numbers the objects of all PEs in the order of their classes, and lets executions refer to those. What has an identity is one object wherever it is; a class of which
/// nothing has one has an object on each PE.
pub(super) fn number(of_pes: &[Objects], chares: &[(StringId, Option<usize>)], builder: &mut TraceBuilder) {
    let all = || of_pes.iter().flat_map(|objects| &objects.keys);
    let is_element = |key: &Key| chares[key.chare as usize].1.is_some_and(|dimensions| dimensions > 0);
    let indexed: FxHashSet<u32> =
        all().filter(|key| is_element(key) || key.numbers != [0; MOST]).map(|key| key.chare).collect();
    let identity = |key: &Key, pe: PeId| {
        let is_indexed = indexed.contains(&key.chare);
        let index = if is_indexed { &key.numbers[..usize::from(key.count)] } else { &[] };
        (key.chare, index.to_vec(), if is_indexed { PeId::NONE } else { pe })
    };
    let mut numbers: BTreeMap<(u32, Vec<i32>, PeId), ObjectId> = BTreeMap::new();
    for (pe, objects) in (0..).map(PeId).zip(of_pes) {
        numbers.extend(objects.keys.iter().map(|key| (identity(key, pe), ObjectId::NONE)));
    }
    for ((chare, index, home), number) in &mut numbers {
        let class = chares[*chare as usize].0;
        *number = builder.objects.push(Object { class, index: index.clone().into(), home: *home });
    }
    for ((pe, objects), stream) in (0..).map(PeId).zip(of_pes).zip(&mut builder.streams) {
        let of_all: Vec<ObjectId> = objects.keys.iter().map(|key| numbers[&identity(key, pe)]).collect();
        for row in stream.executions.iter_mut().filter(|row| row.object.is_some()) {
            row.object = of_all[row.object.index()];
        }
    }
}
