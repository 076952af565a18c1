//! Where time goes: regions as a table, call paths as a tree that opens and closes.

use maud::{Markup, html};
use partune_analysis::PathTimes;
use partune_base::{CallPathId, Span};
use partune_engine::Diagnosis;
use partune_picture::CallTree;
use partune_trace::Trace;

use super::{cells, short};
use crate::names;

/// Rows of the table.
const ROWS: usize = 60;
/// Nodes of the tree, and how deep it goes.
const NODES: usize = 400;
const DEPTH: usize = 40;
/// Share of all time below which a node is left out, and from which it is open.
const LEAST: f64 = 0.001;
const OPEN: f64 = 0.05;

pub(super) fn profile(diagnosis: &Diagnosis, times: &PathTimes) -> Markup {
    let trace = &diagnosis.trace;
    let regions = diagnosis.section("profile").and_then(|it| it.tables.iter().find(|table| table.name == "regions"));
    let tree = CallTree::new(trace, times);
    let all = tree.all().0.max(1) as f64;
    let outside = tree.outside();
    let mut drawing = Drawing { trace, tree: &tree, all, left: NODES };
    html! {
        section aria-labelledby="profile" {
            h2 id="profile" { "Profile" }
            h3 { "By region" }
            @if let Some(regions) = regions {
                (cells::table(trace, regions, ROWS, "Time and visits of each region over all PEs; least, mean and most are of one PE. Exclusive time is without what the region calls."))
            }
            h3 { "By call path" }
            p.dim { "Time with all that is called, summed over PEs, and its share; then time in the function itself and how often it was called. Parts below " (names::percent(LEAST)) " are left out." }
            div.tree {
                @for root in tree.roots() { (drawing.node(*root, 0)) }
                @if outside.inclusive.0 as f64 / all >= LEAST {
                    div.leaf { b { (names::seconds(trace.clock().seconds(outside.inclusive))) } " " (names::OUTSIDE) " " i { (names::percent(outside.inclusive.0 as f64 / all)) } }
                }
            }
            @if drawing.left == 0 { p.dim { "The tree is cut at " (NODES) " call paths, those with most time first; the JSON document has more." } }
        }
    }
}

/// The tree as far as it is drawn.
struct Drawing<'a> {
    trace: &'a Trace,
    tree: &'a CallTree,
    all: f64,
    /// Nodes that may still be drawn.
    left: usize,
}

impl Drawing<'_> {
    fn node(&mut self, path: CallPathId, depth: usize) -> Markup {
        let node = *self.tree.node(path);
        let share = node.inclusive.0 as f64 / self.all;
        if share < LEAST || self.left == 0 {
            return html! {};
        }
        self.left -= 1;
        let seconds = |span: Span| names::seconds(self.trace.clock().seconds(span));
        let site = self.trace.paths().site(path);
        let words = html! {
            b { (seconds(node.inclusive)) } " " code { (short(self.trace.strings().get(names::region(self.trace, path).name))) }
            " " i {
                (names::percent(share))
                @if node.visits > 0 { " · itself " (seconds(node.exclusive)) " · " (node.visits) "× on " (node.pes) @if node.pes == 1 { " PE" } @else { " PEs" } }
                @if site.is_some() { " · called at " (short(self.trace.strings().get(site.file).rsplit('/').next().unwrap_or_default())) ":" (site.line) }
            }
        };
        let tree = self.tree;
        let below = |child: &&CallPathId| tree.node(**child).inclusive.0 as f64 / self.all >= LEAST;
        let children: Vec<CallPathId> = tree.children(path).iter().filter(below).copied().collect();
        if children.is_empty() || depth >= DEPTH {
            return html! { div.leaf { (words) } };
        }
        let inner: Vec<Markup> = children.into_iter().map(|child| self.node(child, depth + 1)).collect();
        html! { details open[share >= OPEN] { summary { (words) } @for child in inner { (child) } } }
    }
}
