//! Which files there are: the symbol table, the range of the run, and a log of each PE, beside them or in folders below.

use std::io;

use partune_diag::{Code, Diagnostic, Quality};
use partune_import::{Bytes, Files, ImportError, read_small_text};

use crate::codec::Sts;

/// What was found.
pub(super) struct Found {
    pub(super) sts: Sts,
    /// By PE; none where there is none.
    pub(super) logs: Vec<Option<Log>>,
    /// The end of the run, in microseconds.
    pub(super) end: Option<i64>,
}

/// A log: what it is called, and how long it is.
pub(super) struct Log {
    pub(super) name: String,
    pub(super) size: u64,
}

/// More than this of a symbol table is not read.
const TABLE: usize = 1 << 28;
/// So many PEs in a row without a log, and there are no more; a number in the symbol table alone must not cost time.
const MISSING: u64 = 4096;
/// Folders that logs may be shared out to.
const FOLDERS: usize = 1 << 16;

/// The program and the PE of a log, by its name.
pub(super) fn of_log(name: &str) -> Option<(&str, u64)> {
    let name = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".log")?;
    let (program, pe) = name.rsplit_once('.')?;
    Some((program, pe.parse().ok()?))
}

pub(super) fn find(files: &dyn Files, name: &str, quality: &mut Quality) -> Result<Found, ImportError> {
    let log = of_log(name);
    let program = log.map_or_else(|| name.strip_suffix(".sts").unwrap_or(name), |(program, _)| program);
    let (root, sts) = symbols(files, program, log.is_some(), quality)?;
    let end = end_of_run(files, &format!("{root}{program}"), quality);
    let logs = logs(files, &format!("{root}{program}"), program, sts.processors, log.map(|(_, pe)| pe));
    if logs.iter().all(Option::is_none) {
        return Err(ImportError {
            code: "empty",
            place: name.to_owned(),
            message: format!("there is no log of it: no {program}.0.log or {program}.0.log.gz"),
            remedy: "copy the logs beside the symbol table, in the folders that they were in".to_owned(),
        });
    }
    Ok(Found { sts, logs, end })
}

/// The symbol table, and the folder that it is in: with the entry, or above that where logs are in folders of their own.
fn symbols(
    files: &dyn Files,
    program: &str,
    optional: bool,
    quality: &mut Quality,
) -> Result<(&'static str, Sts), ImportError> {
    let name = format!("{program}.sts");
    let read =
        |root: &'static str| -> io::Result<_> { Ok((root, read_small_text(files, &format!("{root}{name}"), TABLE)?)) };
    let read = match read("") {
        Err(error) if error.kind() == io::ErrorKind::NotFound && optional => read("../"),
        read => read,
    };
    match read {
        Ok((root, text)) => Ok((root, Sts::read(&text))),
        Err(error) if optional => {
            quality.add(Diagnostic::data_loss(
                Code::MissingNames,
                format!("the symbol table {name} cannot be read ({error}): entry methods have numbers for names, and records are taken for those of version 11"),
                "copy it beside the logs",
            ));
            Ok(("", Sts::default()))
        }
        Err(error) => Err(ImportError::unreadable(&name, &error)),
    }
}

/// What the file of the run's range says.
fn end_of_run(files: &dyn Files, stem: &str, quality: &mut Quality) -> Option<i64> {
    let name = format!("{stem}.projrc");
    match read_small_text(files, &name, 1 << 16) {
        Ok(text) => {
            let text = String::from_utf8_lossy(&text).into_owned();
            text.lines().find_map(|line| line.strip_prefix("RC_GLOBAL_END_TIME")?.trim().parse().ok())
        }
        Err(error) => {
            quality.add(Diagnostic::info(
                Code::MissingFile,
                format!("{name} cannot be read ({error}): when the run ended is known from the logs alone"),
                "nothing, if the run was recorded by a Charm++ before version 6; else copy it beside the symbol table",
            ));
            None
        }
    }
}

/// The logs of all PEs. A named one is tried whatever the symbol table says.
fn logs(files: &dyn Files, stem: &str, program: &str, processors: Option<u64>, named: Option<u64>) -> Vec<Option<Log>> {
    let mut places = Places { files, stem, program, folders: None };
    let mut logs: Vec<Option<Log>> = Vec::new();
    let mut missing = 0;
    for pe in 0.. {
        let log = places.log(pe);
        missing = if log.is_some() { 0 } else { missing + 1 };
        logs.push(log);
        // Without a symbol table logs are counted until there is none.
        let expected = processors.unwrap_or(0).max(named.map_or(0, |pe| pe.saturating_add(1)));
        if missing > MISSING || (missing > 0 && pe >= expected) {
            break;
        }
    }
    let count = logs.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    logs.truncate(count);
    logs
}

/// Where logs are: PE k is in folder k modulo their number, if there are folders.
struct Places<'a> {
    files: &'a dyn Files,
    stem: &'a str,
    program: &'a str,
    /// How many folders there are; 0 if none; not known yet.
    folders: Option<u64>,
}

impl Places<'_> {
    fn log(&mut self, pe: u64) -> Option<Log> {
        let Places { files, stem, program, .. } = *self;
        let open = |before: &str| {
            let names = ["log.gz", "log"].map(|ending| format!("{before}.{pe}.{ending}"));
            names.into_iter().find_map(|name| {
                let size = files.open(&name).map(|file: Bytes| file.size()).ok()?;
                Some(Log { name, size })
            })
        };
        let inside = |folder: u64| open(&format!("{stem}.projdir.{folder}/{program}"));
        match self.folders {
            Some(0) => open(stem),
            Some(folders) => inside(pe % folders),
            None => {
                if let Some(log) = open(stem) {
                    self.folders = Some(0);
                    return Some(log);
                }
                if let Some(log) = inside(pe).filter(|_| pe < FOLDERS as u64) {
                    return Some(log);
                }
                // The first that has no folder of its own is back in that of PE 0.
                let log = inside(0).filter(|_| pe > 0)?;
                self.folders = Some(pe);
                Some(log)
            }
        }
    }
}
