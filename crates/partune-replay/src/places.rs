//! Places that people name, found among the call paths of a run; and the name of a call path's place.

use partune_base::{CallPathId, Id, RegionId, StringId};
use partune_trace::{Role, Trace};

use crate::change::Place;

/// The call paths that end at a place.
pub(crate) fn at(trace: &Trace, place: &Place) -> Vec<bool> {
    let paths = trace.paths();
    match place {
        Place::Line { file, line } => {
            let ends = |known: StringId| {
                let known = trace.strings().get(known);
                known.strip_suffix(file.as_str()).is_some_and(|before| before.is_empty() || before.ends_with('/'))
            };
            let is = |path: CallPathId| {
                let (site, region) = (paths.place(path).site, &trace.regions()[paths.region(path)]);
                [(site.file, site.line), (region.file, region.line)]
                    .into_iter()
                    .any(|(known, at)| at == *line && known.is_some() && ends(known))
            };
            paths.ids().map(is).collect()
        }
        Place::Path(names) => {
            let named: Vec<Vec<bool>> = names.iter().map(|name| regions(trace, name)).collect();
            paths.ids().map(|path| matches(trace, path, &named)).collect()
        }
    }
}

/// By region, whether it has a name.
fn regions(trace: &Trace, name: &str) -> Vec<bool> {
    let known: Vec<bool> = trace.strings().iter().map(|(_, text)| text == name).collect();
    let is = |id: StringId| known.get(id.index()).copied().unwrap_or(false);
    trace.regions().iter().map(|region| is(region.name) || is(region.construct) || is(region.whole)).collect()
}

/// Whether a path ends in regions of these names, from the innermost outwards. Constructs that the user's code runs in may lie between.
fn matches(trace: &Trace, path: CallPathId, named: &[Vec<bool>]) -> bool {
    let paths = trace.paths();
    let Some((last, outer)) = named.split_last() else { return false };
    if !last[paths.region(path).index()] {
        return false;
    }
    let mut outer = outer.iter().rev().peekable();
    for ancestor in paths.ancestors(path).skip(1) {
        let region: RegionId = paths.region(ancestor);
        match outer.peek() {
            None => return true,
            Some(named) if named[region.index()] => {
                outer.next();
            }
            Some(_) if is_around(trace, region) => {}
            Some(_) => return false,
        }
    }
    outer.peek().is_none()
}

fn is_around(trace: &Trace, region: RegionId) -> bool {
    let region = &trace.regions()[region];
    region.role.is_transparent() && region.paradigm.is_some()
}

/// These paths, and all that are called from them.
pub(crate) fn within(trace: &Trace, at: &[bool]) -> Vec<bool> {
    let paths = trace.paths();
    let mut within: Vec<bool> = Vec::with_capacity(at.len());
    for path in paths.ids() {
        let parent = paths.parent(path).some().is_some_and(|parent| within[parent.index()]);
        within.push(parent || at[path.index()]);
    }
    within
}

/// How a change names the place of a call path: the function, or the construct with the function around it; where no function is known, its line, for
/// without either the construct's name is that of all others of its kind too.
pub fn name(trace: &Trace, path: CallPathId) -> Place {
    let paths = trace.paths();
    let text = |id: StringId| trace.strings().get(id).to_owned();
    let region = &trace.regions()[paths.region(path)];
    if region.role == Role::User {
        return Place::Path(vec![text(region.name)]);
    }
    let function = paths.ancestors(path).skip(1).find(|path| !is_around(trace, paths.region(*path)));
    if let Some(line) = line(trace, path).filter(|_| function.is_none()) {
        return line;
    }
    let around = function.map(|path| text(trace.regions()[paths.region(path)].name));
    Place::Path(around.into_iter().chain([text(region.construct)]).collect())
}

/// The same for the one statement at which a call path ends: of several constructs of a name in a function its line, if that is known. A function is
/// meant wherever it is called from.
pub fn statement(trace: &Trace, path: CallPathId) -> Place {
    let (paths, named) = (trace.paths(), name(trace, path));
    if trace.regions()[paths.region(path)].role == Role::User {
        return named;
    }
    let of = |path: CallPathId| (paths.region(path), paths.place(path).site);
    let named_too = at(trace, &named);
    let others: Vec<CallPathId> =
        paths.ids().filter(|other| named_too[other.index()] && of(*other) != of(path)).collect();
    let tells_apart = |line: &Place| {
        let at = at(trace, line);
        others.iter().any(|other| !at[other.index()])
    };
    line(trace, path).filter(tells_apart).unwrap_or(named)
}

/// The line of a construct, by the name of its file without folders.
fn line(trace: &Trace, path: CallPathId) -> Option<Place> {
    let (site, region) = (trace.paths().site(path), &trace.regions()[trace.paths().region(path)]);
    let lines = [(site.file, site.line), (region.file, region.line)];
    let (file, line) = lines.into_iter().find(|(file, line)| file.is_some() && *line > 0)?;
    let whole = trace.strings().get(file);
    Some(Place::Line { file: whole.rsplit('/').next().unwrap_or(whole).to_owned(), line })
}

/// Names of functions and constructs that are like one that is not there.
pub(crate) fn near(trace: &Trace, place: &Place) -> Vec<String> {
    let Place::Path(names) = place else { return Vec::new() };
    let wanted = names.last().map(|name| name.to_lowercase()).unwrap_or_default();
    let mut near: Vec<&str> = trace
        .regions()
        .iter()
        .map(|region| trace.strings().get(region.construct))
        .filter(|known| known.to_lowercase().contains(&wanted) || wanted.contains(&known.to_lowercase()))
        .filter(|known| !known.is_empty())
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(3).map(str::to_owned).collect()
}
