//! What no record of OTF2 has a field for, and attributes tell: addresses of accesses to memory of other PEs, and how many polls a visit stands for.
//!
//! An attribute of the access says which byte of the window is the first, or an attribute of the enter around it does, then of the
//! first access in that visit. partune's own recorder knows a displacement instead, in units that the target chose when it made the window:
//! each process reports its own unit there, and both are brought together here, when all locations are known. What is not recorded stays
//! unknown.

use partune_base::{PeId, WindowId};
use partune_import::IdMap;
use partune_trace::{NO_MATCHING, Stream, VisitIx};
use rustc_hash::FxHashMap;

use super::definitions::Definitions;
use super::mappings::Mappings;
use crate::codec::attributes::AttributeList;
use crate::codec::{Mapping, Value};

/// What an attribute says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The first byte, relative to the window.
    Address(u64),
    /// The same in units of the target.
    Displacement(u64),
    /// A process's unit in a window, in bytes.
    Unit(u64),
    /// For how many polls in a row a visit stands, and whether the last of them may have found something.
    Polls { count: u64, found: bool },
    /// What the ends of a message have in common.
    Matching(u64),
    /// A method ran, see [`objects::unpack`], because of a message if one is known.
    Execution { execution: u64, message: u64 },
}

/// What a number means.
type Tells = fn(u64) -> Told;

/// Names of attributes, without case and punctuation, and what they tell.
const NAMES: [(&str, Tells); 19] = [
    ("partuneexecution", |execution| Told::Execution { execution, message: NO_MATCHING }),
    ("partunematching", Told::Matching),
    ("partunepolls", |count| Told::Polls { count, found: false }),
    ("partunecalls", |count| Told::Polls { count, found: true }),
    ("address", Told::Address),
    ("rmaaddress", Told::Address),
    ("remoteaddress", Told::Address),
    ("remoteaddr", Told::Address),
    ("targetaddress", Told::Address),
    ("targetaddr", Told::Address),
    ("offset", Told::Address),
    ("rmaoffset", Told::Address),
    ("remoteoffset", Told::Address),
    ("targetoffset", Told::Address),
    ("windowoffset", Told::Address),
    ("winoffset", Told::Address),
    ("partuneobject", Told::Address),
    ("partunedisplacement", Told::Displacement),
    ("partunedisplacementunit", Told::Unit),
];

/// The attributes of an archive that tell something of addresses.
#[derive(Default)]
pub(super) struct AddressAttributes {
    /// By the attribute's id, positions in [`NAMES`].
    known: IdMap,
    /// Numbers in texts, by the text's id; only where an attribute has a text.
    texts: FxHashMap<u64, u64>,
    tells_displacements: bool,
}

impl AddressAttributes {
    pub(super) fn new(definitions: &Definitions) -> AddressAttributes {
        let mut found = AddressAttributes::default();
        let mut has_texts = false;
        for (id, name, has_text) in &definitions.attributes {
            let name = definitions.text(*name);
            let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
            if let Some(at) = NAMES.iter().position(|(known, _)| plain.eq_ignore_ascii_case(known)) {
                found.known.insert(*id, at as u32);
                found.tells_displacements |= NAMES[at].0 == "partunedisplacement";
                has_texts |= has_text;
            }
        }
        if has_texts {
            found.texts = definitions.texts().filter_map(|(id, text)| Some((id, number(text)?))).collect();
        }
        found
    }

    /// Whether the archive has the attribute by which partune's writers tell displacements: what they do not tell is not known.
    pub(super) fn tells_displacements(&self) -> bool {
        self.tells_displacements
    }

    /// What a list of attributes says; the first of several, and of an execution its message too.
    pub(super) fn told(&self, attributes: &AttributeList<'_>, mappings: &Mappings) -> Option<Told> {
        if self.known.is_empty() {
            return None;
        }
        let mut told = attributes.iter().filter_map(|it| {
            let at = self.known.get(mappings.map(Mapping::Attribute, u64::from(it.attribute)))?;
            let value = match it.value {
                Value::U8(value) => value.into(),
                Value::U16(value) => value.into(),
                Value::U32(value) => value.into(),
                Value::U64(value) => value,
                Value::I8(value) => value.try_into().ok()?,
                Value::I16(value) => value.try_into().ok()?,
                Value::I32(value) => value.try_into().ok()?,
                Value::I64(value) => value.try_into().ok()?,
                Value::String(id) => *self.texts.get(&mappings.map(Mapping::String, u64::from(id)))?,
                _ => return None,
            };
            Some(NAMES[at as usize].1(value))
        });
        let first = told.next()?;
        let message = told.find_map(|more| if let Told::Matching(message) = more { Some(message) } else { None });
        Some(match (first, message) {
            (Told::Execution { execution, .. }, Some(message)) => Told::Execution { execution, message },
            (first, _) => first,
        })
    }
}

/// `4096`, or `0x1000`.
fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// What a location, or a part of it, says that needs more than the access's record.
#[derive(Clone, Debug, Default)]
pub(super) struct Addresses {
    /// Rows of transfers whose address is a displacement.
    pub(super) displaced: Vec<u32>,
    /// Rows of synchronisations that wait at an address that is a displacement.
    pub(super) displaced_waits: Vec<u32>,
    /// Visits whose enters have an address.
    pub(super) entered: Vec<(VisitIx, Told)>,
    /// Windows, and this process's unit.
    pub(super) units: Vec<(WindowId, u64)>,
}

impl Addresses {
    /// Appends what a later part says, whose first transfer and first synchronisation are these rows.
    pub(super) fn append(&mut self, more: Addresses, [transfer, sync]: [usize; 2]) {
        self.displaced.extend(more.displaced.iter().map(|row| row + transfer as u32));
        self.displaced_waits.extend(more.displaced_waits.iter().map(|row| row + sync as u32));
        self.entered.extend(more.entered);
        self.units.extend(more.units);
    }
}

/// Completes the addresses of all streams.
pub(super) fn resolve(streams: &mut [Stream], told: Vec<Addresses>) {
    let mut units: FxHashMap<(WindowId, PeId), u64> = FxHashMap::default();
    for (pe, told) in told.iter().enumerate() {
        units.extend(told.units.iter().map(|(window, unit)| ((*window, PeId(pe as u32)), *unit)));
    }
    for (pe, (stream, mut told)) in streams.iter_mut().zip(told).enumerate() {
        for row in told.displaced_waits {
            if let Some(row) = stream.rma_syncs.get_mut(row as usize) {
                let unit = units.get(&(row.window, PeId(pe as u32)));
                row.address = row.address.zip(unit).and_then(|(address, unit)| address.checked_mul(*unit));
            }
        }
        if !told.entered.is_empty() {
            let entered: FxHashMap<VisitIx, Told> = told.entered.iter().copied().collect();
            let mut last = VisitIx::NONE;
            for (index, row) in stream.transfers.iter_mut().enumerate() {
                let is_first = std::mem::replace(&mut last, row.visit) != row.visit;
                match entered.get(&row.visit).filter(|_| is_first && row.address.is_none()) {
                    Some(Told::Address(address)) => row.address = Some(*address),
                    Some(Told::Displacement(displacement)) => {
                        row.address = Some(*displacement);
                        told.displaced.push(index as u32);
                    }
                    Some(Told::Unit(_) | Told::Polls { .. } | Told::Matching(_) | Told::Execution { .. }) | None => {}
                }
            }
        }
        for row in told.displaced {
            if let Some(row) = stream.transfers.get_mut(row as usize) {
                let unit = units.get(&(row.window, row.target));
                row.address = row.address.zip(unit).and_then(|(address, unit)| address.checked_mul(*unit));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_numbers() {
        assert_eq!(["4096", "0x1000", " 0Xff "].map(number), [Some(4096), Some(4096), Some(255)]);
        assert_eq!(["", "-1", "0x", "heap", "12 B"].map(number), [None; 5]);
    }
}
