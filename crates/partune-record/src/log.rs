//! What the definition log of a process says, which [`partune_parts::log`] describes.
//!
//! A process may have been killed while it wrote: a torn last line is dropped, a line that cannot be understood is counted.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use partune_parts::clock::{Reading, Source};
use partune_parts::layout::VERSION;
use partune_parts::log::{Hex, How, Interface, Line, Members, Mode, Named, Step, Text, Unit};
use partune_parts::machine::{Cpus, Ran};

/// PEs of one paradigm, and which of them this process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct World {
    pub(crate) paradigm: String,
    pub(crate) of: Unit,
    pub(crate) rank: u32,
    pub(crate) size: u32,
    pub(crate) key: u64,
}

/// Another world was met: see [`Line::Meeting`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meeting {
    pub(crate) comm: u32,
    pub(crate) first: u32,
    pub(crate) size: u32,
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// The members of a group, as the log has them: ranks in a world of the process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) world: u32,
    pub(crate) members: Arc<str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) number: u32,
    pub(crate) kind: String,
    pub(crate) name: String,
}

/// A node of the tree of call paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) parent: Option<u32>,
    pub(crate) step: Step,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) number: u32,
    pub(crate) name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Comm {
    pub(crate) world: u32,
    pub(crate) sequence: u32,
    /// Ranks in the world, as the log has them.
    pub(crate) members: Arc<str>,
    /// The remote group; empty if there is none.
    pub(crate) remote: Arc<str>,
    pub(crate) parent: Option<u32>,
    pub(crate) name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) sequence: u32,
    pub(crate) comm: u32,
    pub(crate) kind: String,
    pub(crate) name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Metric {
    pub(crate) grows: bool,
    pub(crate) unit: String,
    pub(crate) name: String,
}

/// A handle of a file, see [`Line::File`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) by: Interface,
    pub(crate) again: u32,
}

/// Memory of a process, in bytes; 0 if unknown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    /// The most at a time.
    pub(crate) peak: u64,
    /// What buffers of the recorder are of it at most.
    pub(crate) recorder: u64,
    /// What it may have.
    pub(crate) limit: u64,
}

/// What was sampled: see [`Line::Sampled`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sampled {
    pub(crate) ticks: u64,
    pub(crate) cpu_time: u64,
    pub(crate) missed: u64,
    pub(crate) spent: u64,
}

/// See [`Line::Shallow`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shallow {
    pub(crate) frames: u32,
    pub(crate) share: u32,
    pub(crate) ticks: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sync {
    pub(crate) ticks: u64,
    pub(crate) offset: i64,
    pub(crate) deviation: f64,
}

/// What a process said about itself. Vectors are indexed by the numbers of the log.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessLog {
    pub(crate) pid: u32,
    pub(crate) host: String,
    pub(crate) boot: u64,
    /// Whether its clock counts nanoseconds, not ticks of a rate that has to be found out.
    pub(crate) counts_nanoseconds: bool,
    /// Whether statistics were kept instead of events.
    pub(crate) is_profile: bool,
    pub(crate) program: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) readings: Vec<Reading>,
    pub(crate) worlds: Vec<Option<World>>,
    /// Names of paradigms and versions of their libraries.
    pub(crate) paradigms: Vec<(String, String)>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) modules: Vec<String>,
    /// Of each module: where its code is in memory, and what an address in memory is more than one in the file.
    places: Vec<(Range<u64>, u64)>,
    /// Kind and name.
    pub(crate) regions: Vec<(String, String)>,
    /// File and line of regions, by their numbers, where the program's runtime told them.
    pub(crate) told: BTreeMap<u32, (String, u32)>,
    pub(crate) paths: Vec<Node>,
    pub(crate) groups: Vec<Group>,
    pub(crate) comms: Vec<Comm>,
    pub(crate) meetings: Vec<Meeting>,
    pub(crate) windows: Vec<Window>,
    pub(crate) objects: Vec<Object>,
    pub(crate) files: Vec<Option<File>>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) syncs: Vec<Sync>,
    pub(crate) sampled: Option<Sampled>,
    /// Threads with shallower call paths, by their numbers.
    pub(crate) shallow: BTreeMap<u32, Shallow>,
    pub(crate) cpus: Option<Cpus>,
    /// What threads did, by their numbers.
    pub(crate) ran: BTreeMap<u32, Ran>,
    pub(crate) memory: Option<Memory>,
    pub(crate) notes: Vec<String>,
    /// By what choice calls of some functions were not recorded.
    pub(crate) choice: Option<String>,
    /// How it ended the last time it said so; none if it was killed.
    pub(crate) end: Option<How>,
    /// The last signal that it was about to die of, if it ended in no order after it.
    pub(crate) died: Option<Died>,
    /// Lines that could not be understood.
    pub(crate) damaged: u64,
}

/// See [`Line::Died`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Died {
    pub(crate) signal: u32,
    pub(crate) ticks: u64,
    /// From the innermost outwards; none if not known.
    pub(crate) frames: Vec<u64>,
}

/// Why a log cannot be used at all.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoLog {
    /// It has no complete first line.
    Empty,
    /// Another version of partune wrote it.
    Version(String),
}

impl ProcessLog {
    /// The file that an address in memory is from, and the address there. None for modules that no call path goes through.
    pub(crate) fn in_file(&self, address: u64) -> Option<(&str, u64)> {
        let at = self.places.iter().position(|(code, _)| code.contains(&address))?;
        Some((self.modules.get(at)?, address.checked_sub(self.places[at].1)?))
    }

    pub(crate) fn parse(text: &str) -> Result<ProcessLog, NoLog> {
        let whole = &text[..text.rfind('\n').map_or(0, |at| at + 1)];
        let mut lines = whole.lines();
        let first = lines.next().ok_or(NoLog::Empty)?;
        match first.strip_prefix("partune ") {
            Some(version) if version == VERSION.to_string() => {}
            _ => return Err(NoLog::Version(first.to_owned())),
        }
        let mut log = ProcessLog::default();
        for line in lines {
            if log.line(line).is_none() {
                log.damaged += 1;
            }
        }
        Ok(log)
    }

    /// The world of processes that it names first, by its key, and the rank there: what orders processes.
    pub(crate) fn rank(&self) -> Option<(u64, u32)> {
        let world = self.worlds.iter().flatten().find(|world| world.of == Unit::Process)?;
        Some((world.key, world.rank))
    }

    fn line(&mut self, line: &str) -> Option<()> {
        match Line::parse(line)? {
            // One begins the log, which was read.
            Line::Partune { .. } => return None,
            Line::Process { pid, host, boot: Hex(boot), clock, mode } => {
                (self.pid, self.host, self.boot) = (pid, host.into_string(), boot);
                self.counts_nanoseconds = clock == Source::Monotonic;
                self.is_profile = mode == Mode::Profile;
            }
            Line::Program { path, arguments } => {
                self.program = path.into_string();
                self.arguments = arguments.into_iter().map(Text::into_string).collect();
            }
            Line::Calibrate { reading } => self.readings.push(reading),
            Line::World { number, paradigm, of, rank, size, key: Hex(key) } => {
                put(&mut self.worlds, number, Some(World { paradigm: paradigm.into_string(), of, rank, size, key }))?;
            }
            Line::Paradigm { name, version } => {
                let paradigm = (name.into_string(), version.into_string());
                if !self.paradigms.contains(&paradigm) {
                    self.paradigms.push(paradigm);
                }
            }
            Line::Thread { number, tid: _, name } => self.threads.push(Thread { number, name: name.into_string() }),
            Line::Module { number, begin: Hex(begin), end: Hex(end), bias: Hex(bias), path } => {
                put(&mut self.places, number, (begin..end, bias))?;
                put(&mut self.modules, number, path.into_string())?;
            }
            Line::Region { number, kind, name } => {
                put(&mut self.regions, number, (kind.into_string(), name.into_string()))?;
            }
            Line::Told { region, file, line } => drop(self.told.insert(region, (file.into_string(), line))),
            Line::Path { number, parent, step } => {
                // Parents come first, under one lock.
                if number as usize != self.paths.len() || parent.is_some_and(|parent| parent >= number) {
                    return None;
                }
                self.paths.push(Node { parent, step });
            }
            Line::Group { number, world, members } => {
                put(&mut self.groups, number, Group { world, members: ranges(members) })?;
            }
            Line::Comm { number, world, sequence, members, remote, parent, name } => {
                let (members, remote) = (ranges(members), ranges(remote));
                let name = name.into_string();
                put(&mut self.comms, number, Comm { world, sequence, members, remote, parent, name })?;
            }
            Line::Meeting { comm, first, size, begin, end } => {
                self.meetings.push(Meeting { comm, first, size, begin, end });
            }
            Line::Name { of: Named::Comm, number, name } => {
                self.comms.get_mut(number as usize)?.name = name.into_string();
            }
            Line::Window { number, sequence, comm, kind, name } => {
                let (kind, name) = (kind.into_string(), name.into_string());
                put(&mut self.windows, number, Window { sequence, comm, kind, name })?;
            }
            Line::Object { number, world: _, kind, name } => {
                self.objects.push(Object { number, kind: kind.into_string(), name: name.into_string() });
            }
            Line::File { number, name, by, again } => {
                put(&mut self.files, number, Some(File { name: name.into_string(), by, again }))?;
            }
            Line::Metric { number, grows, unit, name } => {
                let (unit, name) = (unit.into_string(), name.into_string());
                put(&mut self.metrics, number, Metric { grows, unit, name })?;
            }
            Line::Sync { ticks, offset, deviation } => self.syncs.push(Sync { ticks, offset, deviation }),
            Line::Sampled { ticks, cpu_time, missed, spent } => {
                self.sampled = Some(Sampled { ticks, cpu_time, missed, spent });
            }
            Line::Shallow { thread, frames, share, ticks } => {
                self.shallow.insert(thread, Shallow { frames, share, ticks });
            }
            Line::Cpus { allowed, online, model, quota } => {
                let [allowed, model] = [allowed, model].map(Text::into_string);
                let before = self.cpus.replace(Cpus { allowed: allowed.clone(), online, model, quota });
                if let Some(before) = before.filter(|before| before.allowed != allowed) {
                    let text = format!("a process ran on processors {} first, and on {allowed} last", before.allowed);
                    self.notes.push(text);
                }
            }
            Line::Memory { peak, recorder, limit } => self.memory = Some(Memory { peak, recorder, limit }),
            Line::Ran { thread, ran } => drop(self.ran.insert(thread, ran)),
            Line::Note { text } => self.notes.push(text.into_string()),
            Line::Choice { text } => self.choice = Some(text.into_string()),
            // Every process exits, some in the handler of the signal that they die of; that it had finalised before is what counts.
            Line::End { how: How::Exit } => self.end = self.end.or(Some(How::Exit)),
            Line::End { how } => (self.end, self.died) = (Some(how), None),
            Line::Died { signal, ticks, frames } => {
                let address = |word: &str| u64::from_str_radix(word, 16).ok().filter(|address| *address > 0);
                self.died = Some(Died { signal, ticks, frames: frames.0.split(',').filter_map(address).collect() });
            }
        }
        Some(())
    }
}

/// A list of ranks as it was read.
fn ranges(members: Members<'_>) -> Arc<str> {
    match members {
        Members::Ranges(text) => text.into(),
        Members::Ranks(_) => "".into(),
    }
}

/// Stores a value at its number. Threads may log neighbours in another order, but never far apart.
fn put<T: Default>(list: &mut Vec<T>, number: u32, value: T) -> Option<()> {
    const APART: usize = 1 << 16;
    let at = number as usize;
    if at >= list.len() + APART {
        return None;
    }
    if at >= list.len() {
        list.resize_with(at + 1, T::default);
    }
    list[at] = value;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_to_its_last_whole_line() {
        let log = ProcessLog::parse(&format!(
            "partune {VERSION}\nprocess 7 node%201 ff counter trace\nprogram /a/b x%20y -\nworld 0 MPI process 2 4 a1\nmodule 0 5000 9000 5000 /a/b\n\
             region 0 MPI MPI_Send\npath 0 - frame 0 11f\npath 1 0 region 0\ncomm 0 0 0 0-3 - - MPI_COMM_WORLD\n\
             nonsense 1\ncalibrate 1 2 3\nend fina",
        ))
        .expect("it has a first line");
        assert_eq!((log.pid, log.host.as_str(), log.boot), (7, "node 1", 255));
        assert_eq!(log.arguments, ["x y", ""]);
        assert_eq!(log.rank(), Some((0xa1, 2)));
        assert_eq!(log.paths[1], Node { parent: Some(0), step: Step::Region(0) });
        assert_eq!(log.paths[0].step, Step::Frame { module: Some(0), address: Hex(0x11f) });
        assert_eq!((&*log.comms[0].members, &*log.comms[0].remote), ("0-3", ""));
        assert_eq!((log.damaged, log.end), (1, None));
    }

    #[test]
    fn an_address_below_its_file_is_in_none() {
        let log = |bias: &str| {
            let text = format!("partune {VERSION}\nmodule 0 0 0 0 <none>\nmodule 1 5000 9000 {bias} /a/b\n");
            ProcessLog::parse(&text).expect("it has a first line")
        };
        assert_eq!(log("4000").in_file(0x5010), Some(("/a/b", 0x1010)));
        assert_eq!(log("4000").in_file(0x9000), None);
        assert_eq!(log("6000").in_file(0x5010), None, "damaged: a file does not begin before 0");
    }

    #[test]
    fn other_versions_are_refused() {
        assert_eq!(ProcessLog::parse("").err(), Some(NoLog::Empty));
        assert_eq!(ProcessLog::parse("partune 999\n").err(), Some(NoLog::Version("partune 999".to_owned())));
    }
}
