//! Devices: how well they are used, and what of it the host waits for; the part of [`crate::efficiency`] that is not of CPUs.
//!
//! A device computes while a kernel runs in one of its streams, and is active while a kernel runs or a copy is under way. With k_d and
//! a_d these times of device d, N devices and the run time T: Σk / (N·T) = Σk / (N·max k) · max k / max a · max a / T. That is the
//! device side of TALP (Rahimi and others, arXiv 2603.26576), with names of its factors.

use partune_base::{CallPathId, PeId, Span, StringId, Time};
use partune_trace::{Activity, Role, Trace};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::useful::{role_of_path, total};
use crate::{Column, DataTable, Efficiency, Values};

/// Intervals that do not overlap, in order, with the length of those before each.
#[derive(Clone, Debug, Default)]
struct Cover {
    parts: Vec<(Time, Time)>,
    before: Vec<i64>,
}

/// What some streams did: kernels, and kernels or copies.
#[derive(Clone, Debug, Default)]
struct Use {
    kernels: Cover,
    active: Cover,
}

/// Time of the host's waits at one place.
#[derive(Clone, Copy, Default)]
struct Waited {
    count: u64,
    time: i64,
    computing: i64,
    active: i64,
}

/// Adds what is known of devices to the section of efficiency; nothing if no stream of one recorded anything. `useful` is the sum over
/// the PEs of CPUs, `run` when the run began and ended.
pub(crate) fn tell(trace: &Trace, useful: i64, run: (Time, Time), result: &mut Efficiency) -> Vec<DataTable> {
    let mut streams: Vec<(u32, PeId)> =
        trace.device_pes().filter_map(|pe| Some((trace.pes()[pe].device?, pe))).collect();
    streams.sort_unstable();
    let mut tables = Vec::new();
    let devices: Vec<&[(u32, PeId)]> = streams.chunk_by(|a, b| a.0 == b.0).collect();
    if !devices.is_empty() {
        let uses: Vec<Use> =
            devices.par_iter().map(|streams| Use::of(trace, streams.iter().map(|it| it.1), run)).collect();
        tables.push(of_devices(trace, &devices, &uses, run, result));
    }
    tables.extend(of_host(trace, &streams, useful, run, result));
    tables
}

fn of_devices(
    trace: &Trace,
    devices: &[&[(u32, PeId)]],
    uses: &[Use],
    run: (Time, Time),
    result: &mut Efficiency,
) -> DataTable {
    let run_time = run.1.since(run.0).0;
    let kernels: Vec<i64> = uses.iter().map(|it| it.kernels.total()).collect();
    let active: Vec<i64> = uses.iter().map(|it| it.active.total()).collect();
    let (sum, count) = (total(kernels.iter().copied()) as f64, devices.len() as f64);
    let most = |times: &[i64]| times.iter().copied().max().unwrap_or(0) as f64;
    let (most_kernels, most_active) = (most(&kernels), most(&active));
    if most_kernels > 0.0 && run_time > 0 {
        result.device_parallel = Some(sum / (count * run_time as f64));
        result.device_load_balance = Some(sum / (count * most_kernels));
        result.device_communication = Some(most_kernels / most_active);
        result.device_orchestration = Some(most_active / run_time as f64);
    }
    let seconds = |ticks: &mut dyn Iterator<Item = i64>| -> Vec<f64> {
        ticks.map(|ticks| trace.clock().seconds(Span(ticks))).collect()
    };
    let columns = vec![
        Column::new("device", Values::Count(devices.iter().map(|streams| u64::from(streams[0].0)).collect())),
        Column::new("streams", Values::Count(devices.iter().map(|streams| streams.len() as u64).collect())),
        Column::seconds("kernels", seconds(&mut kernels.iter().copied())),
        Column::seconds("copies", seconds(&mut active.iter().zip(&kernels).map(|(active, kernels)| active - kernels))),
        Column::seconds("idle", seconds(&mut active.iter().map(|active| run_time - active))),
    ];
    DataTable { name: "device_times", columns }
}

/// What the host's calls to devices take, and what devices did while it waited for them.
fn of_host(
    trace: &Trace,
    streams: &[(u32, PeId)],
    useful: i64,
    run: (Time, Time),
    result: &mut Efficiency,
) -> Option<DataTable> {
    let of_devices = paradigms(trace);
    if of_devices.is_empty() {
        return None;
    }
    let pes: Vec<PeId> = trace.cpu_pes().collect();
    let found: Vec<(i64, FxHashMap<CallPathId, Waited>)> =
        pes.par_iter().map(|pe| of_pe(trace, *pe, streams, &of_devices, run)).collect();
    let calls = total(found.iter().map(|it| it.0));
    let mut places: FxHashMap<CallPathId, Waited> = FxHashMap::default();
    #[allow(clippy::iter_over_hash_type, reason = "sums do not depend on the order")]
    for (path, waited) in found.iter().flat_map(|it| &it.1) {
        let sum = places.entry(*path).or_default();
        sum.count += waited.count;
        sum.time += waited.time;
        sum.computing += waited.computing;
        sum.active += waited.active;
    }
    let mut places: Vec<(CallPathId, Waited)> = places.into_iter().collect();
    places.sort_unstable_by_key(|(path, waited)| (std::cmp::Reverse(waited.time), *path));
    if calls == 0 {
        return None;
    }
    let seconds = |ticks: i64| trace.clock().seconds(Span(ticks));
    let waits = total(places.iter().map(|(_, waited)| waited.time));
    result.offload = Some(useful as f64 / (useful as f64 + calls as f64));
    result.device_call_seconds = Some(seconds(calls));
    result.device_wait_seconds = Some(seconds(waits));
    if places.is_empty() {
        return None;
    }
    let column = |of: &dyn Fn(&Waited) -> i64| places.iter().map(|(_, it)| seconds(of(it))).collect::<Vec<f64>>();
    let mut columns = vec![
        Column::new("callpath", Values::Path(places.iter().map(|(path, _)| *path).collect())),
        Column::new("count", Values::Count(places.iter().map(|(_, it)| it.count).collect())),
        Column::seconds("seconds", column(&|it| it.time)),
    ];
    if !streams.is_empty() {
        columns.push(Column::seconds("computing", column(&|it| it.computing)));
        columns.push(Column::seconds("copying", column(&|it| it.active - it.computing)));
        columns.push(Column::seconds("idle", column(&|it| it.time - it.active)));
    }
    Some(DataTable { name: "device_waits", columns })
}

/// Paradigms of devices: those in which one can wait for a device.
fn paradigms(trace: &Trace) -> FxHashSet<StringId> {
    let waits = trace.regions().iter().filter(|region| region.role == Role::DeviceWait);
    waits.map(|region| region.paradigm).collect()
}

/// Time of a PE in operations of some paradigms, and its waits for devices by call path.
fn of_pe(
    trace: &Trace,
    pe: PeId,
    streams: &[(u32, PeId)],
    paradigms: &FxHashSet<StringId>,
    run: (Time, Time),
) -> (i64, FxHashMap<CallPathId, Waited>) {
    let process = trace.pes()[pe].process;
    let own = streams.iter().map(|it| it.1).filter(|stream| trace.pes()[*stream].process == process);
    let (mut calls, mut places, mut devices) = (0, FxHashMap::<CallPathId, Waited>::default(), None);
    let stream = &trace.streams()[pe];
    for operation in &stream.operations {
        let visit = stream.visits.at(*operation);
        let (begin, end) = (visit.enter.max(run.0), visit.exit.min(run.1));
        let region = trace.region_of(pe, *operation);
        if begin >= end || !paradigms.contains(&region.paradigm) {
            continue;
        }
        let time = end.since(begin).0;
        calls += time;
        if region.role == Role::DeviceWait {
            let devices = devices.get_or_insert_with(|| Use::of(trace, own.clone(), run));
            let waited = places.entry(visit.path).or_default();
            waited.count += 1;
            waited.time += time;
            waited.computing += devices.kernels.up_to(end) - devices.kernels.up_to(begin);
            waited.active += devices.active.up_to(end) - devices.active.up_to(begin);
        }
    }
    (calls, places)
}

impl Use {
    /// What some streams did within the run, each moment counted once. Linear but for sorting.
    fn of(trace: &Trace, streams: impl Iterator<Item = PeId>, run: (Time, Time)) -> Use {
        let (mut kernels, mut copies) = (Vec::new(), Vec::new());
        for pe in streams {
            let visits = &trace.streams()[pe].visits;
            let mut end = Time::MIN;
            for visit in visits.iter().filter(|visit| visit.exit > visit.enter) {
                let part = (visit.enter.max(run.0), visit.exit.min(run.1));
                let is_outermost = visit.enter >= end;
                end = end.max(visit.exit);
                let operation = trace.paths().operation(visit.path);
                if is_outermost && !operation.is_some() {
                    kernels.push(part);
                } else if operation == visit.path
                    && role_of_path(trace, visit.path).activity() == Activity::Communication
                {
                    copies.push(part);
                }
            }
        }
        copies.extend_from_slice(&kernels);
        Use { kernels: Cover::new(kernels), active: Cover::new(copies) }
    }
}

impl Cover {
    /// The union of intervals; those that end before they begin are left out.
    fn new(mut parts: Vec<(Time, Time)>) -> Cover {
        parts.retain(|(begin, end)| begin < end);
        parts.sort_unstable();
        let mut cover = Cover::default();
        let mut total = 0;
        for (begin, end) in parts {
            match cover.parts.last_mut() {
                Some(last) if begin <= last.1 => last.1 = last.1.max(end),
                _ => cover.parts.push((begin, end)),
            }
        }
        for (begin, end) in &cover.parts {
            cover.before.push(total);
            total += end.since(*begin).0;
        }
        cover
    }

    /// Ticks that are covered before a moment.
    fn up_to(&self, moment: Time) -> i64 {
        let Some(at) = self.parts.partition_point(|part| part.0 < moment).checked_sub(1) else { return 0 };
        let (begin, end) = self.parts[at];
        self.before[at] + end.min(moment).since(begin).0
    }

    fn total(&self) -> i64 {
        self.up_to(Time::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_covered_once() {
        let parts = [(5, 9), (0, 4), (2, 6), (12, 12), (20, 30)].map(|(begin, end)| (Time(begin), Time(end)));
        let cover = Cover::new(parts.to_vec());
        assert_eq!(cover.parts, [(Time(0), Time(9)), (Time(20), Time(30))]);
        assert_eq!([-1, 0, 3, 9, 15, 25, 99].map(|time| cover.up_to(Time(time))), [0, 0, 3, 9, 9, 14, 19]);
        assert_eq!(Cover::new(Vec::new()).total(), 0);
    }
}
