//! What lines of the source cost: time of what they call, of the functions and marked parts that begin there, and waiting.

use std::collections::BTreeMap;

use partune_base::{Id as _, Span};

use super::Run;

/// Sums of one line over PEs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCost {
    /// From enter to exit of what it calls. What calls itself by way of it counts once.
    pub calls: Span,
    pub visits: u64,
    /// Exclusive time of the functions and marked parts that begin at it.
    pub own: Span,
    /// Of the operations that it calls, or, where their lines are not known, of those in the function that begins at it.
    pub waiting: Span,
}

impl Run {
    /// Lines by their files, as far as the archive knows them. Linear in call paths.
    pub fn source_lines(&self) -> BTreeMap<&str, BTreeMap<u32, LineCost>> {
        let (paths, tree) = (self.trace.paths(), self.tree());
        let mut classes: BTreeMap<(&str, u32), usize> = BTreeMap::new();
        let mut sites = Vec::new();
        for path in paths.ids() {
            let site = self.frame(path).site;
            let next = classes.len();
            sites.push(site.is_known().then(|| *classes.entry((site.file, site.line)).or_insert(next)));
        }
        let outermost = paths.outermost(classes.len(), |path| sites[path.index()]);
        let mut files: BTreeMap<&str, BTreeMap<u32, LineCost>> = BTreeMap::new();
        for path in paths.ids() {
            let (node, frame, place) = (tree.node(path), self.frame(path), self.location(path));
            let mut at = |file, line, add: &dyn Fn(&mut LineCost)| {
                if !str::is_empty(file) && line > 0 {
                    add(files.entry(file).or_default().entry(line).or_default());
                }
            };
            if node.visits > 0 || node.inclusive > Span::ZERO {
                let inclusive = if outermost[path] { node.inclusive } else { Span::ZERO };
                at(frame.site.file, frame.site.line, &|sum| {
                    sum.calls += inclusive;
                    sum.visits += node.visits;
                });
            }
            if node.exclusive > Span::ZERO && frame.region.paradigm.is_none() {
                at(frame.region.file, frame.region.line, &|sum| sum.own += node.exclusive);
            }
            if node.waited > Span::ZERO {
                at(place.file, place.line, &|sum| sum.waiting += node.waited);
            }
        }
        files
    }
}
