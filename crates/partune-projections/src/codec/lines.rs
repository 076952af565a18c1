//! Lines of a log as numbers, whatever pieces the text comes in.
//!
//! One pass over the bytes, no text per line: nearly all of a log is short decimal numbers between spaces. Memory: a line.

/// A line.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// Its words as integers; what is none counts as 0. Those that do not fit are the largest or smallest that do.
    pub numbers: &'a [i64],
    pub text: &'a [u8],
}

/// What was no line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Longer than [`Lines::LONGEST`]; skipped.
    pub endless: u64,
    /// The text ended inside of a line.
    pub cut: bool,
}

/// Splits text into lines.
#[derive(Debug, Default)]
pub struct Lines {
    /// A line of which the end has not come.
    begun: Vec<u8>,
    numbers: Vec<i64>,
    skipping: bool,
    counts: Counts,
}

impl Lines {
    /// Bytes of a line that may be a record: a multicast to 100,000 PEs has fewer.
    pub const LONGEST: usize = 1 << 20;

    /// Takes the next piece of the text, and gives lines to `each`.
    pub fn feed(&mut self, piece: &[u8], mut each: impl FnMut(Line<'_>)) {
        let mut rest = piece;
        if !self.begun.is_empty() || self.skipping {
            let end = rest.iter().position(|byte| *byte == b'\n');
            self.keep(&rest[..end.unwrap_or(rest.len())]);
            let Some(end) = end else { return };
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.begun);
            if !std::mem::take(&mut self.skipping) {
                self.line(&line, &mut each);
            }
            self.begun = line;
            self.begun.clear();
        }
        while !rest.is_empty() {
            let taken = read_numbers(rest, &mut self.numbers);
            let Some(taken) = taken else {
                self.keep(rest);
                return;
            };
            let text = &rest[..taken];
            if taken > Self::LONGEST {
                self.counts.endless += 1;
            } else {
                each(Line { numbers: &self.numbers, text });
            }
            rest = &rest[taken + 1..];
        }
    }

    /// The text is at its end.
    pub fn finish(mut self) -> Counts {
        self.counts.cut = !self.begun.is_empty() || self.skipping;
        self.counts
    }

    fn keep(&mut self, part: &[u8]) {
        if self.skipping {
            return;
        }
        self.begun.extend_from_slice(part);
        if self.begun.len() > Self::LONGEST {
            self.counts.endless += 1;
            self.skipping = true;
            self.begun.clear();
        }
    }

    fn line(&mut self, text: &[u8], each: &mut impl FnMut(Line<'_>)) {
        let mut whole = text.to_vec();
        whole.push(b'\n');
        if read_numbers(&whole, &mut self.numbers).is_some() {
            each(Line { numbers: &self.numbers, text });
        }
    }
}

/// Reads the words of a text up to the end of its line, and says where that is; none if it does not end.
#[inline]
fn read_numbers(text: &[u8], numbers: &mut Vec<i64>) -> Option<usize> {
    numbers.clear();
    let mut at = 0;
    loop {
        let mut byte = *text.get(at)?;
        while byte == b' ' {
            at += 1;
            byte = *text.get(at)?;
        }
        if byte == b'\n' {
            return Some(at);
        }
        let begin = at;
        let negative = byte == b'-';
        if negative {
            at += 1;
            byte = *text.get(at)?;
        }
        let (digits, mut value) = (at, 0_u64);
        while byte.is_ascii_digit() {
            value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
            at += 1;
            byte = *text.get(at)?;
        }
        let is_number = at > digits && matches!(byte, b' ' | b'\n' | b'\r');
        while !matches!(byte, b' ' | b'\n') {
            at += 1;
            byte = *text.get(at)?;
        }
        // Up to 18 digits fit.
        let number = if at - begin <= 18 || !is_number { value.cast_signed() } else { large(&text[digits..at]) };
        // A carriage return alone is no word.
        if text[begin] != b'\r' {
            numbers.push(if !is_number {
                0
            } else if negative {
                -number
            } else {
                number
            });
        }
    }
}

/// A number of many digits, without its sign.
#[cold]
fn large(digits: &[u8]) -> i64 {
    let digits = digits.strip_suffix(b"\r").unwrap_or(digits);
    let add = |value: Option<i64>, digit: &u8| value?.checked_mul(10)?.checked_add(i64::from(digit - b'0'));
    digits.iter().fold(Some(0), add).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str, piece: usize) -> (Vec<Vec<i64>>, Counts) {
        let (mut lines, mut read) = (Lines::default(), Vec::new());
        for piece in text.as_bytes().chunks(piece) {
            lines.feed(piece, |line| read.push(line.numbers.to_vec()));
        }
        (read, lines.finish())
    }

    #[test]
    fn words_that_are_no_numbers_are_zero() {
        let text = "PROJECTIONS-RECORD 12\n32 -1 0.5 7\r\n\n - 9223372036854775807 99999999999999999999 -5\n6 1";
        let expected = [vec![0, 12], vec![32, -1, 0, 7], vec![], vec![0, i64::MAX, i64::MAX, -5]];
        for piece in [1, 2, 3, 7, 1000] {
            assert_eq!(read(text, piece), (expected.to_vec(), Counts { endless: 0, cut: true }), "{piece}");
        }
    }

    #[test]
    fn what_never_ends_is_skipped() {
        let text = format!("1 2\n{}\n3\n", "7 ".repeat(Lines::LONGEST));
        for piece in [1 << 16, usize::MAX] {
            assert_eq!(read(&text, piece), (vec![vec![1, 2], vec![3]], Counts { endless: 1, cut: false }));
        }
    }

    proptest! {
        #[test]
        fn as_the_standard_library_reads_them(lines in prop::collection::vec(prop::collection::vec(-i64::MAX..i64::MAX, 1..6), 0..20), piece in 1..40_usize) {
            let text: String = lines.iter().map(|line| line.iter().map(i64::to_string).collect::<Vec<_>>().join(" ") + "\n").collect();
            prop_assert_eq!(read(&text, piece).0, lines);
        }
    }
}
