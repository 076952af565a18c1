//! Texts of source files, from folders that the user named and from nowhere else.
//!
//! What a file is called comes from an archive, so from anywhere: its path is only ever looked for below the folders, after all links are
//! followed. Programs are mostly built elsewhere, so ends of the path are tried too, the longest first.

use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use partune_base::sign;
use partune_files::open_regular;

/// Bytes of a file, and of a line.
const LONGEST: u64 = 2 << 20;
const LINE: usize = 400;

/// Folders whose files may be shown; by default none.
#[derive(Clone, Debug, Default)]
pub struct Sources(Vec<PathBuf>);

impl Sources {
    /// The folders must be there. Their links are followed now: nobody can lead them elsewhere later.
    pub fn new(folders: &[PathBuf]) -> io::Result<Sources> {
        let folder = |path: &PathBuf| {
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            let folder = path.canonicalize().map_err(named)?;
            if folder.is_dir() { Ok(folder) } else { Err(named(io::ErrorKind::NotADirectory.into())) }
        };
        folders.iter().map(folder).collect::<io::Result<_>>().map(Sources)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lines of a file, as they are shown, or why there are none.
    pub(crate) fn lines(&self, file: &str) -> Result<Vec<String>, String> {
        let path = self.find(file).ok_or("none of the folders that may be shown has this file")?;
        let mut bytes = Vec::new();
        let read = open_regular(&path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut bytes));
        read.map_err(|error| format!("the file cannot be read: {error}"))?;
        if bytes.len() as u64 > LONGEST {
            return Err(format!("the file has more than {} MiB", LONGEST >> 20));
        }
        Ok(String::from_utf8_lossy(&bytes).lines().map(shown).collect())
    }

    /// Where a file is, all links followed.
    fn find(&self, file: &str) -> Option<PathBuf> {
        let mut names: Vec<&std::ffi::OsStr> = Vec::new();
        for part in Path::new(file).components() {
            match part {
                Component::Normal(name) => names.push(name),
                Component::ParentDir => drop(names.pop()),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        let whole = Path::new("/").join(names.iter().collect::<PathBuf>());
        let ends = (0..names.len()).map(|first| names[first..].iter().collect::<PathBuf>());
        let below = ends.flat_map(|end| self.0.iter().map(move |folder| folder.join(&end)));
        let is_in = |path: &PathBuf| self.0.iter().any(|folder| path.starts_with(folder));
        std::iter::once(whole)
            .chain(below)
            .filter_map(|path| path.canonicalize().ok())
            .find(|path| is_in(path) && path.is_file())
    }
}

/// A line with tabulators as blanks and without what steers or turns text; cut where it is very long.
fn shown(line: &str) -> String {
    let mut out = String::new();
    for (at, letter) in line.chars().enumerate() {
        if at == LINE {
            out.push('…');
            break;
        }
        match letter {
            '\t' => (0..8 - out.chars().count() % 8).for_each(|_| out.push(' ')),
            letter => out.push(sign(letter)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_files_below_the_folders_are_read() {
        let folder = tempfile::tempdir().expect("there is room for files");
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("open/src/deep")).expect("folders are made");
        std::fs::create_dir_all(at("open-too")).expect("folders are made");
        for (name, text) in [
            ("open/src/a.c", "int a;\n\tx\u{202e}\u{7}"),
            ("open/src/deep/a.c", "deep"),
            ("secret", "no"),
            ("open-too/b.c", "no"),
        ] {
            std::fs::write(at(name), text).expect("a file is written");
        }
        symlink(at("secret"), at("open/src/link.c")).expect("a link is made");
        symlink(folder.path(), at("open/up")).expect("a link is made");
        symlink("deep/a.c", at("open/src/inside.c")).expect("a link is made");
        let sources = Sources::new(&[at("open/src")]).expect("the folder is there");
        let lines = |name: &str| sources.lines(name);
        assert_eq!(lines("/build/other/src/a.c"), Ok(vec!["int a;".to_owned(), "        x�␇".to_owned()]));
        assert_eq!(lines("src/deep/a.c"), Ok(vec!["deep".to_owned()]), "the longest end that is there");
        assert_eq!(lines(&at("open/src/deep/a.c").display().to_string()), Ok(vec!["deep".to_owned()]));
        assert_eq!(lines("inside.c"), Ok(vec!["deep".to_owned()]), "links may lead to what is below");
        let secret = at("secret").display().to_string();
        for name in
            ["link.c", "secret", "../secret", "../../secret", "../up/secret", &secret, "", "/", "..", "deep", "b.c"]
        {
            assert!(lines(name).is_err(), "{name}");
        }
        let beside = at("open-too/b.c").display().to_string();
        let sibling = Sources::new(&[at("open")]).expect("the folder is there");
        assert!(sibling.lines(&beside).is_err(), "a folder whose name begins alike is another");
        assert!(sibling.lines("up/secret").is_err(), "nor by way of a folder that is a link");
        assert!(Sources::default().lines("a.c").is_err());
        assert!(Sources::new(&[at("nowhere")]).is_err() && Sources::new(&[at("secret")]).is_err());
    }

    #[test]
    fn what_is_no_text_of_a_program_is_bounded() {
        let folder = tempfile::tempdir().expect("there is room for files");
        std::fs::write(folder.path().join("long.c"), "x".repeat(10_000)).expect("a file is written");
        std::fs::write(folder.path().join("large.c"), vec![b'\n'; LONGEST as usize + 1]).expect("a file is written");
        std::fs::write(folder.path().join("binary.c"), [0xff, 0, 1]).expect("a file is written");
        symlink("/dev/zero", folder.path().join("device.c")).expect("a link is made");
        let sources = Sources::new(&[folder.path().to_owned()]).expect("the folder is there");
        assert_eq!(sources.lines("long.c").map(|lines| lines[0].chars().count()), Ok(LINE + 1));
        assert!(sources.lines("large.c").is_err_and(|why| why.contains("2 MiB")));
        assert_eq!(sources.lines("binary.c"), Ok(vec!["�␀␁".to_owned()]));
        assert!(sources.lines("device.c").is_err());
    }
}
