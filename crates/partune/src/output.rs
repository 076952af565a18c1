//! The only place that prints, and knows what it prints to.

use std::io::{self, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use partune_report::Style;
use terminal_size::{Width, terminal_size_of};

/// Prints a document. A reader that closes the pipe (`| head`) is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

/// How documents are set: for the terminal that they go to, or plain. `NO_COLOR` and `CLICOLOR_FORCE` have the last word on colours.
pub(crate) fn style() -> Style {
    let out = io::stdout();
    let colour = AutoStream::choice(&out) != ColorChoice::Never;
    match terminal_size_of(&out).filter(|_| out.is_terminal()) {
        Some((Width(columns), _)) => Style::terminal(columns.into(), colour),
        None => Style { colour, ..Style::PLAIN },
    }
}

/// Tells something about the work, beside the document.
pub(crate) fn note(text: &str) {
    // Nothing can be done if the error stream is closed.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Tells what went wrong.
pub(crate) fn error(error: &anyhow::Error) {
    note(&format!("partune: {}", said(error)));
}

/// An error with what it comes from, each once, and then what can be done about it.
fn said(error: &anyhow::Error) -> String {
    let texts: Vec<String> = error.chain().map(ToString::to_string).collect();
    let parts = || texts.iter().map(|text| text.split_once("\n  remedy: ").unwrap_or((text, "")));
    let what: Vec<&str> = parts().map(|(what, _)| what).collect();
    let remedies = parts().map(|(_, remedy)| remedy).filter(|remedy| !remedy.is_empty());
    std::iter::once(what.join(": ")).chain(remedies.map(|remedy| format!("\n  remedy: {remedy}"))).collect()
}

#[cfg(test)]
mod tests {
    use anyhow::{Context, anyhow};

    #[test]
    fn what_can_be_done_comes_last() {
        let error =
            Err::<(), _>(anyhow!("no such file")).context("a.pam: cannot be read\n  remedy: give a model").unwrap_err();
        assert_eq!(super::said(&error), "a.pam: cannot be read: no such file\n  remedy: give a model");
        assert_eq!(super::said(&anyhow!("plain")), "plain");
    }
}
