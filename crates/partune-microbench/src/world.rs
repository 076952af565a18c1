//! A worker: one of the PEs that a launch line started. All do the same tasks in the same order, as rank 0 says.
//!
//! PEs that have no part in a task sleep, so that they take no processor from those that have.

use std::cell::Cell;
use std::time::{Duration, Instant};

use partune_machine::{Caches, Machine, Rates, VERSION};
use partune_mpi::{LoadError, is_launched};

use crate::models::{Found, How, Measured, Members, Model, Task, baselines};
use crate::mpi::{Group, Mpi};
use crate::{Settings, alone, caches, disturbed, host, no_caches, not_measured, overheads, provenance, rates};

/// How long a PE without a part sleeps between two looks.
const NAP: Duration = Duration::from_micros(500);
/// The part of the budget that rates take at most.
pub(crate) const RATES: f64 = 0.2;
/// The part that caches take, beyond a tenth of a second.
pub(crate) const CACHES: f64 = 0.05;
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
pub(crate) struct World<'a> {
    pub(crate) mpi: &'a Mpi,
    all: Group,
    begin: Instant,
    /// The first PEs besides 0 that are on its host and on another one.
    pub(crate) neighbours: [Option<i32>; 2],
    /// What reading the clock takes.
    pub(crate) timer_s: f64,
    /// When the model that is measured must be done, in seconds from the begin.
    deadline_s: Cell<f64>,
    /// Whether anything of that model was measured.
    has_begun: Cell<bool>,
    /// How many tasks there were, and how many were left out.
    tasks: Cell<[usize; 2]>,
}

fn measure(mpi: &Mpi, settings: &Settings, begin: Instant) -> Option<Machine> {
    let interrupted = host::interruptions();
    let mut world = World {
        mpi,
        all: mpi.world(),
        begin,
        neighbours: [None, None],
        timer_s: 0.0,
        deadline_s: Cell::new(settings.budget_s),
        has_begun: Cell::new(false),
        tasks: Cell::new([0, 0]),
    };
    let hosts = world.hosts();
    let here = &hosts[mpi.rank as usize];
    let sharers = hosts.iter().filter(|host| *host == here).count() as u32;
    let (rates, caches) = world.rates(sharers, settings.budget_s);
    let overheads = overheads::measure();
    let other = |same: bool| (1..mpi.size).find(|rank| (hosts[*rank as usize] == hosts[0]) == same);
    world.neighbours = [other(true), other(false)];
    world.timer_s = overheads.timer_s;
    let (mut rows, mut links, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    let caches = caches.map_err(|reason| notes.push(no_caches(reason))).ok();
    for (index, model) in settings.only.iter().enumerate() {
        match world.model(model, &settings.only[index..], settings) {
            Ok(found) => {
                rows.extend(baselines(model, &found.rows));
                links.extend(found.links);
                notes.extend(found.notes);
            }
            Err(reason) => notes.push(not_measured(model, &reason)),
        }
    }
    if mpi.rank != 0 {
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    for host in hosts {
        if !names.contains(&host) {
            names.push(host);
        }
    }
    let [tasks, skipped] = world.tasks.get();
    if skipped > 0 {
        notes.push(format!(
            "{skipped} of {tasks} measurements were left out: the time did not suffice; give more with --budget"
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
        caches,
        notes,
        links,
        baselines: rows,
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

    /// Rank 0 alone, its caches too, then all at once.
    fn rates(&self, sharers: u32, budget_s: f64) -> (Rates, Result<Caches, &'static str>) {
        let slice_s = (budget_s * RATES / 4.0).clamp(0.01, 0.5);
        let (mut alone, mut caches) = (rates::One::default(), Err("PE 0 measures them"));
        if self.all.rank == 0 {
            alone = rates::measure(slice_s, 1, &|| ());
            caches = caches::measure(budget_s * CACHES);
        }
        self.release(Members::First(1));
        let mine = rates::measure(slice_s, sharers, &|| self.mpi.barrier(&self.all));
        let mut sums = [0.0; 2];
        self.mpi.all_sum(&self.all, &[mine.flops, mine.memory], &mut sums);
        let rates = Rates { flops_one: alone.flops, flops_all: sums[0], memory_one: alone.memory, memory_all: sums[1] };
        (rates, caches)
    }

    /// One model, with its share of the time that is left for it and those after it.
    fn model(&self, model: &Model, rest: &[&Model], settings: &Settings) -> Result<Found, String> {
        let elapsed = self.begin.elapsed().as_secs_f64();
        let share_s = model.share(rest) * (settings.budget_s - elapsed).max(0.0);
        self.deadline_s.set(elapsed + share_s);
        self.has_begun.set(false);
        match model.how {
            How::Processes(measure) => measure(self),
            How::Threads(measure) => {
                let mut found = Ok(Found::default());
                if self.all.rank == 0 {
                    found = settings.measure_threads(measure, share_s);
                }
                self.release(Members::First(1));
                found
            }
        }
    }

    /// The PE next to PE 0: on its host if there is one.
    pub(crate) fn near(&self) -> Option<i32> {
        self.neighbours[0].or(self.neighbours[1])
    }

    /// The rank of the other one of two.
    pub(crate) fn other(&self, members: Members) -> i32 {
        match members {
            Members::With(other) if self.mpi.rank == 0 => other,
            _ => 0,
        }
    }

    /// What the first one of two measures, while the other stays inside MPI.
    pub(crate) fn while_inside<const STEPS: usize>(
        &self,
        group: &Group,
        measure: impl FnOnce() -> [Vec<f64>; STEPS],
    ) -> [Vec<f64>; STEPS] {
        let mut token = [0_u8];
        if group.rank == 0 {
            let samples = measure();
            self.mpi.send(group, &token, 1);
            samples
        } else {
            self.mpi.receive(group, &mut token, 0);
            std::array::from_fn(|_| Vec::new())
        }
    }

    /// Does the tasks that the time suffices for, the first of `left` of this model. Gives what was measured with its
    /// task, on rank 0.
    pub(crate) fn tasks<K: Copy>(
        &self,
        tasks: &[Task<K>],
        left: usize,
        mut run: impl FnMut(&Group, Task<K>, f64) -> Vec<Measured>,
    ) -> Vec<(Task<K>, Measured)> {
        let mut groups: Vec<(Members, Option<Group>)> = Vec::new();
        for task in tasks {
            if !groups.iter().any(|(members, _)| *members == task.members) {
                groups.push((task.members, self.mpi.split(task.members.contains(self.all.rank))));
            }
        }
        let mut measured = Vec::new();
        let [all, mut skipped] = self.tasks.get();
        for (index, task) in tasks.iter().enumerate() {
            let Some(slice_s) = self.slice(left - index) else {
                skipped += 1;
                continue;
            };
            let group = groups.iter().find(|(members, _)| *members == task.members);
            if let Some(group) = group.and_then(|(_, group)| group.as_ref()) {
                let found = run(group, *task, slice_s);
                measured.extend(found.into_iter().map(|it| (*task, it)));
            }
            self.release(task.members);
        }
        for group in groups.into_iter().filter_map(|(_, group)| group) {
            self.mpi.free(group);
        }
        self.tasks.set([all + tasks.len(), skipped]);
        measured
    }

    /// Seconds for the next of so many tasks; none if there is no time left. The first of a model is always done. The
    /// same on all PEs.
    fn slice(&self, left: usize) -> Option<f64> {
        let rest = self.deadline_s.get() - self.begin.elapsed().as_secs_f64();
        let rest = if self.has_begun.replace(true) { rest } else { rest.max(1e-3) };
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
