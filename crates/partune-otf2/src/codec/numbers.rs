//! OTF2's numbers for what definitions choose from, as `OTF2_GeneralDefinitions.h` and `OTF2_Definitions.h` have them; those that are written here. Those of paradigms
//! are in [`crate::paradigms`].

/// `OTF2_RegionRole`.
pub mod role {
    pub const FUNCTION: u8 = 1;
    pub const LOOP: u8 = 3;
    pub const CODE: u8 = 4;
    pub const PARALLEL: u8 = 5;
    pub const CRITICAL: u8 = 12;
    pub const CRITICAL_BLOCK: u8 = 13;
    pub const BARRIER: u8 = 15;
    pub const IMPLICIT_BARRIER: u8 = 16;
    pub const ONE_TO_ALL: u8 = 23;
    pub const ALL_TO_ONE: u8 = 24;
    pub const ALL_TO_ALL: u8 = 25;
    pub const COLLECTIVE: u8 = 26;
    pub const FILE_IO: u8 = 27;
    pub const POINT_TO_POINT: u8 = 28;
    pub const RMA: u8 = 29;
    pub const ALLOCATE: u8 = 35;
    pub const FILE_IO_METADATA: u8 = 38;
}

/// `OTF2_RegionFlag`, which add up.
pub mod region_flag {
    pub const DYNAMIC: u32 = 1;
    pub const PHASE: u32 = 2;
}

/// `OTF2_GroupType`.
pub mod group {
    pub const COMM_LOCATIONS: u8 = 4;
    pub const COMM: u8 = 5;
    pub const COMM_SELF: u8 = 6;
}

/// `OTF2_Type`.
pub mod value {
    pub const UINT64: u8 = 4;
    pub const DOUBLE: u8 = 10;
}

/// `OTF2_MetricType`.
pub mod metric {
    pub const OTHER: u8 = 0;
    pub const PAPI: u8 = 1;
}

/// `OTF2_MetricMode`: what values are, and for which time.
pub mod metric_mode {
    pub const VALUE: u8 = 0x0f;
    pub const ACCUMULATED: u8 = 0;
    pub const ABSOLUTE: u8 = 1;
    pub const RELATIVE: u8 = 2;
    pub const TIMING: u8 = 0xf0;
    pub const POINT: u8 = 0x10;
    pub const LAST: u8 = 0x20;
    pub const NEXT: u8 = 0x30;
}

/// `OTF2_MetricOccurrence`.
pub mod occurrence {
    pub const SYNCHRONOUS_STRICT: u8 = 0;
    pub const SYNCHRONOUS: u8 = 1;
}
