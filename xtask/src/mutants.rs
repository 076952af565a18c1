//! Archives with changed records through the commands, as a user would run them: none may abort, hang or exceed its limits.
//!
//! Each mutant is a folder with one to three changed files; what fails is kept in `target/mutants` with its command.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, Result};
use partune_testkit::mutate::{self, Random};
use rayon::prelude::*;

/// Memory in bytes and seconds that a command gets.
const MEMORY: u64 = 1 << 30;
const SECONDS: u64 = 10;

/// Commands, with MUTANT for the archive, ORIGINAL for the one it was made of, OTHER for another, OUT for a folder; how many tenths of the mutants each gets.
const COMMANDS: [(&str, u64); 10] = [
    ("analyze MUTANT", 6),
    ("analyze --full --json --minimum 0 MUTANT", 3),
    ("analyze --full MUTANT", 1),
    ("report MUTANT -o OUT/report.html", 1),
    ("convert MUTANT OUT/converted", 1),
    ("convert MUTANT OUT/mutant.json", 1),
    ("convert MUTANT --parquet OUT/parquet", 1),
    ("compare ORIGINAL MUTANT", 1),
    ("scale OTHER MUTANT", 1),
    ("view --no-open MUTANT", 1),
];

/// Chunk sizes of files, tried in turn.
const CHUNKS: [usize; 3] = [1 << 20, 4 << 20, 1 << 16];

/// Runs so many mutants through `analyze`, and a tenth as many through each other command, or only through commands that begin with a word;
/// whether all ended as they should.
pub(crate) fn run(partune: &Path, count: u64, only: Option<&str>, archives: &[&str]) -> Result<bool> {
    let archives: Vec<PathBuf> = archives.iter().map(PathBuf::from).collect();
    let kept = Path::new("target/mutants");
    fs::create_dir_all(kept)?;
    let outcomes: Mutex<BTreeMap<(&str, String), u64>> = Mutex::default();
    let chosen = COMMANDS.iter().filter(|(command, _)| only.is_none_or(|only| command.starts_with(only)));
    let rounds: Vec<&str> =
        chosen.flat_map(|(command, tenths)| (0..count * tenths / 10).map(move |_| *command)).collect();
    (0_u64..).zip(rounds).collect::<Vec<_>>().into_par_iter().try_for_each(|(round, command)| -> Result<()> {
        let mut random = Random::new(round);
        let original = &archives[random.below(archives.len())];
        let folder = kept.join(format!("mutant-{round}"));
        let mutant = mutant(original, &folder, &mut random)?;
        let other = &archives[random.below(archives.len())];
        let names = [("MUTANT", &*mutant), ("ORIGINAL", original), ("OTHER", other), ("OUT", &folder)];
        let end = if command.starts_with("view") { serve } else { execute };
        let outcome = end(partune, command, &names)?;
        let is_fine = matches!(outcome.as_str(), "exit 0" | "exit 1");
        if is_fine {
            fs::remove_dir_all(&folder)?;
        } else {
            fs::write(folder.join("COMMAND"), format!("{command}\n{outcome}\n"))?;
        }
        let mut outcomes = outcomes.lock().map_err(|_| anyhow::anyhow!("a round panicked"))?;
        *outcomes.entry((command, outcome)).or_default() += 1;
        Ok(())
    })?;
    let outcomes = outcomes.into_inner().map_err(|_| anyhow::anyhow!("a round panicked"))?;
    let mut survived = true;
    for ((command, outcome), count) in &outcomes {
        println!("{count:>7}  {outcome:<12} partune {command}");
        survived &= matches!(outcome.as_str(), "exit 0" | "exit 1");
    }
    Ok(survived)
}

/// Makes a mutant of an archive in a folder; its anchor.
fn mutant(original: &Path, folder: &Path, random: &mut Random) -> Result<PathBuf> {
    let source = original.parent().context("an anchor is in a folder")?;
    let mut files = Vec::new();
    collect(source, &mut files)?;
    let chunked = |file: &PathBuf| file.extension().is_some_and(|it| it == "evt" || it == "def");
    let candidates: Vec<usize> = (0..files.len()).filter(|at| chunked(&files[*at])).collect();
    let mut changed: Vec<usize> =
        (0..=random.below(3)).filter_map(|_| candidates.get(random.below(candidates.len())).copied()).collect();
    // Global definitions say what everything else means.
    changed.extend(files.iter().position(|it| *it == original.with_extension("def") && random.below(2) == 0));
    for (at, file) in files.iter().enumerate() {
        let to = folder.join(file.strip_prefix(source)?);
        fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
        let bytes = fs::read(file)?;
        let new = if changed.contains(&at) {
            CHUNKS.into_iter().find_map(|size| mutate::records(&bytes, size, random))
        } else {
            None
        };
        fs::write(to, new.unwrap_or(bytes))?;
    }
    Ok(folder.join(original.file_name().context("an anchor has a name")?))
}

/// The files below a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)?.map(|it| Ok(it?.path())).collect::<Result<_>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            collect(&entry, files)?;
        } else {
            files.push(entry);
        }
    }
    Ok(())
}

/// How a command ended.
fn execute(partune: &Path, command: &str, names: &[(&str, &Path)]) -> Result<String> {
    let status = limited(partune, command, names).stdout(Stdio::null()).status();
    Ok(outcome(status.context(MISSING)?))
}

const MISSING: &str = "prlimit cannot be started (it is in util-linux)";

/// A command under its limits.
fn limited(partune: &Path, command: &str, names: &[(&str, &Path)]) -> Command {
    let argument = |word: &str| {
        let of = |text: String, (name, path): &(&str, &Path)| text.replace(name, &path.to_string_lossy());
        names.iter().fold(word.to_owned(), of)
    };
    let mut limited = Command::new("prlimit");
    limited.arg(format!("--as={MEMORY}")).args(["timeout", "--signal=KILL", &SECONDS.to_string()]).arg(partune);
    limited.args(command.split(' ').map(argument)).env("RAYON_NUM_THREADS", "1");
    limited.stdin(Stdio::null()).stderr(Stdio::null());
    limited
}

fn outcome(status: ExitStatus) -> String {
    match status.code() {
        // So says timeout of what it killed, and of what a signal ended.
        Some(137) => "timeout".to_owned(),
        Some(code) => format!("exit {code}"),
        None => "signal".to_owned(),
    }
}

/// What is asked of a server.
const QUESTIONS: [&str; 9] =
    ["summary", "findings", "pes", "kinds", "timeline", "profile", "balance", "matrix", "environment"];

/// Asks a server everything, then ends it; how it ended, or that a question had no answer.
fn serve(partune: &Path, command: &str, names: &[(&str, &Path)]) -> Result<String> {
    let mut server = limited(partune, command, names).stdout(Stdio::piped()).spawn().context(MISSING)?;
    let mut line = String::new();
    // Open until the end: who prints to nobody ends.
    let mut printed = BufReader::new(server.stdout.take().context("it was piped")?);
    printed.read_line(&mut line)?;
    let Some(file) = line.trim().rsplit_once(" is in ").map(|it| it.1) else {
        return Ok(outcome(server.wait()?));
    };
    let address = fs::read_to_string(file)?;
    let (host, token) =
        address.trim().trim_start_matches("http://").split_once('/').context("an address has a token")?;
    let ask = |question: &str| -> Result<String> {
        let mut stream = TcpStream::connect(host)?;
        write!(stream, "GET /{token}api/runs/0/{question} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")?;
        let mut reply = String::new();
        BufReader::new(stream).read_line(&mut reply)?;
        Ok(reply.split(' ').nth(1).unwrap_or_default().to_owned())
    };
    // 409: it is being read, or it could not be.
    for _ in 0..30 {
        if ask("summary").is_ok_and(|status| status != "409") {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    for question in QUESTIONS {
        let status = ask(question).unwrap_or_else(|error| error.to_string());
        // 400, 404: a trace may be too odd for a question, or have nothing of what it is about.
        if !["200", "400", "404", "409"].contains(&status.as_str()) {
            server.kill()?;
            server.wait()?;
            return Ok(format!("{question}: {status}"));
        }
    }
    // What timeout gets it hands on; who is ended by it removes what it made.
    Command::new("kill").arg(server.id().to_string()).status()?;
    Ok(match server.wait()?.code() {
        Some(143 | 0) | None => "exit 0".to_owned(),
        Some(code) => format!("exit {code}"),
    })
}
