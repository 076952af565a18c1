//! Where in the source a call path ends.

use partune_base::{CallPathId, StringId};

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

impl Trace {
    /// Where a path is: for a construct, or what the user marked, the place it is called from if that is known; else its own source
    /// line if it has one (OpenMP's constructs, functions); else the same of what is around it, up to the function. That is the innermost of
    /// the user's, or the innermost block if there is none; a line of another function would say where something else is.
    pub fn place(&self, path: CallPathId) -> Place {
        let region = |path: CallPathId| &self.regions()[self.paths().region(path)];
        let ancestors = || self.paths().ancestors(path);
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
}

impl Region {
    /// Whether it is a function of the user's.
    pub fn is_function(&self) -> bool {
        !self.paradigm.is_some() && self.kind == RegionKind::Function
    }
}
