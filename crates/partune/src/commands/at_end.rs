//! `partune record --analyze`: the diagnosis as soon as a run is recorded; and a recording of which nothing else is kept.

use anyhow::Context;
use partune_engine::Request;
use partune_pages::Runs;
use partune_record::Summary;
use partune_report::{Style, TextOptions, document, text};

use crate::commands::report;
use crate::output;
use crate::progress::Bar;

/// What is written beside the archive: what `partune report` and `partune analyze --json` give.
const REPORT: &str = "report.html";
const DOCUMENT: &str = "analysis.json";

/// Says on stderr, which the program may have left alone, what `partune analyze` would, and writes it and the report beside the archive. Of one that is not
/// kept the events go when both are written.
pub(crate) fn analyze(summary: &Summary, is_kept: bool) -> anyhow::Result<()> {
    let archive = &summary.archive;
    let name = archive.display().to_string();
    let diagnosis = {
        let bar = Bar::new(false);
        partune_engine::analyze(partune_engine::open(archive, &bar)?, &Request::default(), &bar)
    };
    let style = Style { colour: false, ..output::style() };
    let options = TextOptions { findings: None, table_rows: 0, style };
    output::note(&format!("\n{}", text(&diagnosis, &name, options)));
    output::write(&archive.with_file_name(DOCUMENT), &document(&diagnosis, &name))?;
    let to = archive.with_file_name(REPORT);
    report::write(&to, &partune_pages::report(&Runs::of(archive, diagnosis)))?;
    if is_kept {
        output::note(&format!("  more: {}, partune view {}", to.display(), output::word(archive)));
        return Ok(());
    }
    partune_record::remove(summary).with_context(|| format!("{name}: its events cannot be removed"))?;
    output::note(&format!("  the events are not kept; what was found in them: {}", to.display()));
    Ok(())
}
