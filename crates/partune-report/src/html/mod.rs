//! The report: one HTML file that holds everything, for a colleague who has no partune.
//!
//! Pictures are SVG in the page; nothing is loaded, and nothing needs a script (the one in it sorts tables, lets the keyboard scroll wide
//! ones, and opens what is closed for browsers that would not print it). Its size is bounded, whatever the archive's: every picture has
//! so many rows and columns at most, every list so many entries, every name so many letters. Names come from archives, so they are
//! hostile: all text is escaped by `maud`, and the page's own policy lets no other script run.

mod balance;
mod cells;
mod communication;
mod environment;
mod figures;
mod findings;
mod legend;
mod profile;
mod summary;
mod svg;
mod timeline;

use std::borrow::Cow;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use partune_engine::{Diagnosis, Fold, Machine};

use crate::names;

/// Rows of PEs in a picture.
const ROWS: usize = 96;

const STYLE: &str = concat!(include_str!("style.css"), include_str!("print.css"));
const SCRIPT: &str = include_str!("page.js");
/// Only the script and styles of the page itself; the hash is that of `page.js`.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-GRaDLpK1wkhAGOKWGyX5ahB4BFGdJ8AYR6cYveKu+nw='; base-uri 'none'; form-action 'none'";

/// The report on a diagnosis, below 2 MB. `machine` is the description that the diagnosis was made with, if any.
pub fn html(diagnosis: &Diagnosis, archive: &str, machine: Option<&Machine>) -> String {
    let fold = Fold::new(diagnosis.run.active_pes().to_vec(), ROWS);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="partune";
                title { (short(names::run(archive))) " · partune" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#summary" { "Skip to the summary" }
                header { (head(diagnosis, archive)) }
                nav aria-label="Contents" {
                    ul {
                        @for (id, name) in CONTENTS { li { a href={ "#" (id) } { (name) } } }
                    }
                }
                main {
                    (summary::summary(diagnosis))
                    (findings::findings(diagnosis))
                    (timeline::overview(diagnosis, &fold))
                    (profile::profile(diagnosis))
                    (balance::balance(diagnosis, &fold))
                    (communication::communication(diagnosis))
                    (environment::environment(diagnosis, machine))
                    (figures::figures(diagnosis))
                    (figures::patterns(diagnosis))
                }
                footer {
                    p { "PE: one stream of execution (a rank, a thread). Seconds are summed over PEs unless said otherwise. The same archive gives the same report, byte for byte." }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    let mut text = page.into_string();
    text.push('\n');
    text
}

const CONTENTS: [(&str, &str); 8] = [
    ("summary", "Summary"),
    ("findings", "Findings"),
    ("timeline", "Timeline"),
    ("profile", "Profile"),
    ("balance", "Load balance"),
    ("communication", "Communication"),
    ("environment", "Environment"),
    ("figures", "All figures"),
];

fn head(diagnosis: &Diagnosis, archive: &str) -> Markup {
    let run = &diagnosis.run;
    let counted = names::pes(run);
    let (number, more) = counted.split_once(' ').unwrap_or((&counted, ""));
    let paradigms = crate::run::paradigms(run);
    html! {
        h1 { "Where " code { (short(names::run(archive))) } " loses time" }
        p.dim {
            @if paradigms.is_empty() { "No programming model was recognised" } @else { (paradigms.join(" + ")) }
            " · " code { (short(archive)) }
        }
        dl.facts {
            div { dt { "Run time" } dd { (names::seconds(run.seconds(run.duration()))) @if let Some(piece) = crate::words::piece(run) { " " small { (piece) } } } }
            div { dt { "PEs" } dd { (number) " " small { (more) } } }
            div { dt { "Event records" } dd { (run.events()) } }
            @if let Some((_, share)) = crate::run::waiting(diagnosis) {
                div { dt { "Waiting for others" } dd { (names::percent(share)) " " small { "of all PEs’ time" } } }
            }
            div { dt { "Findings" } dd { (diagnosis.findings.len()) } }
        }
    }
}

/// How PEs are folded, for a caption.
fn folding(fold: &Fold) -> Markup {
    html! { @if fold.is_folded() { " (" (fold.pes().len()) " PEs on " (fold.len()) " rows of " (fold.each()) " PEs each)" } }
}

/// A name, or its end if it is very long.
fn short(name: &str) -> Cow<'_, str> {
    names::clip(name, 120)
}

/// The same for a sentence.
fn long(text: &str) -> Cow<'_, str> {
    names::clip(text, 600)
}

#[cfg(test)]
mod tests {
    use partune_engine::Request;

    use super::*;

    fn page(text: &str) -> String {
        let diagnosis = partune_engine::analyze(partune_testkit::trace(text), &Request::default(), &());
        html(&diagnosis, "runs/</title><script>alert(1)</script>/traces.otf2", None)
    }

    #[test]
    fn names_are_text_and_nothing_else() {
        let hostile = "<script>alert(1)</script>'--><img src=x onerror=alert(1)>&lt;\u{202e}";
        let page = page(&format!(
            "pe 0: \"{hostile}\" 0..100 {{ work@<script>x</script>.c:3 0..40 MPI_Send 40..50 send(to=1, bytes=8) }}
             pe 1: \"{hostile}\" 0..100 {{ MPI_Recv 10..50 recv(from=0, bytes=8) }}"
        ));
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert_eq!(page.matches("<script").count(), 1, "only the page's own");
        assert!(!page.contains("<img") && !page.contains('\u{202e}'));
    }

    /// In the first line of the screen and in the report, whenever they come in the run; what the recorder writes about itself is none.
    #[test]
    fn programming_models_are_the_same_everywhere() {
        let text = "pe 0: main 0..100000 { \"TRACE BUFFER FLUSH\" 0..1 repeat 1500 every 2 { MPI_Wtime 1..2 } shmem_quiet 5000..5001 }";
        let diagnosis = partune_engine::analyze(partune_testkit::trace(text), &Request::default(), &());
        let facts = crate::facts(&diagnosis);
        assert!(facts.contains(&("Paradigms", "MPI, OpenSHMEM".to_owned())), "{facts:?}");
        let screen = crate::text(
            &diagnosis,
            "run",
            crate::TextOptions { findings: 1, table_rows: 0, style: crate::Style::PLAIN },
        );
        assert!(screen.starts_with("run: 1 PE in 1 process, MPI + OpenSHMEM, "), "{screen}");
    }

    #[test]
    fn long_names_keep_their_end() {
        let name = "x".repeat(5000);
        assert_eq!(short(&name).chars().count(), 121);
        let page = page(&format!("pe 0: {name} 0..100 {{ work 0..40 }}"));
        assert!(!page.contains(&name) && page.contains(&name[..120]));
        assert_eq!([short("a\nb"), short("plain")], ["a␊b", "plain"]);
    }

    #[test]
    fn names_of_any_length_keep_the_page_small() {
        let visit = |n: u32| {
            let (outer, inner, end) = ("<&".repeat(200), ">".repeat(999), n + 1);
            format!("\"{n} {outer}\" {n}..{end} {{ \"{n} {inner}\" {n}..{end} }} ")
        };
        let text: String = (0..3000).map(visit).collect();
        let page = page(&format!("pe 0 1: {text}"));
        assert!(page.len() < 1_000_000, "{} bytes", page.len());
    }

    #[test]
    fn an_empty_trace_has_a_page() {
        let page = page("");
        assert!(page.contains("No place loses enough time") && page.contains("No PE recorded anything"));
    }
}
