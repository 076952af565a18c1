//! What reading the clock and recording an event cost.

use std::hint::black_box;
use std::time::{Duration, Instant};

use partune_machine::Overheads;

use crate::samples;

/// Repetitions of a batch.
const SAMPLES: usize = 31;
/// Readings, or events, in a batch.
const BATCH: u32 = 2000;

/// An event as a recorder stores it.
#[derive(Clone, Copy)]
struct Record {
    time: Duration,
    region: u32,
    kind: u32,
    argument: u64,
}

/// Measures both on this processor; some milliseconds. The median over batches, because what a run pays is the usual
/// cost.
pub(crate) fn measure() -> Overheads {
    let timer: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let begin = Instant::now();
            for _ in 0..BATCH {
                black_box(Instant::now());
            }
            begin.elapsed().as_secs_f64() / f64::from(BATCH)
        })
        .collect();
    // Larger than the caches next to the core, as a recorder's buffer is.
    let mut buffer: Vec<Record> = Vec::with_capacity(1 << 16);
    let origin = Instant::now();
    let event: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let begin = Instant::now();
            for index in 0..BATCH {
                if buffer.len() == buffer.capacity() {
                    buffer.clear();
                }
                let (region, kind) = black_box((index, 1));
                buffer.push(Record { time: origin.elapsed(), region, kind, argument: u64::from(region) });
            }
            begin.elapsed().as_secs_f64() / f64::from(BATCH)
        })
        .collect();
    let stored = buffer.iter().map(|it| it.time.as_nanos() as u64 ^ it.argument ^ u64::from(it.region ^ it.kind));
    black_box(stored.fold(0, |all, it| all ^ it));
    Overheads {
        timer_s: samples::point(0, &timer).median_s,
        timer_step_s: step(),
        event_s: samples::point(0, &event).median_s,
    }
}

/// The smallest step forward that two readings of the clock showed.
fn step() -> f64 {
    let mut least = Duration::MAX;
    let mut last = Instant::now();
    for _ in 0..BATCH {
        let now = Instant::now();
        if now > last {
            least = least.min(now - last);
            last = now;
        }
    }
    if least == Duration::MAX { 0.0 } else { least.as_secs_f64() }
}
