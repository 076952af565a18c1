//! Where in the source a call path ends.

use partune_base::StringId;

use crate::{CallSite, Region};

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

impl Place {
    /// Nowhere.
    pub(crate) const NONE: Place = Place { construct: StringId::NONE, site: CallSite::NONE, function: StringId::NONE };

    /// What it is told with: the same construct in the same function is one place, at whichever lines; where no function is known, each
    /// line is one. Functions of equal names in two files are two.
    #[must_use]
    pub fn scope(self) -> Place {
        let line = if self.function.is_some() { 0 } else { self.site.line };
        Place { site: CallSite { line, ..self.site }, ..self }
    }

    /// Where a region is that is called at a site from what is at another place: for a construct, or what the user marked, the place it is called
    /// from if that is known; else its own source line if it has one (OpenMP's constructs, functions); else the same of what is around
    /// it, up to the function. That is the innermost of the user's, or the innermost block if there is none (some producers mark blocks
    /// only); a line of another function would say where something else is. `inside` tells whether there is a function of the user's around.
    pub(crate) fn of(region: &Region, site: CallSite, outer: Place, inside: bool) -> Place {
        let own = CallSite { file: region.file, line: region.line };
        if region.is_function() {
            let site = if own.is_some() { own } else { CallSite::NONE };
            return Place { construct: region.construct, site, function: region.name };
        }
        let is_block = !inside && !region.paradigm.is_some();
        Place {
            construct: region.construct,
            site: [site, own].into_iter().find(|site| site.is_some()).unwrap_or(outer.site),
            function: if is_block { region.name } else { outer.function },
        }
    }
}
