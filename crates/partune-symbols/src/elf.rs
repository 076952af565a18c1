//! Sections of an ELF file, inflated where they are compressed.
//!
//! For [`crate::module`]. What a section claims about its size is believed only as far as its bytes bear it out.

use std::io::Read;

use object::read::{CompressedData, CompressionFormat};
use object::{Object, ObjectSection};
use typed_arena::Arena;

/// Holds inflated sections; must outlive the modules that use it.
#[derive(Default)]
pub struct Storage {
    inflated: Arena<Vec<u8>>,
}

impl Storage {
    pub fn new() -> Self {
        Self::default()
    }
}

/// The most that DEFLATE and Zstandard can make of one byte.
const DEFLATE_RATIO: u64 = 1032;
const ZSTANDARD_RATIO: u64 = 128 << 10;

/// The bytes of a section; empty if there is none. An error if it cannot be inflated.
pub(crate) fn section<'a>(file: &object::File<'a>, name: &str, storage: &'a Storage) -> Result<&'a [u8], Damaged> {
    let Some(section) = file.section_by_name(name) else { return Ok(&[]) };
    let data = section.compressed_data().map_err(|_| Damaged)?;
    if data.format == CompressionFormat::None {
        return Ok(data.data);
    }
    let inflated = inflate(&data)?;
    Ok(storage.inflated.alloc(inflated))
}

/// A section whose bytes cannot be had.
#[derive(Debug)]
pub(crate) struct Damaged;

fn inflate(data: &CompressedData<'_>) -> Result<Vec<u8>, Damaged> {
    let size = data.uncompressed_size;
    let bound = |ratio: u64| (data.data.len() as u64).saturating_mul(ratio);
    let mut bytes = Vec::new();
    let read = match data.format {
        CompressionFormat::Zlib if size <= bound(DEFLATE_RATIO) => {
            flate2::read::ZlibDecoder::new(data.data).take(size).read_to_end(&mut bytes).ok()
        }
        CompressionFormat::Zstandard if size <= bound(ZSTANDARD_RATIO) => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(data.data).map_err(|_| Damaged)?;
            decoder.take(size).read_to_end(&mut bytes).ok()
        }
        _ => None,
    };
    // What was inflated before the damage would be misread as the whole.
    (read == usize::try_from(size).ok()).then_some(bytes).ok_or(Damaged)
}

/// The address that a byte of the file is loaded at, before the module is moved.
pub(crate) fn address_of(file: &object::File<'_>, offset: u64) -> Option<u64> {
    use object::ObjectSegment;
    file.segments().find_map(|segment| {
        let (start, size) = segment.file_range();
        let inside = offset.checked_sub(start).filter(|&inside| inside < size)?;
        segment.address().checked_add(inside)
    })
}
