//! The manual in `docs/analyses/` is what the analyses say of themselves, and `docs/quality.md` what the codes of diagnostics do.
//!
//! After a change of an analysis' documentation, or of a code: `PARTUNE_UPDATE=1 cargo test -p partune manual`.

use std::fmt::Write;

use partune_engine::{Code, analyses};

use crate::archives::workspace;

/// Compares a page with what it should be, or writes it.
fn check(name: &str, page: &str) {
    let path = workspace().join("docs").join(name);
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
        check(&format!("analyses/{}.md", analysis.name), &page);
    }
    check("analyses/README.md", &list);
}

#[test]
fn codes_are_listed() {
    let mut page = String::from(
        "# Quality\n\nWhat is noticed about an archive stands in `quality` of every document: a severity (see [Damaged archives](otf2.md#damaged-archives)), a \
         code, a message, a remedy where there is one, and how many times it happened. Programs may rely on codes: a code means the same in every version. \
         Messages are for people, and may change. What was noticed while a program was recorded or an archive was converted has codes of the same list.\n\n\
         | code | meaning |\n|---|---|\n",
    );
    for code in Code::ALL {
        let _ = writeln!(page, "| `{}` | {} |", code.name(), code.meaning());
    }
    check("quality.md", &page);
}
