//! How processes ended, and where threads were seen last, as properties of the archive.
//!
//! Only partune's recorder knows; names and values are those that [`partune_otf2::ending`] reads.

use partune_base::{StringId, Strings, short};
use partune_otf2::ending;
use partune_otf2::start::{calls_main, is_below_main};
use partune_parts::log::How;

use crate::lanes::Lane;
use crate::log::{Died, ProcessLog};
use crate::places::{At, Places, file_name};

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

/// What a process died of. A signal after which it went on for a second of `resolution` ticks, up to its last event, was none to die of.
pub(crate) fn died(log: &ProcessLog, last: Option<u64>, resolution: u64) -> Option<&Died> {
    log.died.as_ref().filter(|died| last.is_none_or(|last| last <= died.ticks.saturating_add(resolution)))
}

/// The properties of a process that say how it ended; what was killed had ended when the command was `over`, if that is known.
pub(crate) fn properties(
    log: &ProcessLog,
    died: Option<&Died>,
    over: Option<u64>,
    places: &Places,
    strings: &mut Strings,
) -> Vec<(String, String)> {
    let Some(died) = died else {
        let end = match log.end {
            Some(How::Finalize) => ending::FINALIZE,
            Some(How::Abort) => ending::ABORT,
            Some(How::Exit) => ending::EXIT,
            None => ending::KILLED,
        };
        let over = over.filter(|_| log.end.is_none()).map(|over| (ending::TIME.to_owned(), over.to_string()));
        return std::iter::once((ending::END.to_owned(), end.to_owned())).chain(over).collect();
    };
    let place = functions(log, &died.frames, places, strings).map(|it| (ending::PLACE, it));
    let signal = format!("{}{}", ending::SIGNAL, died.signal);
    let all = [(ending::END, signal), (ending::TIME, died.ticks.to_string())].into_iter().chain(place);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
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
    lane.seen
        .as_ref()
        .filter(|_| log.end.is_none() && log.died.is_none())
        .map(|(time, frames)| (*time, frames.as_slice()))
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
        let file = file_name(strings.get(function.call_file));
        names.push(match function.call_line {
            0 => name,
            line => format!("{name} ({file}:{line})"),
        });
    }
    (!names.is_empty()).then(|| names.join(ending::CALLED_FROM))
}

#[cfg(test)]
mod tests {
    use partune_parts::layout::VERSION;

    use super::*;

    /// How a process ended whose log has these lines, a second having 1000 ticks.
    fn end(lines: &str, last: u64) -> String {
        let log = ProcessLog::parse(&format!("partune {VERSION}\n{lines}")).expect("a log");
        assert_eq!(log.damaged, 0);
        let died = died(&log, Some(last), 1000);
        properties(&log, died, None, &Places::default(), &mut Strings::default()).swap_remove(0).1
    }

    #[test]
    fn a_process_ends_as_it_said_last() {
        assert_eq!(end("", 500), "killed");
        assert_eq!(end("end exit\n", 500), "exit");
        assert_eq!(end("end finalize\nend exit\n", 500), "finalize");
        assert_eq!(end("end abort\n", 500), "abort");
    }

    #[test]
    fn a_signal_that_it_survived_is_not_how_it_ended() {
        let died = "died 11 5000 0\n";
        let ends = |after: &str| [5500, 7000].map(|last| end(&format!("{died}{after}"), last));
        assert_eq!(ends(""), ["signal 11", "killed"]);
        // A handler of the program's that exits, and a program that went on.
        assert_eq!(ends("end exit\n"), ["signal 11", "exit"]);
        assert_eq!(ends("end finalize\nend exit\n"), ["finalize"; 2]);
        assert_eq!(ends("end abort\n"), ["abort"; 2]);
        // After all was done.
        assert_eq!(end(&format!("end finalize\n{died}"), 5500), "signal 11");
        assert_eq!(end(&format!("end finalize\n{died}"), 7000), "finalize");
    }
}
