//! What came of it, as a file of the process in the folder that `partune run --adapt` looks into: lines of words, separated by tabs.
//!
//! A line `region` for each region in which something could be chosen, followed by a line `setting` for each of them and a line `change` for each time that another one was kept.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use partune_collect::modules::module_at;

use super::Region;

pub(super) fn write(folder: &Path, regions: &[&Region]) {
    let mut text = String::new();
    for region in regions {
        line(&mut text, region);
    }
    // Where the folder is on another node nobody asks for it either.
    let _ = fs::write(folder.join(std::process::id().to_string()), text);
}

fn line(text: &mut String, region: &Region) {
    let Some((choice, settings)) = &region.choice else { return };
    let tally = choice.tally();
    if tally.executions.iter().all(|it| *it == 0) {
        return;
    }
    let ((_, _, bias), module) = module_at(region.code).unwrap_or_default();
    let (kind, address) = (if region.is_call { "call" } else { "body" }, region.code - bias);
    let (known, (schedule, chunk)) = (&region.known, region.known.own);
    let numbers = format!("{}\t{}\t{schedule}\t{chunk}", known.threads, known.iterations);
    let _ = writeln!(text, "region\t{module}\t{kind}\t{address}\t{numbers}\t{}\t{}", tally.took, tally.saved);
    for (setting, executions) in settings.iter().zip(&tally.executions) {
        let _ = writeln!(text, "setting\t{setting}\t{executions}");
    }
    for change in &tally.changes {
        let _ = writeln!(text, "change\t{}\t{}", change.at, change.to);
    }
}
