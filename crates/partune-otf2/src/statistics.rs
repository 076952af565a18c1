//! Statistics of call paths beside an archive's event files: how a location's file is written and read.
//!
//! Not a part of OTF2, which has no profiles: an archive with all definitions, no events, and for each location `LOCATION.stat` beside its
//! event file. Other readers see a run in which nothing happened. Ids of call paths are those of global calling contexts.
//!
//! ```text
//! "PARTSTAT"
//! VERSION BEGIN END PAUSED LOST                  ticks; LOST counts calls that could not be counted
//! ROWS, then for each: CONTEXT COUNT INCLUSIVE OWN MIN MAX FIRST LAST TRANSFERS SENT RECEIVED CLASSES, then CLASSES × (CLASS COUNT)
//! GAPS, then for each: BEFORE CONTEXT COUNT TICKS      BEFORE is 0 for none, else a context plus one
//! ```
//!
//! Numbers are LEB128: seven bits a byte, lowest first.

use partune_trace::{SIZE_CLASSES, Transfers};

const MAGIC: &[u8] = b"PARTSTAT";
const VERSION: u64 = 1;

/// What one location did, by calling context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Time stamp of the first enter.
    pub begin: u64,
    /// Time stamp of the last leave.
    pub end: u64,
    /// Ticks in which recording was turned off.
    pub paused: u64,
    /// Calls that could not be counted.
    pub lost: u64,
    /// A row for each context that was executed, in any order.
    pub rows: Vec<Row>,
    pub gaps: Vec<Gap>,
}

/// Sums over the executions of one context. Times are in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub context: u32,
    pub count: u64,
    pub inclusive: u64,
    /// Of these, ticks that are neither in recorded calls inside nor in [`Gap`]s.
    pub own: u64,
    pub min: u64,
    pub max: u64,
    /// Time stamps of the first enter and the last leave.
    pub first: u64,
    pub last: u64,
    pub transfers: Transfers,
}

/// How often one context followed another inside of the same third one, and the ticks between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// None where the other one was the first in what is around.
    pub before: Option<u32>,
    pub context: u32,
    pub count: u64,
    pub ticks: u64,
}

/// Why a file cannot be read at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatisticsError {
    #[error("it does not begin as a file of statistics does")]
    Magic,
    #[error("it was written by a newer partune (version {0} of the format)")]
    Version(u64),
}

impl Statistics {
    /// The bytes of the file.
    pub fn write(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        put(&mut out, [VERSION, self.begin, self.end, self.paused, self.lost, self.rows.len() as u64]);
        for row in &self.rows {
            put(
                &mut out,
                [row.context.into(), row.count, row.inclusive, row.own, row.min, row.max, row.first, row.last],
            );
            put(&mut out, [row.transfers.count, row.transfers.sent, row.transfers.received]);
            let used = || row.transfers.sizes.iter().zip(0_u64..).filter(|(count, _)| **count > 0);
            put(&mut out, [used().count() as u64]);
            used().for_each(|(count, class)| put(&mut out, [class, *count]));
        }
        put(&mut out, [self.gaps.len() as u64]);
        for gap in &self.gaps {
            let before = gap.before.map_or(0, |before| u64::from(before) + 1);
            put(&mut out, [before, gap.context.into(), gap.count, gap.ticks]);
        }
        out
    }

    /// Reads a file; the flag says whether it ends early or is damaged: then what comes before that is here.
    pub fn read(bytes: &[u8]) -> Result<(Statistics, bool), StatisticsError> {
        let mut rest = bytes.strip_prefix(MAGIC).ok_or(StatisticsError::Magic)?;
        let mut statistics = Statistics::default();
        match get(&mut rest) {
            Some(VERSION) => {}
            Some(version) => return Err(StatisticsError::Version(version)),
            None => return Ok((statistics, true)),
        }
        let whole = statistics.read_body(&mut rest).is_some();
        Ok((statistics, !whole || !rest.is_empty()))
    }

    fn read_body(&mut self, rest: &mut &[u8]) -> Option<()> {
        self.begin = get(rest)?;
        self.end = get(rest)?;
        self.paused = get(rest)?;
        self.lost = get(rest)?;
        for _ in 0..get(rest)? {
            let row = Row::read(rest)?;
            self.rows.push(row);
        }
        for _ in 0..get(rest)? {
            let gap = Gap {
                before: get(rest)?.checked_sub(1).map(u32::try_from).transpose().ok()?,
                context: u32::try_from(get(rest)?).ok()?,
                count: get(rest)?,
                ticks: get(rest)?,
            };
            self.gaps.push(gap);
        }
        Some(())
    }
}

impl Row {
    fn read(rest: &mut &[u8]) -> Option<Row> {
        let mut row = Row {
            context: u32::try_from(get(rest)?).ok()?,
            count: get(rest)?,
            inclusive: get(rest)?,
            own: get(rest)?,
            min: get(rest)?,
            max: get(rest)?,
            first: get(rest)?,
            last: get(rest)?,
            transfers: Transfers {
                count: get(rest)?,
                sent: get(rest)?,
                received: get(rest)?,
                sizes: [0; SIZE_CLASSES],
            },
        };
        for _ in 0..get(rest)? {
            let class = usize::try_from(get(rest)?).ok()?;
            *row.transfers.sizes.get_mut(class)? = get(rest)?;
        }
        Some(row)
    }
}

fn put<const N: usize>(out: &mut Vec<u8>, numbers: [u64; N]) {
    for mut number in numbers {
        while number >= 0x80 {
            out.push(number as u8 | 0x80);
            number >>= 7;
        }
        out.push(number as u8);
    }
}

fn get(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return None;
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statistics() -> Statistics {
        let mut transfers = Transfers::default();
        transfers.add(100, 0);
        transfers.add(0, u64::MAX);
        let row = Row {
            context: 7,
            count: 3,
            inclusive: u64::MAX,
            min: 1,
            max: 127,
            first: 128,
            transfers,
            ..Row::default()
        };
        let gaps = vec![
            Gap { before: None, context: 7, count: 1, ticks: 0 },
            Gap { before: Some(u32::MAX), context: 0, count: 2, ticks: 300 },
        ];
        Statistics { begin: 5, end: 1 << 50, paused: 0, lost: 4, rows: vec![row, Row::default()], gaps }
    }

    #[test]
    fn what_is_written_is_read() {
        for all in [statistics(), Statistics::default()] {
            assert_eq!(Statistics::read(&all.write()), Ok((all, false)));
        }
    }

    #[test]
    fn damage_costs_what_is_behind_it_and_is_said() {
        let all = statistics();
        let bytes = all.write();
        for length in MAGIC.len()..bytes.len() {
            let (read, damaged) = Statistics::read(&bytes[..length]).expect("it begins right");
            assert!(damaged && read.rows.len() <= 2 && read.gaps.len() < 2);
        }
        assert_eq!(Statistics::read(&bytes[..4]), Err(StatisticsError::Magic));
        assert_eq!(Statistics::read(b"PARTSTAT\x02"), Err(StatisticsError::Version(2)));
        let mut more = bytes.clone();
        more.push(0);
        assert_eq!(Statistics::read(&more), Ok((all, true)));
        // A row count that the bytes cannot back costs no memory; eleven bytes are no number.
        let counted: Vec<u8> = [MAGIC, &[1, 0, 0, 0, 0], &[0xff; 9], &[0x01]].concat();
        assert!(Statistics::read(&counted).expect("it begins right").1);
    }
}
