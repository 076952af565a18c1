//! Cut and flipped files: what is read before the damage is right, and nothing panics.

use std::hash::{DefaultHasher, Hash, Hasher};

use partune_otf2::codec::{
    Anchor, AttributeList, ChunkOutcome, EndKind, Event, EventVisitor, Scope, chunks, read_chunk, read_definitions,
    transcode,
};

use super::archives::{Archive, archives};
use super::mutations::Random;

/// The hash of all events up to each of them, so that any prefix can be compared.
#[derive(Default)]
struct Prefixes {
    hash: u64,
    after: Vec<u64>,
}

impl Prefixes {
    fn add(&mut self, value: impl Hash) {
        let mut hasher = DefaultHasher::new();
        (self.hash, value).hash(&mut hasher);
        self.hash = hasher.finish();
    }
}

impl EventVisitor for Prefixes {
    fn enter(&mut self, time: u64, region: u32) {
        self.add((time, 12, region));
        self.after.push(self.hash);
    }
    fn leave(&mut self, time: u64, region: u32) {
        self.add((time, 13, region));
        self.after.push(self.hash);
    }
    fn event(&mut self, time: u64, event: &Event<'_>) {
        self.add((time, format!("{event:?}")));
        self.after.push(self.hash);
    }
    fn attributes(&mut self, attributes: AttributeList<'_>) {
        self.add(format!("{attributes:?}"));
    }
}

fn read(bytes: &[u8], chunk_size: u64) -> (Prefixes, Vec<ChunkOutcome>) {
    let mut prefixes = Prefixes::default();
    let outcomes =
        chunks(bytes, chunk_size).unwrap().flatten().map(|chunk| read_chunk(&chunk, &mut prefixes)).collect();
    (prefixes, outcomes)
}

fn assert_prefix(cut: &[u8], chunk_size: u64, whole: &Prefixes) {
    let (part, outcomes) = read(cut, chunk_size);
    assert!(part.after.len() <= whole.after.len());
    assert_eq!(part.after, whole.after[..part.after.len()]);
    for outcome in outcomes {
        assert!(!matches!(outcome.end, EndKind::Damaged { .. }), "a cut looks like damage: {outcome:?}");
    }
}

/// A place in the file; mostly near its begin, where reading up to it is cheap.
fn place(random: &mut Random, len: usize) -> usize {
    let range = if random.below(50) == 0 { len } else { len.min(4096) };
    random.below(range as u64 + 1) as usize
}

#[test]
fn cut_event_files_read_as_a_prefix() {
    for archive in archives() {
        let size = archive.anchor.event_chunk_size;
        let files: Vec<&Vec<u8>> = archive.locations.iter().filter_map(|location| location.events.as_ref()).collect();
        let wholes: Vec<Prefixes> = files.iter().map(|bytes| read(bytes, size).0).collect();
        for (bytes, whole) in files.iter().zip(&wholes) {
            for border in (0..=bytes.len()).step_by(size as usize) {
                assert_prefix(&bytes[..border], size, whole);
            }
        }
        let mut random = Random::new(archive.name.as_bytes());
        for _ in 0..1000 * usize::from(!files.is_empty()) {
            let file = random.below(files.len() as u64) as usize;
            assert_prefix(&files[file][..place(&mut random, files[file].len())], size, &wholes[file]);
        }
    }
}

/// With chunks of 4 KiB there are many borders, and damage to one chunk must leave the others alone.
#[test]
fn a_broken_chunk_costs_only_its_events() {
    const SIZE: usize = 1 << 12;
    for archive in
        archives().iter().filter(|archive| archive.locations.iter().any(|location| location.events.is_some()))
    {
        let location = archive.locations.iter().max_by_key(|location| location.events.as_ref().map(Vec::len)).unwrap();
        let mut bytes = Vec::new();
        let mut sink = |chunk: &[u8]| bytes.extend_from_slice(chunk);
        transcode::events(location.events.as_deref().unwrap(), archive.anchor.event_chunk_size, SIZE as u64, &mut sink)
            .unwrap();
        let (whole, outcomes) = read(&bytes, SIZE as u64);
        assert_eq!(outcomes.iter().map(|outcome| outcome.events).sum::<u64>(), whole.after.len() as u64);
        for broken in 0..bytes.len().div_ceil(SIZE).min(20) {
            let mut damaged = bytes.clone();
            damaged[broken * SIZE] = 0x77;
            let lost = chunks(&damaged, SIZE as u64).unwrap().filter(Result::is_err).count();
            let (rest, _) = read(&damaged, SIZE as u64);
            assert_eq!(lost, 1);
            assert_eq!(rest.after.len() as u64, whole.after.len() as u64 - outcomes[broken].events, "{}", archive.name);
        }
    }
}

#[test]
fn cut_definition_files_read_as_a_prefix() {
    for archive in archives() {
        let size = archive.anchor.definition_chunk_size;
        let all = |bytes: &[u8]| {
            let mut all = Vec::new();
            let outcome = read_definitions(bytes, size, Scope::Global, &mut |definition| {
                let mut hasher = DefaultHasher::new();
                format!("{definition:?}").hash(&mut hasher);
                all.push(hasher.finish());
            });
            assert_eq!(outcome.unwrap().definitions, all.len() as u64);
            all
        };
        let whole = all(&archive.definitions);
        let mut random = Random::new(archive.name.as_bytes());
        for _ in 0..200 {
            let cut = place(&mut random, archive.definitions.len());
            assert!(whole.starts_with(&all(&archive.definitions[..cut])), "{}, cut at {cut}", archive.name);
        }
    }
}

fn flipped(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes[..bytes.len().min(1 << 14)].to_vec();
    for _ in 0..=random.below(4) {
        if !bytes.is_empty() {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.below(256) as u8;
        }
    }
    bytes
}

#[test]
fn flipped_files_do_not_panic() {
    let mut sink = |_: &[u8]| {};
    for Archive { name, path, anchor, definitions, locations } in archives() {
        let mut random = Random::new(name.as_bytes());
        let anchor_bytes = std::fs::read(path).unwrap();
        for _ in 0..100 {
            let _ = Anchor::read(&flipped(&anchor_bytes, &mut random));
            let bytes = flipped(definitions, &mut random);
            transcode::definitions(&bytes, anchor.definition_chunk_size, 1 << 18, Scope::Global, &mut sink).unwrap();
            let location = &locations[random.below(locations.len() as u64) as usize];
            if let Some(bytes) = &location.definitions {
                transcode::definitions(
                    &flipped(bytes, &mut random),
                    anchor.definition_chunk_size,
                    1 << 18,
                    Scope::Local,
                    &mut sink,
                )
                .unwrap();
            }
            if let Some(bytes) = &location.events {
                let bytes = flipped(bytes, &mut random);
                let copied = transcode::events(&bytes, anchor.event_chunk_size, 1 << 18, &mut sink).unwrap();
                let (prefixes, _) = read(&bytes, anchor.event_chunk_size);
                assert!(copied.records >= prefixes.after.len() as u64 || copied.damage.first.is_some());
            }
        }
    }
}
