//! Where time goes: regions as a table, call paths as a tree that opens and closes.

use maud::{Markup, html};
use partune_base::{CallPathId, Span};
use partune_engine::{CallTree, Diagnosis, Run};

use super::short;
use crate::names;

/// Rows of the table.
const ROWS: usize = 60;
/// Nodes of the tree, and how deep it goes.
const NODES: usize = 400;
const DEPTH: usize = 40;
/// Share of all time below which a node is left out, and from which it is open.
const LEAST: f64 = 0.001;
const OPEN: f64 = 0.05;

pub(super) fn profile(diagnosis: &Diagnosis) -> Markup {
    let run = &diagnosis.run;
    let tree = run.tree();
    let all = tree.all().0.max(1) as f64;
    let outside = tree.outside();
    let mut drawing = Drawing { run, tree, all, left: NODES };
    html! {
        section aria-labelledby="profile" {
            h2 id="profile" { "Profile" }
            h3 { "By region" }
            (regions(run))
            h3 { "By call path" }
            p.dim { "Time with all that is called, summed over PEs, and its share; then time in the function itself and how often it was called. Parts below " (names::percent(LEAST)) " are left out." }
            div.tree {
                @for root in tree.roots() { (drawing.node(*root, 0)) }
                @if outside.inclusive.0 as f64 / all >= LEAST {
                    div.leaf { b { (names::seconds(run.seconds(outside.inclusive))) } " " (names::OUTSIDE) " " i { (names::percent(outside.inclusive.0 as f64 / all)) } }
                }
            }
            @if drawing.left == 0 { p.dim { "The tree is cut at " (NODES) " call paths, those with most time first; the JSON document has more." } }
        }
    }
}

fn regions(run: &Run) -> Markup {
    let rows = run.flat();
    let seconds = |seconds: f64| html! { td.n data-v=(seconds) { (names::seconds(seconds)) } };
    html! {
        div.scroll {
            table.sortable {
                caption {
                    "Time and visits of each region over all PEs; least, mean and most are of one PE. Exclusive time is without what the region calls."
                    @if rows.len() > ROWS { " The first " (ROWS) " of " (rows.len()) " rows." }
                }
                thead { tr { th scope="col" { "region" } @for name in ["exclusive", "inclusive", "visits", "pes", "min", "mean", "max"] { th scope="col" class="n" { (name) } } } }
                tbody {
                    @for row in rows.iter().take(ROWS) {
                        tr {
                            td.wide { code { (short(names::region_name(run, row.region))) } }
                            (seconds(run.seconds(row.exclusive))) (seconds(run.seconds(row.inclusive)))
                            td.n data-v=(row.visits) { (row.visits) } td.n data-v=(row.pes) { (row.pes) }
                            (seconds(run.seconds(row.least))) (seconds(run.seconds(row.exclusive) / f64::from(row.pes.max(1)))) (seconds(run.seconds(row.most)))
                        }
                    }
                }
            }
        }
    }
}

/// The tree as far as it is drawn.
struct Drawing<'a> {
    run: &'a Run,
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
        let seconds = |span: Span| names::seconds(self.run.clock().seconds(span));
        let frame = self.run.frame(path);
        let site = frame.site;
        let words = html! {
            b { (seconds(node.inclusive)) } " " code { (short(frame.region.name)) }
            " " i {
                (names::percent(share))
                @if node.visits > 0 { " · itself " (seconds(node.exclusive)) " · " (node.visits) "× on " (node.pes) @if node.pes == 1 { " PE" } @else { " PEs" } }
                @if site.is_known() { " · called at " (short(site.file.rsplit('/').next().unwrap_or_default())) ":" (site.line) }
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
