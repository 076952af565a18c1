//! The command that is recorded, kept in the parts until the archive is completed.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use partune_otf2::write::COMMAND;

use crate::RecordError;

const NAME: &str = "command";

/// A command as a shell takes it: what is more than a plain word stands in quotation marks.
pub fn in_words(command: &[OsString]) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_@%+=:,./-".contains(it);
    let word = |word: &OsString| {
        let word = word.to_string_lossy();
        if !word.is_empty() && word.chars().all(is_plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    command.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The words of such a command.
pub fn words_of(command: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), None::<String>, false);
    let mut rest = command.chars();
    while let Some(it) = rest.next() {
        match it {
            '\'' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            ' ' if !is_quoted => words.extend(word.take()),
            '\\' if !is_quoted => word.get_or_insert_default().extend(rest.next()),
            it => word.get_or_insert_default().push(it),
        }
    }
    words.extend(word);
    words
}

/// Before the command is started.
pub(crate) fn keep(parts: &Path, command: &[OsString]) -> io::Result<()> {
    crate::parts::replace(&parts.join(NAME), in_words(command).as_bytes())
}

/// As a property of the archive; none of what was recorded without `partune record`.
pub(crate) fn property(parts: &Path) -> Result<Option<(String, String)>, RecordError> {
    let path = parts.join(NAME);
    match partune_files::read_regular(&path) {
        Ok(bytes) => Ok(Some((COMMAND.to_owned(), String::from_utf8_lossy(&bytes).into_owned()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(RecordError::File { path, error }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_apart() {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let kept = || property(folder.path()).expect("it can be read");
        assert_eq!(kept(), None);
        let command = ["mpirun", "-n", "4", "./a b", "it's", ""].map(OsString::from);
        keep(folder.path(), &command).expect("a file can be written");
        let (_, value) = kept().expect("it is there");
        assert_eq!(value, r"mpirun -n 4 './a b' 'it'\''s' ''");
        assert!(words_of(&value).into_iter().map(OsString::from).eq(command), "{value}");
    }
}
