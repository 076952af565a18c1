//! Properties of processes and locations that say on which processors they ran, and for how long: partune's recorder writes them and the
//! importer reads them.

/// Of a process: what its processors are, which of them it may use (`0-3,8`), of how many, and for how many thousandths of one it may run.
pub const MODEL: &str = "PARTUNE::CPU_MODEL";
pub const ALLOWED: &str = "PARTUNE::CPUS_ALLOWED";
pub const ONLINE: &str = "PARTUNE::CPUS_ONLINE";
pub const QUOTA: &str = "PARTUNE::CPU_QUOTA";

/// Of a location: nanoseconds on a processor and in the queue for one, and how often it gave its processor up or lost it.
pub const ON_CPU: &str = "PARTUNE::NS_ON_CPU";
pub const WAITED: &str = "PARTUNE::NS_WAITED_FOR_CPU";
pub const GAVE_UP: &str = "PARTUNE::CPU_GIVEN_UP";
pub const LOST: &str = "PARTUNE::CPU_LOST";
