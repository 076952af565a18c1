//! What the launcher asked for, in the environment.

use std::path::PathBuf;

use partune_parts::layout::CHUNK_SIZE;
use partune_parts::log::Mode;

/// The wishes of the launcher.
#[derive(Debug)]
pub(crate) struct Settings {
    /// `PARTUNE_DIR`: the folder of the archive, absolute.
    pub(crate) folder: PathBuf,
    /// `PARTUNE_SCRATCH`: a folder on a disk of the node for files of events.
    pub(crate) scratch: Option<PathBuf>,
    /// `PARTUNE_MODE`: `trace` or `profile`.
    pub(crate) mode: Mode,
    /// `PARTUNE_DEPTH`: frames of a call path, innermost first; 0 for none.
    pub(crate) depth: usize,
    /// `PARTUNE_BUDGET`: millionths of a thread's time that its walks of the stack may take before call paths get shallower; 0: any number.
    pub(crate) budget: Option<u32>,
    /// `PARTUNE_BUFFER`: bytes of a thread's ring; whole chunks, at least two.
    pub(crate) ring: usize,
    /// `PARTUNE_MAX_SIZE`: bytes of events that all processes together may keep.
    pub(crate) max_size: Option<u64>,
    /// `PARTUNE_KEEP`: `newest` events where there is no room for all of them, or else the oldest.
    pub(crate) keeps_newest: bool,
    /// `PARTUNE_SAMPLE`: how often a second of its CPU time is looked where a thread is; 0: never.
    pub(crate) sample: u32,
    /// `PARTUNE_EXACT_POLLS`: every poll is kept by itself.
    pub(crate) exact_polls: bool,
    /// `PARTUNE_PHASE`: only what is in the marked phases, regions or loops of this name is recorded; `NAME:COUNT` the first of them.
    pub(crate) phase: Option<String>,
    /// `PARTUNE_WINDOW`: only what is between two times is recorded: `BEGIN..END` in nanoseconds since 1970.
    pub(crate) window: Option<[u64; 2]>,
    /// `PARTUNE_TOGGLE`: the number of a signal that turns recording on and off; it is off at first.
    pub(crate) toggle: Option<i32>,
    /// `PARTUNE_COUNTERS`: names of counters, with commas.
    pub(crate) counters: Vec<String>,
}

/// Frames of a call path unless said otherwise.
const DEPTH: usize = 64;
/// Millionths that call paths may cost unless said otherwise.
const BUDGET: usize = 50_000;
/// Samples a second unless said otherwise.
const SAMPLE: usize = 250;
/// A ring is at most this part of the whole recording, if that is limited.
const PARTS_OF_ALL: u64 = 64;
/// Bytes of a ring unless said otherwise.
const RING: usize = 4 * CHUNK_SIZE;

impl Settings {
    /// From the environment; `None` if this process is not to be recorded.
    pub(crate) fn read() -> Option<Settings> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let folder = PathBuf::from(std::env::var_os("PARTUNE_DIR").filter(|value| !value.is_empty())?);
        let number = |name: &str, default: usize| variable(name).and_then(|text| text.parse().ok()).unwrap_or(default);
        let max_size = variable("PARTUNE_MAX_SIZE").and_then(|text| text.parse().ok());
        // Rings count from the begin, so they are a small part of it.
        let most =
            max_size.map_or(usize::MAX, |bytes: u64| usize::try_from(bytes / PARTS_OF_ALL).unwrap_or(usize::MAX));
        Some(Settings {
            folder,
            scratch: variable("PARTUNE_SCRATCH").map(PathBuf::from),
            max_size,
            mode: if variable("PARTUNE_MODE").as_deref() == Some("profile") { Mode::Profile } else { Mode::Trace },
            depth: number("PARTUNE_DEPTH", DEPTH),
            budget: Some(number("PARTUNE_BUDGET", BUDGET) as u32).filter(|share| *share > 0),
            ring: (number("PARTUNE_BUFFER", RING).min(most) / CHUNK_SIZE).clamp(2, 1 << 14) * CHUNK_SIZE,
            sample: number("PARTUNE_SAMPLE", SAMPLE) as u32,
            exact_polls: variable("PARTUNE_EXACT_POLLS").is_some(),
            toggle: variable("PARTUNE_TOGGLE").and_then(|text| text.parse().ok()),
            keeps_newest: variable("PARTUNE_KEEP").as_deref() == Some("newest"),
            phase: variable("PARTUNE_PHASE"),
            window: variable("PARTUNE_WINDOW").and_then(|text| {
                let (begin, end) = text.split_once("..")?;
                Some([begin.parse().ok()?, end.parse().ok()?])
            }),
            counters: variable("PARTUNE_COUNTERS")
                .map(|list| list.split(',').map(|name| name.trim().to_owned()).collect())
                .unwrap_or_default(),
        })
    }
}
