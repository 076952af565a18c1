//! Caches as they are: levels of few ways, one behind the other. A line has its place in one set, where the line is thrown out that was not used for longest.
//!
//! A line that is missed is brought into all levels before the one that had it. What is stored to stays in the first level until it is thrown out, and is
//! given to the next one then (write-back, write-allocate); what was not stored to is dropped. No level keeps another one from anything: neither is what leaves a
//! level thrown out before it, nor is a line taken from the level that gives it.

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    pub bytes: u64,
    /// Bytes of a line.
    pub line: u32,
    /// Places that a line may be at.
    pub ways: u32,
}

/// Why levels are no caches that can be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LevelError {
    #[error("level {0}: a line must have a power of two of bytes")]
    Line(usize),
    #[error("level {0}: its bytes must be whole sets: lines of the same size in each way")]
    Sets(usize),
    #[error("level {0}: its lines must be as long as those of the first level")]
    Lines(usize),
    #[error("level {0}: more than 2²⁶ lines")]
    Large(usize),
    #[error("there are {0} levels: 1 to 16 can be followed")]
    Count(usize),
}

/// Where a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A level: 0 is the first one, which had it already.
    Level(usize),
    /// No level had it.
    Memory,
}

/// What a level did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Lines that were asked of it, and those of them that it did not have.
    pub loads: u64,
    pub misses: u64,
    /// Lines with stores that it threw out.
    pub given_back: u64,
}

/// Lines that the first level threw out, by where they had come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// That were only loaded from.
    pub loaded: u64,
    /// That were stored to, so that they travel back as well.
    pub stored: u64,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    line: u64,
    is_stored: bool,
    /// Which level it came from; the number of levels for memory.
    from: u8,
}

#[derive(Clone, Debug)]
struct Sets {
    count: u64,
    ways: usize,
    /// The ways of a set lie together, those in use first, the one that was used last before the others.
    places: Vec<Place>,
    used: Vec<u32>,
    counts: Counts,
}

/// Levels, the one next to the core first.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    levels: Vec<Sets>,
    shift: u32,
    moved: Vec<Moved>,
}

impl Hierarchy {
    /// Empty levels. Memory: 16 bytes for each of their lines.
    pub fn new(levels: &[Level]) -> Result<Hierarchy, LevelError> {
        const MOST: u64 = 1 << 26;
        let first = levels.first().filter(|_| levels.len() <= 16).ok_or(LevelError::Count(levels.len()))?;
        for (index, level) in levels.iter().enumerate() {
            let number = index + 1;
            let set = u64::from(level.line) * u64::from(level.ways);
            let wrong = if !level.line.is_power_of_two() {
                LevelError::Line(number)
            } else if level.line != first.line {
                LevelError::Lines(number)
            } else if set == 0 || level.bytes == 0 || level.bytes % set != 0 {
                LevelError::Sets(number)
            } else if level.bytes / u64::from(level.line) > MOST {
                LevelError::Large(number)
            } else {
                continue;
            };
            return Err(wrong);
        }
        let sets = |level: &Level| {
            let sets = level.bytes / u64::from(level.line) / u64::from(level.ways);
            let ways = level.ways as usize;
            let none = Place { line: 0, is_stored: false, from: 0 };
            Sets {
                count: sets,
                ways,
                places: vec![none; sets as usize * ways],
                used: vec![0; sets as usize],
                counts: Counts::default(),
            }
        };
        let moved = vec![Moved::default(); levels.len() + 1];
        Ok(Hierarchy { levels: levels.iter().map(sets).collect(), shift: first.line.trailing_zeros(), moved })
    }

    /// An access to so many bytes, of which each line is met once, in order of address; gives the farthest that a line came from. Cost: O(sum of ways) for
    /// each line.
    pub fn access(&mut self, address: u64, bytes: u32, is_store: bool) -> Source {
        let last = address.saturating_add(u64::from(bytes.max(1)) - 1) >> self.shift;
        let lines = (address >> self.shift)..=last;
        lines.map(|line| self.line(line, is_store)).max().unwrap_or(Source::Level(0))
    }

    /// What each level did so far.
    pub fn counts(&self) -> Vec<Counts> {
        self.levels.iter().map(|level| level.counts).collect()
    }

    /// Lines that the first level threw out so far, by where they had come from: the second level first, memory last. In the long run those are the lines
    /// that came from there.
    pub fn moved(&self) -> &[Moved] {
        &self.moved[1..]
    }

    fn line(&mut self, line: u64, is_store: bool) -> Source {
        let found = self.levels.iter_mut().position(|level| level.has(line));
        let from = found.unwrap_or(self.levels.len());
        // From where it was found towards the core, as it travels.
        for index in (0..from).rev() {
            self.keep(index, Place { line, is_stored: false, from: from as u8 });
        }
        if is_store {
            self.levels[0].mark(line);
        }
        found.map_or(Source::Memory, Source::Level)
    }

    /// Brings a line into a level. What must go for it goes to the next level if it was stored to, and so on.
    fn keep(&mut self, index: usize, place: Place) {
        let mut coming = place;
        for (at, level) in self.levels.iter_mut().enumerate().skip(index) {
            let Some(gone) = level.put(coming) else { return };
            if at == 0 {
                let moved = &mut self.moved[usize::from(gone.from)];
                *(if gone.is_stored { &mut moved.stored } else { &mut moved.loaded }) += 1;
            }
            if !gone.is_stored {
                return;
            }
            coming = gone;
        }
    }
}

impl Sets {
    fn set(&mut self, line: u64) -> (&mut [Place], &mut u32) {
        let set = (line % self.count) as usize;
        (&mut self.places[set * self.ways..(set + 1) * self.ways], &mut self.used[set])
    }

    /// Whether it has a line, which it then used last.
    fn has(&mut self, line: u64) -> bool {
        self.counts.loads += 1;
        let (places, used) = self.set(line);
        let found = places[..*used as usize].iter().position(|place| place.line == line);
        match found {
            Some(0) => {}
            Some(at) => places[..=at].rotate_right(1),
            None => self.counts.misses += 1,
        }
        found.is_some()
    }

    /// Notes that the line that was used last is stored to.
    fn mark(&mut self, line: u64) {
        let (places, _) = self.set(line);
        places[0].is_stored = true;
    }

    /// Takes a line in as the one that was used last; gives what had to go for it.
    fn put(&mut self, coming: Place) -> Option<Place> {
        let (places, used) = self.set(coming.line);
        let known = places[..*used as usize].iter().position(|place| place.line == coming.line);
        let gone = if let Some(at) = known {
            places[..=at].rotate_right(1);
            places[0].is_stored |= coming.is_stored;
            None
        } else {
            let is_full = *used as usize == places.len();
            *used += u32::from(!is_full);
            let places = &mut places[..*used as usize];
            places.rotate_right(1);
            let gone = std::mem::replace(&mut places[0], coming);
            is_full.then_some(gone)
        };
        self.counts.given_back += u64::from(gone.is_some_and(|gone| gone.is_stored));
        gone
    }
}
