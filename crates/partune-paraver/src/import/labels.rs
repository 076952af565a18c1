//! How Extrae writes functions and places of the source in labels.
//!
//! Long ones are shortened in the middle, with the whole in brackets after it: `__balanc..get_load [__balance_MOD_get_load]`. A place is a
//! line, and in parentheses the file and the module: `71 (balance.F90, epoch2d)`.

/// The whole of a label that may be shortened.
pub(super) fn whole(label: &str) -> &str {
    let label = label.trim();
    match label.split_once(" [") {
        Some((short, long)) if short.contains("..") => long.strip_suffix(']').unwrap_or(long),
        _ => label,
    }
}

/// The name of a function; `None` for what stands for an unknown one.
pub(super) fn function(label: &str) -> Option<&str> {
    let name = whole(label);
    let is_unknown =
        ["End", "Unresolved", "_NOT_Found", "NOT Found", "Not found", "(Unresolved)", "(_NOT_Found)"].contains(&name);
    (!name.is_empty() && !is_unknown).then_some(name)
}

/// File and line.
pub(super) fn place(label: &str) -> Option<(&str, u32)> {
    let (line, rest) = whole(label).split_once(" (")?;
    let line: u32 = line.trim().parse().ok().filter(|line| *line > 0)?;
    let inside = rest.strip_suffix(')').unwrap_or(rest);
    let file = inside.rsplit_once(',').map_or(inside, |(file, _)| file).trim();
    (!file.is_empty() && function(inside).is_some()).then_some((file, line))
}

/// What a counter is called: its short name, without the description in brackets.
pub(super) fn counter(label: &str) -> &str {
    label.split_once(" [").map_or(label, |(name, _)| name).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_in_real_traces() {
        assert_eq!(function("__balanc..get_load [__balance_MOD_get_load]"), Some("__balance_MOD_get_load"));
        assert_eq!(function("main [clone ._omp_fn.0]"), Some("main [clone ._omp_fn.0]"));
        assert_eq!([function("Unresolved"), function("_NOT_Found"), function("main")], [None, None, Some("main")]);
        assert_eq!(place("71 (balance.F90, epoch2d)"), Some(("balance.F90", 71)));
        assert_eq!(
            place("31 (current_..ooth.F90) [31 (current_smooth.F90, epoch2d)]"),
            Some(("current_smooth.F90", 31))
        );
        assert_eq!([place("0 (Unresolved)"), place("12"), place(""), place("7 (Unresolved)")], [None; 4]);
        assert_eq!(counter("PAPI_TOT_INS [Instr completed]"), "PAPI_TOT_INS");
    }
}
