//! Expressions in `P`, the number of PEs, and `n`, how many objects lie along a dimension: what they may be.

/// How deep they may be.
const DEPTH: usize = 16;
const FUNCTIONS: [&str; 5] = ["ceil", "floor", "sqrt", "min", "max"];

/// The expression without spaces; why it is none, as what follows its name.
pub(super) fn checked(text: &str) -> Result<String, String> {
    let mut parser = Parser { rest: text, seen: String::new() };
    parser.sum(0)?;
    match parser.peek() {
        None => Ok(parser.seen),
        Some(next) => Err(format!("has `{next}` where it should end")),
    }
}

struct Parser<'a> {
    rest: &'a str,
    seen: String,
}

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, bytes: usize) {
        let (taken, rest) = self.rest.split_at(bytes);
        self.seen.push_str(taken);
        self.rest = rest;
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.peek() == Some(wanted) {
            self.take(wanted.len_utf8());
            Ok(())
        } else {
            Err(format!("lacks `{wanted}`"))
        }
    }

    fn sum(&mut self, depth: usize) -> Result<(), String> {
        if depth > DEPTH {
            return Err("is too deep".to_owned());
        }
        self.factor(depth)?;
        while let Some('+' | '-' | '*' | '/' | '%') = self.peek() {
            self.take(1);
            if self.seen.ends_with('/') && self.rest.starts_with('/') {
                self.take(1);
            }
            self.factor(depth)?;
        }
        Ok(())
    }

    fn factor(&mut self, depth: usize) -> Result<(), String> {
        match self.peek() {
            Some('0'..='9') => {
                let end = self.rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(self.rest.len());
                self.take(end);
                Ok(())
            }
            Some('(') => {
                self.take(1);
                self.sum(depth + 1)?;
                self.expect(')')
            }
            Some('a'..='z' | 'A'..='Z') => {
                let end = self.rest.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
                let name = self.rest[..end].to_owned();
                if name != "P" && name != "n" && !FUNCTIONS.contains(&name.as_str()) {
                    return Err(format!("has `{name}`, which is neither P nor n nor a function of them"));
                }
                self.take(end);
                if FUNCTIONS.contains(&name.as_str()) {
                    self.expect('(')?;
                    self.sum(depth + 1)?;
                    while self.peek() == Some(',') {
                        self.take(1);
                        self.sum(depth + 1)?;
                    }
                    self.expect(')')?;
                }
                Ok(())
            }
            Some(other) => Err(format!("has `{other}` where a number should be")),
            None => Err("ends where a number should be".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_computed() {
        for good in ["1", "P", "n", "n // P", "ceil(n/P)", "max(1, floor(sqrt(P)) * (n - 1) % 3)"] {
            assert_eq!(checked(good), Ok(good.replace(' ', "")));
        }
        for bad in ["", "P P", "1.5", "-1", "x", "__import__('os')", "P.real", "ceil n", "(P", "2**P", "f()", "min()"] {
            assert!(checked(bad).is_err(), "{bad}");
        }
        assert!(checked(&"(".repeat(1000)).is_err());
    }
}
