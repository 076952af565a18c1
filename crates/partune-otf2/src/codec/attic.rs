//! What older versions of OTF2 recorded in other words: values for attributes that a record lacks because its writer did not know them.
//!
//! For importers, which see the same definition whatever version wrote it. The records themselves stay as they were read, so that a copy
//! of an old archive is a copy. Source: `otf2_attic.c` of OTF2 3.0.2 and the notes on each version there.

use super::attributes::Value;
use super::definition::{Group, LocationGroupProperty, LocationProperty, Region, SystemTreeNodeProperty};
use crate::paradigms;

/// What a region is: its role (`OTF2_RegionRole`), its paradigm (`OTF2_Paradigm`), its flags (1 dynamic, 2 phase).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegionKind {
    /// Its role.
    pub role: u8,
    /// Its paradigm.
    pub paradigm: u8,
    /// Its flags.
    pub flags: u32,
}

impl Region {
    /// The canonical name; before OTF2 1.1 a region had one name only.
    pub fn canonical_name_or_name(&self) -> u32 {
        self.canonical_name.unwrap_or(self.name)
    }

    /// What the region is; before OTF2 1.1 that was a single type.
    pub fn kind(&self) -> RegionKind {
        match (self.region_role, self.paradigm) {
            (Some(role), Some(paradigm)) => RegionKind { role, paradigm, flags: self.region_flags.unwrap_or(0) },
            _ => region_kind(self.region_type),
        }
    }
}

fn region_kind(region_type: u8) -> RegionKind {
    let kind = |role, paradigm, flags| RegionKind { role, paradigm, flags };
    match region_type {
        1 | 3 => kind(1, 0, 0),
        2 => kind(3, paradigms::USER, 0),
        4 => kind(27, paradigms::USER, 0),
        5..=21 => {
            // In the order of the old types: parallel, loop, sections, section, workshare, single, master, critical, atomic, barrier, implicit
            // barrier, flush, critical body, single body, wrapper, task, task wait.
            const ROLES: [u8; 17] = [5, 3, 6, 7, 8, 9, 11, 12, 14, 15, 16, 17, 13, 10, 2, 20, 22];
            kind(ROLES[usize::from(region_type - 5)], paradigms::OPENMP, 0)
        }
        22 => kind(15, paradigms::MPI, 0),
        23..=26 => kind(region_type, paradigms::MPI, 0),
        27 => kind(4, paradigms::USER, 0),
        28 => kind(4, paradigms::USER, 1),
        29 => kind(4, paradigms::USER, 3),
        30 => kind(3, paradigms::USER, 1),
        31 => kind(1, paradigms::USER, 1),
        32 => kind(3, paradigms::USER, 3),
        33 => kind(21, paradigms::OPENMP, 0),
        34 => kind(18, paradigms::OPENMP, 0),
        35 => kind(19, paradigms::OPENMP, 0),
        _ => kind(0, 0, 0),
    }
}

/// What a group is: its type (`OTF2_GroupType`), its paradigm, its flags (1: members are locations, not ranks).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupKind {
    /// Its type.
    pub group_type: u8,
    /// Its paradigm.
    pub paradigm: u8,
    /// Its flags.
    pub flags: u32,
}

impl Group<'_> {
    /// What the group is; before OTF2 1.2 that was a single type.
    pub fn kind(&self) -> GroupKind {
        if let (Some(group_type), Some(paradigm)) = (self.group_type, self.paradigm) {
            return GroupKind { group_type, paradigm, flags: self.group_flags.unwrap_or(0) };
        }
        let (group_type, paradigm) = match self.group_type_pre12 {
            1 => (1, 0),
            2 | 3 => (2, 0), // metric groups read as groups of regions in the C library too
            4 => (5, paradigms::MPI),
            5 => (6, paradigms::MPI),
            6 => (4, paradigms::MPI),
            _ => (0, 0),
        };
        GroupKind { group_type, paradigm, flags: 0 }
    }

    /// The single type that OTF2 before 1.2 would have used, which a writer must still fill in; 0 if there was none.
    pub fn type_before_1_2(kind: GroupKind) -> u8 {
        match (kind.group_type, kind.paradigm, kind.flags) {
            (group_type @ 1..=3, 0, 0) => group_type,
            (4, paradigms::MPI, 0) => 6,
            (5, paradigms::MPI, 0) => 4,
            (6, paradigms::MPI, 0) => 5,
            _ => 0,
        }
    }
}

macro_rules! property_value {
    ($($record:ident),*) => {
        $(impl $record {
            /// The value; before OTF2 2.0 it was always a string.
            pub fn value_or_string(&self) -> Value {
                self.value.unwrap_or(Value::String(self.string_value))
            }
        })*
    };
}

property_value!(SystemTreeNodeProperty, LocationGroupProperty, LocationProperty);
