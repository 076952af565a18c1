//! Decodes all events of an archive on one thread into counting callbacks and prints the rate.
//!
//! For comparison with the C library by `bench/decode.sh ARCHIVE` in the same run. Files are mapped, so reading them is part of the time,
//! as it is in the C program. Without an archive (as under `cargo test --benches`) it does nothing.
#![allow(unsafe_code, reason = "memory maps; the archives of a benchmark do not change under it")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use memmap2::Mmap;
use partune_otf2::codec::{Anchor, Definition, Event, EventVisitor, Scope, chunks, read_chunk, read_definitions};

fn main() {
    let Some(anchor_path) = std::env::args().skip(1).find(|arg| !arg.starts_with("--")) else {
        eprintln!("usage: decode ARCHIVE.otf2");
        return;
    };
    let base = Path::new(&anchor_path).with_extension("");
    let anchor = Anchor::read(&std::fs::read(&anchor_path).expect("the anchor file")).expect("an anchor file");
    let definitions = map(&base.with_extension("def")).expect("the global definitions");
    let mut locations = Vec::new();
    read_definitions(&definitions, anchor.definition_chunk_size, Scope::Global, &mut |definition| {
        if let Definition::Location(location) = definition {
            locations.push(location.id);
        }
    })
    .expect("a chunk size");
    for _ in 0..5 {
        let start = Instant::now();
        let mut count = Count::default();
        let mut events = 0;
        for location in &locations {
            let Some(bytes) = map(&base.join(format!("{location}.evt"))) else { continue };
            for chunk in chunks(&bytes, anchor.event_chunk_size).expect("a chunk size").flatten() {
                events += read_chunk(&chunk, &mut count).events;
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "codec: {events} events, {seconds:.3} s, {:.1} M events/s (enter {}, leave {}, other {}, check {:x})",
            events as f64 / seconds / 1e6,
            count.enter,
            count.leave,
            count.other,
            count.check
        );
    }
}

fn map(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok()?;
    // SAFETY: nobody writes to the archive while this program runs.
    unsafe { Mmap::map(&file) }.ok()
}

#[derive(Default)]
struct Count {
    enter: u64,
    leave: u64,
    other: u64,
    /// Uses times and regions, so that their decoding cannot be left out.
    check: u64,
}

impl EventVisitor for Count {
    fn enter(&mut self, time: u64, region: u32) {
        self.enter += 1;
        self.check ^= time.wrapping_add(u64::from(region));
    }
    fn leave(&mut self, time: u64, region: u32) {
        self.leave += 1;
        self.check ^= time.wrapping_add(u64::from(region));
    }
    fn event(&mut self, time: u64, event: &Event<'_>) {
        self.other += 1;
        self.check ^= time.wrapping_add(u64::from(event.id()));
    }
}
