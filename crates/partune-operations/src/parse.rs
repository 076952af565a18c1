//! From the text of a condition to a [`Condition`]. The grammar stands in docs/operations.md.

use partune_base::alike;
use partune_trace::Role;

use crate::condition::{Condition, Measure, PARTS, Relation};

/// What is wrong with a text, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// In bytes.
    pub at: usize,
    pub message: String,
    pub remedy: String,
}

/// Parentheses and `not` within each other.
const DEEPEST: u32 = 64;
/// What a condition may have at its begin and after `and`, `or` and `not`.
const FORMS: &str = "write role = …, construct = …, or a comparison of time, gap_before, waiting or bytes";

const MEASURES: [(&str, Measure); 5] = [
    ("time", Measure::Time),
    ("duration", Measure::Time),
    ("gap_before", Measure::GapBefore),
    ("waiting", Measure::Waiting),
    ("bytes", Measure::Bytes),
];
/// Parts of a second that a unit has.
const TIMES: [(&str, i128); 5] = [
    ("ns", PARTS / 1_000_000_000),
    ("us", PARTS / 1_000_000),
    ("µs", PARTS / 1_000_000),
    ("ms", PARTS / 1000),
    ("s", PARTS),
];
/// Bytes that a unit has.
const SIZES: [(&str, i128); 7] = [
    ("B", 1),
    ("kB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
/// Longer ones first.
const RELATIONS: [(&str, Relation); 6] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("!=", Relation::Unequal),
    ("<", Relation::Less),
    (">", Relation::More),
    ("=", Relation::Equal),
];

/// Reads a condition.
pub fn parse(text: &str) -> Result<Condition, Wrong> {
    let mut parser = Parser { text, at: 0 };
    let condition = parser.any(0)?;
    parser.space();
    if parser.rest().is_empty() {
        return Ok(condition);
    }
    Err(parser.wrong("the condition ends before this", "join conditions by and, or and parentheses"))
}

/// The known role of a name, unless code inside of it is the user's.
pub(crate) fn role(name: &str, at: usize) -> Result<Role, Wrong> {
    if let Some(role) = Role::ALL.into_iter().find(|role| role.name() == name) {
        if !role.is_transparent() {
            return Ok(role);
        }
        let message = format!("{name} is no role of operations: code inside of it is the program's own");
        return Err(Wrong { at, message, remedy: format!("write one of {}", roles()) });
    }
    let near = near(name, Role::ALL.into_iter().filter(|role| !role.is_transparent()).map(Role::name));
    let remedy = near.map_or_else(|| format!("write one of {}", roles()), |near| format!("write {near}"));
    Err(Wrong { at, message: format!("{name:?} is no role"), remedy })
}

/// The known word that is nearest, if it is near.
pub(crate) fn near<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    alike(word, known, 1).pop()
}

fn roles() -> String {
    let names: Vec<&str> = Role::ALL.into_iter().filter(|role| !role.is_transparent()).map(Role::name).collect();
    names.join(", ")
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    /// Conditions joined by `or`.
    fn any(&mut self, depth: u32) -> Result<Condition, Wrong> {
        let mut parts = vec![self.all(depth)?];
        while self.keyword("or") {
            parts.push(self.all(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::Any(parts) })
    }

    /// Conditions joined by `and`.
    fn all(&mut self, depth: u32) -> Result<Condition, Wrong> {
        let mut parts = vec![self.one(depth)?];
        while self.keyword("and") {
            parts.push(self.one(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) })
    }

    fn one(&mut self, depth: u32) -> Result<Condition, Wrong> {
        self.space();
        if depth > DEEPEST {
            return Err(
                self.wrong("parentheses and not are nested too deeply", "write the condition with fewer of them")
            );
        }
        if self.keyword("not") {
            return Ok(Condition::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.sign("(") {
            let inside = self.any(depth + 1)?;
            self.space();
            return if self.sign(")") {
                Ok(inside)
            } else {
                Err(self.wrong("a ) is missing", "close the parenthesis"))
            };
        }
        let begin = self.at;
        match self.peek_word() {
            "role" => {
                self.at += "role".len();
                let is = self.is()?;
                self.space();
                let at = self.at;
                let name = self.name("a role")?;
                Ok(is.of(Condition::Role(role(&name, at)?)))
            }
            "construct" => {
                self.at += "construct".len();
                let is = self.is()?;
                self.space();
                let name = self.name("the name of a construct or function")?;
                let open = name.ends_with('*');
                let name = name.strip_suffix('*').map(ToOwned::to_owned).unwrap_or(name);
                Ok(is.of(Condition::Construct { name, open }))
            }
            _ => {
                let one = self.measure()?;
                let relation = self.relation()?;
                self.space();
                let at = self.at;
                let two = self.measure()?;
                let (one, two) = (one.beside(two), two.beside(one));
                if one.is_time() == two.is_time() {
                    return Ok(Condition::Compare(one, relation, two));
                }
                let remedy = "compare times with times (ns, us, ms, s) and bytes with bytes (B, kB, KiB, …)";
                let at = if one.is_time() { at } else { begin.max(at) };
                Err(Wrong {
                    at,
                    message: "a time is compared with a number of bytes".to_owned(),
                    remedy: remedy.to_owned(),
                })
            }
        }
    }

    /// `=` or `!=`.
    fn is(&mut self) -> Result<Is, Wrong> {
        self.space();
        let at = self.at;
        match self.relation()? {
            Relation::Equal => Ok(Is(true)),
            Relation::Unequal => Ok(Is(false)),
            Relation::Less | Relation::AtMost | Relation::AtLeast | Relation::More => {
                self.at = at;
                Err(self.wrong("names have no order", "write = or !="))
            }
        }
    }

    fn relation(&mut self) -> Result<Relation, Wrong> {
        self.space();
        let found = RELATIONS.iter().find(|(sign, _)| self.rest().starts_with(sign));
        let Some((sign, relation)) = found else {
            return Err(self.wrong("a comparison is missing", "write =, !=, <, <=, > or >="));
        };
        self.at += sign.len();
        Ok(*relation)
    }

    fn measure(&mut self) -> Result<Measure, Wrong> {
        self.space();
        if self.rest().starts_with(|sign: char| sign.is_ascii_digit()) {
            return self.number();
        }
        let word = self.peek_word();
        if let Some((_, measure)) = MEASURES.iter().find(|(name, _)| *name == word) {
            self.at += word.len();
            return Ok(*measure);
        }
        let known = ["role", "construct"].into_iter().chain(MEASURES.iter().map(|it| it.0));
        let remedy = near(word, known).map_or_else(|| FORMS.to_owned(), |near| format!("write {near}"));
        let message = match word {
            "" if self.rest().is_empty() => "the condition ends too early".to_owned(),
            "" => "this is not part of a condition".to_owned(),
            word => format!("{word:?} is nothing that is known of an operation"),
        };
        Err(Wrong { at: self.at, message, remedy })
    }

    /// A number with its unit; only nothing has none.
    fn number(&mut self) -> Result<Measure, Wrong> {
        let begin = self.at;
        let length = self.rest().find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(self.rest().len());
        let digits = &self.rest()[..length];
        self.at += length;
        let end = self.at;
        self.space();
        let unit = self.peek_word();
        let time = TIMES.iter().find(|(name, _)| *name == unit).map(|(_, parts)| (true, *parts));
        let size = SIZES.iter().find(|(name, _)| *name == unit).map(|(_, bytes)| (false, bytes * PARTS));
        let Some((is_time, factor)) = time.or(size) else {
            if !digits.is_empty() && digits.bytes().all(|digit| digit == b'0') {
                self.at = end;
                return Ok(Measure::Seconds(0));
            }
            let message =
                if unit.is_empty() { "the number has no unit".to_owned() } else { format!("{unit:?} is no unit") };
            return Err(
                self.wrong(&message, "write ns, us, ms or s after a time; B, kB, MB, GB, KiB, MiB or GiB after bytes")
            );
        };
        self.at += unit.len();
        let Some(parts) = exact(digits, factor) else {
            let message = format!("{digits} is no number, or too large or too exact");
            return Err(Wrong {
                at: begin,
                message,
                remedy: "write digits, and a point if need be: 2 or 0.5".to_owned(),
            });
        };
        Ok(if is_time { Measure::Seconds(parts) } else { Measure::Amount(parts) })
    }

    /// A word, or what stands between quotation marks.
    fn name(&mut self, what: &str) -> Result<String, Wrong> {
        for mark in ['"', '\''] {
            let Some(inside) = self.rest().strip_prefix(mark) else { continue };
            let Some((name, _)) = inside.split_once(mark) else {
                return Err(self.wrong("the name does not end", "close the quotation marks"));
            };
            self.at += name.len() + 2;
            return Ok(name.to_owned());
        }
        let word = self.rest();
        let length = word.find(|sign: char| sign.is_whitespace() || "()=<>!\"'".contains(sign)).unwrap_or(word.len());
        if length == 0 {
            return Err(self.wrong(
                &format!("{what} is missing"),
                "write it here, in quotation marks if it has blanks or parentheses",
            ));
        }
        self.at += length;
        Ok(word[..length].to_owned())
    }

    /// Takes a word that joins conditions, if it is next.
    fn keyword(&mut self, word: &str) -> bool {
        self.space();
        let is_next = self.peek_word() == word;
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn sign(&mut self, sign: &str) -> bool {
        let is_next = self.rest().starts_with(sign);
        self.at += if is_next { sign.len() } else { 0 };
        is_next
    }

    fn peek_word(&self) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|sign: char| !sign.is_alphanumeric() && sign != '_').unwrap_or(rest.len());
        &rest[..length]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn wrong(&self, message: &str, remedy: &str) -> Wrong {
        Wrong { at: self.at, message: message.to_owned(), remedy: remedy.to_owned() }
    }
}

impl Measure {
    /// Nothing is nothing of whatever it is compared with.
    fn beside(self, other: Measure) -> Measure {
        if self == Measure::Seconds(0) && !other.is_time() { Measure::Amount(0) } else { self }
    }
}

/// Whether it is, or is not.
struct Is(bool);

impl Is {
    fn of(self, condition: Condition) -> Condition {
        if self.0 { condition } else { Condition::Not(Box::new(condition)) }
    }
}

/// A decimal number times a factor, if that is a whole number that can be computed with.
fn exact(digits: &str, factor: i128) -> Option<i128> {
    /// Comparisons multiply by ticks per second.
    const MOST: i128 = 1_000_000_000_000_000_000_000_000_000;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || digits.ends_with('.') || fraction.contains('.') || digits.len() > 30 {
        return None;
    }
    let scale = 10_i128.checked_pow(fraction.len() as u32)?;
    let number: i128 = format!("{whole}{fraction}").parse().ok()?;
    let scaled = number.checked_mul(factor)?;
    (scaled % scale == 0 && scaled / scale <= MOST).then_some(scaled / scale)
}
