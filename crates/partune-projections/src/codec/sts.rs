//! The symbol table `.sts`: what numbers in the logs stand for.
//!
//! A text of lines that begin with a word. Names stand in quotation marks since version 10. What cannot be understood is counted and left out.

/// A class of objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chare {
    pub id: u64,
    pub name: String,
    /// Dimensions of its array; 0 if it is in none, `None` if not told.
    pub dimensions: Option<usize>,
}

/// An entry method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: u64,
    /// With its parameters.
    pub name: String,
    pub chare: u64,
}

/// Everything in it that a trace has a place for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sts {
    /// In tenths; `None` if not told.
    pub version: Option<u32>,
    pub processors: Option<u64>,
    pub phases: u64,
    /// PEs of a process and processes, where processes have several.
    pub nodes: Option<(u64, u64)>,
    pub counters: Vec<String>,
    pub chares: Vec<Chare>,
    pub entries: Vec<Entry>,
    /// Events and statistics of the user's: number and name.
    pub events: Vec<(u64, String)>,
    pub statistics: Vec<(u64, String)>,
    /// Totals of chares and entries as they are told.
    pub totals: [Option<u64>; 2],
    /// The command of the program, without its launcher.
    pub command: Option<String>,
    /// The last line was there.
    pub complete: bool,
    /// Lines that could not be understood.
    pub malformed: u64,
}

impl Sts {
    pub fn read(text: &[u8]) -> Sts {
        let mut sts = Sts::default();
        for line in text.split(|byte| *byte == b'\n') {
            let line = String::from_utf8_lossy(line.trim_ascii());
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            sts.malformed += u64::from(sts.line(word, rest.trim()).is_none());
        }
        sts
    }

    /// `None` if a known line has not what it should have.
    fn line(&mut self, word: &str, rest: &str) -> Option<()> {
        match word {
            "VERSION" => self.version = Some(version(rest)?),
            "PROCESSORS" => self.processors = Some(number(rest)?),
            "COMMANDLINE" => self.command = name(rest, 0).map(|it| it.0).filter(|it| !it.is_empty()),
            "TOTAL_PHASES" => self.phases = number(rest)?,
            "SMPMODE" => {
                let (size, count) = rest.split_once(' ')?;
                self.nodes = Some((number(size)?, number(count)?));
            }
            "PAPI_EVENT" => self.counters.push(numbered(rest)?.1),
            "TOTAL_CHARES" => self.totals[0] = Some(number(rest)?),
            "TOTAL_EPS" => self.totals[1] = Some(number(rest)?),
            "CHARE" => {
                let (id, rest) = rest.split_once(' ')?;
                let (name, after) = name(rest, usize::from(self.version >= Some(90)))?;
                let dimensions = after.trim().parse::<i64>().ok().map(|it| usize::try_from(it).unwrap_or(0));
                self.chares.push(Chare { id: number(id)?, name, dimensions });
            }
            "ENTRY" => {
                // The word after says of what kind; there is one.
                let (id, rest) = rest.split_once(' ')?.1.split_once(' ')?;
                let (name, after) = name(rest, 2)?;
                let chare = number(after.split_whitespace().next()?)?;
                self.entries.push(Entry { id: number(id)?, name, chare });
            }
            "EVENT" => self.events.push(numbered(rest)?),
            "STAT" => self.statistics.push(numbered(rest)?),
            "END" => self.complete = true,
            _ => {}
        }
        Some(())
    }
}

fn number(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// `11.0` as 110.
fn version(text: &str) -> Option<u32> {
    let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
    let tenths = tenths.chars().next().and_then(|digit| digit.to_digit(10)).unwrap_or(0);
    whole.trim().parse::<u32>().ok()?.checked_mul(10)?.checked_add(tenths)
}

/// A number, and a name up to the end of the line.
fn numbered(text: &str) -> Option<(u64, String)> {
    let (id, name) = text.split_once(' ').unwrap_or((text, ""));
    Some((number(id)?, name.trim().trim_matches('"').to_owned()))
}

/// A name and what is after it: in quotation marks, or up to the last so many words.
fn name(text: &str, words_after: usize) -> Option<(String, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        let (name, after) = quoted.rsplit_once('"')?;
        return Some((name.to_owned(), after));
    }
    let mut end = text.len();
    for _ in 0..words_after {
        end = text[..end].trim_end().rfind(' ')?;
    }
    Some((text[..end].trim().to_owned(), &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_and_without_quotation_marks() {
        let new = "VERSION 11.0\nCHARE 45 \"Jacobi\" 2\nCHARE 5 \"Chare\" -1\nENTRY CHARE 7 \"put(int a, const char *b)\" 45 11\nEVENT 10 a b\nSTAT 3 \"s\"\nEND\n";
        let sts = Sts::read(new.as_bytes());
        assert_eq!((sts.version, sts.complete, sts.malformed), (Some(110), true, 0));
        assert_eq!(sts.chares[0], Chare { id: 45, name: "Jacobi".to_owned(), dimensions: Some(2) });
        assert_eq!(sts.chares[1].dimensions, Some(0));
        assert_eq!(sts.entries, [Entry { id: 7, name: "put(int a, const char *b)".to_owned(), chare: 45 }]);
        assert_eq!((&sts.events[0], &sts.statistics[0]), (&(10, "a b".to_owned()), &(3, "s".to_owned())));
        let old = "VERSION 3.0\nCHARE 26 Main\nENTRY CHARE 56 SayHi(int hiNo, char *b) 27 6\n";
        let sts = Sts::read(old.as_bytes());
        assert_eq!((sts.version, &*sts.chares[0].name, sts.chares[0].dimensions), (Some(30), "Main", None));
        assert_eq!(sts.entries, [Entry { id: 56, name: "SayHi(int hiNo, char *b)".to_owned(), chare: 27 }]);
    }

    #[test]
    fn lines_that_say_nothing_are_counted() {
        let sts = Sts::read(b"VERSION x\nCHARE\nCHARE a b\nENTRY CHARE 5\nPROCESSORS -3\nnothing\n\n");
        assert_eq!((sts.malformed, sts.chares.len(), sts.entries.len(), sts.processors), (5, 0, 0, None));
    }
}
