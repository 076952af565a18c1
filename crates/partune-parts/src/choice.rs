//! The file that says which functions are not recorded: in its first line the user's words, then a name in each line.
//!
//! Words are understood by the launcher only, which writes it before the program starts (`PARTUNE_CHOICE`).

/// What the user chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice<'a> {
    /// For people.
    pub words: &'a str,
    /// Functions of which no call is recorded.
    pub left_out: Vec<&'a str>,
}

impl<'a> Choice<'a> {
    pub fn parse(text: &'a str) -> Choice<'a> {
        let mut lines = text.lines();
        Choice { words: lines.next().unwrap_or_default(), left_out: lines.collect() }
    }

    /// The file.
    pub fn text(&self) -> String {
        [self.words].iter().chain(&self.left_out).flat_map(|line| [line, "\n"]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_comes_back() {
        let choice = Choice { words: "not test", left_out: vec!["MPI_Test", "MPI_Iprobe"] };
        assert_eq!(choice.text(), "not test\nMPI_Test\nMPI_Iprobe\n");
        assert_eq!(Choice::parse(&choice.text()), choice);
        assert_eq!(Choice::parse(""), Choice { words: "", left_out: Vec::new() });
    }
}
