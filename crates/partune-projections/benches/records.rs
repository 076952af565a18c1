//! Reads the records of logs on one thread, imports them, and prints the rates.
//!
//! For `bench/projections.sh`. The records of small logs are repeated, each time later and with other numbers of messages, until there are as many as asked for; they lie in
//! memory, so that the rate is that of reading text. Without logs (as under `cargo test --benches`) it does nothing.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use partune_import::{Bytes, Contents, Files, read_small_text};
use partune_projections::codec::{Layout, Lines, Record};
use partune_projections::import::import;

/// How much is handed over at once.
const PIECE: usize = 1 << 18;
const ROUNDS: usize = 5;

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| !arg.starts_with("--"));
    let Some(path) = args.next() else {
        eprintln!("usage: records RUN.sts [MILLIONS OF RECORDS]");
        return;
    };
    let records = args.next().map_or(0, |arg| arg.parse::<usize>().expect("a number of millions")) * 1_000_000;
    let files = repeated(Path::new(&path), records);
    let logs: Vec<&Arc<Vec<u8>>> = files.0.iter().filter(|(name, _)| *name != "t.sts").map(|it| it.1).collect();
    let bytes: usize = logs.iter().map(|log| log.len()).sum();
    for _ in 0..ROUNDS {
        let (start, mut count, mut check) = (Instant::now(), 0, 0);
        for log in &logs {
            let mut lines = Lines::default();
            for piece in log.chunks(PIECE) {
                lines.feed(piece, |line| {
                    count += 1;
                    // Uses what was read, so that reading it cannot be left out.
                    check ^= match Layout::default().record(line) {
                        Some(Record::Creation { time, event, .. } | Record::BeginProcessing { time, event, .. }) => {
                            time ^ event
                        }
                        Some(Record::Begin(_, time) | Record::End(_, time)) => time,
                        _ => 1,
                    };
                });
            }
        }
        print("records", start, count, bytes, &format!("check {check:x}"));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread starts");
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let trace = pool.install(|| import(&files, "t.sts", &|_, _| {})).expect("they are logs");
        print("import", start, trace.events(), bytes, &format!("PEs {}", trace.pes().len()));
    }
}

fn print(what: &str, start: Instant, records: u64, bytes: usize, more: &str) {
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{what}: {records} records, {} MB, {seconds:.3} s, {:.1} M records/s ({more})",
        bytes / 1_000_000,
        records as f64 / seconds / 1e6
    );
}

struct InMemory(BTreeMap<String, Arc<Vec<u8>>>);

impl Files for InMemory {
    fn open(&self, name: &str) -> std::io::Result<Bytes> {
        let bytes = self.0.get(name).ok_or(std::io::ErrorKind::NotFound)?;
        Ok(bytes.clone() as Arc<dyn Contents>)
    }
}

/// The folder of a symbol table, for what reads texts.
struct Folder<'a>(&'a Path);

impl Files for Folder<'_> {
    fn open(&self, name: &str) -> std::io::Result<Bytes> {
        Ok(Arc::new(std::fs::read(self.0.join(name))?))
    }
}

/// The logs, and their records again and again: times and numbers of messages each time after what was before.
fn repeated(sts: &Path, records: usize) -> InMemory {
    let folder = Folder(sts.parent().expect("it is in a folder"));
    let stem = sts.file_stem().expect("it has a name").to_string_lossy().into_owned();
    let mut logs: Vec<Vec<Vec<i64>>> = Vec::new();
    let text = |pe: usize| {
        let names = ["log", "log.gz"].map(|ending| format!("{stem}.{pe}.{ending}"));
        names.iter().find_map(|name| read_small_text(&folder, name, usize::MAX).ok())
    };
    while let Some(text) = text(logs.len()) {
        let (mut lines, mut log) = (Lines::default(), Vec::new());
        lines.feed(&text, |line| log.push(line.numbers.to_vec()));
        // What is no record, and the begin and end of the run.
        log.retain(|line| line.first().is_some_and(|kind| ![0, 6, 7].contains(kind)));
        logs.push(log);
    }
    let at = |kind: i64| {
        if matches!(kind, 1..=3 | 20 | 21) { 3 } else { usize::from(matches!(kind, 13 | 26 | 27 | 100)) + 1 }
    };
    let last = logs.iter().flatten().filter_map(|line| line.get(at(line[0]))).max().copied().unwrap_or(0) + 1;
    let count: usize = logs.iter().map(Vec::len).sum();
    let mut files = BTreeMap::from([("t.sts".to_owned(), Arc::new(std::fs::read(sts).expect("the symbol table")))]);
    for (pe, log) in logs.iter().enumerate() {
        let mut text = b"PROJECTIONS-RECORD 0\n6 0\n".to_vec();
        for round in 0..(records.div_ceil(count.max(1)).max(1) as i64) {
            for line in log {
                for (place, number) in line.iter().enumerate() {
                    let is_message = matches!(line[0], 1..=3 | 20 | 21) && place == 4 && *number >= 0;
                    let more = if place == at(line[0]) { last } else { i64::from(is_message) << 16 };
                    text.extend((number + round * more).to_string().into_bytes());
                    text.push(b' ');
                }
                *text.last_mut().expect("a word was written") = b'\n';
            }
        }
        files.insert(format!("t.{pe}.log"), Arc::new(text));
    }
    InMemory(files)
}
