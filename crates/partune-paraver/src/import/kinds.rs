//! What event types and their values mean, decided when each is first seen.
//!
//! A trace repeats a few types millions of times and in the same order, so a type is looked for where it was found after the one before it;
//! only a surprise costs a look into a table.

use partune_base::{MetricId, RegionId, StringId, Strings};
use partune_trace::{Completion, LockKind, Metric, MetricValues, Participants, Region, RegionKind, Role, TraceBuilder};
use rustc_hash::FxHashMap;

use super::labels;
use super::names::{CALLS, Calls, EXCHANGED, FORKS, LOCK_GIVEN_BACK, LOCK_REQUESTED, LOCK_TAKEN, Names, Nesting};
use super::states;
use crate::codec::Pcf;

/// What a type is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Ignored,
    /// Begins and ends something: a position in the families.
    Calls(u16),
    /// Function and line of a caller: how far up, from 0.
    Caller(u8),
    CallerLine(u8),
    /// Line of the function that begins at this moment.
    FunctionLine,
    SentBytes,
    ReceivedBytes,
    IsRoot,
    Communicator,
    Counter(MetricId),
    /// The recorder writes its buffer.
    Flush,
    /// Recording goes on, or not.
    Tracing,
    /// Recording of long bursts only.
    TracingMode,
    LockAddress,
}

/// What a value of a family begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Action {
    pub(super) family: u16,
    pub(super) region: RegionId,
    pub(super) role: Role,
    pub(super) completion: Completion,
    /// The visit forks a team.
    pub(super) forks: bool,
    pub(super) lock: Option<LockKind>,
    pub(super) nesting: Nesting,
}

/// Functions of callers, up to this many.
pub(super) const LEVELS: usize = 32;

/// Families other than those of `CALLS`.
#[derive(Clone, Copy, Debug)]
enum Source {
    Table(&'static Calls),
    /// Functions of the user's.
    Functions,
    /// A type of which the `.pcf` names values as some paradigm names its constructs.
    Labels,
    /// Phases or iterations, which the label of the type says.
    Marks(RegionKind),
}

impl Source {
    fn nesting(self) -> Nesting {
        match self {
            Source::Table(calls) => calls.nesting,
            Source::Functions | Source::Labels => Nesting::Stacked,
            Source::Marks(_) => Nesting::Replaced,
        }
    }
}

struct Family {
    id: u64,
    source: Source,
    /// Actions of values: small values by position, others by number; none begins nothing.
    small: Vec<Option<u32>>,
    large: FxHashMap<u64, Option<u32>>,
}

/// A type that occurred.
struct Known {
    id: u64,
    meaning: Meaning,
    /// The type that came after it the last time.
    next: u32,
}

pub(super) struct Kinds<'a> {
    pcf: &'a Pcf,
    builder: &'a mut TraceBuilder,
    known: Vec<Known>,
    index: FxHashMap<u64, u32>,
    last: u32,
    families: Vec<Family>,
    pub(super) actions: Vec<Action>,
    regions: FxHashMap<(StringId, StringId), RegionId>,
    functions: FxHashMap<(u8, u64), Option<RegionId>>,
    pub(super) of_states: FxHashMap<u64, RegionId>,
}

const SMALL: u64 = 512;

impl<'a> Kinds<'a> {
    pub(super) fn new(pcf: &'a Pcf, builder: &'a mut TraceBuilder) -> Kinds<'a> {
        Kinds {
            pcf,
            builder,
            known: vec![Known { id: 0, meaning: Meaning::Ignored, next: 0 }],
            index: FxHashMap::from_iter([(0, 0)]),
            last: 0,
            families: Vec::new(),
            actions: Vec::new(),
            regions: FxHashMap::default(),
            functions: FxHashMap::default(),
            of_states: FxHashMap::default(),
        }
    }

    /// What a type is for.
    #[inline]
    pub(super) fn meaning(&mut self, id: u64) -> Meaning {
        let guess = self.known[self.last as usize].next;
        let at = if self.known[guess as usize].id == id { guess } else { self.find(id) };
        self.last = at;
        self.known[at as usize].meaning
    }

    fn find(&mut self, id: u64) -> u32 {
        let at = if let Some(at) = self.index.get(&id) {
            *at
        } else {
            let meaning = self.new_meaning(id);
            self.known.push(Known { id, meaning, next: 0 });
            let at = self.known.len() as u32 - 1;
            self.index.insert(id, at);
            at
        };
        self.known[self.last as usize].next = at;
        at
    }

    fn new_meaning(&mut self, id: u64) -> Meaning {
        let level = |base: u64| (id - base) as u8;
        match id {
            40_000_003 => Meaning::Flush,
            40_000_012 => Meaning::Tracing,
            40_000_018 => Meaning::TracingMode,
            50_100_001 => Meaning::SentBytes,
            50_100_002 => Meaning::ReceivedBytes,
            50_100_003 => Meaning::IsRoot,
            50_100_004 => Meaning::Communicator,
            60_000_032 | 60_006 => Meaning::LockAddress,
            60_000_118 | 60_000_119 | 60_000_120 | 60_013 => Meaning::FunctionLine,
            70_000_001..=70_000_032 => Meaning::Caller(level(70_000_001)),
            80_000_001..=80_000_032 => Meaning::CallerLine(level(80_000_001)),
            42_000_000..=44_999_999 => Meaning::Counter(self.counter(id)),
            60_000_018..=60_000_020 | 60_012 => self.family(id, Source::Functions),
            // Sampled places, addresses, and what else has labels that name functions without being them.
            30_000_000..=39_999_999 | 60_000_123 | 60_000_124 => Meaning::Ignored,
            _ => match CALLS.iter().find(|calls| calls.types.contains(&id)) {
                Some(calls) => self.family(id, Source::Table(calls)),
                None => self.labelled(id),
            },
        }
    }

    /// A type that only its labels explain.
    fn labelled(&mut self, id: u64) -> Meaning {
        let label = self.pcf.event_type(id).unwrap_or("").trim().to_ascii_lowercase();
        let marks = match label.as_str() {
            "iteration" | "iterations" => Some(RegionKind::Iteration),
            "phase" | "phases" => Some(RegionKind::Phase),
            _ => None,
        };
        if let Some(kind) = marks {
            return self.family(id, Source::Marks(kind));
        }
        let values = self.pcf.values(id);
        let names = values.into_iter().flatten().filter(|(value, _)| **value != 0).map(|(_, name)| name.as_str());
        let (mut all, mut constructs) = (0, 0);
        for name in names {
            all += 1;
            constructs += u64::from(partune_paradigm::recognise(name, None).is_some());
        }
        if constructs > 0 && 2 * constructs >= all { self.family(id, Source::Labels) } else { Meaning::Ignored }
    }

    fn family(&mut self, id: u64, source: Source) -> Meaning {
        let Ok(at) = u16::try_from(self.families.len()) else { return Meaning::Ignored };
        self.families.push(Family { id, source, small: Vec::new(), large: FxHashMap::default() });
        Meaning::Calls(at)
    }

    fn counter(&mut self, id: u64) -> MetricId {
        let label = self.pcf.event_type(id).map_or("", labels::counter);
        let name = if label.is_empty() { format!("counter {id}") } else { label.to_owned() };
        let name = self.builder.strings.intern(&name);
        let unit = self.builder.strings.intern("#");
        // Extrae writes what was counted since the value before; values as they are have types of their own.
        let values =
            if (43_000_000..44_000_000).contains(&id) { MetricValues::Accumulated } else { MetricValues::Last };
        self.builder.metrics.push(Metric { name, unit, values, scale: 1.0 })
    }

    /// What a value of a family begins.
    #[inline]
    pub(super) fn action(&mut self, family: u16, value: u64) -> Option<u32> {
        let known = &self.families[usize::from(family)];
        if let Some(Some(action)) = known.small.get(value as usize).filter(|_| value < SMALL) {
            return Some(*action);
        }
        if let Some(action) = known.large.get(&value) {
            return *action;
        }
        let action = self.new_action(family, value);
        let known = &mut self.families[usize::from(family)];
        match action {
            Some(_) if value < SMALL => {
                if known.small.len() <= value as usize {
                    known.small.resize(value as usize + 1, None);
                }
                known.small[value as usize] = action;
            }
            _ => drop(known.large.insert(value, action)),
        }
        action
    }

    fn new_action(&mut self, family: u16, value: u64) -> Option<u32> {
        let Family { id, source, .. } = self.families[usize::from(family)];
        let label = self.pcf.value(id, value).map(labels::whole).filter(|label| !label.is_empty());
        let region = match source {
            Source::Table(calls) => {
                let (name, shown) = named(calls, label, value)?;
                self.region(&name, shown.as_deref(), Some(calls.paradigm))
            }
            Source::Labels => {
                let name = label.filter(|label| partune_paradigm::recognise(label, None).is_some())?;
                self.region(name, None, None)
            }
            Source::Functions => {
                let name = label.and_then(labels::function).map_or_else(|| format!("function {value}"), str::to_owned);
                self.users(&name, RegionKind::Function)
            }
            Source::Marks(kind) => {
                let name = match kind {
                    RegionKind::Iteration => self.pcf.event_type(id).unwrap_or("iteration").trim().to_owned(),
                    RegionKind::Phase | RegionKind::Block | RegionKind::Function => {
                        label.map_or_else(|| format!("phase {value}"), str::to_owned)
                    }
                };
                self.users(&name, kind)
            }
        };
        let Region { role, completion, .. } = self.builder.regions[region];
        let is_lock = matches!(source, Source::Table(calls) if calls.nesting == Nesting::Replaced);
        let lock = [LockKind::Requested, LockKind::Acquired, LockKind::Released]
            .into_iter()
            .zip([LOCK_REQUESTED, LOCK_TAKEN, LOCK_GIVEN_BACK])
            .find(|(_, values)| is_lock && id != ORDERED && values.contains(&value))
            .map(|(kind, _)| kind);
        self.actions.push(Action {
            family,
            region,
            role,
            completion,
            forks: id == PARALLEL || id == TEAMS && FORKS.contains(&value),
            lock,
            nesting: source.nesting(),
        });
        Some(self.actions.len() as u32 - 1)
    }

    /// The construct of a name. `shown` is what to call it, if not by that.
    fn region(&mut self, name: &str, shown: Option<&str>, paradigm: Option<&str>) -> RegionId {
        let recognised = partune_paradigm::recognise(name, paradigm);
        let strings = &mut self.builder.strings;
        let (construct, paradigm, role, completion, participants) = match recognised {
            Some(found) => {
                let it = found.construct;
                (it.name, found.paradigm.name, it.role, it.completion, it.participants)
            }
            None => (name, paradigm.unwrap_or("unknown"), Role::Management, Completion::Blocking, Participants::Own),
        };
        let (construct, paradigm) = (strings.intern(construct), strings.intern(paradigm));
        let name = shown.map_or(construct, |shown| strings.intern(shown));
        let (file, kind) = (StringId::NONE, RegionKind::Function);
        self.intern(Region {
            name,
            whole: name,
            construct,
            paradigm,
            role,
            completion,
            participants,
            kind,
            file,
            line: 0,
        })
    }

    fn users(&mut self, name: &str, kind: RegionKind) -> RegionId {
        let name = self.builder.strings.intern(name);
        self.intern(Region { kind, ..Region::of_user(name) })
    }

    fn intern(&mut self, region: Region) -> RegionId {
        let regions = &mut self.builder.regions;
        *self.regions.entry((region.name, region.construct)).or_insert_with(|| regions.push(region))
    }

    /// What a begin means while something of the same family is open.
    pub(super) fn nestings(&self) -> Vec<Nesting> {
        self.families.iter().map(|family| family.source.nesting()).collect()
    }

    /// The function that a caller's value names; none if it is not known.
    pub(super) fn caller(&mut self, level: u8, value: u64) -> Option<RegionId> {
        if let Some(known) = self.functions.get(&(level, value)) {
            return *known;
        }
        let label = self.pcf.value(70_000_001 + u64::from(level), value).and_then(labels::function).map(str::to_owned);
        let region = label.filter(|_| value != 0).map(|name| self.users(&name, RegionKind::Function));
        self.functions.insert((level, value), region);
        region
    }

    /// File and line that a value of a type of lines names.
    pub(super) fn place(&mut self, id: u64, value: u64) -> Option<(StringId, u32)> {
        let (file, line) = self.pcf.value(id, value).and_then(labels::place)?;
        Some((self.builder.strings.intern(file), line))
    }

    /// The region of an action begins there.
    pub(super) fn set_line(&mut self, action: u32, (file, line): (StringId, u32)) {
        let region = &mut self.builder.regions[self.actions[action as usize].region];
        if region.line == 0 && region.role == Role::User {
            (region.file, region.line) = (file, line);
        }
    }

    /// The operation that a state stands for.
    pub(super) fn state(&mut self, state: u64) -> RegionId {
        if let Some(region) = self.of_states.get(&state) {
            return *region;
        }
        let known = states::STATES.get(state as usize).filter(|_| state < states::STATES.len() as u64);
        let label = self.pcf.states.get(&state).map(String::as_str).or(known.map(|known| known.0));
        let name = label.map_or_else(|| format!("state {state}"), str::to_owned);
        let strings: &mut Strings = &mut self.builder.strings;
        let (name, paradigm) = (strings.intern(&name), strings.intern("Paraver state"));
        let role = known.map_or(Role::Management, |known| known.1);
        let region = self.intern(Region::of_construct(name, paradigm, role));
        self.of_states.insert(state, region);
        region
    }
}

const PARALLEL: u64 = 60_000_001;
const TEAMS: u64 = 60_002;
const ORDERED: u64 = 60_000_033;

/// The construct of a value, and what to call it if its label says more.
fn named(calls: &Calls, label: Option<&str>, value: u64) -> Option<(String, Option<String>)> {
    let listed = |names: &[&str]| {
        value.checked_sub(1).and_then(|at| names.get(usize::try_from(at).ok()?)).map(ToString::to_string)
    };
    match calls.names {
        Names::Listed(names) => {
            let exchanged = calls.paradigm == partune_paradigm::MPI.name && EXCHANGED.contains(&value);
            let label = label.filter(|_| !exchanged).map(str::to_owned);
            Some((label.or_else(|| listed(names)).unwrap_or_else(|| format!("{} call {value}", calls.paradigm)), None))
        }
        Names::Some(names) => {
            names.iter().find(|(known, _)| *known == value).map(|(_, name)| ((*name).to_owned(), None))
        }
        Names::One(name) => {
            let shown = label.and_then(labels::function).filter(|label| !["Begin", "End"].contains(label));
            Some((name.to_owned(), shown.map(str::to_owned)))
        }
    }
}
