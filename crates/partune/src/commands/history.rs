//! `partune report --history`: the revisions of a program in one folder of pages: what changed, and a report on each.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use partune_engine::{Diagnosis, Request, Selection};
use partune_pages::{History, Runs, Sources};

use crate::commands::report::write;
use crate::commands::runs::in_slices;
use crate::output;
use crate::progress::Bar;

/// Writes the pages on what lies in a folder. One revision after the other is read, and two at a time are in memory.
pub(crate) fn run(
    from: &Path,
    to: &Path,
    request: &Request,
    piece: &Selection,
    sources: &Sources,
) -> anyhow::Result<()> {
    let mut history = History::default();
    let mut before: Option<(String, PathBuf, Vec<Diagnosis>)> = None;
    let report = |(name, folder, mut runs): (String, PathBuf, Vec<Diagnosis>)| {
        let runs = Runs::of(&folder, runs.swap_remove(0)).with_sources(sources.clone());
        let text = partune_pages::report(&runs);
        std::mem::forget(runs);
        write(&to.join(name), &text)
    };
    let mut count = 0;
    for folder in revisions(from)? {
        let runs = match read(&folder, request, piece) {
            Ok(runs) => runs,
            Err(error) => {
                output::note(&format!("partune: left out {error:#}"));
                continue;
            }
        };
        if count == 0 {
            std::fs::create_dir_all(to).with_context(|| {
                format!("cannot make the folder {}\n  remedy: give another place with -o", to.display())
            })?;
        }
        count += 1;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let file = format!("{count}-{}.html", plain(&name));
        history.add((&name, &file), &runs, before.as_ref().map(|it| it.2.as_slice()))?;
        before.replace((file, folder.clone(), runs)).map_or(Ok(()), report)?;
    }
    before.map_or(Ok(()), report)?;
    ensure!(
        count > 0,
        "no revision could be read in {}\n  remedy: give a folder with a folder for each revision, and in it an archive or those of partune record --repeat",
        from.display()
    );
    let index = to.join("index.html");
    let title = format!("History of {}", from.file_name().unwrap_or(from.as_os_str()).to_string_lossy());
    write(&index, &history.page(&title))?;
    output::print(&format!("{}: {count} revisions\n", index.display()))
}

/// The folders of revisions, in the order of their names; numbers in these by their values.
fn revisions(from: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let cannot = || format!("cannot read {}\n  remedy: give a folder with a folder for each revision", from.display());
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(from).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        folders.extend(path.is_dir().then_some(path));
    }
    folders.sort_by(|one, other| by_numbers(&one.to_string_lossy(), &other.to_string_lossy()));
    Ok(folders)
}

/// The runs of a revision, first the one that stands for them.
fn read(folder: &Path, request: &Request, piece: &Selection) -> anyhow::Result<Vec<Diagnosis>> {
    let bar = Bar::new(false);
    let one = |entry: &PathBuf| -> anyhow::Result<Diagnosis> {
        // What is told of all of a revision is told with its events.
        if *piece != Selection::default()
            && let Some(diagnosis) = in_slices(entry, piece, request, &bar)?
        {
            return Ok(diagnosis);
        }
        let opened = partune_engine::open(entry, &bar)?;
        Ok(partune_engine::analyze_piece(opened, piece, request, &bar)?)
    };
    let mut runs = partune_engine::runs(folder)?.iter().map(one).collect::<anyhow::Result<Vec<_>>>()?;
    let middle = partune_engine::middle(&runs).unwrap_or_default();
    runs.swap(0, middle);
    Ok(runs)
}

/// Letters that a name of a file and an address have alike.
fn plain(name: &str) -> String {
    name.chars().map(|it| if it.is_ascii_alphanumeric() || "._-".contains(it) { it } else { '-' }).collect()
}

/// Texts beside each other, where digits stand for their number.
fn by_numbers(one: &str, other: &str) -> Ordering {
    let parts = |text: &str| {
        let mut parts: Vec<(Option<u64>, String)> = Vec::new();
        for letter in text.chars() {
            match parts.last_mut() {
                Some((Some(number), part)) if letter.is_ascii_digit() => {
                    *number = number.saturating_mul(10).saturating_add(u64::from(letter) - u64::from('0'));
                    part.push(letter);
                }
                Some((None, part)) if !letter.is_ascii_digit() => part.push(letter),
                _ => parts.push((letter.to_digit(10).map(u64::from), letter.to_string())),
            }
        }
        parts
    };
    parts(one).cmp(&parts(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_their_numbers() {
        let mut names = ["r10", "r9", "r9-b", "r9-a", "2", "10", "1", "a", "r099999999999999999999999"];
        names.sort_by(|one, other| by_numbers(one, other));
        assert_eq!(names, ["a", "r9", "r9-a", "r9-b", "r10", "r099999999999999999999999", "1", "2", "10"]);
    }

    #[test]
    fn names_of_files_lead_nowhere_else() {
        assert_eq!(plain("a/../b c\u{202e}<é"), "a-..-b-c---");
    }
}
