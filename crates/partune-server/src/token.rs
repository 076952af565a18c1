//! The token: 128 random bits that only who started the server knows, for this start or kept in a file of theirs.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use partune_files::open_regular;

/// Letters of a token.
const LENGTH: usize = 32;

/// Lower-case hexadecimal digits, 32 of them.
#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    /// From the system's source of random numbers.
    pub(crate) fn new() -> Result<Token, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let mut text = String::with_capacity(LENGTH);
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Token(text))
    }

    /// The one that a file holds; it is made with this one where it is not there. A file that others may read or write, or that is another's, holds no secret.
    pub(crate) fn kept(self, path: &Path) -> io::Result<Token> {
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Ok(mut file) => {
                writeln!(file, "{}", self.0)?;
                return Ok(self);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            Err(error) => return Err(error),
        }
        let wrong = |text: &str| Err(io::Error::new(io::ErrorKind::InvalidData, text));
        let file = open_regular(path)?;
        let about = file.metadata()?;
        if about.mode() & 0o077 != 0 || about.uid() != rustix::process::geteuid().as_raw() {
            return wrong("others can read or change it, so it is no secret");
        }
        let mut text = String::new();
        file.take(2 * LENGTH as u64).read_to_string(&mut text)?;
        let token = text.trim_end();
        let is_token = token.len() == LENGTH && token.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'));
        if is_token { Ok(Token(token.to_owned())) } else { wrong("it holds no token") }
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
