//! Reads the records of a trace on one thread into counting callbacks, imports it, and prints the rates.
//!
//! For `bench/paraver.sh`. The records of a small trace are repeated, each time later, until there is as much text as asked for; it lies in
//! memory, so that the rate is that of reading text. Without a trace (as under `cargo test --benches`) it does nothing.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]

use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use partune_import::{Bytes, Files};
use partune_paraver::codec::{Record, Scanner, Sink};
use partune_paraver::import::import;

/// How much is handed over at once.
const PIECE: usize = 1 << 20;
const ROUNDS: usize = 5;

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let Some(path) = args.next() else {
        eprintln!("usage: records TRACE.prv[.gz] [MB]");
        return;
    };
    let megabytes = args.next().map_or(0, |arg| arg.parse().expect("a number of MB"));
    let mut text = std::fs::read(&path).expect("the trace");
    if text.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        flate2::read::MultiGzDecoder::new(&text[..]).read_to_end(&mut plain).expect("it is compressed");
        text = plain;
    }
    let text = Arc::new(repeated(&text, megabytes * 1_000_000));
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let (mut scanner, mut count) = (Scanner::default(), Count::default());
        for piece in text.chunks(PIECE) {
            scanner.feed(piece, &mut count);
        }
        let counts = scanner.finish(&mut count);
        let what = format!(
            "states {}, event values {}, messages {}, check {:x}",
            count.states, count.values, count.messages, count.check
        );
        print("records", start, counts.records, text.len(), &what);
    }
    let names = path.trim_end_matches(".gz").trim_end_matches(".prv");
    let pcf = Arc::new(std::fs::read(format!("{names}.pcf")).unwrap_or_default());
    let start = Instant::now();
    let trace = import(&InMemory { text: text.clone(), pcf }, "t.prv", &|_, _| {}).expect("it is a trace");
    print("import", start, trace.events(), text.len(), &format!("PEs {}", trace.pes().len()));
}

fn print(what: &str, start: Instant, records: u64, bytes: usize, more: &str) {
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{what}: {records} records, {} MB, {seconds:.3} s, {:.1} M records/s, {:.0} MB/s ({more})",
        bytes / 1_000_000,
        records as f64 / seconds / 1e6,
        bytes as f64 / seconds / 1e6,
    );
}

/// The trace, and its records again and again, each time after what was before.
fn repeated(text: &[u8], bytes: usize) -> Vec<u8> {
    let lines: Vec<&str> = std::str::from_utf8(text).expect("a trace is text").lines().collect();
    let records: Vec<Vec<u64>> = lines
        .iter()
        .filter_map(|line| line.split(':').map(|field| field.parse().ok()).collect::<Option<Vec<u64>>>())
        .collect();
    let mut out = Vec::with_capacity(bytes + text.len());
    lines.iter().filter(|line| !line.starts_with(|c: char| c.is_ascii_digit())).for_each(|line| {
        out.extend(line.as_bytes());
        out.push(b'\n');
    });
    let last = records.iter().map(|record| record[5]).max().unwrap_or(0) + 1;
    for round in 0.. {
        for record in &records {
            for (at, field) in record.iter().enumerate() {
                let is_time = matches!((record[0], at), (1, 5 | 6) | (2, 5) | (3, 5 | 6 | 11 | 12));
                let value = field + if is_time { round * last } else { 0 };
                out.extend(value.to_string().into_bytes());
                out.push(if at + 1 < record.len() { b':' } else { b'\n' });
            }
        }
        if out.len() >= bytes || records.is_empty() {
            break;
        }
    }
    out
}

struct InMemory {
    text: Arc<Vec<u8>>,
    pcf: Arc<Vec<u8>>,
}

impl Files for InMemory {
    fn open(&self, name: &str) -> std::io::Result<Bytes> {
        match name {
            "t.prv" => Ok(self.text.clone()),
            "t.pcf" => Ok(self.pcf.clone()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        }
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
