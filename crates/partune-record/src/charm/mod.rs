//! Programs of charm4py: their Python is given a module that records them, and what that left becomes the archive.
//!
//! The module comes through `PYTHONPATH`, as the `sitecustomize` that every Python loads; it does nothing in a program that does not import charm4py. It writes
//! Projections logs, which are read as any others are. What the collectors have of the same processes is left out: they know nothing of objects.

mod hinted;

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use partune_diag::{Code, Diagnostic};
use partune_import::{Advance, Bytes, Files};
use partune_otf2::copy::Sink;
use partune_otf2::export::{ExportError, export};
use partune_parts::clock;
use partune_parts::layout::PARTS;

pub use hinted::{Hinted, run_hinted};

use crate::archive::{self, Partial};
use crate::complete::Summary;
use crate::{RecordError, command, launch};

/// What is loaded into every Python, and what that loads into one that imports charm4py.
const MODULES: [(&str, &str); 6] = [
    ("sitecustomize.py", include_str!("sitecustomize.py")),
    ("partune_common.py", include_str!("common.py")),
    ("partune_logs.py", include_str!("logs.py")),
    ("partune_recorder.py", include_str!("recorder.py")),
    ("partune_maps.py", include_str!("maps.py")),
    ("partune_hints.py", include_str!("hints.py")),
];
/// In the parts: the folder of the modules, and that of the logs.
const PYTHON: &str = "python";
const LOGS: &str = "charm4py";
/// In the folder of the logs: the symbol table, and what a process could not record.
const TABLE: &str = "program.sts";
const NOTES: &str = "notes";

/// Puts the modules into a folder that is made; the variable that leads Python there.
fn unpack(folder: &Path) -> io::Result<(&'static str, OsString)> {
    fs::create_dir(folder)?;
    MODULES.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))?;
    Ok(("PYTHONPATH", launch::prepended(folder.as_os_str(), "PYTHONPATH", ":")))
}

/// The variables that make programs of charm4py record themselves into the parts.
pub(crate) fn prepare(parts: &Path) -> io::Result<Vec<(&'static str, OsString)>> {
    let logs = parts.join(LOGS);
    fs::create_dir(&logs)?;
    let (reading, boot) = (clock::reading_beside(), fs::read_to_string("/proc/sys/kernel/random/boot_id"));
    let clock = format!("{} {} {}", boot.as_deref().unwrap_or("-").trim(), reading.monotonic, reading.wall);
    Ok(vec![
        unpack(&parts.join(PYTHON))?,
        ("PARTUNE_CHARM_NOTES", logs.join(NOTES).into()),
        ("PARTUNE_CHARM_DIR", logs.into()),
        ("PARTUNE_CHARM_CLOCK", clock.into()),
    ])
}

/// Whether a program of charm4py was recorded.
pub(crate) fn is_there(parts: &Path) -> bool {
    parts.join(LOGS).join(TABLE).exists()
}

/// Completes the archive of such a program.
pub(crate) fn complete(folder: &Path, patience: Duration) -> Result<Summary, RecordError> {
    let logs = folder.join(PARTS).join(LOGS);
    ended(folder, &logs, patience)?;
    let progress: Advance<'_> = &|_, _| {};
    let trace = partune_projections::import::import(&Logs(logs.clone()), TABLE, progress)
        .map_err(|error| RecordError::File { path: logs.join(TABLE), error: io::Error::other(error.to_string()) })?;
    let trace = match command::property(&folder.join(PARTS))? {
        Some((_, command)) => trace.with_command(&command),
        None => trace,
    };
    let partial = Partial::begin(folder)?;
    let anchor = partial.anchor();
    let made = Made(anchor.parent().unwrap_or(folder).to_owned());
    let name = anchor.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let written = export(&trace, &made, &name).map_err(|error| match error {
        ExportError::Write { name, error } => RecordError::File { path: made.0.join(name), error },
        ExportError::Codec { name, error } => RecordError::Codec { path: made.0.join(name), error },
        ExportError::Profile => RecordError::Nothing { folder: folder.to_owned(), ended: None },
    })?;
    let size = |pe: usize| fs::metadata(partial.of_location(pe as u64, "evt")).map_or(0, |it| it.len());
    let mut summary = Summary {
        archive: folder.join(partune_parts::layout::ANCHOR),
        processes: trace.processes().len(),
        pes: trace.pes().len(),
        libraries: vec![("Charm++".to_owned(), "charm4py".to_owned())],
        events: written.events,
        calls: None,
        is_empty: false,
        seconds: trace.clock().seconds(trace.end().since(trace.begin())),
        bytes: (0..trace.pes().len()).map(size).sum(),
        quality: trace.quality().clone(),
    };
    summary.quality.merge(written.quality);
    for note in fs::read_to_string(logs.join(NOTES)).unwrap_or_default().lines() {
        summary.quality.add(Diagnostic::data_loss(
            Code::MissingProcesses,
            format!("a process of charm4py was not recorded, or not to its end: {note}"),
            "of a command that runs several programs of charm4py, only the first is recorded: record each by itself",
        ));
    }
    partial.publish()?;
    archive::clean(folder)?;
    Ok(summary)
}

/// Waits until no process writes its log any more, not for long: each has it locked.
fn ended(folder: &Path, logs: &Path, patience: Duration) -> Result<(), RecordError> {
    let entries = fs::read_dir(logs).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let begin = Instant::now();
    for entry in entries.map_err(RecordError::file(logs))? {
        let path = entry.path();
        let file = File::open(&path).map_err(RecordError::file(&path))?;
        while matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
            if begin.elapsed() >= patience {
                let process = process(&path).unwrap_or(0);
                return Err(RecordError::Living { folder: folder.to_owned(), process });
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(())
}

/// The process that writes a log, as its first line says.
fn process(log: &Path) -> Option<u32> {
    let bytes = partune_files::read_regular(log).ok()?;
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    String::from_utf8_lossy(line).split(' ').nth(2)?.parse().ok()
}

/// The files in a folder, without the zeros that a process which was killed leaves after the last line of its log.
struct Logs(PathBuf);

impl Files for Logs {
    fn open(&self, name: &str) -> io::Result<Bytes> {
        let mut bytes = partune_files::read_regular(&self.0.join(name))?;
        bytes.truncate(bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1));
        Ok(Arc::new(bytes))
    }
}

/// The folder of the archive in the making.
struct Made(PathBuf);

impl Sink for Made {
    fn create(&self, name: &str) -> io::Result<Box<dyn Write + Send>> {
        Ok(Box::new(BufWriter::new(File::create(self.0.join(name))?)))
    }
}
