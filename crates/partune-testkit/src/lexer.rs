//! Words and marks of the language, and the one way to say that it was written wrongly.

/// The text, for messages.
pub(crate) struct Source<'a> {
    text: &'a str,
}

/// Where a word stands: its line, from 0.
pub(crate) type Line = usize;

/// One word or mark. A quoted word is never a mark, number or keyword.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) line: Line,
    pub(crate) text: String,
    pub(crate) quoted: bool,
}

impl<'a> Source<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text }
    }

    /// Panics with the line.
    pub(crate) fn fail(&self, line: Line, message: &str) -> ! {
        let excerpt = self.text.lines().nth(line).unwrap_or("(end of the text)").trim();
        panic!("test trace, line {}: {message}\n    {excerpt}", line + 1)
    }

    /// All words and marks, in order.
    pub(crate) fn tokens(&self) -> Vec<Token> {
        let mut tokens = Vec::new();
        for (line, text) in self.text.lines().enumerate() {
            self.line_tokens(line, text, &mut tokens);
        }
        tokens
    }

    fn line_tokens(&self, line: Line, text: &str, tokens: &mut Vec<Token>) {
        let mut rest = text.trim_start();
        while let Some(first) = rest.chars().next() {
            let (length, quoted) = match first {
                '#' => return,
                '"' => match rest[1..].find('"') {
                    Some(end) => (end + 2, true),
                    None => self.fail(line, "a quote is not closed"),
                },
                _ if is_mark(first) => (1, false),
                _ => (rest.find(|c: char| c.is_whitespace() || is_mark(c)).unwrap_or(rest.len()), false),
            };
            let word = if quoted { &rest[1..length - 1] } else { &rest[..length] };
            tokens.push(Token { line, text: word.to_owned(), quoted });
            rest = rest[length..].trim_start();
        }
    }
}

impl Token {
    /// Whether this is the given mark or keyword.
    pub(crate) fn is(&self, word: &str) -> bool {
        !self.quoted && self.text == word
    }

    /// Whether this is a name, number or the like.
    pub(crate) fn is_word(&self) -> bool {
        self.quoted || !self.text.starts_with(is_mark)
    }
}

fn is_mark(c: char) -> bool {
    matches!(c, '{' | '}' | '(' | ')' | ',' | '=')
}
