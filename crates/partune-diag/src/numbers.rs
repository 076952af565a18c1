//! Numbers as people read them, for messages and for who shows them beside others.

/// Seconds with a unit that keeps three digits: `1.02 s`, `13.1 ms`, `−13.1 ms`.
pub fn seconds(value: f64) -> String {
    if value == 0.0 {
        return "0 s".to_owned();
    }
    let (scale, unit) = scale(value);
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{} {unit}", three_digits(value.abs() * scale))
}

/// The unit of a time that keeps three digits, and how many of it are a second.
pub fn scale(seconds: f64) -> (f64, &'static str) {
    match seconds.abs() {
        v if v >= 0.9995 => (1.0, "s"),
        v if v >= 0.9995e-3 => (1e3, "ms"),
        v if v >= 0.9995e-6 => (1e6, "µs"),
        _ => (1e9, "ns"),
    }
}

/// A number with three digits, more only before the point.
pub fn three_digits(value: f64) -> String {
    // Next to these limits: the number that is written 9.995 is a little less.
    let digits = match value.abs() {
        v if v >= 99.95 => 0,
        v if v > 9.995 => 1,
        _ => 2,
    };
    fixed(value, digits)
}

/// A number with so many digits after the point. A half of the last digit goes away from zero, as people and browsers round it; `format!` would
/// go to the even digit.
pub fn fixed(value: f64, digits: usize) -> String {
    // A binary fraction is such a half exactly if it is an odd multiple of this power of two.
    let multiple = value * f64::powi(2.0, digits as i32 + 1);
    let is_half = multiple.fract() == 0.0 && (multiple / 2.0).fract() != 0.0;
    let value = if is_half { value * (1.0 + f64::EPSILON) } else { value };
    format!("{value:.digits$}")
}
