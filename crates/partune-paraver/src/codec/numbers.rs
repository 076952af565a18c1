//! Decimal numbers, many at a time: where each ends is found first, for a whole block of text, and then each is read by itself.
//!
//! Nearly all of a trace is short decimal numbers with a colon between them. Whoever reads them one after the other waits for the end of
//! each before it knows where the next begins. Here the ends of a block come first, eight bytes of text in a few operations on a 64-bit
//! word, and the numbers, which do not depend on each other then, are read eight digits at a time by three multiplications.

/// Bytes before the text of a block that may be read (and are masked out): a number is read backwards from its end.
pub(super) const MARGIN: usize = 24;

/// The positions of all bytes in `text[from..to]` that are no digits. `to` is at most 2³² − 1, and `text` ends no earlier than 64 bytes
/// after `to`. Positions are written into `ends`, which grows as needed and is not emptied: what is returned is the part that counts.
pub(super) fn find_ends<'a>(text: &[u8], from: usize, to: usize, ends: &'a mut Vec<u32>) -> &'a [u32] {
    // As many as there are bytes, and what is written beyond.
    let room = (to - from) + 64;
    if ends.len() < room {
        ends.resize(room, 0);
    }
    let (mut at, mut count) = (from, 0);
    while at < to {
        let Some(block) = text.get(at..).and_then(|rest| rest.first_chunk::<64>()) else { break };
        let mut found = others(block);
        if to - at < 64 {
            found &= (1 << (to - at)) - 1;
        }
        count = write(found, at as u32, ends, count);
        at += 64;
    }
    &ends[..count]
}

/// One bit for each byte that is no digit.
#[inline]
fn others(block: &[u8; 64]) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Brings the lowest bits of eight bytes together in the highest byte.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut found = 0;
    for (index, word) in block.as_chunks::<8>().0.iter().enumerate() {
        // Digits become 0..=9, everything else more; adding 0x76 carries into the high bit from 10 on.
        let word = u64::from_le_bytes(*word) ^ 0x3030_3030_3030_3030;
        let high = (((word & !HIGH) + 0x7676_7676_7676_7676) | word) & HIGH;
        found |= ((high >> 7).wrapping_mul(GATHER) >> 56) << (8 * index);
    }
    found
}

/// Writes the positions of the set bits, sixteen at once: whether there are eight or fourteen makes no difference to the processor then.
/// Returns the number of positions.
#[inline]
fn write(mut found: u64, base: u32, ends: &mut [u32], count: usize) -> usize {
    let total = count + found.count_ones() as usize;
    let mut from = count;
    while let Some(sixteen) = ends.get_mut(from..).and_then(|rest| rest.first_chunk_mut::<16>()) {
        for end in sixteen {
            *end = base.wrapping_add(found.trailing_zeros());
            found &= found.wrapping_sub(1);
        }
        from += 16;
        if found == 0 {
            break;
        }
    }
    total
}

/// Reads the numbers that end at `ends`, which [`find_ends`] found: the first begins at `from`, not before [`MARGIN`], the others after the
/// end before. Positions in `values` are those in `ends`. Numbers that do not fit are `u64::MAX`; their positions are added to `large`.
pub(super) fn read_all(text: &[u8], from: usize, ends: &[u32], values: &mut Vec<u64>, large: &mut Vec<u32>) {
    let mut begin = from;
    values.resize(ends.len(), 0);
    for (position, (value, end)) in values.iter_mut().zip(ends).enumerate() {
        let end = *end as usize;
        let digits = end - begin;
        begin = end + 1;
        *value = if digits <= 16 {
            sixteen(text, end, digits)
        } else {
            let value = longest(&text[end - digits..end]);
            if value == u64::MAX {
                large.push(position as u32);
            }
            value
        };
    }
}

/// Which bytes of the eight before the end of a number belong to it, and which of the eight before those.
const DIGITS: [[u64; 2]; 17] = {
    let mut masks = [[0; 2]; 17];
    let mut digits = 0;
    while digits <= 16 {
        let (low, high) = if digits < 8 { (digits, 0) } else { (8, digits - 8) };
        masks[digits] = [last(low), last(high)];
        digits += 1;
    }
    masks
};

const fn last(bytes: usize) -> u64 {
    if bytes == 0 { 0 } else { u64::MAX << (64 - 8 * bytes) }
}

/// The up to sixteen digits before a position; 0 if there are none. Without a branch: numbers are of any length, and none is foreseen.
#[inline]
fn sixteen(text: &[u8], end: usize, digits: usize) -> u64 {
    let Some(words) = text.get(end.wrapping_sub(16)..).and_then(|rest| rest.first_chunk::<16>()) else { return 0 };
    let [high, low] = words.as_chunks::<8>().0 else { return 0 };
    let [of_low, of_high] = DIGITS[digits];
    if digits <= 8 {
        return eight(u64::from_le_bytes(*low), of_low);
    }
    eight(u64::from_le_bytes(*high), of_high) * 100_000_000 + eight(u64::from_le_bytes(*low), of_low)
}

#[cold]
fn longest(digits: &[u8]) -> u64 {
    let add = |value: Option<u64>, digit: &u8| value?.checked_mul(10)?.checked_add(u64::from(digit - b'0'));
    digits.iter().fold(Some(0), add).unwrap_or(u64::MAX)
}

/// The digits among the eight characters in a word as a number: pairs first, then fours, then the eight.
#[inline]
fn eight(word: u64, digits: u64) -> u64 {
    let word = (word ^ 0x3030_3030_3030_3030) & digits;
    let pairs = (word.wrapping_mul(10 * 256 + 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100 * 65_536 + 1) >> 16) & 0x0000_ffff_0000_ffff;
    fours.wrapping_mul(10_000 * 4_294_967_296 + 1) >> 32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbers(text: &str) -> (Vec<u64>, Vec<u32>) {
        let mut bytes = vec![b'9'; MARGIN];
        bytes.extend(text.as_bytes());
        let to = bytes.len();
        bytes.extend([b'7'; 64]);
        let (mut ends, mut values, mut large) = (Vec::new(), Vec::new(), Vec::new());
        let ends = find_ends(&bytes, MARGIN, to, &mut ends);
        read_all(&bytes, MARGIN, ends, &mut values, &mut large);
        (values, large)
    }

    #[test]
    fn of_every_length() {
        let text = "0:7:42:999:1234567:12345678:123456789:1234567890123456:12345678901234567:18446744073709551614:18446744073709551615:99999999999999999999:\n";
        let expected = [
            0,
            7,
            42,
            999,
            1_234_567,
            12_345_678,
            123_456_789,
            1_234_567_890_123_456,
            12_345_678_901_234_567,
            u64::MAX - 1,
            u64::MAX,
            u64::MAX,
            0,
        ];
        assert_eq!(numbers(text), (expected.to_vec(), vec![10, 11]));
    }

    proptest! {
        #[test]
        fn as_the_standard_library_reads_them(values in prop::collection::vec(any::<u64>().prop_flat_map(|value| (0..64_u32).prop_map(move |by| value >> by)), 0..200)) {
            let mut text = values.iter().map(u64::to_string).collect::<Vec<_>>().join(":");
            text.push(':');
            let read = numbers(&text).0;
            // A text without a number has one without digits.
            prop_assert_eq!(read, if values.is_empty() { vec![0] } else { values });
        }

        #[test]
        fn everything_else_is_an_end(text in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut bytes = text.clone();
            bytes.extend([b'1'; 64]);
            let mut ends = Vec::new();
            let ends = find_ends(&bytes, 0, text.len(), &mut ends);
            let expected: Vec<u32> = (0_u32..).zip(&text).filter(|(_, byte)| !byte.is_ascii_digit()).map(|(at, _)| at).collect();
            prop_assert_eq!(ends, &expected[..]);
        }
    }
}
