//! Statistics of call paths beside an archive's event files: how a location's file is written and read.
//!
//! Not a part of OTF2, which has no profiles: an archive with all definitions, no events, and for each location `LOCATION.stat` beside its
//! event file. Other readers see a run in which nothing happened. Ids of call paths are those of global calling contexts.
//!
//! ```text
//! "PARTSTAT"
//! VERSION BEGIN END PAUSED LOST                  ticks; LOST counts calls that could not be counted
//! KEPT [BLOCK]                                   bits: 1 blocks, then the one that no synchronisation ended; 2 CPU time
//! ROWS, then for each: CONTEXT COUNT INCLUSIVE OWN MIN MAX FIRST LAST TRANSFERS SENT RECEIVED CLASSES, then CLASSES × (CLASS COUNT),
//!                      MEMBERS [CPU] [BLOCK]
//! GAPS, then for each: BEFORE CONTEXT COUNT TICKS [CPU]      BEFORE is 0 for none, else a context plus one
//! BLOCK:               TICKS SIGNATURE [CPU]
//! ```
//!
//! Numbers are LEB128: seven bits a byte, lowest first. CPU times are in nanoseconds, other times in ticks. Version 1 has neither KEPT nor
//! what stands in brackets, nor MEMBERS.

use partune_trace::{SIZE_CLASSES, Transfers};

const MAGIC: &[u8] = b"PARTSTAT";
const VERSION: u64 = 2;
/// The first version, which is read as well.
const FIRST: u64 = 1;
const BLOCKS: u64 = 1;
const CPU: u64 = 2;

/// Collective operations of different numbers of PEs.
pub const SEVERAL: u32 = u32::MAX;

/// The number of PEs in collective operations of two kinds.
pub fn members(a: u32, b: u32) -> u32 {
    match (a, b) {
        (0, it) | (it, 0) => it,
        (a, b) if a == b => a,
        _ => SEVERAL,
    }
}

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
    /// The block after the last synchronisation of all processes, as far as an operation followed; none if blocks were not kept.
    pub open_block: Option<Block>,
    /// Whether CPU times are of any meaning.
    pub has_cpu: bool,
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
    /// PEs in each collective operation; 0 if there was none, [`SEVERAL`] if not always as many.
    pub members: u32,
    /// Of `own`, nanoseconds on a processor.
    pub cpu: u64,
    /// The blocks that its executions ended.
    pub block: Block,
}

/// What was done outside of operations between synchronisations of all processes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    pub ticks: u64,
    /// Which blocks these are: equal on locations where they are the same.
    pub signature: u64,
    /// Of `ticks`, nanoseconds on a processor.
    pub cpu: u64,
}

/// How often one context followed another inside of the same third one, and the ticks between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gap {
    /// None where the other one was the first in what is around.
    pub before: Option<u32>,
    pub context: u32,
    pub count: u64,
    pub ticks: u64,
    /// Of `ticks`, nanoseconds on a processor.
    pub cpu: u64,
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
        let kept = if self.open_block.is_some() { BLOCKS } else { 0 } | if self.has_cpu { CPU } else { 0 };
        let cpu = |out: &mut Vec<u8>, cpu: u64| {
            if self.has_cpu {
                put(out, [cpu]);
            }
        };
        let block = |out: &mut Vec<u8>, block: &Block| {
            if self.open_block.is_some() {
                put(out, [block.ticks, block.signature]);
                cpu(out, block.cpu);
            }
        };
        put(&mut out, [VERSION, self.begin, self.end, self.paused, self.lost, kept]);
        block(&mut out, &self.open_block.unwrap_or_default());
        put(&mut out, [self.rows.len() as u64]);
        for row in &self.rows {
            put(
                &mut out,
                [row.context.into(), row.count, row.inclusive, row.own, row.min, row.max, row.first, row.last],
            );
            put(&mut out, [row.transfers.count, row.transfers.sent, row.transfers.received]);
            let used = || row.transfers.sizes.iter().zip(0_u64..).filter(|(count, _)| **count > 0);
            put(&mut out, [used().count() as u64]);
            used().for_each(|(count, class)| put(&mut out, [class, *count]));
            put(&mut out, [row.members.into()]);
            cpu(&mut out, row.cpu);
            block(&mut out, &row.block);
        }
        put(&mut out, [self.gaps.len() as u64]);
        for gap in &self.gaps {
            let before = gap.before.map_or(0, |before| u64::from(before) + 1);
            put(&mut out, [before, gap.context.into(), gap.count, gap.ticks]);
            cpu(&mut out, gap.cpu);
        }
        out
    }

    /// Reads a file; the flag says whether it ends early or is damaged: then what comes before that is here.
    pub fn read(bytes: &[u8]) -> Result<(Statistics, bool), StatisticsError> {
        let mut rest = bytes.strip_prefix(MAGIC).ok_or(StatisticsError::Magic)?;
        let mut statistics = Statistics::default();
        let version = match get(&mut rest) {
            Some(version @ FIRST..=VERSION) => version,
            Some(version) => return Err(StatisticsError::Version(version)),
            None => return Ok((statistics, true)),
        };
        let whole = statistics.read_body(version, &mut rest).is_some();
        Ok((statistics, !whole || !rest.is_empty()))
    }

    fn read_body(&mut self, version: u64, rest: &mut &[u8]) -> Option<()> {
        self.begin = get(rest)?;
        self.end = get(rest)?;
        self.paused = get(rest)?;
        self.lost = get(rest)?;
        let kept = if version == FIRST { 0 } else { get(rest)? };
        self.has_cpu = kept & CPU != 0;
        if kept & BLOCKS != 0 {
            self.open_block = Some(Block::read(self.has_cpu, rest)?);
        }
        for _ in 0..get(rest)? {
            let mut row = Row::read(rest)?;
            if version != FIRST {
                row.members = u32::try_from(get(rest)?).ok()?;
            }
            if self.has_cpu {
                row.cpu = get(rest)?;
            }
            if self.open_block.is_some() {
                row.block = Block::read(self.has_cpu, rest)?;
            }
            self.rows.push(row);
        }
        for _ in 0..get(rest)? {
            let gap = Gap {
                before: get(rest)?.checked_sub(1).map(u32::try_from).transpose().ok()?,
                context: u32::try_from(get(rest)?).ok()?,
                count: get(rest)?,
                ticks: get(rest)?,
                cpu: if self.has_cpu { get(rest)? } else { 0 },
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
            ..Row::default()
        };
        for _ in 0..get(rest)? {
            let class = usize::try_from(get(rest)?).ok()?;
            *row.transfers.sizes.get_mut(class)? = get(rest)?;
        }
        Some(row)
    }
}

impl Block {
    fn read(has_cpu: bool, rest: &mut &[u8]) -> Option<Block> {
        let (ticks, signature) = (get(rest)?, get(rest)?);
        Some(Block { ticks, signature, cpu: if has_cpu { get(rest)? } else { 0 } })
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
            Gap { before: None, context: 7, count: 1, ticks: 0, cpu: 0 },
            Gap { before: Some(u32::MAX), context: 0, count: 2, ticks: 300, cpu: 0 },
        ];
        let rows = vec![row, Row::default()];
        Statistics { begin: 5, end: 1 << 50, lost: 4, rows, gaps, ..Statistics::default() }
    }

    /// The same with all that can be kept.
    fn full() -> Statistics {
        let block = Block { ticks: 1, signature: u64::MAX, cpu: 200 };
        let mut all = Statistics { open_block: Some(block), has_cpu: true, ..statistics() };
        (all.rows[0].members, all.rows[0].cpu, all.rows[0].block) = (4, 77, block);
        all.gaps[1].cpu = 1 << 40;
        all
    }

    #[test]
    fn what_is_written_is_read() {
        let mut blocks = full();
        (blocks.has_cpu, blocks.rows[0].cpu, blocks.gaps[1].cpu) = (false, 0, 0);
        blocks.rows[0].block.cpu = 0;
        blocks.open_block = Some(Block { cpu: 0, ..blocks.rows[0].block });
        for all in [statistics(), full(), blocks, Statistics::default()] {
            assert_eq!(Statistics::read(&all.write()), Ok((all, false)));
        }
    }

    #[test]
    fn damage_costs_what_is_behind_it_and_is_said() {
        let all = full();
        let bytes = all.write();
        for length in MAGIC.len()..bytes.len() {
            let (read, damaged) = Statistics::read(&bytes[..length]).expect("it begins right");
            assert!(damaged && read.rows.len() <= 2 && read.gaps.len() < 2);
        }
        assert_eq!(Statistics::read(&bytes[..4]), Err(StatisticsError::Magic));
        assert_eq!(Statistics::read(b"PARTSTAT\x03"), Err(StatisticsError::Version(3)));
        let mut more = bytes.clone();
        more.push(0);
        assert_eq!(Statistics::read(&more), Ok((all, true)));
        // A row count that the bytes cannot back costs no memory; eleven bytes are no number.
        let counted: Vec<u8> = [MAGIC, &[1, 0, 0, 0, 0], &[0xff; 9], &[0x01]].concat();
        assert!(Statistics::read(&counted).expect("it begins right").1);
    }

    /// By hand: one row of context 3 and one gap, as the first version wrote them.
    #[test]
    fn the_first_version_is_read() {
        let row = [3, 2, 10, 10, 4, 6, 5, 20, 1, 8, 0, 1, 2, 1];
        let bytes: Vec<u8> = [MAGIC, &[1, 5, 20, 0, 0, 1], &row, &[1, 0, 3, 1, 0]].concat();
        let (read, is_damaged) = Statistics::read(&bytes).expect("it begins right");
        assert!(!is_damaged && !read.has_cpu && read.open_block.is_none());
        assert_eq!((read.rows[0].context, read.rows[0].inclusive, read.rows[0].members), (3, 10, 0));
        assert_eq!((read.rows[0].transfers.sent, read.rows[0].transfers.sizes[2], read.gaps[0].count), (8, 1, 1));
    }
}
