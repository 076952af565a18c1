//! Where in the program something is: regions, call paths, places in the source. Parts of names; sentences are made of them elsewhere.

use partune_base::{CallPathId, RegionId};
use partune_picture::Kind;
use partune_trace::Role;

use super::Run;

/// A function, a construct of a programming model, or code that somebody marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region<'a> {
    pub id: RegionId,
    /// That of a function without arguments, see [`partune_base::short`].
    pub name: &'a str,
    /// All of what the producer calls it; the same as `name` if that is all.
    pub whole: &'a str,
    /// The name that a construct has everywhere; else the same as `name`.
    pub construct: &'a str,
    /// None for code of the user's.
    pub paradigm: Option<&'a str>,
    /// Where it is; empty and 0 if unknown.
    pub file: &'a str,
    pub line: u32,
    pub role: Role,
    /// It is a function of the user's, not a construct and not a marked part.
    pub is_function: bool,
}

/// A line from which something is called; empty and 0 if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Site<'a> {
    pub file: &'a str,
    pub line: u32,
}

/// One level of a call path: what is called, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    pub path: CallPathId,
    pub region: Region<'a>,
    pub site: Site<'a>,
}

/// Where in the source a call path ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Location<'a> {
    pub file: &'a str,
    /// 0 if unknown.
    pub line: u32,
    /// The user function around it; empty if unknown.
    pub function: &'a str,
}

impl Site<'_> {
    pub fn is_known(&self) -> bool {
        !self.file.is_empty() && self.line > 0
    }
}

impl Region<'_> {
    /// What its time is drawn as.
    pub fn kind(&self) -> Kind {
        Kind::of(self.role)
    }
}

impl Run {
    /// None for what is outside of all regions.
    pub fn region(&self, id: RegionId) -> Option<Region<'_>> {
        let (region, strings) = (self.trace.regions().get(id)?, self.trace.strings());
        Some(Region {
            id,
            name: strings.get(region.name),
            whole: strings.get(region.whole),
            construct: strings.get(region.construct),
            paradigm: region.paradigm.some().map(|name| strings.get(name)),
            file: strings.get(region.file),
            line: region.line,
            role: region.role,
            is_function: region.is_function(),
        })
    }

    /// All regions.
    pub fn regions(&self) -> impl Iterator<Item = Region<'_>> {
        self.trace.regions().ids().filter_map(|id| self.region(id))
    }

    /// All call paths.
    pub fn paths(&self) -> impl DoubleEndedIterator<Item = CallPathId> + ExactSizeIterator + use<> {
        self.trace.paths().ids()
    }

    /// The region that a call path ends in; it must not be none.
    pub fn region_at(&self, path: CallPathId) -> Region<'_> {
        self.region(self.trace.paths().region(path)).expect("call paths of a sealed trace end in its regions")
    }

    /// A call path from the innermost level to the outermost; nothing for none.
    pub fn frames(&self, path: CallPathId) -> impl Iterator<Item = Frame<'_>> + Clone {
        self.trace.paths().ancestors(path).map(|path| self.frame(path))
    }

    /// The innermost level of a call path, which must not be none.
    pub fn frame(&self, path: CallPathId) -> Frame<'_> {
        let site = self.trace.paths().site(path);
        let site = Site { file: self.trace.strings().get(site.file), line: site.line };
        Frame { path, region: self.region_at(path), site }
    }

    /// Levels of a call path; 0 for none.
    pub fn levels(&self, path: CallPathId) -> usize {
        if path.is_some() { self.trace.paths().depth(path) as usize + 1 } else { 0 }
    }

    /// Where a call path ends: for a construct the line that calls it, as far as known, in which function.
    pub fn location(&self, path: CallPathId) -> Location<'_> {
        let (place, strings) = (self.trace.paths().place(path), self.trace.strings());
        Location { file: strings.get(place.site.file), line: place.site.line, function: strings.get(place.function) }
    }

    /// All of the name of the function that [`Run::location`] names. Cost: the depth of the path.
    pub fn whole_function(&self, path: CallPathId) -> &str {
        let function = self.trace.paths().place(path).function;
        let regions = self.trace.paths().ancestors(path).map(|path| self.trace.paths().region(path));
        let whole = regions.map(|region| &self.trace.regions()[region]).find(|region| region.name == function);
        self.trace.strings().get(whole.map_or(function, |region| region.whole))
    }

    /// Whether what a call path ends in is an operation, the thing that can wait.
    pub fn is_operation(&self, path: CallPathId) -> bool {
        path.is_some() && self.trace.paths().operation(path) == path
    }

    /// What the time of a call path is drawn as: that of the operation that it is, or is in.
    pub fn kind(&self, path: CallPathId) -> Kind {
        let operation = self.trace.paths().operation(path).some();
        operation.map_or(Kind::Computation, |path| self.region_at(path).kind())
    }
}
