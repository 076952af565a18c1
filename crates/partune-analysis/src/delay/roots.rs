//! From waits to roots: follows what the waits of one place cost through the waits behind them, by the proportions of delay costs, until
//! all of it is charged to code that was late.
//!
//! Backwards in time: what arrives at a link is divided in proportion to D + W. The parts of D are roots, the parts of W arrive
//! at earlier links. So the roots of the waits of a place get exactly what was waited there, and those of all places, together,
//! the delay costs. Cost: linear in links and in the waits behind those that something arrives at.

use partune_base::{CallPathId, PeId, Time};
use partune_trace::Trace;

use super::chains::{Behind, Chains, Like, Root, parts};
use super::excess::Lookup;
use super::selection::NEGLIGIBLE;
use crate::timeline::PathTimes;
use crate::{Wait, Waits};

/// Below this, in ticks, what arrives is not followed.
const ROUNDING: f64 = 1e-6;
/// Operations that a way lists at most.
const LONGEST_WAY: usize = 32;
/// No link.
const NONE: u32 = u32::MAX;

/// What roots got of the waits of one place, and the ways on which it came.
pub(crate) struct Roots<'a> {
    trace: &'a Trace,
    waits: &'a Waits,
    chains: &'a Chains,
    /// By link: what waits of the place itself brought, and what came from later links.
    own: Vec<f64>,
    passed: Vec<f64>,
    /// By link: the largest part of what came from later links, and the one it came from (none: a wait that is no link).
    from: Vec<(f64, u32)>,
    /// In order of roots, once [`Roots::settle`] was called.
    charges: Vec<(Root, RootCharge)>,
    /// Memory to look at samples in.
    times: Option<[PathTimes; 2]>,
}

/// What one root got.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RootCharge {
    pub(crate) ticks: f64,
    /// Of this, what came from the waits of the place, with no other wait between.
    direct: f64,
    /// The largest part of what came through other waits.
    largest: Option<Way>,
}

#[derive(Clone, Copy, Debug)]
struct Way {
    ticks: f64,
    /// The last link.
    link: u32,
    /// A wait after it that was not looked at.
    then: Option<u32>,
}

impl<'a> Roots<'a> {
    pub(crate) fn new(trace: &'a Trace, waits: &'a Waits, chains: &'a Chains) -> Roots<'a> {
        let links = chains.waits.len();
        let (own, passed) = (vec![0.0; links], vec![0.0; links]);
        Roots { trace, waits, chains, own, passed, from: vec![(0.0, NONE); links], charges: Vec::new(), times: None }
    }

    /// Charges a part of a wait that is a link.
    pub(crate) fn of_link(&mut self, link: u32, ticks: f64) {
        self.own[link as usize] += ticks;
    }

    /// Charges waiting whose cause is known and not followed.
    pub(crate) fn here(&mut self, root: Root, ticks: f64) {
        self.charges.push((root, RootCharge { ticks, direct: ticks, largest: None }));
    }

    /// Charges waiting that is as a wait with a cause which is no link, but is looked at now. Returns how many visits that took.
    pub(crate) fn of_sample(&mut self, lookup: &Lookup<'_>, sample: &Wait, since: Option<Time>, ticks: f64) -> u64 {
        let no_times = || [0, 1].map(|_| PathTimes::new(self.trace.paths().len()));
        let times = self.times.get_or_insert_with(no_times);
        let (excess, late, visits) = lookup.of(sample, since, times);
        let behind = self.chains.behind(self.trace, self.waits, sample, &excess);
        if behind.total <= 0.0 {
            self.here(Root::operation(self.trace, sample), ticks);
            return visits;
        }
        for (root, part) in parts(self.trace, sample, &late) {
            self.here(root, ticks * f64::from(part) / behind.total);
        }
        self.hand_on(&behind, NONE, ticks, 0.0);
        visits
    }

    /// Follows all that was charged, and gives the roots in order.
    pub(crate) fn settle(&mut self) -> &[(Root, RootCharge)] {
        let chains = self.chains;
        let mut booked = vec![RootCharge::default(); chains.roots.len()];
        for link in &chains.order {
            let i = *link as usize;
            let (own, passed) = (self.own[i], self.passed[i]);
            if own + passed <= ROUNDING {
                continue;
            }
            let behind = &chains.behind[i];
            if behind.total <= 0.0 {
                let root = Root::operation(self.trace, self.wait(*link));
                self.charges.push((root, RootCharge::new(own, passed, *link)));
                continue;
            }
            for (root, part) in &chains.parts[behind.parts.0 as usize..behind.parts.1 as usize] {
                let share = f64::from(*part) / behind.total;
                booked[*root as usize].join(&RootCharge::new(own * share, passed * share, *link));
            }
            self.hand_on(behind, *link, own, passed);
        }
        let booked = chains.roots.iter().copied().zip(booked).filter(|(_, charge)| charge.ticks > 0.0);
        self.charges.extend(booked);
        // Stable, so that sums depend on the order of links only.
        self.charges.sort_by_key(|(root, _)| *root);
        self.charges = merge(&self.charges, |a, b| a == b);
        self.charges = merge(&self.charges, |a, b| (a.pe, a.origin) == (b.pe, b.origin));
        &self.charges
    }

    /// The waiting operations between those of the place and a root, from the nearest to the place on: of several ways the one
    /// of the largest part; none if all but little came directly.
    pub(crate) fn via(&self, charge: &RootCharge) -> Vec<(PeId, CallPathId)> {
        let little = f64::max(NEGLIGIBLE * charge.ticks, 0.5);
        let Some(way) = charge.largest.filter(|_| charge.passed_on() > little) else { return Vec::new() };
        let operation = |wait: &Wait| (wait.pe, self.trace.visit(wait.pe, wait.operation).path);
        let mut back: Vec<(PeId, CallPathId)> = Vec::new();
        back.extend(way.then.map(|wait| operation(&self.waits.as_slice()[wait as usize])));
        let mut link = way.link;
        let mut passed = way.then.is_none();
        while link != NONE
            && back.len() <= self.from.len()
            && (passed || self.own[link as usize] < self.passed[link as usize])
        {
            back.push(operation(self.wait(link)));
            link = self.from[link as usize].1;
            passed = false;
        }
        let mut via: Vec<(PeId, CallPathId)> = Vec::new();
        for operation in back.into_iter().rev() {
            if via.len() < LONGEST_WAY && !via.contains(&operation) {
                via.push(operation);
            }
        }
        via
    }

    fn wait(&self, link: u32) -> &'a Wait {
        &self.waits.as_slice()[self.chains.wait(link as usize)]
    }

    /// Hands on what comes to W of a wait: to links, or to a root at the end of a wait that was not looked at.
    fn hand_on(&mut self, behind: &Behind, link: u32, own: f64, passed: f64) {
        let per_tick = (own + passed) / behind.total;
        for to in behind.first..behind.end {
            let part = self.wait(to).duration().0 as f64 * per_tick;
            self.pass(link, to, part);
        }
        let Some(rest) = behind.rest else { return };
        let part = rest.ticks * per_tick;
        match rest.like {
            Like::Link(to) => self.pass(link, to, part),
            Like::End(root) if self.waits.as_slice()[rest.wait as usize].cause.is_some() => {
                let way = Way { ticks: part, link, then: Some(rest.wait) };
                self.charges.push((root, RootCharge { ticks: part, direct: 0.0, largest: Some(way) }));
            }
            Like::End(root) => {
                let direct = part * own / (own + passed);
                let charge = RootCharge::new(direct, part - direct, link);
                self.charges.push((root, charge));
            }
        }
    }

    fn pass(&mut self, link: u32, to: u32, part: f64) {
        let to = to as usize;
        self.passed[to] += part;
        if part > self.from[to].0 {
            self.from[to] = (part, link);
        }
    }
}

impl RootCharge {
    /// Of what came to a link directly and from later ones.
    fn new(direct: f64, passed: f64, link: u32) -> RootCharge {
        let largest = (passed > 0.0).then_some(Way { ticks: passed, link, then: None });
        RootCharge { ticks: direct + passed, direct, largest }
    }

    /// What came through other waits.
    pub(crate) fn passed_on(&self) -> f64 {
        self.ticks - self.direct
    }

    pub(crate) fn join(&mut self, other: &RootCharge) {
        self.ticks += other.ticks;
        self.direct += other.direct;
        if let Some(way) = other.largest
            && self.largest.is_none_or(|largest| largest.ticks < way.ticks)
        {
            self.largest = Some(way);
        }
    }
}

/// Adds up neighbours that are the same root, under the one that got most.
fn merge(charges: &[(Root, RootCharge)], same: impl Fn(&Root, &Root) -> bool) -> Vec<(Root, RootCharge)> {
    let sum = |part: &[(Root, RootCharge)]| {
        let (mut most, mut sum) = (part[0], part[0].1);
        for one in &part[1..] {
            if one.1.ticks > most.1.ticks {
                most = *one;
            }
            sum.join(&one.1);
        }
        (most.0, sum)
    };
    charges.chunk_by(|a, b| same(&a.0, &b.0)).map(sum).collect()
}
