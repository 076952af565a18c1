//! Legends of colours.

use maud::{Markup, html};
use partune_engine::Kind;

use crate::words;

/// The legend of some kinds of time.
pub(super) fn of_kinds(kinds: &[Kind]) -> Markup {
    legend(kinds.iter().map(|kind| (kind.name(), words::kind(*kind))))
}

/// A legend: a coloured square and words for each entry.
pub(super) fn legend<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Markup {
    html! {
        ul.legend {
            @for (class, label) in entries {
                li { svg viewBox="0 0 10 10" aria-hidden="true" { rect width="10" height="10" rx="2" class={ "f-" (class) } {} } (label) }
            }
        }
    }
}
