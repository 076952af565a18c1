//! Several files in one input: of each the length of its name, the name, its length in four bytes, and what it holds.
//!
//! For targets whose input is a folder; so are their seeds kept.

use std::collections::BTreeMap;

/// Files by name.
pub(crate) type Packed = BTreeMap<String, Vec<u8>>;

/// Files in one piece.
pub(crate) fn pack(files: &Packed) -> Vec<u8> {
    let mut packed = Vec::new();
    for (name, bytes) in files {
        packed.push(name.len() as u8);
        packed.extend(name.bytes());
        packed.extend((bytes.len() as u32).to_le_bytes());
        packed.extend(bytes);
    }
    packed
}

/// The files of an input, as far as it has some.
pub(crate) fn unpack(mut packed: &[u8]) -> Packed {
    let mut files = Packed::new();
    while let Some((name, bytes)) = next(&mut packed) {
        files.insert(name, bytes);
    }
    files
}

/// Takes a file from the begin of what is left.
fn next(packed: &mut &[u8]) -> Option<(String, Vec<u8>)> {
    let mut take = |length: usize| -> Option<&[u8]> {
        let (taken, rest) = packed.split_at_checked(length)?;
        *packed = rest;
        Some(taken)
    };
    let length = take(1)?[0];
    let name = String::from_utf8_lossy(take(length.into())?).into_owned();
    let length = u32::from_le_bytes(take(4)?.try_into().ok()?);
    Some((name, take(length as usize)?.to_vec()))
}
