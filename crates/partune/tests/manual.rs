//! The manual in `docs/analyses/` is what the analyses say of themselves.
//!
//! After a change of an analysis' documentation: `PARTUNE_UPDATE=1 cargo test -p partune manual`.

use std::fmt::Write;

use partune_engine::analyses;

use crate::archives::workspace;

/// Compares a page with what it should be, or writes it.
fn check(name: &str, page: &str) {
    let path = workspace().join("docs/analyses").join(name);
    if std::env::var_os("PARTUNE_UPDATE").is_some() {
        std::fs::write(&path, page).expect("the page can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == page, "{name} is stale: PARTUNE_UPDATE=1 cargo test -p partune manual");
}

#[test]
fn pages_are_current() {
    let mut list = String::from(
        "# The analyses\n\nWhat each computes, from what, and where the formula comes from. These pages are made from the code; \
         `partune analyze ARCHIVE --only NAME` runs one.\n\n| name | what it shows |\n|---|---|\n",
    );
    for analysis in analyses() {
        let _ = writeln!(list, "| [{0}]({0}.md) | {1} |", analysis.name, analysis.title);
        let page = format!(
            "# {}\n\n`partune analyze ARCHIVE --only {}`\n\n{}\n",
            analysis.title,
            analysis.name,
            analysis.docs.trim()
        );
        check(&format!("{}.md", analysis.name), &page);
    }
    check("README.md", &list);
}
