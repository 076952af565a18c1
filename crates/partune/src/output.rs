//! The only place that prints, and knows what it prints to.
//!
//! Names in archives, paths and models are clean where they are read, as far as they are read into a trace; messages about what could not
//! be read are not. So whatever is printed passes here, and nothing in it steers the terminal but our own colours.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use anyhow::Context;
use partune_base::sign;
use partune_report::Style;
use terminal_size::{Width, terminal_size_of};

use crate::commands::job::Part;

/// Prints a document. A reader that closes the pipe (`| head`) is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    to_stdout(&clean(text, has_colour(), &['\n']))
}

/// Prints what another program reads: to a file or a pipe as it is, byte for byte.
pub(crate) fn print_source(text: &str) -> anyhow::Result<()> {
    if io::stdout().is_terminal() { to_stdout(&clean(text, false, &['\n', '\t'])) } else { to_stdout(text) }
}

/// Writes a document to a file that is named for it.
pub(crate) fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let cannot = || format!("{}: cannot be written\n  remedy: name a file in a folder that is there", file.display());
    std::fs::write(file, text).with_context(cannot)
}

/// Refuses a file that is there, before the work that would be written over it.
pub(crate) fn absent(file: &Path) -> anyhow::Result<()> {
    anyhow::ensure!(
        !file.metadata().is_ok_and(|there| there.is_file() || there.is_dir()),
        "{}: there is such a file already\n  remedy: give another name, or remove it first",
        file.display()
    );
    Ok(())
}

fn to_stdout(text: &str) -> anyhow::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

/// A text of which nothing steers the terminal but ends of lines and, if asked for, codes of colours.
fn clean<'a>(text: &'a str, colour: bool, kept: &[char]) -> Cow<'a, str> {
    if text.chars().all(|it| kept.contains(&it) || sign(it) == it) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(it) = rest.chars().next() {
        let code = if colour { colour_code(rest) } else { 0 };
        if code == 0 {
            out.push(if kept.contains(&it) { it } else { sign(it) });
        }
        let taken = code.max(it.len_utf8());
        out.push_str(&rest[..code]);
        rest = &rest[taken..];
    }
    Cow::Owned(out)
}

/// Bytes of the code of a colour that a text begins with: `ESC [ 31 m`.
fn colour_code(text: &str) -> usize {
    let Some(inside) = text.strip_prefix("\x1b[") else { return 0 };
    let digits = inside.bytes().take_while(|it| it.is_ascii_digit() || *it == b';').count();
    if inside[digits..].starts_with('m') { digits + 3 } else { 0 }
}

/// Whether documents go to a terminal. That of a process which a launcher started is the launcher's, wherever its output goes.
fn is_terminal() -> bool {
    io::stdout().is_terminal() && Part::of_this_process() == Part::Alone
}

fn has_colour() -> bool {
    let choice = if is_terminal() { AutoStream::choice(&io::stdout()) } else { AutoStream::choice(&Vec::new()) };
    choice != ColorChoice::Never
}

/// How documents are set: for the terminal that they go to, or plain. `NO_COLOR` and `CLICOLOR_FORCE` have the last word on colours.
pub(crate) fn style() -> Style {
    let out = io::stdout();
    let colour = has_colour();
    match terminal_size_of(&out).filter(|_| is_terminal()) {
        Some((Width(columns), _)) => Style::terminal(columns.into(), colour),
        None => Style { colour, ..Style::PLAIN },
    }
}

/// Tells something about the work, beside the document.
pub(crate) fn note(text: &str) {
    // Nothing can be done if the error stream is closed.
    let _ = writeln!(io::stderr().lock(), "{}", clean(text, false, &['\n']));
}

/// A path as a word for a shell.
pub(crate) fn word(path: &Path) -> String {
    let name = path.display().to_string();
    let is_plain = |it: char| it.is_alphanumeric() || "/._-+,:@%=~".contains(it);
    if !name.starts_with(['~', '-']) && name.chars().all(is_plain) {
        name
    } else {
        format!("'{}'", name.replace('\'', "'\\''"))
    }
}

/// Tells what went wrong.
pub(crate) fn error(error: &anyhow::Error) {
    note(&format!("partune: {}", said(error)));
}

/// An error with what it comes from, each once, and then what can be done about it.
pub(crate) fn said(error: &anyhow::Error) -> String {
    let texts: Vec<String> = error.chain().map(ToString::to_string).collect();
    let parts = || texts.iter().map(|text| text.split_once("\n  remedy: ").unwrap_or((text, "")));
    let what: Vec<&str> = parts().map(|(what, _)| what).collect();
    let remedies = parts().map(|(_, remedy)| remedy).filter(|remedy| !remedy.is_empty());
    std::iter::once(what.join(": ")).chain(remedies.map(|remedy| format!("\n  remedy: {remedy}"))).collect()
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    use super::clean;

    #[test]
    fn only_our_own_colours_reach_the_terminal() {
        let text = "\x1b[1mrun\x1b[0m\n\x1b]0;title\x07\x1b[2J\x1b[31\r\t\u{9b}m\u{202e}";
        assert_eq!(clean(text, true, &['\n']), "\x1b[1mrun\x1b[0m\n␛]0;title␇␛[2J␛[31␍␉\u{fffd}m\u{fffd}");
        assert_eq!(clean(text, false, &['\n', '\t']), "␛[1mrun␛[0m\n␛]0;title␇␛[2J␛[31␍\t\u{fffd}m\u{fffd}");
        assert_eq!(clean("16.7 % × µ\n", false, &['\n']), "16.7 % × µ\n");
    }

    #[test]
    fn what_can_be_done_comes_last() {
        let error =
            Err::<(), _>(anyhow!("no such file")).context("a.pam: cannot be read\n  remedy: give a model").unwrap_err();
        assert_eq!(super::said(&error), "a.pam: cannot be read: no such file\n  remedy: give a model");
        assert_eq!(super::said(&anyhow!("plain")), "plain");
    }
}
