//! Stack distances: how many other lines were touched since a line was touched last. A cache that keeps a line anywhere, and throws out the one that was
//! not used for longest, misses an access if and only if its distance is not below the number of its lines. So one pass tells the misses of every size
//! (Mattson, Gecsei, Slutz, Traiger 1970).
//!
//! Each line has a mark at the time of its last use, and a distance is the number of marks after one. Marks are bits, and the words of bits are counted in
//! a Fenwick tree. When times run out, those with a mark are numbered anew from 0. Most accesses are to lines that were used just before: these need no tree.

/// What the accesses so far had as distances. Memory: some 20 bytes for each different line.
#[derive(Clone, Debug)]
pub struct Distances {
    /// The time of the last use of each line.
    last: Vec<usize>,
    /// The line that was used at each time.
    user: Vec<u32>,
    marks: Marks,
    counts: Vec<u64>,
}

/// The least number of times before they are numbered anew.
const LEAST: usize = 1024;

impl Default for Distances {
    fn default() -> Distances {
        Distances { last: Vec::new(), user: Vec::new(), marks: Marks::new(LEAST), counts: Vec::new() }
    }
}

impl Distances {
    /// An access to a line: its number, where a new one has the next number that is free (see [`Lines`](crate::Lines)). Gives its distance, none where it is
    /// the first to its line; a number beyond the next one is taken for the next. Cost: O(log n) for n different lines.
    pub fn touch(&mut self, line: u32) -> Option<usize> {
        if self.user.last() == Some(&line) {
            self.count(0);
            return Some(0);
        }
        if self.user.len() == self.marks.size() {
            self.compact();
        }
        let now = self.user.len();
        let line = (line as usize).min(self.last.len());
        let distance = if line == self.last.len() {
            self.last.push(now);
            self.marks.put(now);
            None
        } else {
            let before = std::mem::replace(&mut self.last[line], now);
            let distance = self.marks.after(before, now);
            self.marks.carry(before, now);
            self.count(distance);
            Some(distance)
        };
        self.user.push(line as u32);
        distance
    }

    fn count(&mut self, distance: usize) {
        if self.counts.len() <= distance {
            self.counts.resize(distance + 1, 0);
        }
        self.counts[distance] += 1;
    }

    /// How many accesses had which distance.
    pub fn histogram(self) -> Histogram {
        Histogram { cold: self.last.len() as u64, counts: self.counts }
    }

    /// Numbers the times of last uses anew, in their order, and makes room for as many more. O(n), once in n accesses at least.
    fn compact(&mut self) {
        let Distances { last, user, marks, .. } = self;
        let mut time = 0;
        for at in 0..user.len() {
            if marks.is(at) {
                let line = user[at];
                (last[line as usize], user[time]) = (time, line);
                time += 1;
            }
        }
        user.truncate(time);
        *marks = Marks::new((2 * time).max(LEAST));
        (0..time).for_each(|at| marks.put(at));
    }
}

/// How many accesses had which stack distance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// First accesses to a line.
    pub cold: u64,
    /// The others, by distance: 0 is an access to the line that was touched just before.
    pub counts: Vec<u64>,
}

impl Histogram {
    pub fn accesses(&self) -> u64 {
        self.cold + self.counts.iter().sum::<u64>()
    }

    /// How many accesses a cache of so many lines misses. O(different lines).
    pub fn misses(&self, lines: usize) -> u64 {
        self.cold + self.counts.iter().skip(lines).sum::<u64>()
    }
}

/// Marks at times, and how many there are after one.
#[derive(Clone, Debug)]
struct Marks {
    words: Vec<u64>,
    /// A Fenwick tree over the marks in each word.
    tree: Vec<u32>,
    all: usize,
}

const BITS: usize = u64::BITS as usize;
/// Words that are counted as fast as the tree tells them.
const NEAR: usize = 8;

impl Marks {
    fn new(size: usize) -> Marks {
        let words = size.div_ceil(BITS);
        Marks { words: vec![0; words], tree: vec![0; words + 1], all: 0 }
    }

    fn size(&self) -> usize {
        self.words.len() * BITS
    }

    fn is(&self, time: usize) -> bool {
        self.words[time / BITS] >> (time % BITS) & 1 == 1
    }

    fn put(&mut self, time: usize) {
        self.words[time / BITS] |= 1 << (time % BITS);
        self.all += 1;
        self.add(time / BITS, 1);
    }

    fn take(&mut self, time: usize) {
        self.words[time / BITS] &= !(1 << (time % BITS));
        self.all -= 1;
        self.add(time / BITS, u32::MAX);
    }

    /// Takes one and puts another: words that are the same count as before.
    fn carry(&mut self, from: usize, to: usize) {
        if from / BITS == to / BITS {
            let word = &mut self.words[from / BITS];
            *word = *word & !(1 << (from % BITS)) | 1 << (to % BITS);
        } else {
            self.take(from);
            self.put(to);
        }
    }

    /// Adds modulo 2³², so that subtracting is adding too.
    fn add(&mut self, word: usize, by: u32) {
        let mut at = word + 1;
        while at < self.tree.len() {
            self.tree[at] = self.tree[at].wrapping_add(by);
            at += at & at.wrapping_neg();
        }
    }

    /// How many there are after a time, where none is later than another one.
    fn after(&self, time: usize, now: usize) -> usize {
        let (word, bit) = (time / BITS, time % BITS);
        if now / BITS - word < NEAR {
            let later = self.words[word + 1..=now / BITS].iter().map(|word| word.count_ones()).sum::<u32>();
            return ((self.words[word] >> bit).count_ones() + later) as usize - 1;
        }
        // Up to `time` itself, in its word and before it.
        let mut until = (self.words[word] & (u64::MAX >> (BITS - 1 - bit))).count_ones() as usize;
        let mut at = word;
        while at > 0 {
            until += self.tree[at] as usize;
            at &= at - 1;
        }
        self.all - until
    }
}
