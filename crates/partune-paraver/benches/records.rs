//! Reads the records of a `.prv` on one thread into counting callbacks and prints the rate.
//!
//! For `bench/paraver.sh`. The text is in memory (a compressed file is inflated first), so that the rate is that of reading text. Without a
//! trace (as under `cargo test --benches`) it does nothing.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]

use std::io::Read;
use std::time::Instant;

use partune_paraver::codec::{Record, Scanner, Sink};

/// How much the file system hands over at once.
const PIECE: usize = 1 << 20;

fn main() {
    let Some(path) = std::env::args().skip(1).find(|arg| !arg.starts_with("--")) else {
        eprintln!("usage: records TRACE.prv[.gz]");
        return;
    };
    let mut text = std::fs::read(&path).expect("the trace");
    if path.ends_with(".gz") {
        let mut plain = Vec::new();
        flate2::read::MultiGzDecoder::new(&text[..]).read_to_end(&mut plain).expect("it is compressed");
        text = plain;
    }
    for _ in 0..5 {
        let start = Instant::now();
        let (mut scanner, mut count) = (Scanner::default(), Count::default());
        for piece in text.chunks(PIECE) {
            scanner.feed(piece, &mut count);
        }
        let counts = scanner.finish(&mut count);
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "records: {} records, {} MB, {seconds:.3} s, {:.1} M records/s, {:.0} MB/s (states {}, event values {}, messages {}, check {:x})",
            counts.records,
            text.len() / 1_000_000,
            counts.records as f64 / seconds / 1e6,
            text.len() as f64 / seconds / 1e6,
            count.states,
            count.values,
            count.messages,
            count.check
        );
    }
}

#[derive(Default)]
struct Count {
    states: u64,
    values: u64,
    messages: u64,
    /// Uses what was read, so that reading it cannot be left out.
    check: u64,
}

impl Sink for Count {
    fn record(&mut self, record: &Record<'_>) {
        match record {
            Record::State { begin, end, state, object } => {
                self.states += 1;
                self.check ^= begin.wrapping_add(*end).cast_unsigned() ^ state ^ object.task;
            }
            Record::Events { object, time, pairs } => {
                self.values += pairs.len() as u64;
                self.check ^= time.cast_unsigned() ^ object.task;
                for [kind, value] in *pairs {
                    self.check = self.check.wrapping_add(kind ^ value);
                }
            }
            Record::Communication { send, recv, size, tag } => {
                self.messages += 1;
                self.check ^= send.logical.wrapping_add(recv.physical).cast_unsigned() ^ size ^ tag;
            }
        }
    }

    fn line(&mut self, line: &[u8]) {
        self.check ^= line.len() as u64;
    }
}
