//! Zlib archives become the trace of the plain ones, with a little of a file in memory at a time.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use partune_import::{Bytes, Contents, Files};
use partune_otf2::codec::{Anchor, Compression};
use partune_otf2::import::import;
use partune_trace::Trace;

use crate::codec::archives::archives;
use crate::codec::foreign::{Style, deflated};

const ANCHOR: &str = "traces.otf2";

/// Files in memory, and how their event files were read.
#[derive(Default)]
struct Watched {
    files: BTreeMap<String, Arc<Vec<u8>>>,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    /// Of one read, and of all.
    most: AtomicU64,
    sum: AtomicU64,
}

struct File(Arc<Vec<u8>>, Option<Arc<Seen>>);

fn ends(name: &str, ending: &str) -> bool {
    Path::new(name).extension().is_some_and(|it| it == ending)
}

impl Files for Watched {
    fn open(&self, name: &str) -> io::Result<Bytes> {
        let bytes = self.files.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(File(Arc::clone(bytes), ends(name, "evt").then(|| Arc::clone(&self.seen)))))
    }
}

impl Contents for File {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        let count = self.0.read_at(at, into)?;
        if let Some(seen) = &self.1 {
            seen.most.fetch_max(into.len() as u64, Ordering::Relaxed);
            seen.sum.fetch_add(count as u64, Ordering::Relaxed);
        }
        Ok(count)
    }
}

/// The files of an archive; packed in blocks of so many bytes, if asked for.
fn files(anchor: &Path, block: Option<(u64, Style)>) -> Watched {
    let mut watched = Watched::default();
    let folder = anchor.parent().expect("an anchor is in a folder");
    let mut about = Anchor::read(&std::fs::read(anchor).expect("it is there")).expect("it is an anchor");
    let mut add = |path: &Path| {
        let name = path.strip_prefix(folder).expect("it is in the folder").to_string_lossy().into_owned();
        let bytes = std::fs::read(path).expect("it is there");
        let bytes = match block {
            Some((size, style)) if !ends(&name, "stat") => deflated(&bytes, size, style),
            _ => bytes,
        };
        watched.files.insert(name, Arc::new(bytes));
    };
    add(&anchor.with_extension("def"));
    for entry in std::fs::read_dir(anchor.with_extension("")).expect("it has a folder") {
        add(&entry.expect("an entry").path());
    }
    if block.is_some() {
        about.compression = Compression::Zlib;
    }
    watched.files.insert(ANCHOR.to_owned(), Arc::new(about.write()));
    watched
}

fn read(files: &Watched) -> Trace {
    import(files, ANCHOR, &|_, _| {}).expect("it opens")
}

fn told(trace: &Trace) -> Vec<String> {
    trace.quality().entries().iter().map(|entry| entry.message.clone()).collect()
}

/// Archives of examples, and two larger ones where they are there.
fn anchors() -> impl Iterator<Item = std::path::PathBuf> {
    let large = ["scorep84-npb-bt.S-4", "scorep84-npb-lu.S-4"];
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/archives");
    let of_examples = ["ring", "addresses"].map(|name| examples.join(name).join(ANCHOR));
    let shared = archives().iter().filter(move |it| large.contains(&it.name.as_str())).map(|it| it.path.clone());
    of_examples.into_iter().chain(shared)
}

#[test]
fn zlib_archives_read_as_plain_ones_a_piece_at_a_time() {
    for anchor in anchors() {
        let plain = read(&files(&anchor, None));
        for (size, padded, big_endian) in [(1 << 20, false, false), (5000, true, false), (777, false, true)] {
            let packed = files(&anchor, Some((size, Style { padded, big_endian })));
            let trace = read(&packed);
            assert_eq!((trace.streams(), told(&trace)), (plain.streams(), told(&plain)), "{}", anchor.display());
            let events = packed.files.iter().filter(|(name, _)| ends(name, "evt"));
            let events: u64 = events.map(|(_, bytes)| bytes.size()).sum();
            let (most, sum) = (packed.seen.most.load(Ordering::Relaxed), packed.seen.sum.load(Ordering::Relaxed));
            // Headers are read when a file is opened, which is done twice, and blocks once; of small ones, headers are much.
            assert!(most <= 1 << 16, "{most} bytes in one read");
            let blocks = 1 + events / 64;
            assert!(sum <= 2 * events + 200 * blocks, "{sum} bytes were read of {events}");
        }
    }
}

#[test]
fn what_is_behind_a_damaged_block_is_lost_and_told() {
    let anchor = anchors().next().expect("the examples are there");
    let plain = read(&files(&anchor, None));
    let mut packed = files(&anchor, Some((777, Style { padded: false, big_endian: false })));
    let (name, bytes) = packed.files.iter().find(|(name, _)| ends(name, "evt")).expect("it has events");
    let (name, mut bytes) = (name.clone(), bytes.to_vec());
    // The third block's first bytes: its header says how long the one before was, and comes last in it.
    let starts: Vec<usize> =
        (0..bytes.len() - 8).filter(|at| bytes[*at..*at + 8] == 0xffff_ffff_u64.to_le_bytes()).collect();
    assert!(starts.len() > 3, "{starts:?}");
    bytes[starts[2] + 20..starts[2] + 24].fill(0xff);
    packed.files.insert(name.clone(), Arc::new(bytes.clone()));
    let cut = read(&packed);
    assert!(0 < cut.events() && cut.events() < plain.events(), "{} of {}", cut.events(), plain.events());
    assert_ne!(told(&cut), told(&plain));
    // Nothing comes of the first block: that file cannot be read.
    bytes[20..24].fill(0xff);
    packed.files.insert(name.clone(), Arc::new(bytes.clone()));
    let without = read(&packed);
    assert!(without.events() < cut.events());
    assert!(told(&without).iter().any(|it| it.contains("cannot be inflated")), "{:?}", told(&without));
    // It claims to hold more than any zlib stream of its size does.
    bytes[12..16].fill(0xff);
    packed.files.insert(name, Arc::new(bytes));
    let claims = read(&packed);
    assert!(told(&claims).iter().any(|it| it.contains("the inflated file is larger than")), "{:?}", told(&claims));
}
