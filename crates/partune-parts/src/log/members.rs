//! Lists of ranks as ranges: `0-3,8,10-30:5`. The order is kept.

use std::fmt::{self, Write as _};
use std::str::Split;

use super::Field;

/// Ranks in the world. Equal lists have equal texts, so whoever only compares them need not expand any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members<'a> {
    /// To be written.
    Ranks(&'a [u32]),
    /// As it was read; empty if there are none.
    Ranges(&'a str),
}

impl Members<'_> {
    /// The ranks in a text of ranges; what is not understood is left out.
    pub fn expand(ranges: &str) -> Vec<u32> {
        const MOST: usize = 1 << 24;
        let number = |word: &str| word.parse::<u32>().ok();
        let mut all = Vec::new();
        for part in ranges.split(',').filter(|part| !part.is_empty()) {
            let (range, step) = part.split_once(':').unwrap_or((part, "1"));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (Some(first), Some(last), Some(step)) = (number(first), number(last), number(step)) else { continue };
            all.extend((first..=last).step_by(step.max(1) as usize).take(MOST.saturating_sub(all.len())));
        }
        all
    }
}

impl fmt::Display for Members<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Members::Ranks(ranks) => write(ranks, f),
            Members::Ranges(text) => f.write_str(text),
        }
    }
}

impl<'a> Field<'a> for Members<'a> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Members::Ranks([]) | Members::Ranges("") => f.write_char('-'),
            members => write!(f, "{members}"),
        }
    }

    fn read(words: &mut Split<'a, char>) -> Option<Self> {
        words.next().map(|word| Members::Ranges(if word == "-" { "" } else { word }))
    }
}

fn write(ranks: &[u32], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut rest = ranks;
    while let [first, ..] = *rest {
        let step = rest.get(1).map_or(1, |second| i64::from(*second) - i64::from(first));
        let follows = |i: usize| i64::from(rest[i]) == i64::from(first) + step * i as i64;
        let run = if step > 0 { (1..rest.len()).take_while(|i| follows(*i)).count() + 1 } else { 1 };
        // Two numbers that are apart by chance are no range.
        let run = if run == 2 && step != 1 { 1 } else { run };
        if rest.len() != ranks.len() {
            f.write_char(',')?;
        }
        match (run, step) {
            (1, _) => write!(f, "{first}")?,
            (_, 1) => write!(f, "{first}-{}", rest[run - 1])?,
            _ => write!(f, "{first}-{}:{step}", rest[run - 1])?,
        }
        rest = &rest[run..];
    }
    Ok(())
}
