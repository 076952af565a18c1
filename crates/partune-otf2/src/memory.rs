//! Properties of processes that say how much memory they had, in bytes: partune's recorder writes them and the importer reads them.

/// The most at a time; what the recorder's buffers are of it at most; and what the process may have.
pub const PEAK: &str = "PARTUNE::PEAK_MEMORY";
pub const RECORDER: &str = "PARTUNE::RECORDER_MEMORY";
pub const LIMIT: &str = "PARTUNE::MEMORY_LIMIT";
