//! Numbers of lines, dense from 0 in order of their first use, so that what is kept of each is in a table.

use rustc_hash::FxHashMap;

/// Lines with neighbouring numbers share a table, found by hashing where it is not one of those used last.
const NEIGHBOURS: usize = 64;
/// Tables that are found without hashing.
const RECENT: usize = 16;
const NONE: u32 = u32::MAX;

/// The lines that were met. Memory: 256 bytes for each 64 neighbouring lines of which one was met.
#[derive(Clone, Debug)]
pub struct Lines {
    places: FxHashMap<u64, u32>,
    tables: Vec<[u32; NEIGHBOURS]>,
    /// Which table has which neighbours.
    recent: [Option<(u64, u32)>; RECENT],
    count: u32,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines { places: FxHashMap::default(), tables: Vec::new(), recent: [None; RECENT], count: 0 }
    }
}

impl Lines {
    /// The number of the line with this address in lines. Of 2³² − 1 lines and more, the last ones share one. O(1).
    pub fn id(&mut self, line: u64) -> u32 {
        let (page, inside) = (line / NEIGHBOURS as u64, line as usize % NEIGHBOURS);
        let recent = &mut self.recent[page as usize % RECENT];
        let table = match recent {
            Some((of, table)) if *of == page => *table,
            _ => {
                let next = self.tables.len() as u32;
                let table = *self.places.entry(page).or_insert(next);
                if table == next {
                    self.tables.push([NONE; NEIGHBOURS]);
                }
                *recent = Some((page, table));
                table
            }
        };
        let id = &mut self.tables[table as usize][inside];
        if *id == NONE {
            *id = self.count;
            self.count = (self.count + 1).min(NONE - 1);
        }
        *id
    }

    /// How many different lines were met.
    pub fn count(&self) -> usize {
        self.count as usize
    }
}
