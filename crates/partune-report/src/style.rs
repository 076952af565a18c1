//! How text is set: the width of a line, and whether it has colours. Who prints knows where it goes; files and pipes get [`Style::PLAIN`].

use std::fmt::Write;

use anstyle::AnsiColor;

/// How text is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of a line of prose.
    pub width: usize,
    pub colour: bool,
}

/// What a piece of text is to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// Begins a part, or counts most.
    Strong,
    /// Beside what counts.
    Dim,
    Good,
    Warning,
    Error,
}

impl Style {
    /// For files and pipes: the same everywhere.
    pub const PLAIN: Style = Style { width: 100, colour: false };

    /// For a terminal with so many columns; longer lines than 160 are hard to read.
    pub fn terminal(columns: usize, colour: bool) -> Style {
        Style { width: columns.clamp(40, 160), colour }
    }

    /// A piece of text in its tone. What is aligned has to be so before: codes of colours have a length too.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        let plain = anstyle::Style::new();
        let style = match tone {
            _ if !self.colour || text.is_empty() => plain,
            Tone::Plain => plain,
            Tone::Strong => plain.bold(),
            Tone::Dim => plain.dimmed(),
            Tone::Good => plain.fg_color(Some(AnsiColor::Green.into())),
            Tone::Warning => plain.bold().fg_color(Some(AnsiColor::Yellow.into())),
            Tone::Error => plain.bold().fg_color(Some(AnsiColor::Red.into())),
        };
        format!("{style}{text}{style:#}")
    }

    /// A text after its label, which goes on under its own begin where it is too long for a line.
    pub(crate) fn wrapped(self, out: &mut String, (tone, label): (Tone, &str), text: &str) {
        let indent = label.chars().count();
        let mut column = indent;
        out.push_str(&self.paint(tone, label));
        for (number, word) in text.split_whitespace().enumerate() {
            let width = word.chars().count();
            if number > 0 && column + 1 + width > self.width {
                let _ = write!(out, "\n{:indent$}", "");
                column = indent;
            } else if number > 0 {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += width;
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_goes_on_under_its_begin() {
        // 40 words: after the label's 6 columns a first one of 4, each other of 5: 7 fit into 40 columns, 19 into 100, 31 into 160.
        for (width, lines) in [(40, 6), (100, 3), (160, 2)] {
            let mut out = String::new();
            Style { width, ..Style::PLAIN }.wrapped(&mut out, (Tone::Plain, "note: "), &"word ".repeat(40));
            assert_eq!(out.lines().count(), lines);
            assert!(out.lines().all(|line| line.chars().count() <= width), "{out}");
            assert!(out.lines().skip(1).all(|line| line.starts_with("      word")), "{out}");
        }
    }

    #[test]
    fn colours_change_no_line_and_plain_text_has_none() {
        let mut plain = String::new();
        let mut colour = String::new();
        Style::PLAIN.wrapped(&mut plain, (Tone::Warning, "warning: "), &"word ".repeat(40));
        Style { colour: true, ..Style::PLAIN }.wrapped(&mut colour, (Tone::Warning, "warning: "), &"word ".repeat(40));
        assert!(!plain.contains('\u{1b}') && colour.contains("\u{1b}["), "{colour}");
        let codes = ["\u{1b}[1m", "\u{1b}[33m", "\u{1b}[0m"];
        assert_eq!(codes.iter().fold(colour, |text, code| text.replace(code, "")), plain);
        assert_eq!([30, 80, 500].map(|columns| Style::terminal(columns, true).width), [40, 80, 160]);
    }
}
