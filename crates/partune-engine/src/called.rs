//! Which functions somebody means who names one: by the symbol, or by as much of its readable name as they like.

/// A function by its readable name, in parts.
struct Called<'a> {
    /// Namespaces and types around it, and its own name at last, each with what is in its angle brackets.
    scopes: Vec<&'a str>,
    /// What is in its parentheses, with them; nothing if it has none.
    arguments: &'a str,
}

impl<'a> Called<'a> {
    fn read(text: &'a str) -> Called<'a> {
        let (bytes, mut scopes) = (text.as_bytes(), Vec::new());
        let (mut depth, mut start, mut at) = (0_usize, 0, 0);
        let mut end = text.len();
        let mut arguments = "";
        while at < bytes.len() {
            // Signs of an operator's name are no brackets.
            if at == start && text[at..].starts_with("operator") {
                at += "operator".len();
                let is_call = text[at..].starts_with("()");
                at += if is_call { 2 } else { bytes[at..].iter().take_while(|it| b"<>=-".contains(it)).count() };
                continue;
            }
            match bytes[at] {
                b'(' if depth == 0 && at > start => {
                    end = at;
                    arguments = text[at..].rfind(')').map_or(&text[at..], |last| &text[at..=at + last]);
                    break;
                }
                b'<' | b'(' => depth += 1,
                b'>' | b')' => depth = depth.saturating_sub(1),
                b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') => {
                    scopes.push(&text[start..at]);
                    at += 1;
                    start = at + 1;
                }
                // What it returns is before it.
                b' ' if depth == 0 && !text[start..].starts_with("operator") => {
                    scopes.clear();
                    start = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        scopes.push(&text[start.min(end)..end]);
        Called { scopes, arguments }
    }

    /// Without what it returns, its types and its arguments.
    fn short(&self) -> String {
        self.scopes.iter().map(|scope| bare(scope)).collect::<Vec<_>>().join("::")
    }
}

/// A name without what is in its angle brackets.
fn bare(name: &str) -> &str {
    if name.starts_with("operator") { name } else { name.split('<').next().unwrap_or(name) }
}

/// Whether a function, by its symbol and by its readable name, is one that somebody wants: by either of them, or by the last of its scopes, with or without
/// what is in angle brackets, and with or without its arguments. Compilers append to names, and those of Fortran an underscore.
pub(crate) fn is_called(symbol: &str, readable: &str, wanted: &str) -> bool {
    if wanted == symbol || wanted == readable {
        return true;
    }
    let (function, wanted) = (Called::read(readable), Called::read(wanted));
    let dense = |text: &str| text.replace(' ', "");
    if !wanted.arguments.is_empty() && dense(wanted.arguments) != dense(function.arguments) {
        return false;
    }
    let Some(before) = function.scopes.len().checked_sub(wanted.scopes.len()) else { return false };
    let is_last = |scope: &str, wanted: &str| {
        let whole = scope.split('.').next().unwrap_or(scope);
        whole == wanted || whole.strip_suffix('_') == Some(wanted)
    };
    function.scopes[before..].iter().zip(&wanted.scopes).enumerate().all(|(at, (scope, wanted))| {
        dense(scope) == dense(wanted)
            || bare(scope) == *wanted
            || at + 1 == function.scopes.len() - before && is_last(scope, wanted)
    })
}

/// Of readable names the one that is most like what was wanted, as short as it can be given.
pub(crate) fn nearest<'a>(names: impl Iterator<Item = &'a str>, wanted: &str) -> Option<String> {
    let last = |name: &str| name.rsplit("::").next().map_or(0, |last| strsim::levenshtein(last, wanted));
    let near = |name: &String| strsim::levenshtein(name, wanted).min(last(name));
    names.map(|name| Called::read(name).short()).min_by_key(near)
}

#[cfg(test)]
mod tests {
    use super::{is_called, nearest};

    #[test]
    fn a_function_is_called_by_as_much_of_its_name_as_one_likes() {
        let members = "double ns::V<double>::sum(double const*, std::pair<int, (lambda)#1>) const";
        let right = [
            "sum",
            "V::sum",
            "V<double>::sum",
            "ns::V<double>::sum",
            "ns::V::sum",
            "sum(double const*, std::pair<int, (lambda)#1>)",
            "ns::V<double>::sum(double const*,std::pair<int,(lambda)#1>)",
            "_ZNK1",
        ];
        for wanted in right {
            assert!(is_called("_ZNK1", members, wanted), "{wanted}");
        }
        for wanted in ["V", "ns", "V<float>::sum", "um", "A::sum", "sum(int)", "x::ns::V::sum", ""] {
            assert!(!is_called("_ZNK1", members, wanted), "{wanted}");
        }
        assert!(
            is_called("a", "void tt<double>(double*)", "tt")
                && is_called("a", "void tt<double>(double*)", "tt<double>")
        );
        assert!(is_called("f", "(anonymous namespace)::f(int)", "f"));
        assert!(is_called("f", "(anonymous namespace)::f(int)", "(anonymous namespace)::f"));
        assert!(is_called("o", "A::operator()(int) const", "operator()"));
        assert!(is_called("o", "A::operator<(A const&)", "A::operator<"));
        assert!(is_called("o", "A::operator double() const", "A::operator double"));
        assert!(is_called("work.constprop.0", "work.constprop.0", "work"));
        assert!(is_called("fabs_", "fabs", "fabs_") && is_called("__m_MOD_lap", "m::lap", "lap"));
    }

    #[test]
    fn the_nearest_name_can_be_given_again() {
        let names = ["ns::V<double>::sum(int) const", "main"];
        let near = nearest(names.into_iter(), "summ").expect("there are two");
        assert_eq!(near, "ns::V::sum");
        assert!(is_called("", names[0], &near));
    }
}
