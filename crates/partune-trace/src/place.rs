//! Where in the source a call path ends.

use partune_base::{CallPathId, StringId, Table};

use crate::{CallSite, Region, RegionKind, Trace};

/// A construct, or function, at a line of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The canonical name.
    pub construct: StringId,
    /// The line, as far as known.
    pub site: CallSite,
    /// The user function around it; [`StringId::NONE`] if unknown.
    pub function: StringId,
}

/// How far out the function around a construct is looked for. Who recurses deeper calls what is looked for from the same place.
const LEVELS: usize = 10_000;

impl Trace {
    /// Where a path is: for a construct, or what the user marked, the place it is called from if that is known; else its own source
    /// line if it has one (OpenMP's constructs, functions); else the same of what is around it, up to the function. That is the innermost of
    /// the user's, or the innermost block if there is none; a line of another function would say where something else is.
    pub fn place(&self, path: CallPathId) -> Place {
        let region = |path: CallPathId| &self.regions()[self.paths().region(path)];
        let ancestors = || self.paths().ancestors(path).take(LEVELS);
        let level = ancestors().position(|path| region(path).is_function());
        // Some producers mark blocks only.
        let block = || ancestors().find(|path| !region(*path).paradigm.is_some());
        let function = level.and_then(|level| ancestors().nth(level)).or_else(block);
        let site = ancestors().take(level.map_or(usize::MAX, |level| level + 1)).find_map(|path| {
            let (region, site) = (region(path), self.paths().site(path));
            let own = CallSite { file: region.file, line: region.line };
            let place = if site.is_some() && !region.is_function() { site } else { own };
            Some(place).filter(|place| place.is_some())
        });
        Place {
            construct: path.some().map_or(StringId::NONE, |path| region(path).construct),
            site: site.unwrap_or(CallSite::NONE),
            function: function.map_or(StringId::NONE, |path| region(path).name),
        }
    }

    /// The places of all call paths. Linear in them, however deep they are.
    pub fn places(&self) -> Table<CallPathId, Place> {
        let mut places: Table<CallPathId, Place> = Table::new();
        // Whether there is a user's function in a path, so that what is around it does not count.
        let mut known: Table<CallPathId, bool> = Table::new();
        for path in self.paths().ids() {
            let region = &self.regions()[self.paths().region(path)];
            let (site, own) = (self.paths().site(path), CallSite { file: region.file, line: region.line });
            let is_function = region.is_function();
            let own = if site.is_some() && !is_function { site } else { own };
            let outer = self.paths().parent(path).some().filter(|_| !is_function);
            let around = outer.map(|outer| (places[outer], known[outer]));
            let is_known = is_function || around.is_some_and(|it| it.1);
            let function = match around {
                Some((outer, true)) => outer.function,
                _ if is_function || !region.paradigm.is_some() => region.name,
                Some((outer, false)) => outer.function,
                None => StringId::NONE,
            };
            let site = if own.is_some() { own } else { around.map_or(CallSite::NONE, |it| it.0.site) };
            places.push(Place { construct: region.construct, site, function });
            known.push(is_known);
        }
        places
    }
}

impl Region {
    /// Whether it is a function of the user's.
    pub fn is_function(&self) -> bool {
        !self.paradigm.is_some() && self.kind == RegionKind::Function
    }
}
