//! The token: 128 random bits that only who started the server knows.

use std::fmt::Write;

/// Lower-case hexadecimal digits, 32 of them.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// From the system's source of random numbers.
    pub(crate) fn new() -> Result<Token, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let mut text = String::with_capacity(32);
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Token(text))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a guess is right; takes as long for one that is nearly right.
    pub(crate) fn is(&self, guess: &str) -> bool {
        let differences = self.0.bytes().zip(guess.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        self.0.len() == guess.len() && differences == 0
    }
}
