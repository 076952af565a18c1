//! Archives as nobody writes them today: big endian ones and zlib ones, made here from real archives by an encoder of its own.

use std::borrow::Cow;

use flate2::{Compress, Compression as Level, FlushCompress};
use partune_otf2::codec::{Compression, Scope, inflate, transcode};

use super::archives::{Archive, Location, archives};
use super::printer::Printer;

/// Layouts of records: `b` a byte, `c` a compressed integer, `Q` eight bytes, `s` a string, `v` a type and a value, `B(..)` and `C(..)` a count
/// (a byte, a compressed integer) and as many of what is in the parentheses, `M` a map of ids.
type Layouts = &'static [(&'static [u16], &'static str)];

const EVENTS: Layouts = &[
    (&[10], "Q"),
    (&[11, 54], "b"),
    (&[12, 13, 16, 17, 20, 21, 24, 28, 29, 30, 35, 36, 45, 55, 56, 67, 70, 84, 85, 87, 88], "c"),
    (&[14, 18, 46, 47], "cccc"),
    (&[15, 19], "ccccc"),
    (&[22, 25, 37], ""),
    (&[23], "bcccc"),
    (&[26, 27, 32, 33, 34, 49, 50, 51, 52, 62, 63, 64, 65, 66, 73, 76, 77, 79], "cc"),
    (&[31], "cB(bc)"),
    (&[38, 86], "bccccc"),
    (&[39, 43, 59, 60, 61, 68, 71, 78], "ccc"),
    (&[40, 41, 42], "cccb"),
    (&[44], "ccb"),
    (&[48], "ccbccc"),
    (&[53, 74], "bc"),
    (&[57, 58], "bcc"),
    (&[69], "cbcc"),
    (&[72], "ccbc"),
    (&[75], "cbccc"),
    (&[80, 81, 82], "cb"),
    (&[83], "ccC(c)"),
];

const DEFINITIONS: Layouts = &[
    (&[0x105], "bM"),
    (&[0x106], "QcQ"),
    (&[5, 12, 24, 34], "cccc"),
    (&[6], "bcb"),
    (&[7], "bbv"),
    (&[8], "bccbcB(bv)"),
    (&[10], "cs"),
    (&[11], "ccbc"),
    (&[13, 14], "ccbcc"),
    (&[15], "cccbccccbbc"),
    (&[16, 22], "ccccc"),
    (&[17, 33, 38, 39], "ccc"),
    (&[18], "ccbC(c)bbc"),
    (&[19], "cccbbbbcc"),
    (&[20], "cB(c)bb"),
    (&[21], "cccbc"),
    (&[23], "ccb"),
    (&[25], "cc"),
    (&[26, 28, 29], "cccv"),
    (&[27], "cb"),
    (&[30], "cccb"),
    (&[31], "cccB(c)"),
    (&[32], "ccB(c)"),
    (&[35, 37, 42], "ccv"),
    (&[36], "ccbbcc"),
    (&[40], "cccbccc"),
    (&[41], "cbc"),
    (&[43], "cccccc"),
];

const SINGLETONS: [u8; 10] = [12, 13, 16, 17, 20, 21, 24, 28, 29, 30];

/// Turns the byte order of a little endian file around, in place.
struct Turner<'a> {
    bytes: &'a mut [u8],
    at: usize,
    end: usize,
}

impl Turner<'_> {
    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.bytes[self.at - 1]
    }

    /// Reverses the next `n` bytes; the integer that they were.
    fn turn(&mut self, n: usize) -> u64 {
        let bytes = &mut self.bytes[self.at..self.at + n];
        let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        bytes.reverse();
        self.at += n;
        value
    }

    fn compressed(&mut self) -> u64 {
        match self.byte() {
            0xff => u64::MAX,
            n => self.turn(usize::from(n)),
        }
    }

    fn value(&mut self) {
        match self.byte() {
            1 | 5 => self.at += 1,
            2 | 6 => _ = self.turn(2),
            9 => _ = self.turn(4),
            10 => _ = self.turn(8),
            _ => _ = self.compressed(),
        }
    }

    fn layout(&mut self, layout: &str) {
        let mut rest = layout;
        while let Some(kind) = rest.chars().next().filter(|_| self.at < self.end) {
            rest = &rest[1..];
            match kind {
                'b' => self.at += 1,
                'c' => _ = self.compressed(),
                'Q' => _ = self.turn(8),
                's' => while self.byte() != 0 {},
                'v' => self.value(),
                'M' => {
                    let count = self.compressed();
                    let sparse = self.byte();
                    (0..count << sparse).for_each(|_| _ = self.compressed());
                }
                _ => {
                    let count = if kind == 'B' { u64::from(self.byte()) } else { self.compressed() };
                    let (inner, after) = rest[1..].split_once(')').unwrap();
                    (0..count).for_each(|_| self.layout(inner));
                    rest = after;
                }
            }
        }
    }

    fn record(&mut self, layout: &str) {
        let file_end = self.end;
        let length = match self.byte() {
            0xff => self.turn(8) as usize,
            short => usize::from(short),
        };
        self.end = self.at + length;
        self.layout(layout);
        assert_eq!(self.at, self.end, "{layout}");
        self.end = file_end;
    }
}

/// The same file in big endian. `scope` is that of definitions, `None` for events.
fn big_endian(bytes: &[u8], chunk_size: u64, scope: Option<Scope>) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for chunk in bytes.chunks_mut(chunk_size as usize) {
        let end = chunk.len();
        let mut turner = Turner { bytes: chunk, at: 2, end };
        turner.bytes[1] = 0x23;
        turner.turn(8);
        turner.turn(8);
        loop {
            match (turner.byte(), scope) {
                (0 | 2, _) => break,
                (5, None) => _ = turner.turn(8),
                (6, None) => turner.record("C(cv)"),
                (id, None) if SINGLETONS.contains(&id) => _ = turner.compressed(),
                (id, scope) => {
                    let key =
                        if scope == Some(Scope::Local) && id < 10 { 0x100 | u16::from(id) } else { u16::from(id) };
                    let table = if scope.is_none() { EVENTS } else { DEFINITIONS };
                    let layout = table.iter().find(|(keys, _)| keys.contains(&key)).unwrap().1;
                    turner.record(layout);
                }
            }
        }
    }
    bytes
}

fn turned(archive: &Archive) -> Archive {
    let (events, definitions) = (archive.anchor.event_chunk_size, archive.anchor.definition_chunk_size);
    let locations = archive.locations.iter().map(|location| Location {
        id: location.id,
        events: location.events.as_ref().map(|bytes| big_endian(bytes, events, None)),
        definitions: location.definitions.as_ref().map(|bytes| big_endian(bytes, definitions, Some(Scope::Local))),
    });
    Archive {
        name: archive.name.clone(),
        path: archive.path.clone(),
        anchor: archive.anchor.clone(),
        definitions: big_endian(&archive.definitions, definitions, Some(Scope::Global)),
        locations: locations.collect(),
    }
}

#[test]
fn big_endian_files_read_the_same() {
    for archive in archives() {
        let big = turned(archive);
        for (big_location, location) in big.locations.iter().zip(&archive.locations) {
            let (mut found, mut expected) = (Printer::new(&big, big_location), Printer::new(archive, location));
            big.read_events(big_location, &mut found);
            archive.read_events(location, &mut expected);
            assert!(found.lines == expected.lines, "{}, location {}", archive.name, location.id);
        }
    }
}

#[test]
fn big_endian_files_are_copied_to_what_little_endian_ones_are_copied_to() {
    for archive in archives() {
        let big = turned(archive);
        let (found, expected) =
            (super::convert::copied(&big, 1 << 18, 1 << 18), super::convert::copied(archive, 1 << 18, 1 << 18));
        assert!(found.definitions == expected.definitions, "{}", archive.name);
        for (found, expected) in found.locations.iter().zip(&expected.locations) {
            assert!(found.events == expected.events, "{}, location {}", archive.name, expected.id);
            assert!(found.definitions == expected.definitions, "{}, location {}", archive.name, expected.id);
        }
    }
}

/// How blocks were written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// As many bytes follow the header as the plain data have, as the library did it.
    pub(crate) padded: bool,
    /// Mark and sizes high bytes first.
    pub(crate) big_endian: bool,
}

pub(crate) fn deflated(bytes: &[u8], chunk_size: u64, style: Style) -> Vec<u8> {
    let mut out = Vec::new();
    let mut last = 0u32;
    for chunk in bytes.chunks(chunk_size as usize) {
        let mut data = Vec::with_capacity(chunk.len() + 10 * 1024);
        Compress::new(Level::new(4), true).compress_vec(chunk, &mut data, FlushCompress::Full).unwrap();
        let sizes = [data.len() as u32, chunk.len() as u32, last];
        last = data.len() as u32;
        let mark = 0xffff_ffffu64;
        if style.big_endian {
            out.extend(mark.to_be_bytes());
            out.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
        } else {
            out.extend(mark.to_le_bytes());
            out.extend(sizes.iter().flat_map(|size| size.to_le_bytes()));
        }
        if style.padded && data.len() < chunk.len() {
            data.resize(chunk.len(), 0xaa);
        }
        out.extend(data);
    }
    out
}

#[test]
fn zlib_files_inflate_to_what_was_compressed() {
    for archive in archives() {
        for location in &archive.locations {
            let Some(events) = &location.events else { continue };
            // Small blocks, so that there are several of them in each file.
            for (padded, big_endian) in [(false, false), (true, false), (false, true)] {
                let style = Style { padded, big_endian };
                let packed = deflated(events, 1 << 14, style);
                let plain = inflate::plain(&packed, Compression::Zlib, events.len()).unwrap();
                assert!(
                    plain.bytes == *events && plain.damaged_at.is_none(),
                    "{}, location {}, {style:?}",
                    archive.name,
                    location.id
                );
                assert!(events.is_empty() || inflate::plain(&packed, Compression::Zlib, events.len() - 1).is_err());
            }
        }
    }
}

#[test]
fn cut_zlib_files_inflate_to_a_prefix() {
    for archive in archives().iter().take(6) {
        let packed = deflated(&archive.definitions, 1 << 12, Style { padded: false, big_endian: false });
        for cut in (0..packed.len()).step_by(97) {
            match inflate::plain(&packed[..cut], Compression::Zlib, 1 << 24) {
                Ok(plain) => {
                    assert!(archive.definitions.starts_with(&plain.bytes), "{}", archive.name);
                    assert!(plain.damaged_at.is_some() || plain.bytes.len() % (1 << 12) == 0);
                }
                Err(_) => assert!(cut < 1 << 12, "{} inflates nothing of {cut} bytes", archive.name),
            }
        }
    }
}

#[test]
fn files_that_are_not_compressed_are_borrowed() {
    let plain = inflate::plain(b"plain", Compression::None, 0).unwrap();
    assert!(matches!(plain.bytes, Cow::Borrowed(b"plain")));
    assert!(inflate::plain(b"plain", Compression::Zlib, 100).is_err());
    let mut sink = |_: &[u8]| {};
    assert!(transcode::events(b"plain", 0, 1 << 18, &mut sink).is_err());
}
