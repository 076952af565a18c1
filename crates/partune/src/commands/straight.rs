//! `partune -- PROGRAM`: straight from a program to the first screen. The recording stays in a temporary folder.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use partune_record::{Request, Summary};

use partune_report::names;

use crate::commands::{analyze, record};
use crate::output;

pub(crate) fn run(command: Vec<OsString>) -> ExitCode {
    let folder = match record::temporary() {
        Ok(folder) => folder,
        Err(error) => {
            output::error(&error);
            return ExitCode::from(record::FAILED);
        }
    };
    let name = partune_record::in_words(&command);
    let request = Request { command, folder: folder.path().to_owned(), ..Request::default() };
    let mut is_recorded = false;
    let code = record::record(&request, |summary| {
        is_recorded = true;
        show(summary, &request.folder, &name)
    });
    // Parts that are there can be completed later, which is what was said then.
    if is_recorded || folder.path().join(partune_record::PARTS).exists() {
        let _kept = folder.keep();
    }
    code
}

/// The first screen, and beside it where the recording is and how to keep it.
fn show(summary: &Summary, folder: &Path, name: &str) -> anyhow::Result<()> {
    record::remarks(summary);
    let screen = analyze::first_screen(&summary.archive, name);
    if let Ok(screen) = &screen {
        output::print(screen)?;
    }
    output::note(&format!(
        "\npartune: the recording is in a temporary folder, {}\n  keep it: mv {} {}\n  look at it: partune view {}",
        names::bytes(summary.bytes as f64),
        folder.display(),
        record::free(Path::new("recording")).display(),
        folder.display()
    ));
    screen.map(|_| ())
}
