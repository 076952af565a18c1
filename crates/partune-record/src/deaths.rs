//! How processes ended, and where threads were seen last, as properties of the archive.
//!
//! Only partune's recorder knows; names and values are those that [`partune_otf2::ending`] reads.

use partune_base::{StringId, Strings, short};
use partune_otf2::ending;
use partune_otf2::start::{calls_main, is_below_main};

use crate::lanes::Lane;
use crate::log::{Died, ProcessLog};
use crate::places::{At, Places};

/// Functions that are named at most.
const FUNCTIONS: usize = 16;

/// All addresses of a process whose functions are named here, by the path of their module.
pub(crate) fn addresses<'a>(
    log: &'a ProcessLog,
    lanes: impl Iterator<Item = &'a Lane>,
    strings: &mut Strings,
) -> Vec<(StringId, At)> {
    let seen = lanes
        .filter_map(|lane| seen(log, lane))
        .flat_map(|(_, frames)| in_files(log, frames, strings))
        .collect::<Vec<_>>();
    let died = log.died.iter().flat_map(|died| in_files(log, &died.frames, strings));
    died.chain(seen).collect()
}

/// The properties of a process that say how it ended. A signal after which it went on for a second of `resolution` ticks was none to die of.
pub(crate) fn properties(
    log: &ProcessLog,
    last: Option<u64>,
    resolution: u64,
    places: &Places,
    strings: &mut Strings,
) -> Vec<(String, String)> {
    let says_so = log.end.as_deref().is_some_and(|end| end.starts_with(ending::SIGNAL));
    let is_last = |died: &&Died| last.is_none_or(|last| last <= died.ticks.saturating_add(resolution));
    let died = log.died.as_ref().filter(|_| says_so).filter(is_last);
    let end = log.end.clone().filter(|_| died.is_some() || !says_so).unwrap_or_else(|| ending::KILLED.to_owned());
    let mut properties = vec![(ending::END.to_owned(), end)];
    if let Some(died) = died {
        properties.push((ending::TIME.to_owned(), died.ticks.to_string()));
        properties.extend(functions(log, &died.frames, places, strings).map(|it| (ending::PLACE.to_owned(), it)));
    }
    properties
}

/// When a thread of a killed process was seen last, and in which functions.
pub(crate) fn last_seen(
    log: &ProcessLog,
    lane: &Lane,
    places: &Places,
    strings: &mut Strings,
) -> Option<(u64, String)> {
    let (time, frames) = seen(log, lane)?;
    Some((time, functions(log, frames, places, strings)?))
}

fn seen<'a>(log: &ProcessLog, lane: &'a Lane) -> Option<(u64, &'a [u64])> {
    lane.seen.as_ref().filter(|_| log.end.is_none()).map(|(time, frames)| (*time, frames.as_slice()))
}

/// Addresses in their files, from the innermost outwards; those of unknown modules are left out.
fn in_files(log: &ProcessLog, frames: &[u64], strings: &mut Strings) -> Vec<(StringId, At)> {
    let place = |(address, at): (&u64, usize)| {
        let (path, address) = log.in_file(*address)?;
        Some((strings.intern(path), if at == 0 { At::Running(address) } else { At::Call(address) }))
    };
    frames.iter().zip(0..).filter_map(place).collect()
}

/// The functions of addresses, from the innermost outwards to `main`, in one text.
fn functions(log: &ProcessLog, frames: &[u64], places: &Places, strings: &mut Strings) -> Option<String> {
    let mut names = Vec::new();
    let at = in_files(log, frames, strings);
    for function in at.into_iter().flat_map(|(module, at)| places.get(module, at).iter().rev()).take(FUNCTIONS) {
        let name = short(strings.get(function.name)).into_owned();
        if calls_main(&name) || !names.is_empty() && is_below_main(&name) {
            break;
        }
        let file = strings.get(function.call_file).rsplit('/').next().unwrap_or_default();
        names.push(match function.call_line {
            0 => name,
            line => format!("{name} ({file}:{line})"),
        });
    }
    (!names.is_empty()).then(|| names.join(ending::CALLED_FROM))
}
