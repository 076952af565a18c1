//! The ledger: what advice predicted and what came of it, as entries of `partune.toml` beside the recordings.
//!
//! The file is people's: what else it says, comments, order and keys that are not known here stay as they are. A file that cannot be understood is
//! not written.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use partune_analysis::{Interval, repeats};
use partune_files::open_regular;
use toml_edit::{ArrayOfTables, Document, DocumentMut, Item, Table, Value};

use crate::{Came, Saving, Verified};

/// The file, in the folder that holds the recordings.
pub const LEDGER: &str = "partune.toml";

/// The list of entries in it.
const ENTRIES: &str = "ledger";
const HEADING: &str = "# What partune advise predicted and what came of it. partune compare BASE CHANGED --advice ID --ledger adds entries,\n\
                       # partune advise --ledger shows them. Seconds lie between the end of start-up and the begin of shut-down.\n\n";
/// Bytes of a file that people write.
const LONGEST: u64 = 16 << 20;

/// A prediction and what came of it. Times are seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Of the advice.
    pub id: String,
    pub action: String,
    pub change: String,
    /// The recordings, relative to the file.
    pub base: String,
    pub changed: String,
    /// When it was compared, UTC.
    pub date: String,
    /// Of the base.
    pub run_s: f64,
    pub predicted: Saving,
    pub saved: Interval,
    /// How many runs of the base, and of what was changed.
    pub runs: (u64, u64),
    pub came: Came,
}

/// How good predictions were.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    pub inside: usize,
    pub within_noise: usize,
    pub outside: usize,
    /// The median of [`Entry::error`]; none of no entries.
    pub median_error: Option<f64>,
}

/// Why a ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("{}: {error}\n  remedy: name another file with --ledger; partune compare BASE CHANGED --advice ID --ledger makes one", path.display())]
    Read { path: PathBuf, error: io::Error },
    #[error("{}: line {line}: {message}\n  remedy: mend that line, or name another file with --ledger; nothing was changed", path.display())]
    Damaged { path: PathBuf, line: usize, message: String },
    #[error("{}: {error}\n  remedy: name a file in a folder that can be written with --ledger; nothing was changed", path.display())]
    Write { path: PathBuf, error: io::Error },
}

impl Entry {
    /// One for each run after the base. `recordings`: the paths of all of them; `runs`: of how many runs each is.
    pub fn all(
        verified: &Verified<'_>,
        id: &str,
        recordings: &[(&Path, usize)],
        ledger: &Path,
        date: &str,
    ) -> Vec<Entry> {
        let Some(((base, base_runs), others)) = recordings.split_first() else { return Vec::new() };
        let entry = |((changed, runs), saved): (&(&Path, usize), &Interval)| Entry {
            id: id.to_owned(),
            action: verified.advice.candidate.action.id.clone(),
            change: verified.advice.change.clone().unwrap_or_default(),
            base: relative(base, ledger),
            changed: relative(changed, ledger),
            date: date.to_owned(),
            run_s: verified.run_s,
            predicted: verified.saving,
            saved: *saved,
            runs: (*base_runs as u64, *runs as u64),
            came: verified.came(saved),
        };
        others.iter().zip(&verified.saved).map(entry).collect()
    }

    /// How far what was saved is from what was predicted, as a share of the run.
    pub fn error(&self) -> f64 {
        (self.saved.estimate - self.predicted.saves_s).abs() / self.run_s.max(f64::MIN_POSITIVE)
    }

    /// What the file says of it.
    fn values(&self) -> [(&'static str, Value); 17] {
        let date =
            self.date.parse::<toml_edit::Datetime>().map_or_else(|_| Value::from(self.date.as_str()), Value::from);
        // No clock tells more than nanoseconds.
        let number = |value: f64| Value::from((value * 1e9).round() / 1e9);
        [
            ("id", self.id.as_str().into()),
            ("action", self.action.as_str().into()),
            ("change", self.change.as_str().into()),
            ("base", self.base.as_str().into()),
            ("changed", self.changed.as_str().into()),
            ("date", date),
            ("base_runs", (self.runs.0 as i64).into()),
            ("changed_runs", (self.runs.1 as i64).into()),
            ("run_s", number(self.run_s)),
            ("predicted_run_s", number(self.predicted.predicted_run_s)),
            ("saves_s", number(self.predicted.saves_s)),
            ("saves_low_s", number(self.predicted.saves_low_s)),
            ("saves_high_s", number(self.predicted.saves_high_s)),
            ("saved_s", number(self.saved.estimate)),
            ("saved_low_s", number(self.saved.low)),
            ("saved_high_s", number(self.saved.high)),
            ("confidence", number(self.saved.confidence)),
        ]
    }

    /// Whether a table is this entry's, of now or before: the same advice for the same recordings.
    fn is_in(&self, table: &Table) -> bool {
        let is = |key: &str, value: &str| table.get(key).and_then(Item::as_str) == Some(value);
        is("id", &self.id) && is("base", &self.base) && is("changed", &self.changed)
    }
}

/// How good predictions were.
pub fn calibration(entries: &[Entry]) -> Calibration {
    let count = |came: Came| entries.iter().filter(|entry| entry.came == came).count();
    let errors: Vec<f64> = entries.iter().map(Entry::error).collect();
    Calibration {
        inside: count(Came::Inside),
        within_noise: count(Came::WithinNoise),
        outside: count(Came::Outside),
        median_error: repeats::median(&errors).map(|it| it.estimate),
    }
}

/// The ledger of a recording: beside it.
pub fn ledger_beside(recording: &Path) -> PathBuf {
    let path = recording.canonicalize().unwrap_or_else(|_| recording.to_owned());
    let folder = if path.is_file() && path.ends_with("traces.otf2") { path.parent() } else { Some(path.as_path()) };
    folder.and_then(Path::parent).unwrap_or(Path::new("")).join(LEDGER)
}

/// Reads all entries.
pub fn read_ledger(path: &Path) -> Result<Vec<Entry>, LedgerError> {
    let text = text(path).map_err(|error| LedgerError::Read { path: path.to_owned(), error })?;
    let document = Document::parse(text.as_str()).map_err(|error| damaged(path, &text, &error))?;
    let Some(entries) = entries(path, &text, document.get(ENTRIES))? else { return Ok(Vec::new()) };
    let wrong = |table: &Table, key: &str, what: &str| {
        let span = table.get(key).and_then(Item::span).or(table.span()).unwrap_or_default();
        let message = format!("`{key}` of this entry is {what}");
        LedgerError::Damaged { path: path.to_owned(), line: line(&text, span.start), message }
    };
    entries.iter().map(|table| entry(table, &|key, what| wrong(table, key, what))).collect()
}

/// Adds entries; one that is there is replaced. The file is made if there is none, and changed as a whole or not at all.
pub fn write_ledger(path: &Path, entries: &[Entry]) -> Result<(), LedgerError> {
    let written = |error| LedgerError::Write { path: path.to_owned(), error };
    // Of a link, the file that it leads to.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(written)?;
    // Two that compare at once write one after the other. Where a file system knows no locks, they do as before.
    let lock = File::open(folder).map_err(written)?;
    let _ = lock.lock();
    let before = match text(&target) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(LedgerError::Read { path: path.to_owned(), error }),
    };
    let mut after = with_entries(path, &before, entries)?;
    if before.is_empty() {
        after.insert_str(0, HEADING);
    }
    let mut file = tempfile::Builder::new().prefix(".partune-").tempfile_in(folder).map_err(written)?;
    file.write_all(after.as_bytes()).map_err(written)?;
    let mode = std::fs::metadata(&target).map(|about| about.permissions());
    let mode = mode.unwrap_or_else(|_| std::os::unix::fs::PermissionsExt::from_mode(0o644));
    file.as_file().set_permissions(mode).map_err(written)?;
    file.as_file().sync_all().map_err(written)?;
    file.persist(&target).map_err(|error| written(error.error))?;
    Ok(())
}

/// The text of a ledger with entries added to it.
fn with_entries(path: &Path, text: &str, added: &[Entry]) -> Result<String, LedgerError> {
    let parsed = Document::parse(text).map_err(|error| damaged(path, text, &error))?;
    entries(path, text, parsed.get(ENTRIES))?;
    let mut document: DocumentMut = parsed.into_mut();
    let item = document.entry(ENTRIES).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let Some(tables) = item.as_array_of_tables_mut() else { return Ok(text.to_owned()) };
    for entry in added {
        let known = tables.iter().position(|table| entry.is_in(table));
        if known.is_none() {
            tables.push(Table::new());
        }
        let Some(table) = tables.get_mut(known.unwrap_or(tables.len() - 1)) else { continue };
        for (key, value) in entry.values().into_iter().chain([("outcome", entry.came.name().into())]) {
            put(table, key, value);
        }
    }
    Ok(document.to_string())
}

/// Sets a value; a comment behind it stays.
fn put(table: &mut Table, key: &str, mut value: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => {
            table.insert(key, Item::Value(value));
        }
    }
}

/// The entries of a ledger; none if it has no list of them. What has that name and is something else is somebody else's.
fn entries<'a>(path: &Path, text: &str, item: Option<&'a Item>) -> Result<Option<&'a ArrayOfTables>, LedgerError> {
    let Some(item) = item else { return Ok(None) };
    let line = line(text, item.span().unwrap_or_default().start);
    let foreign = || LedgerError::Damaged {
        path: path.to_owned(),
        line,
        message: format!("`{ENTRIES}` is no list of entries that begin with [[{ENTRIES}]]"),
    };
    item.as_array_of_tables().map(Some).ok_or_else(foreign)
}

fn entry(table: &Table, wrong: &dyn Fn(&str, &str) -> LedgerError) -> Result<Entry, LedgerError> {
    let item = |key: &str| table.get(key).ok_or_else(|| wrong(key, "missing"));
    let word = |key: &str| item(key)?.as_str().map(str::to_owned).ok_or_else(|| wrong(key, "no text"));
    let number = |key: &str| {
        let item = item(key)?;
        let number = item.as_float().or_else(|| item.as_integer().map(|it| it as f64)).filter(|it| it.is_finite());
        number.ok_or_else(|| wrong(key, "no number"))
    };
    let count = |key: &str| {
        let number = item(key)?.as_integer().and_then(|it| u64::try_from(it).ok());
        number.ok_or_else(|| wrong(key, "no number of runs"))
    };
    let date = item("date")?;
    let date = date.as_datetime().map(ToString::to_string).or_else(|| date.as_str().map(str::to_owned));
    let outcome = word("outcome")?;
    let came = Came::ALL.into_iter().find(|came| came.name() == outcome);
    Ok(Entry {
        id: word("id")?,
        action: word("action")?,
        change: word("change")?,
        base: word("base")?,
        changed: word("changed")?,
        date: date.ok_or_else(|| wrong("date", "no date"))?,
        run_s: number("run_s")?,
        predicted: Saving {
            predicted_run_s: number("predicted_run_s")?,
            saves_s: number("saves_s")?,
            saves_low_s: number("saves_low_s")?,
            saves_high_s: number("saves_high_s")?,
        },
        saved: Interval {
            estimate: number("saved_s")?,
            low: number("saved_low_s")?,
            high: number("saved_high_s")?,
            confidence: number("confidence")?,
        },
        runs: (count("base_runs")?, count("changed_runs")?),
        came: came.ok_or_else(|| wrong("outcome", "none of inside, within_noise and outside"))?,
    })
}

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let length = open_regular(path)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if length as u64 > LONGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is longer than 16 MiB"));
    }
    Ok(text)
}

fn damaged(path: &Path, text: &str, error: &toml_edit::TomlError) -> LedgerError {
    let at = error.span().unwrap_or_default().start;
    let message = error.message().trim().replace('\n', ", ");
    LedgerError::Damaged { path: path.to_owned(), line: line(text, at), message }
}

fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// A path as seen from the folder of the ledger.
fn relative(path: &Path, ledger: &Path) -> String {
    let whole =
        |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned());
    let path = whole(path);
    let folder = ledger.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = whole(folder);
    let common = path.components().zip(folder.components()).take_while(|(one, other)| one == other).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    let relative: PathBuf = up.chain(path.components().skip(common)).collect();
    relative.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(id: &str, saved: f64, came: Came) -> Entry {
        Entry {
            id: id.to_owned(),
            action: "A-28".to_owned(),
            change: "balance \"solve\"\n".to_owned(),
            base: "before".to_owned(),
            changed: "after".to_owned(),
            date: "2026-01-31T12:00:00Z".to_owned(),
            run_s: 2.0,
            predicted: Saving { predicted_run_s: 1.6, saves_s: 0.4, saves_low_s: 0.38, saves_high_s: 0.42 },
            // As the file has them: to the nanosecond.
            saved: Interval { estimate: saved, low: saved - 0.125, high: saved + 0.125, confidence: 0.9 }
                .map(|seconds| (seconds * 1e9).round() / 1e9),
            runs: (3, 5),
            came,
        }
    }

    /// A ledger with this text, or without one.
    fn ledger(text: Option<&str>) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let path = folder.path().join(LEDGER);
        if let Some(text) = text {
            std::fs::write(&path, text).expect("there is room for a file");
        }
        (folder, path)
    }

    fn text_of(path: &Path) -> String {
        std::fs::read_to_string(path).expect("it is there")
    }

    #[test]
    fn what_is_written_is_read_and_the_same_entry_replaces_itself() {
        let (_folder, path) = ledger(None);
        let (one, other) = (entry("A-28-1", 0.41, Came::Inside), entry("A-9-2", 0.6, Came::Outside));
        write_ledger(&path, &[one.clone(), other.clone()]).expect("it is written");
        assert_eq!(read_ledger(&path).expect("it is read"), [one.clone(), other.clone()]);
        let first = text_of(&path);
        assert!(first.starts_with("# What") && first.contains("date = 2026-01-31T12:00:00Z\n"), "{first}");
        write_ledger(&path, std::slice::from_ref(&one)).expect("it is written");
        assert_eq!(text_of(&path), first);
        let now = entry("A-28-1", 0.43, Came::WithinNoise);
        write_ledger(&path, std::slice::from_ref(&now)).expect("it is written");
        assert_eq!(read_ledger(&path).expect("it is read"), [now.clone(), other.clone()]);
        // Elsewhere it is another one.
        let moved = Entry { changed: "after-2".to_owned(), ..now.clone() };
        write_ledger(&path, std::slice::from_ref(&moved)).expect("it is written");
        let all = read_ledger(&path).expect("it is read");
        assert_eq!(all, [now, other, moved]);
        // 0.03, 0.2 and 0.03 of 2 s.
        let calibration = calibration(&all);
        assert_eq!((calibration.inside, calibration.within_noise, calibration.outside), (0, 2, 1));
        assert!((calibration.median_error.unwrap_or_default() - 0.015).abs() < 1e-12, "{calibration:?}");
        assert_eq!(super::calibration(&[]).median_error, None);
        // Nothing else is left in the folder.
        assert_eq!(std::fs::read_dir(path.parent().expect("it has one")).expect("it is there").count(), 1);
    }

    const OTHERS: &str = "# ours\ntitle = \"runs\" # of January\n\n[[ledger]] # by hand\nnote = 'keep'\nid = \"A-28-1\"\nbase = \"before\"\n\
                          changed = \"after\"\nsaved_s = 1 # measured twice\n\n[machine]\nnodes = [ 1, 2 ]\n\n[[ledger]]\nid = 'theirs'\n# the end\n";

    #[test]
    fn what_others_wrote_stays() {
        let (_folder, path) = ledger(Some(OTHERS));
        write_ledger(&path, &[entry("A-28-1", 0.4, Came::Inside), entry("A-9-2", 0.4, Came::Inside)])
            .expect("it is written");
        let text = text_of(&path);
        for line in OTHERS.lines().filter(|line| !line.starts_with("saved_s")) {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert!(text.contains("saved_s = 0.4 # measured twice\n"), "{text}");
        assert_eq!(text.matches("[[ledger]]").count(), 3, "{text}");
        // That of others says too little, and where.
        let error = read_ledger(&path).expect_err("one is not whole").to_string();
        assert!(
            error.contains("of this entry is missing") && error.contains("line ") && error.contains("remedy"),
            "{error}"
        );
    }

    #[test]
    fn what_is_damaged_or_of_others_is_refused_and_stays() {
        for (text, said) in [
            ("title = \"runs\nnodes = 1\n", "line 1: "),
            ("a = 1\na = 2\n", "line 2: "),
            ("a = 1\n\nledger = 7\n", "line 3: `ledger` is no list of entries"),
            ("ledger = [ { id = 1 } ]\n", "line 1: `ledger` is no list of entries"),
            ("[ledger]\nid = 'x'\n", "line 1: `ledger` is no list of entries"),
        ] {
            let (_folder, path) = ledger(Some(text));
            let error =
                write_ledger(&path, &[entry("A-28-1", 0.4, Came::Inside)]).expect_err("it is refused").to_string();
            assert!(error.contains(said) && error.contains("nothing was changed"), "{text}: {error}");
            assert_eq!(text_of(&path), text);
            assert!(read_ledger(&path).is_err(), "{text}");
        }
        let (folder, path) = ledger(None);
        std::fs::write(&path, b"a = '\xff'").expect("there is room for a file");
        assert!(write_ledger(&path, &[entry("A-28-1", 0.4, Came::Inside)]).is_err());
        assert!(read_ledger(folder.path()).is_err_and(|error| error.to_string().contains("a folder")));
        assert!(
            read_ledger(&folder.path().join("none"))
                .is_err_and(|error| error.to_string().contains("--ledger makes one"))
        );
        // Of tables that only have the same name.
        let (_folder, path) = ledger(Some("[[ledger]]\nid = 7\noutcome = 'inside'\n"));
        assert!(read_ledger(&path).is_err_and(|error| error.to_string().contains("`date` of this entry is missing")));
    }

    #[test]
    fn recordings_are_named_from_where_the_ledger_is() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let path = |name: &str| folder.path().join(name);
        for name in ["runs/before/1", "runs/after", "ledgers"] {
            std::fs::create_dir_all(path(name)).expect("there is room for a folder");
        }
        std::fs::write(path("runs/after/traces.otf2"), "OTF2").expect("there is room for a file");
        std::fs::write(path("runs/a.prv"), "#").expect("there is room for a file");
        let root = folder.path().canonicalize().expect("it is there");
        let beside = |name: &str| ledger_beside(&path(name)).strip_prefix(&root).map(|it| it.display().to_string());
        for name in ["runs/before", "runs/after", "runs/after/traces.otf2", "runs/a.prv"] {
            assert_eq!(beside(name).as_deref(), Ok("runs/partune.toml"), "{name}");
        }
        assert_eq!(relative(&path("runs/before"), &path("runs/partune.toml")), "before");
        assert_eq!(relative(&path("runs/before/1"), &path("ledgers/partune.toml")), "../runs/before/1");
    }

    proptest! {
        /// A file may say anything: it is refused and stays as it is, or what it said is still there and the entry is too.
        #[test]
        fn a_damaged_ledger_loses_nothing(cut in 0_usize..2000, at in 0_usize..2000, put in "[\\[\\]='\"#a-z0-9\n{}\\\\., ]{0,8}", lines in 0_usize..40) {
            let added = [entry("A-28-1", 0.4, Came::Inside), entry("A-9-2", 0.5, Came::Outside)];
            let whole = with_entries(Path::new("x"), OTHERS, &added).expect("it is whole");
            let mut text: String = whole.chars().take(cut.max(1)).collect();
            text.insert_str(at % (text.len() + 1), &put);
            let text: String = text.split_inclusive('\n').skip(lines / 4).collect();
            let new = entry("A-1-3", 0.1, Came::Outside);
            let (_folder, path) = ledger(Some(&text));
            if let Err(error) = write_ledger(&path, std::slice::from_ref(&new)) {
                prop_assert!(error.to_string().contains("remedy"), "{}", error);
                prop_assert_eq!(text_of(&path), text);
            } else {
                let after = text_of(&path);
                // Spaces inside of the brackets of a table's name are nobody's.
                let bare = |text: &str| text.split_whitespace().collect::<String>();
                for line in text.lines().filter(|line| !line.trim().is_empty()) {
                    prop_assert!(bare(&after).contains(&bare(line)), "{} was lost:\n{}", line, after);
                }
                prop_assert!(after.contains("A-1-3"));
                // Again it changes nothing.
                write_ledger(&path, std::slice::from_ref(&new)).expect("it was written before");
                prop_assert_eq!(text_of(&path), after);
            }
            let _ = read_ledger(&path);
        }
    }
}
