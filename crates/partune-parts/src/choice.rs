//! The file that says which functions are not recorded: in its first line the user's words, then a name in each line, or `+` and a name.
//!
//! Words are understood by the launcher only, which writes it before the program starts (`PARTUNE_CHOICE`).

/// What the user chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice<'a> {
    /// For people.
    pub words: &'a str,
    /// Functions, and families of functions, of which no call is recorded.
    pub left_out: Vec<&'a str>,
    /// Functions of such families of which calls are recorded all the same.
    pub kept: Vec<&'a str>,
}

/// What is before the name of a function that is kept.
const KEPT: char = '+';

impl<'a> Choice<'a> {
    pub fn parse(text: &'a str) -> Choice<'a> {
        let mut lines = text.lines();
        let words = lines.next().unwrap_or_default();
        let (kept, left_out): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with(KEPT));
        Choice { words, left_out, kept: kept.into_iter().map(|line| &line[KEPT.len_utf8()..]).collect() }
    }

    /// The file.
    pub fn text(&self) -> String {
        let kept = self.kept.iter().map(|name| format!("{KEPT}{name}\n"));
        let lines = [self.words].into_iter().chain(self.left_out.iter().copied());
        lines.map(|line| format!("{line}\n")).chain(kept).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_comes_back() {
        let choice = Choice { words: "not test", left_out: vec!["MPI_Test", "shmem_put"], kept: vec!["shmem_int_put"] };
        assert_eq!(choice.text(), "not test\nMPI_Test\nshmem_put\n+shmem_int_put\n");
        assert_eq!(Choice::parse(&choice.text()), choice);
        assert_eq!(Choice::parse(""), Choice { words: "", left_out: Vec::new(), kept: Vec::new() });
    }
}
