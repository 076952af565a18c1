//! Numbers as people read them, for messages and for who shows them beside others.

/// Seconds with a unit that keeps three digits: `1.02 s`, `13.1 ms`.
pub fn seconds(value: f64) -> String {
    let (value, unit) = match value.abs() {
        0.0 => return "0 s".to_owned(),
        v if v >= 0.9995 => (value, "s"),
        v if v >= 0.9995e-3 => (value * 1e3, "ms"),
        v if v >= 0.9995e-6 => (value * 1e6, "µs"),
        _ => (value * 1e9, "ns"),
    };
    format!("{} {unit}", three_digits(value))
}

/// A number with three digits, more only before the point.
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
