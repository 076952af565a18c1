//! Tests of the paradigm tables: their spellings, their completeness against installed libraries, and real archives.

mod archives;
mod libraries;
mod prototypes;
mod spellings;
mod tables;
