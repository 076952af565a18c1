//! Samples of metrics in a piece of the run.
//!
//! A counter grows evenly between two samples, so it has a value at the borders too: what it counts in adjacent pieces adds up.

use partune_base::{Id, MetricId, Time};
use partune_trace::{MetricSample, MetricValues, VisitIx, Visits};

use super::Interval;

/// The samples of a PE in the piece: of counters with one at each border that lies between two, of values that hold until the next
/// with the one that holds at the begin.
pub(super) fn cut(
    rows: &[MetricSample],
    visits: &Visits,
    values: &[MetricValues],
    interval: Interval,
) -> Vec<MetricSample> {
    let kind = |metric: MetricId| values.get(metric.index()).copied().unwrap_or(MetricValues::Point);
    let at_begin = innermost(visits, interval.begin);
    let mut last: Vec<Option<MetricSample>> = vec![None; values.len()];
    let mut found = Vec::new();
    let mut held: Vec<MetricSample> = Vec::new();
    for row in rows {
        match kind(row.metric) {
            MetricValues::Point | MetricValues::Last => {}
            MetricValues::Next if row.time < interval.begin => last[row.metric.index()] = Some(*row),
            MetricValues::Next => held.extend(last[row.metric.index()].take()),
            MetricValues::Accumulated => {
                let before = last[row.metric.index()].replace(*row);
                let at = |border: Time| before.and_then(|before| between(&before, row, border));
                found.extend(at(interval.begin).map(|sample| MetricSample { visit: at_begin, ..sample }));
                found.extend(at(interval.end).map(|sample| MetricSample { visit: VisitIx::NONE, ..sample }));
            }
        }
        if interval.holds(row.time, row.time) {
            found.push(*row);
        }
    }
    let open = last.into_iter().flatten().filter(|row| kind(row.metric) == MetricValues::Next);
    held.extend(open.filter(|row| row.time < interval.begin));
    found.extend(held.into_iter().map(|row| MetricSample { visit: at_begin, time: interval.begin, ..row }));
    found.sort_by_key(|row| row.time);
    found
}

/// The value of a counter at a border that lies between two samples; none where it was set back between them.
fn between(before: &MetricSample, after: &MetricSample, border: Time) -> Option<MetricSample> {
    let grown = after.value - before.value;
    if before.time >= border || after.time <= border || grown.is_nan() || grown < 0.0 {
        return None;
    }
    let share = border.since(before.time).0 as f64 / after.time.since(before.time).0 as f64;
    Some(MetricSample { time: border, value: before.value + grown * share, ..*before })
}

/// The innermost visit at a time.
fn innermost(visits: &Visits, time: Time) -> VisitIx {
    let begun = visits.enter.partition_point(|enter| *enter <= time);
    let open = (0..begun).rev().find(|visit| visits.exit[*visit] > time);
    open.map_or(VisitIx::NONE, |visit| VisitIx(visit as u32))
}
