//! A worker: one of the PEs that a launch line started. All do the same tasks in the same order, as rank 0 says.
//!
//! PEs that have no part in a task sleep, so that they take no processor from those that have.

use std::time::{Duration, Instant};

use partune_machine::{Baseline, Link, Machine, Point, Rates, Scope, VERSION, fit};

use crate::mpi::{Group, LoadError, Mpi, is_launched};
use crate::tasks::{Kind, Measured, Members, Task, run, tasks};
use crate::{Settings, alone, disturbed, host, overheads, provenance, rates, samples};

/// How long a PE without a part sleeps between two looks.
const NAP: Duration = Duration::from_micros(500);
/// The part of the budget that rates take at most.
const RATES: f64 = 0.2;
/// The part of a task's share that its samples may take; the rest is for warming up and for agreeing.
const SAMPLES: f64 = 0.7;

/// Measures together with the other PEs that the launcher started. Rank 0 gets the machine, others none. Without a
/// launcher that is known, this process is measured alone.
pub fn worker(settings: &Settings) -> Result<Option<Machine>, LoadError> {
    if !is_launched() && settings.library.is_none() {
        return Ok(Some(alone(settings)));
    }
    let begin = Instant::now();
    let mpi = Mpi::begin(settings.library.as_deref())?;
    let machine = measure(&mpi, settings, begin);
    mpi.end();
    Ok(machine)
}

/// Rank 0 decides; the others follow.
struct World<'a> {
    mpi: &'a Mpi,
    all: Group,
    begin: Instant,
    budget_s: f64,
}

fn measure(mpi: &Mpi, settings: &Settings, begin: Instant) -> Option<Machine> {
    let interrupted = host::interruptions();
    let world = World { mpi, all: mpi.world(), begin, budget_s: settings.budget_s };
    let hosts = world.hosts();
    let here = &hosts[mpi.rank as usize];
    let sharers = hosts.iter().filter(|host| *host == here).count() as u32;
    let rates = world.rates(sharers);
    let overheads = overheads::measure();
    let other = |same: bool| (1..mpi.size).find(|rank| (hosts[*rank as usize] == hosts[0]) == same);
    let tasks = tasks(mpi.size, other(true), other(false));
    let (measured, skipped) = world.tasks(&tasks, overheads.timer_s);
    if mpi.rank != 0 {
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    for host in hosts {
        if !names.contains(&host) {
            names.push(host);
        }
    }
    let mut notes = Vec::new();
    if skipped > 0 {
        notes.push(format!(
            "{skipped} of {} measurements were left out: the time did not suffice; give more with --budget",
            tasks.len()
        ));
    }
    let (usable, processors) = (host::usable(), host::processors());
    if sharers > processors {
        notes.push(format!(
            "{sharers} PEs share {processors} processors of a host: collective operations contain waiting for a processor"
        ));
    } else {
        notes.extend(disturbed(interrupted, begin));
    }
    if usable < processors {
        notes.push(format!("PE 0 is bound: it may use {usable} of {processors} processors"));
    }
    Some(Machine {
        partune_machine: VERSION,
        provenance: provenance(settings, names, Some(mpi.version.clone()), mpi.size as u32, begin),
        overheads,
        rates,
        notes,
        links: links(&measured),
        baselines: baselines(&measured),
    })
}

impl World<'_> {
    /// The host of each PE.
    fn hosts(&self) -> Vec<String> {
        const ROOM: usize = 256;
        let mut mine = self.mpi.host().into_bytes();
        mine.resize(ROOM, 0);
        let mut all = vec![0_u8; ROOM * self.all.size as usize];
        self.mpi.all_gather(&self.all, &mine, &mut all);
        let name = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned();
        all.chunks(ROOM).map(name).collect()
    }

    /// Rank 0 alone, then all at once.
    fn rates(&self, sharers: u32) -> Rates {
        let slice_s = (self.budget_s * RATES / 4.0).clamp(0.01, 0.5);
        let mut alone = rates::One::default();
        if self.all.rank == 0 {
            alone = rates::measure(slice_s, 1, &|| ());
        }
        self.release(Members::First(1));
        let mine = rates::measure(slice_s, sharers, &|| self.mpi.barrier(&self.all));
        let mut sums = [0.0; 2];
        self.mpi.all_sum(&self.all, &[mine.flops, mine.memory], &mut sums);
        Rates { flops_one: alone.flops, flops_all: sums[0], memory_one: alone.memory, memory_all: sums[1] }
    }

    /// Does the tasks that the budget suffices for. Gives what was measured with its task, on rank 0, and how many tasks
    /// were left out.
    fn tasks(&self, tasks: &[Task], timer_s: f64) -> (Vec<(Task, Measured)>, usize) {
        let mut groups: Vec<(Members, Option<Group>)> = Vec::new();
        for task in tasks {
            if !groups.iter().any(|(members, _)| *members == task.members) {
                groups.push((task.members, self.mpi.split(task.members.contains(self.all.rank))));
            }
        }
        let mut measured = Vec::new();
        let mut skipped = 0;
        for (index, task) in tasks.iter().enumerate() {
            let Some(slice_s) = self.slice(tasks.len() - index, index == 0) else {
                skipped += 1;
                continue;
            };
            let group = groups.iter().find(|(members, _)| *members == task.members);
            if let Some(group) = group.and_then(|(_, group)| group.as_ref()) {
                let found = run(self.mpi, group, *task, slice_s, timer_s);
                measured.extend(found.into_iter().map(|it| (*task, it)));
            }
            self.release(task.members);
        }
        for group in groups.into_iter().filter_map(|(_, group)| group) {
            self.mpi.free(group);
        }
        (measured, skipped)
    }

    /// Seconds for the next of so many tasks; none if there is no time left. The first is always done. The same on all
    /// PEs.
    fn slice(&self, left: usize, first: bool) -> Option<f64> {
        let rest = self.budget_s - self.begin.elapsed().as_secs_f64();
        let rest = if first { rest.max(1e-3) } else { rest };
        let mut bytes = (rest / left.max(1) as f64 * SAMPLES).to_ne_bytes();
        self.mpi.broadcast(&self.all, &mut bytes, 0);
        let slice_s = f64::from_ne_bytes(bytes);
        (slice_s > 0.0).then_some(slice_s)
    }

    /// Rank 0 tells those without a part that it is over; they sleep until then.
    fn release(&self, members: Members) {
        let mut token = [0_u8];
        if self.all.rank == 0 {
            for rank in (1..self.all.size).filter(|rank| !members.contains(*rank)) {
                self.mpi.send(&self.all, &token, rank);
            }
        } else if !members.contains(self.all.rank) {
            while !self.mpi.has_message(&self.all, 0) {
                std::thread::sleep(NAP);
            }
            self.mpi.receive(&self.all, &mut token, 0);
        }
    }
}

/// A line through the half round trips of each scope.
fn links(measured: &[(Task, Measured)]) -> Vec<Link> {
    let link = |scope: Scope| {
        let of = |role: &str| -> Vec<Point> {
            let rows = measured.iter().filter(|(task, it)| task.kind == Kind::PingPong(scope) && it.role == role);
            rows.map(|(_, it)| samples::point(it.bytes, &it.samples)).collect()
        };
        let points = of("recv");
        let line = fit(&points)?;
        let overhead_s = of("send").first().map_or(0.0, |point| point.median_s);
        // A machine that is faster for long messages than can be measured has the largest rate there is.
        let bandwidth = (1.0 / line.seconds_per_byte).min(f64::MAX);
        Some(Link { scope, latency_s: line.latency_s, bandwidth, overhead_s, fit_error: line.worst, points })
    };
    [Scope::Node, Scope::Network].into_iter().filter_map(link).collect()
}

/// Points by operation and number of PEs. Messages within a host are the baseline where there are any.
fn baselines(measured: &[(Task, Measured)]) -> Vec<Baseline> {
    let node = measured.iter().any(|(task, _)| task.kind == Kind::PingPong(Scope::Node));
    let mut baselines: Vec<Baseline> = Vec::new();
    for (task, it) in measured.iter().filter(|(task, _)| !node || task.kind != Kind::PingPong(Scope::Network)) {
        let pes = match task.members {
            Members::First(count) => count as u32,
            Members::With(_) => 2,
        };
        let point = samples::point(it.bytes, &it.samples);
        match baselines.iter_mut().find(|known| known.operation == it.operation && known.pes == pes) {
            Some(known) => known.points.push(point),
            None => baselines.push(Baseline {
                operation: it.operation.to_owned(),
                role: it.role.to_owned(),
                pes,
                points: vec![point],
            }),
        }
    }
    baselines
}
