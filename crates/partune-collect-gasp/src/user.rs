//! Events of the program's own (`pupc_create_event`): a name, and values as `printf` would write them.

use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};

use partune_collect::{definitions, gauge};

use crate::arguments::Arguments;
use crate::events::USERS;
use crate::thread::text;

/// An event that the program has created. Its values are those of its begins.
#[derive(Debug)]
pub(crate) struct UserEvent {
    pub(crate) name: &'static str,
    description: &'static str,
    values: Vec<Value>,
}

/// One that is a number has a gauge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Signed(u32, Width),
    Unsigned(u32, Width),
    Float(u32),
    /// A string, or a width that is an argument.
    Other(Width),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    Int,
    Long,
}

static CREATED: Mutex<Vec<&'static UserEvent>> = Mutex::new(Vec::new());

/// The number of an event with a name and a description, which is the same for the same ones; 0 if there are too many.
///
/// # Safety
/// Both are strings that last, or null.
pub(crate) unsafe fn create(name: *const c_char, description: *const c_char) -> u32 {
    // SAFETY: as the caller says.
    let [name, description] = unsafe { [copy(name), copy(description)] };
    let mut created = CREATED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = created.iter().position(|event| event.name == name && event.description == description);
    let at = known.unwrap_or_else(|| {
        let values = values(description, |at| {
            let name = if at == 0 { name.to_owned() } else { format!("{name}, value {}", at + 1) };
            definitions::gauge("#", &name)
        });
        created.push(Box::leak(Box::new(UserEvent { name, description, values })));
        created.len() - 1
    });
    let number = USERS.start + at as u32;
    if USERS.contains(&number) { number } else { 0 }
}

/// The program may give its memory back.
unsafe fn copy(of: *const c_char) -> &'static str {
    // SAFETY: as the caller says.
    Box::leak(unsafe { text(of) }.to_owned().into_boxed_str())
}

/// Those that a thread knows of all that were created.
#[derive(Debug, Default)]
pub(crate) struct Known(Vec<&'static UserEvent>);

impl Known {
    pub(crate) fn find(&mut self, number: u32) -> Option<&'static UserEvent> {
        let at = number.checked_sub(USERS.start)? as usize;
        if at >= self.0.len() {
            self.0.clone_from(&CREATED.lock().unwrap_or_else(PoisonError::into_inner));
        }
        self.0.get(at).copied()
    }
}

impl UserEvent {
    /// # Safety
    /// The arguments are those that the description names.
    pub(crate) unsafe fn tell(&self, arguments: Arguments) {
        let mut arguments = arguments;
        for value in &self.values {
            // SAFETY: as the caller says.
            unsafe {
                match *value {
                    Value::Signed(metric, Width::Int) => gauge(metric, arguments.int().into()),
                    Value::Signed(metric, Width::Long) => gauge(metric, arguments.size() as i64 as f64),
                    Value::Unsigned(metric, Width::Int) => gauge(metric, (arguments.int() as u32).into()),
                    Value::Unsigned(metric, Width::Long) => gauge(metric, arguments.size() as f64),
                    Value::Float(metric) => gauge(metric, arguments.double()),
                    Value::Other(Width::Int) => drop(arguments.int()),
                    Value::Other(Width::Long) => drop(arguments.size()),
                }
            }
        }
    }
}

/// The values that a format names, each number with what `metric` says for its position. From one on that is not understood there are none.
fn values(format: &str, mut metric: impl FnMut(usize) -> u32) -> Vec<Value> {
    let mut values = Vec::new();
    let mut numbers = 0;
    let mut rest = format.split('%').skip(1);
    while let Some(conversion) = rest.next() {
        // Two of them stand for one that is written.
        if conversion.is_empty() {
            rest.next();
            continue;
        }
        let conversion = conversion.trim_start_matches(['-', '+', ' ', '#', '\'', '0']);
        let is_size = |letter: char| letter.is_ascii_digit() || letter == '.' || letter == '*';
        let (size, kind) = conversion.split_at(conversion.find(|letter| !is_size(letter)).unwrap_or(conversion.len()));
        values.extend(size.matches('*').map(|_| Value::Other(Width::Int)));
        let short = kind.trim_start_matches('h');
        let long = short.trim_start_matches(['l', 'j', 'z', 't', 'q']);
        let width = if long.len() < short.len() { Width::Long } else { Width::Int };
        let mut next = || {
            numbers += 1;
            metric(numbers - 1)
        };
        values.push(match long.chars().next() {
            Some('d' | 'i') => Value::Signed(next(), width),
            Some('u' | 'x' | 'X' | 'o' | 'c') => Value::Unsigned(next(), width),
            Some('p') => Value::Unsigned(next(), Width::Long),
            Some('f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A') => Value::Float(next()),
            Some('s') => Value::Other(Width::Long),
            _ => break,
        });
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_that_a_format_names() {
        let of = |format| values(format, |at| at as u32);
        assert_eq!(of("no values"), []);
        let expected = [
            Value::Signed(0, Width::Int),
            Value::Other(Width::Long),
            Value::Float(1),
            Value::Unsigned(2, Width::Long),
            Value::Other(Width::Int),
            Value::Signed(3, Width::Long),
        ];
        assert_eq!(of("row %d of %s takes %8.3f s (100 %%), %zu bytes, %*lld"), expected);
        assert_eq!(of("%d %Lf %d"), [Value::Signed(0, Width::Int)], "a long double is elsewhere");
    }
}
