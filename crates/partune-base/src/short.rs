//! Names of functions as people say them: without arguments and result, and with template arguments folded.
//!
//! For what makes traces and archives. Input is what demanglers and compilers print for C++ and Rust. A text that is not understood to its end
//! stays as it is, so names of other languages, and of people, do.

use std::borrow::Cow;

/// What stands for arguments of templates.
const FOLDED: &str = "<…>";

/// Symbols after `operator`, longest first.
const OPERATORS: [&str; 43] = [
    "<=>",
    "->*",
    "<<=",
    ">>=",
    "()",
    "[]",
    "<<",
    ">>",
    "<=",
    ">=",
    "->",
    "&&",
    "||",
    "==",
    "!=",
    "+=",
    "-=",
    "*=",
    "/=",
    "%=",
    "^=",
    "&=",
    "|=",
    "++",
    "--",
    " new[]",
    " delete[]",
    " new",
    " delete",
    " co_await",
    ",",
    "<",
    ">",
    "+",
    "-",
    "*",
    "/",
    "%",
    "^",
    "&",
    "|",
    "~",
    "!",
];

/// What may stand between the arguments of a function and what is inside of it.
const QUALIFIERS: [&str; 7] = [" const", " volatile", " restrict", " noexcept", " &&", " &", " throw()"];

/// What brackets hold that are part of a name.
const UNNAMED: [&str; 4] = ["(anonymous namespace)", "(anonymous class)", "(anonymous struct)", "(anonymous union)"];

/// Brackets of a result's type that look like arguments.
const TYPES: [&str; 4] = ["decltype", "decltype ", "typeof", "noexcept"];

/// The short form of a function's name: `std::vector<…>::push_back` of `std::vector<int, std::allocator<int> >::push_back(int const&)`.
///
/// Operators, lambdas (`{lambda()#1}`), unnamed namespaces and the functions around local ones stay. Cost: linear.
pub fn short(name: &str) -> Cow<'_, str> {
    // Most names have nothing to shorten.
    if !name.contains(['<', '(', '{', '[']) {
        return Cow::Borrowed(name);
    }
    let names = Names { text: name, at: 0, out: String::with_capacity(name.len()), begin: 0 };
    match names.read(true) {
        Some(short) if !short.is_empty() => Cow::Owned(short),
        _ => Cow::Borrowed(name),
    }
}

/// A name that is read up to `at`.
struct Names<'a> {
    text: &'a str,
    at: usize,
    out: String,
    /// Where in `out` the last word begins; before it is the type of a result.
    begin: usize,
}

impl Names<'_> {
    /// `is_whole` is false inside of what is declared like a pointer.
    fn read(mut self, is_whole: bool) -> Option<String> {
        let mut has_arguments = false;
        while let Some(next) = self.rest().chars().next() {
            match next {
                'o' if self.is_operator() => self.operator()?,
                '<' => self.angle()?,
                '{' => self.brace()?,
                '\'' => self.take(self.rest()[1..].find('\'')? + 2), // 'lambda' of LLVM
                '[' => self.skip_tag()?,
                '(' if self.takes_bracket()? => {}
                '(' => {
                    if is_whole && self.is_pointer() {
                        // The function's result is a pointer to a function.
                        let text = &self.rest()[2..close(self.rest(), 0)?];
                        return Names { text, at: 0, out: String::new(), begin: 0 }.read(false);
                    }
                    has_arguments = true;
                    if self.arguments()? {
                        break;
                    }
                }
                ' ' => {
                    self.take(1);
                    self.begin = self.out.len();
                }
                other => self.take(other.len_utf8()),
            }
        }
        Some(if has_arguments { self.out.split_off(self.begin) } else { self.out })
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Keeps so many bytes.
    fn take(&mut self, bytes: usize) {
        self.out.push_str(&self.text[self.at..self.at + bytes]);
        self.at += bytes;
    }

    fn is_word_begin(&self) -> bool {
        self.out.is_empty() || self.out.ends_with(' ')
    }

    fn is_component_begin(&self) -> bool {
        self.is_word_begin() || self.out.ends_with("::")
    }

    /// `(*f(int))`
    fn is_pointer(&self) -> bool {
        self.rest()[1..].starts_with(['*', '&']) && self.is_word_begin()
    }

    fn is_operator(&self) -> bool {
        self.is_component_begin() && operator(self.rest()).is_some()
    }

    fn operator(&mut self) -> Option<()> {
        let symbol = operator(self.rest())?;
        self.take(symbol);
        if self.out.ends_with("operator") {
            // To a type, or a literal's suffix: up to the arguments.
            while !self.rest().is_empty() && !self.rest().starts_with('(') {
                match self.rest().chars().next()? {
                    '<' => self.angle()?,
                    '[' => self.skip_tag()?,
                    other => self.take(other.len_utf8()),
                }
            }
        } else if self.rest().starts_with(" <") {
            self.take(1);
            self.fold()?;
        } else if self.rest().starts_with('<') {
            self.fold()?;
        }
        Some(())
    }

    /// `<`: arguments of a template, or something of Rust's.
    fn angle(&mut self) -> Option<()> {
        let is_kept = ["<impl ", "<lambda"].iter().any(|begin| self.rest().starts_with(begin));
        if self.out.is_empty() || is_kept {
            let end = close(self.rest(), 0)?;
            let inside = self.rest()[1..end].to_owned();
            self.out.push('<');
            let inside = if inside.starts_with("lambda") { "lambda()".to_owned() } else { folded(&inside)? };
            self.out.push_str(&inside);
            self.out.push('>');
            self.at += end + 1;
            return Some(());
        }
        if self.out.ends_with(' ') {
            return None; // not C++
        }
        self.fold()
    }

    fn fold(&mut self) -> Option<()> {
        self.at += close(self.rest(), 0)? + 1;
        self.out.push_str(FOLDED);
        Some(())
    }

    /// `{lambda(int)#1}`, `{unnamed type#1}`, `{closure#0}`, `{{closure}}`.
    fn brace(&mut self) -> Option<()> {
        let end = close(self.rest(), 0)?;
        if self.rest().starts_with("{lambda") {
            let inside = &self.rest()[1..end];
            let number = inside.rfind('#').map_or("", |at| &inside[at..]).to_owned();
            self.out.push_str("{lambda()");
            self.out.push_str(&number);
            self.out.push('}');
            self.at += end + 1;
        } else {
            self.take(end + 1);
        }
        Some(())
    }

    /// `[abi:cxx11]`, and what tools put at the end.
    fn skip_tag(&mut self) -> Option<()> {
        if !self.rest().starts_with("[abi:") {
            return None;
        }
        self.at += close(self.rest(), 0)? + 1;
        Some(())
    }

    /// Takes brackets that are no arguments; none if it is no name of C++.
    fn takes_bracket(&mut self) -> Option<bool> {
        let is_type = TYPES.iter().any(|word| self.out.ends_with(word));
        if is_type {
            self.take(close(self.rest(), 0)? + 1);
            return Some(true);
        }
        if let Some(unnamed) = UNNAMED.iter().find(|it| self.rest().starts_with(**it)) {
            self.take(unnamed.len());
            return Some(true);
        }
        (!self.is_component_begin() || self.is_pointer()).then_some(false)
    }

    /// Leaves arguments out; whether the name ends with them.
    fn arguments(&mut self) -> Option<bool> {
        self.at += close(self.rest(), 0)? + 1;
        while let Some(found) = QUALIFIERS.iter().find(|it| self.rest().starts_with(**it)) {
            self.at += found.len();
        }
        let rest = self.rest();
        if rest.is_empty() || ["[abi:", " [", " C [", " requires "].iter().any(|end| rest.starts_with(end)) {
            return Some(true);
        }
        if rest.starts_with("::") {
            return Some(false);
        }
        // A piece of the function, or a stub that calls it.
        rest.starts_with(['.', '@']).then(|| self.take(self.text.len() - self.at)).map(|()| true)
    }
}

/// The length of `operator` and its symbol, or of the word alone before a type; none if it is another word.
fn operator(text: &str) -> Option<usize> {
    const WORD: &str = "operator";
    let rest = text.strip_prefix(WORD)?;
    let is_word = |symbol: &str| symbol.starts_with(' ');
    let ends = |symbol: &str| rest[symbol.len()..].starts_with(['(', '<', ' ']) || rest.len() == symbol.len();
    let symbol = OPERATORS.iter().find(|it| rest.starts_with(**it) && (!is_word(it) || ends(it)));
    match symbol {
        Some(symbol) => Some(WORD.len() + symbol.len()),
        None if rest.starts_with('=') => Some(WORD.len() + 1),
        None => (rest.starts_with(' ') || rest.starts_with('"')).then_some(WORD.len()),
    }
}

/// A text with template arguments folded, and nothing else.
fn folded(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        if next == '<' && !out.is_empty() && !out.ends_with([' ', '(']) {
            at = close(text, at)? + 1;
            out.push_str(FOLDED);
        } else {
            out.push(next);
            at += next.len_utf8();
        }
    }
    Some(out)
}

/// The position of what closes the bracket at `open`; none if nothing does. In round brackets `<` and `>` are comparisons.
fn close(text: &str, open: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut inside = Vec::new();
    let mut at = open;
    while let Some(&byte) = bytes.get(at) {
        let in_angle = inside.last().is_none_or(|open| *open == b'<');
        match byte {
            b'(' | b'[' | b'{' => inside.push(byte),
            // `(2)<(3)` is a comparison.
            b'<' if text[..at].ends_with(')') && !text[..at].ends_with("operator()") => {}
            b'<' if in_angle => inside.push(byte),
            b'>' if in_angle => drop(inside.pop()),
            b')' | b']' | b'}' => {
                let opened = inside.pop()?;
                let fits = matches!((opened, byte), (b'(', b')') | (b'[', b']') | (b'{', b'}'));
                if !fits {
                    return None;
                }
            }
            // A character as an argument.
            b'\'' if bytes.get(at + 2) == Some(&b'\'') => at += 2,
            b'-' if bytes.get(at + 1) == Some(&b'>') => at += 1,
            b'o' if in_angle && text[..at].ends_with([':', '&', '<', ' ']) => {
                if let Some(length) = operator(&text[at..]) {
                    at += length - 1;
                }
            }
            _ => {}
        }
        at += 1;
        if inside.is_empty() {
            return Some(at - 1);
        }
    }
    None
}

#[cfg(test)]
mod tests;
