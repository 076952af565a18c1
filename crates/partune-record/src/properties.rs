//! What the archive says of processes and threads beside their events: how they ended, on which processors they ran, what was lost.

use partune_otf2::shallow::SHALLOW;
use partune_otf2::write::{LEFT_OUT, LIBRARY, LOST_EVENTS, OVERWRITTEN_EVENTS};
use partune_otf2::{ending, memory, processors};
use partune_parts::layout::ANYBODY;
use partune_parts::machine::Ran;

use crate::definitions::Property;
use crate::lanes::{Awaited, Lane};
use crate::log::{Object, ProcessLog};
use crate::unify::Local;

/// How a process ended and what its program was compiled with, as its properties, and where its threads were seen last.
pub(crate) struct End {
    pub(crate) about: Vec<(String, String)>,
    pub(crate) seen: Vec<Option<(u64, String)>>,
}

/// All properties of a process.
pub(crate) fn of_process(log: &ProcessLog, end: &End) -> Vec<(String, String)> {
    let versions: Vec<String> = log.paradigms.iter().map(|(name, version)| format!("{name}: {version}")).collect();
    let object = |it: &Object| (format!("PARTUNE::OBJECT {}", it.number), format!("{} {}", it.kind, it.name));
    let about = std::iter::once((LIBRARY.to_owned(), versions.join("; "))).chain(end.about.iter().cloned());
    let choice = log.choice.iter().map(|words| (LEFT_OUT.to_owned(), words.clone()));
    about.chain(choice).chain(log.objects.iter().map(object)).chain(of_processors(log)).chain(of_memory(log)).collect()
}

/// The properties of a thread, where the location of each thread of its process is known by what the system calls it: how many events were lost, how it ran, whom its last operation waits for, where it was seen last, and how deep its call
/// paths are.
pub(crate) fn of_thread<'a>(
    lane: &Lane,
    ran: Option<&Ran>,
    local: &Local,
    location: impl Fn(u64) -> Option<u64>,
    seen: Option<&'a (u64, String)>,
    shallow: Option<&'a str>,
) -> Vec<(&'static str, Property<'a>)> {
    let lost = (lane.lost > 0).then_some((LOST_EVENTS, lane.lost));
    let older = lane.newest.map(|it| (OVERWRITTEN_EVENTS, it.1)).filter(|it| it.1 > 0);
    let awaited = lane.awaits.iter().filter_map(|it| match *it {
        Awaited::Comm(comm, rank) => Some((*local.comms.get(comm as usize)?, rank)),
        Awaited::Thread(_) => None,
    });
    let awaited: Vec<(u64, u32)> = awaited.collect();
    let thread = lane.awaits.iter().find_map(|it| match *it {
        Awaited::Comm(..) => None,
        Awaited::Thread(tid) => Some((ending::AWAITED_LOCATION, location(tid)?)),
    });
    let first = awaited.first();
    let comm = first.map(|(comm, _)| (ending::AWAITED_COMM, *comm));
    let rank = first.filter(|(_, rank)| *rank != ANYBODY).map(|(_, rank)| (ending::AWAITED_RANK, u64::from(*rank)));
    let others: Vec<String> = awaited.iter().skip(1).map(|(comm, rank)| format!("{comm}:{rank}")).collect();
    let also = (!others.is_empty()).then(|| (ending::AWAITED_ALSO, Property::Text(others.join(" ").into())));
    let time = seen.map(|(time, _)| (ending::SEEN_TIME, *time));
    let place = seen.map(|(_, place)| (ending::SEEN_PLACE, Property::Text(place.into())));
    // Of its whole life, and not of what is kept.
    let ran = ran.filter(|_| lane.newest.is_none()).into_iter().flat_map(|ran| {
        let Ran { on, waited, gave_up, lost } = *ran;
        let names = [processors::ON_CPU, processors::WAITED, processors::GAVE_UP, processors::LOST];
        names.into_iter().zip([on, waited, gave_up, lost])
    });
    let numbers = [lost, older, comm, rank, thread, time]
        .into_iter()
        .flatten()
        .chain(ran)
        .map(|(name, it)| (name, Property::Number(it)));
    numbers.chain(place).chain(also).chain(shallow.map(|text| (SHALLOW, Property::Text(text.into())))).collect()
}

/// On which processors a process ran.
fn of_processors(log: &ProcessLog) -> impl Iterator<Item = (String, String)> {
    let known = log.cpus.iter().flat_map(|cpus| {
        let quota = cpus.quota.map(|quota| (processors::QUOTA, quota.to_string()));
        let all = [
            (processors::MODEL, cpus.model.clone()),
            (processors::ALLOWED, cpus.allowed.clone()),
            (processors::ONLINE, cpus.online.to_string()),
        ];
        all.into_iter().chain(quota)
    });
    known.filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name.to_owned(), value))
}

/// How much memory a process had.
fn of_memory(log: &ProcessLog) -> impl Iterator<Item = (String, String)> {
    let known = log
        .memory
        .iter()
        .flat_map(|it| [(memory::PEAK, it.peak), (memory::RECORDER, it.recorder), (memory::LIMIT, it.limit)]);
    known.filter(|(_, bytes)| *bytes > 0).map(|(name, bytes)| (name.to_owned(), bytes.to_string()))
}
