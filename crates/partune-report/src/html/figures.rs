//! Everything else that the analyses say: each with its manual, its figures and the first rows of its tables. And the list of patterns.

use maud::{Markup, PreEscaped, html};
use partune_engine::{Diagnosis, Pattern, analyses};
use pulldown_cmark::{Options, Parser};

use super::cells;
use crate::{next, words};

/// Rows of a table.
const ROWS: usize = 25;

pub(super) fn figures(diagnosis: &Diagnosis) -> Markup {
    html! {
        section aria-labelledby="figures" {
            h2 id="figures" { "All figures" }
            p { "What each analysis found, and how it computes it. Tables show their first " (ROWS) " rows; partune analyze --json has more." }
            @for section in &diagnosis.sections {
                @let analysis = analyses().find(|it| it.name == section.name);
                details {
                    summary { strong { (section.name.replace('_', " ")) } @if let Some(analysis) = analysis { " " span.dim { (analysis.title) } } }
                    @if !section.scalars.is_empty() { (cells::scalars(&section.scalars)) }
                    @for table in &section.tables { (cells::table(&diagnosis.run, table, ROWS, &table.name.replace('_', " "))) }
                    @for note in &section.notes { p.dim { "Note: " (note) } }
                    @if let Some(analysis) = analysis {
                        details { summary { "How it is computed" } div.book { (manual(analysis.docs)) } }
                    }
                }
            }
        }
    }
}

/// A page of the book, which is our own text, as HTML.
fn manual(markdown: &str) -> PreEscaped<String> {
    let mut out = String::new();
    pulldown_cmark::html::push_html(&mut out, Parser::new_ext(markdown, Options::ENABLE_TABLES));
    // Headings within a section of the report, and captions, which Markdown does not have.
    let out = out.replace("<table>", "<table><caption>Definitions</caption>");
    PreEscaped(out.replace("<h1>", "<h4>").replace("</h1>", "</h4>").replace("<h2>", "<h4>").replace("</h2>", "</h4>"))
}

/// All patterns that were found, with what they mean and what to do.
pub(super) fn patterns(diagnosis: &Diagnosis) -> Markup {
    let found = |pattern: &&Pattern| diagnosis.findings.iter().any(|it| it.finding.pattern == **pattern);
    let found: Vec<&Pattern> = Pattern::ALL.iter().filter(found).collect();
    if found.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="patterns" {
            h2 id="patterns" { "What the patterns mean" }
            dl {
                @for pattern in found {
                    dt id={ "pattern-" (pattern.name()) } { strong { (words::title(*pattern)) } @if pattern.is_wait() { span.dim { " waiting" } } }
                    dd { p { (words::meaning(*pattern)) } p { "What to do: " (next::step(*pattern)) "." } }
                }
            }
        }
    }
}
