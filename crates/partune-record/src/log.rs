//! Reads the definition log of a process; its grammar is in `partune-collect`'s `log.rs`.
//!
//! A process may have been killed while it wrote: a torn last line is dropped, a line that cannot be understood is counted.

use std::sync::Arc;

use partune_collect::layout::VERSION;

/// Where the clocks were read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) ticks: u64,
    pub(crate) monotonic: u64,
    pub(crate) wall: u64,
}

/// A process among those of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rank {
    pub(crate) rank: u32,
    pub(crate) world: u64,
}

/// What a node of the tree of call paths adds to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// A return address; the module's number, none if unknown.
    Frame(Option<u32>, u64),
    /// The begin of an instrumented function.
    Function(Option<u32>, u64),
    Region(u32),
}

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
    pub(crate) kind: String,
    pub(crate) unit: String,
    pub(crate) name: String,
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
    pub(crate) rank: Option<Rank>,
    /// Names of paradigms and versions of their libraries.
    pub(crate) paradigms: Vec<(String, String)>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) modules: Vec<String>,
    /// Kind and name.
    pub(crate) regions: Vec<(String, String)>,
    pub(crate) paths: Vec<Node>,
    pub(crate) groups: Vec<Arc<str>>,
    pub(crate) comms: Vec<Comm>,
    pub(crate) windows: Vec<Window>,
    pub(crate) files: Vec<String>,
    pub(crate) metrics: Vec<Metric>,
    pub(crate) syncs: Vec<Sync>,
    pub(crate) notes: Vec<String>,
    /// How it ended the last time it said so; none if it was killed.
    pub(crate) end: Option<String>,
    /// Lines that could not be understood.
    pub(crate) damaged: u64,
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

    fn line(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        let mut next = || words.next();
        match next()? {
            "process" => {
                self.pid = number(next()?)?;
                self.host = text(next()?);
                self.boot = u64::from_str_radix(next()?, 16).ok()?;
                self.counts_nanoseconds = next()? == "monotonic";
                self.is_profile = next()? == "profile";
            }
            "program" => {
                self.program = text(next()?);
                self.arguments = words.filter(|word| !word.is_empty()).map(text).collect();
            }
            "calibrate" => {
                let reading = Reading { ticks: number(next()?)?, monotonic: number(next()?)?, wall: number(next()?)? };
                self.readings.push(reading);
            }
            "rank" => {
                let rank = number(next()?)?;
                next()?;
                self.rank = Some(Rank { rank, world: u64::from_str_radix(next()?, 16).ok()? });
            }
            "paradigm" => {
                let paradigm = (text(next()?), text(next()?));
                if !self.paradigms.contains(&paradigm) {
                    self.paradigms.push(paradigm);
                }
            }
            "thread" => {
                let number = number(next()?)?;
                next()?;
                self.threads.push(Thread { number, name: text(next()?) });
            }
            "module" => {
                let at = number(next()?)?;
                next()?;
                put(&mut self.modules, at, text(next()?))?;
            }
            "region" => {
                let at = number(next()?)?;
                put(&mut self.regions, at, (text(next()?), text(next()?)))?;
            }
            "path" => {
                let at: usize = number(next()?)?;
                let parent = optional(next()?)?;
                let kind = next()?;
                let step = match kind {
                    "region" => Step::Region(number(next()?)?),
                    "frame" => Step::Frame(optional(next()?)?, u64::from_str_radix(next()?, 16).ok()?),
                    "function" => Step::Function(optional(next()?)?, u64::from_str_radix(next()?, 16).ok()?),
                    _ => return None,
                };
                // Parents come first, under one lock.
                if at != self.paths.len() || parent.is_some_and(|parent| parent as usize >= at) {
                    return None;
                }
                self.paths.push(Node { parent, step });
            }
            "group" => {
                let at = number(next()?)?;
                put(&mut self.groups, at, next()?.into())?;
            }
            "comm" => {
                let at = number(next()?)?;
                let comm = Comm {
                    sequence: number(next()?)?,
                    members: next()?.into(),
                    remote: next().map(|remote| if remote == "-" { "" } else { remote })?.into(),
                    parent: optional(next()?)?,
                    name: text(next()?),
                };
                put(&mut self.comms, at, comm)?;
            }
            "name" => {
                let (kind, at): (_, usize) = (next()?, number(next()?)?);
                let name = text(next()?);
                match kind {
                    "comm" => self.comms.get_mut(at)?.name = name,
                    "window" => self.windows.get_mut(at)?.name = name,
                    _ => return None,
                }
            }
            "window" => {
                let at = number(next()?)?;
                let window = Window {
                    sequence: number(next()?)?,
                    comm: number(next()?)?,
                    kind: text(next()?),
                    name: text(next()?),
                };
                put(&mut self.windows, at, window)?;
            }
            "file" => {
                let at = number(next()?)?;
                put(&mut self.files, at, text(next()?))?;
            }
            "metric" => {
                let at = number(next()?)?;
                let metric = Metric { kind: text(next()?), unit: text(next()?), name: text(next()?) };
                put(&mut self.metrics, at, metric)?;
            }
            "sync" => {
                let sync = Sync { ticks: number(next()?)?, offset: number(next()?)?, deviation: number(next()?)? };
                self.syncs.push(sync);
            }
            "note" => self.notes.push(text(next()?)),
            // Every process exits; that it had finalised before is what counts.
            "end" => {
                let how = text(next()?);
                if how != "exit" || self.end.is_none() {
                    self.end = Some(how);
                }
            }
            _ => return None,
        }
        Some(())
    }
}

/// A word's text.
fn text(word: &str) -> String {
    if word == "-" {
        return String::new();
    }
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn number<T: std::str::FromStr>(word: &str) -> Option<T> {
    word.parse().ok()
}

#[allow(clippy::option_option, reason = "not understood, or understood as none")]
fn optional(word: &str) -> Option<Option<u32>> {
    if word == "-" { Some(None) } else { number(word).map(Some) }
}

/// Stores a value at its number. Threads may log neighbours in another order, but never far apart.
fn put<T: Default>(list: &mut Vec<T>, at: usize, value: T) -> Option<()> {
    const APART: usize = 1 << 16;
    if at >= list.len() + APART {
        return None;
    }
    if at >= list.len() {
        list.resize_with(at + 1, T::default);
    }
    list[at] = value;
    Some(())
}

/// The numbers of a list of members: `0-3,8,10-30:5`.
pub(crate) fn members(list: &str) -> Vec<u32> {
    const MOST: usize = 1 << 24;
    let mut all = Vec::new();
    for part in list.split(',').filter(|part| !part.is_empty() && *part != "-") {
        let (range, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (Some(first), Some(last), Some(step)) = (number::<u32>(first), number::<u32>(last), number::<usize>(step))
        else {
            continue;
        };
        all.extend((first..=last).step_by(step.max(1)).take(MOST.saturating_sub(all.len())));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_to_its_last_whole_line() {
        let log = ProcessLog::parse(&format!(
            "partune {VERSION}\nprocess 7 node%201 ff counter trace\nprogram /a/b x%20y -\nrank 2 4 a1\nmodule 0 5000 /a/b\n\
             region 0 MPI MPI_Send\npath 0 - frame 0 11f\npath 1 0 region 0\ncomm 0 0 0-3 - - MPI_COMM_WORLD\n\
             nonsense 1\ncalibrate 1 2 3\nend fina",
        ))
        .expect("it has a first line");
        assert_eq!((log.pid, log.host.as_str(), log.boot), (7, "node 1", 255));
        assert_eq!(log.arguments, ["x y", ""]);
        assert_eq!(log.rank, Some(Rank { rank: 2, world: 0xa1 }));
        assert_eq!(log.paths[1], Node { parent: Some(0), step: Step::Region(0) });
        assert_eq!(log.paths[0].step, Step::Frame(Some(0), 0x11f));
        assert_eq!((&*log.comms[0].members, &*log.comms[0].remote), ("0-3", ""));
        assert_eq!((log.damaged, log.end), (1, None));
    }

    #[test]
    fn other_versions_are_refused() {
        assert_eq!(ProcessLog::parse("").err(), Some(NoLog::Empty));
        assert_eq!(ProcessLog::parse("partune 999\n").err(), Some(NoLog::Version("partune 999".to_owned())));
    }

    #[test]
    fn members_are_expanded() {
        assert_eq!(members("0-3,8,10-30:5"), [0, 1, 2, 3, 8, 10, 15, 20, 25, 30]);
        assert_eq!(members("-"), [] as [u32; 0]);
        assert_eq!(members("5,4"), [5, 4]);
    }
}
