//! The first line, and the communicators after it.
//!
//! `#Paraver (dd/mm/yy at hh:mm):END[_ns]:NODES(cpus,…):APPLICATIONS:TASKS(threads:node,…),COMMUNICATORS:…`. What it lists it names one by
//! one, so what is read never exceeds the line; numbers that only claim something are kept as numbers.

/// What the first line of a trace says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Ticks per second.
    pub resolution: u64,
    /// The time of the last event, if it can be read.
    pub end: Option<i64>,
    /// Number of nodes.
    pub nodes: u64,
    /// The tasks of each application.
    pub applications: Vec<Vec<Task>>,
    /// The header is not as it should be: what follows what was read is unknown.
    pub broken: bool,
}

/// A process, as the header lists it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Task {
    pub threads: u64,
    /// Counted from 1; 0 if unknown.
    pub node: u64,
}

/// A communicator of an application; tasks are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Communicator {
    Intra {
        application: u64,
        id: u64,
        tasks: Vec<u64>,
    },
    /// Two groups: the application and the communicator of each.
    Inter {
        application: u64,
        id: u64,
        groups: [(u64, u64); 2],
    },
}

impl Header {
    /// What the line begins with.
    pub const MARK: &'static [u8] = b"#Paraver";

    /// Reads the first line; `None` if it is none.
    pub fn read(line: &[u8]) -> Option<Header> {
        let line = line.strip_prefix(Self::MARK)?;
        // The date has colons of its own.
        let after = line.iter().position(|byte| *byte == b')').map_or(0, |at| at + 1);
        let mut rest = Cursor { text: &line[after..] };
        let mut header = Header { resolution: MICROSECONDS, ..Header::default() };
        header.broken = header.read_rest(&mut rest).is_none();
        Some(header)
    }

    fn read_rest(&mut self, rest: &mut Cursor<'_>) -> Option<()> {
        rest.expect(b':')?;
        self.end = Some(i64::try_from(rest.number()?).unwrap_or(i64::MAX));
        if rest.expect(b'_').is_some() {
            self.resolution = match rest.word() {
                b"ns" => 1_000_000_000,
                b"us" => MICROSECONDS,
                b"ms" => 1_000,
                b"s" => 1,
                _ => return None,
            };
        }
        rest.expect(b':')?;
        self.nodes = rest.number()?;
        if rest.expect(b'(').is_some() {
            loop {
                rest.number()?;
                if rest.expect(b',').is_none() {
                    break;
                }
            }
            rest.expect(b')')?;
        }
        rest.expect(b':')?;
        let applications = rest.number()?;
        while (self.applications.len() as u64) < applications {
            rest.expect(b':')?;
            let claimed = rest.number()?;
            let mut tasks = Vec::new();
            rest.expect(b'(')?;
            let list = loop {
                let Some(threads) = rest.number() else { break None };
                tasks.push(Task {
                    threads,
                    node: if rest.expect(b':').is_some() { rest.number().unwrap_or(0) } else { 0 },
                });
                if rest.expect(b',').is_none() {
                    break rest.expect(b')');
                }
            };
            let listed = tasks.len() as u64;
            self.applications.push(tasks);
            list?;
            if rest.expect(b',').is_some() {
                rest.number()?;
            }
            if listed != claimed {
                return None;
            }
        }
        Some(())
    }
}

const MICROSECONDS: u64 = 1_000_000;

impl Communicator {
    /// Reads a line `c:…` or `i:…`; `None` if it is no such line, or not whole.
    pub fn read(line: &[u8]) -> Option<Communicator> {
        let inter = match line.first()? {
            b'c' | b'C' => false,
            b'i' | b'I' => true,
            _ => return None,
        };
        let mut rest = Cursor { text: &line[1..] };
        let mut next = || {
            rest.expect(b':')?;
            rest.number()
        };
        let (application, id) = (next()?, next()?);
        if inter {
            let first = (application, next()?);
            return Some(Communicator::Inter { application, id, groups: [first, (next()?, next()?)] });
        }
        let claimed = next()?;
        let mut tasks = Vec::new();
        while let Some(task) = next() {
            tasks.push(task);
        }
        (tasks.len() as u64 == claimed).then_some(Communicator::Intra { application, id, tasks })
    }
}

/// What is left of a line.
struct Cursor<'a> {
    text: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.text = self.text.strip_prefix(&[byte])?;
        Some(())
    }

    fn take(&mut self, which: impl Fn(&u8) -> bool) -> &'a [u8] {
        let count = self.text.iter().position(|byte| !which(byte)).unwrap_or(self.text.len());
        let (taken, rest) = self.text.split_at(count);
        self.text = rest;
        taken
    }

    fn word(&mut self) -> &'a [u8] {
        self.take(u8::is_ascii_alphabetic)
    }

    /// Saturates.
    fn number(&mut self) -> Option<u64> {
        let digits = self.take(u8::is_ascii_digit);
        let add = |value: u64, digit: &u8| value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
        (!digits.is_empty()).then(|| digits.iter().fold(0, add))
    }
}
