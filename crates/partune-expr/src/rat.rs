//! Exact rational numbers of 128 bits, for coefficients and for values.
//!
//! Arithmetic never panics and never rounds: what does not fit, and what is divided by zero, is [`Rat::UNDEFINED`], which every
//! further operation keeps. So an expression is built without checks at each step, and asked once at the end.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A reduced fraction with a positive denominator, or undefined (denominator 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rat {
    num: i128,
    den: i128,
}

impl Rat {
    pub const ZERO: Rat = Rat { num: 0, den: 1 };
    pub const ONE: Rat = Rat { num: 1, den: 1 };
    /// The result of an overflow or of a division by zero.
    pub const UNDEFINED: Rat = Rat { num: 0, den: 0 };

    /// `num / den`; undefined if `den` is zero.
    pub fn new(num: i128, den: i128) -> Rat {
        if den == 0 || num == i128::MIN || den == i128::MIN {
            return Rat::UNDEFINED;
        }
        if den == 1 {
            return Rat::int(num);
        }
        let divisor = gcd(num, den).max(1) * den.signum();
        Rat { num: num / divisor, den: den / divisor }
    }

    pub const fn int(value: i128) -> Rat {
        Rat { num: value, den: 1 }
    }

    pub fn is_undefined(self) -> bool {
        self.den == 0
    }

    pub fn is_zero(self) -> bool {
        self == Rat::ZERO
    }

    pub fn is_one(self) -> bool {
        self == Rat::ONE
    }

    pub fn is_integer(self) -> bool {
        self.den == 1
    }

    /// The value, if it is an integer.
    pub fn to_int(self) -> Option<i128> {
        self.is_integer().then_some(self.num)
    }

    pub fn num(self) -> i128 {
        self.num
    }

    /// Zero if undefined.
    pub fn den(self) -> i128 {
        self.den
    }

    /// -1, 0 or 1; 0 if undefined.
    pub fn signum(self) -> i32 {
        self.num.signum() as i32
    }

    /// The nearest double; not a number if undefined.
    pub fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }

    /// The largest integer that is not greater.
    #[must_use]
    pub fn floor(self) -> Rat {
        if self.is_undefined() { self } else { Rat::int(self.num.div_euclid(self.den)) }
    }

    /// The smallest integer that is not less.
    #[must_use]
    pub fn ceil(self) -> Rat {
        -(-self).floor()
    }

    /// The largest power of two that is not greater, by its exponent; none of what is not positive.
    pub fn floor_log2(self) -> Option<i32> {
        if self.num <= 0 || self.den <= 0 {
            return None;
        }
        let bits = |value: i128| 128 - value.leading_zeros() as i32;
        let gap = bits(self.num) - bits(self.den);
        let reached = if gap >= 0 { self.num >= self.den << gap } else { self.num << -gap >= self.den };
        Some(if reached { gap } else { gap - 1 })
    }

    #[must_use]
    pub fn abs(self) -> Rat {
        if self.num < 0 { -self } else { self }
    }

    /// Exponentiation by squaring; undefined for zero to a negative power.
    #[must_use]
    pub fn pow(self, exponent: i64) -> Rat {
        let mut base = if exponent < 0 { Rat::ONE / self } else { self };
        if base == Rat::ONE || base.is_zero() {
            return if exponent == 0 { Rat::ONE } else { base };
        }
        let (mut left, mut result) = (exponent.unsigned_abs(), Rat::ONE);
        while left > 0 && !result.is_undefined() {
            if left & 1 == 1 {
                result = result * base;
            }
            left >>= 1;
            if left > 0 {
                base = base * base;
            }
        }
        result
    }

    /// The greatest rational of which both are integer multiples; for common factors.
    #[must_use]
    pub fn gcd(self, other: Rat) -> Rat {
        if self.is_zero() || other.is_zero() {
            return (self + other).abs();
        }
        let num = gcd(self.num, other.num);
        let den = gcd(self.den, other.den);
        let lcm = (self.den / den.max(1)).checked_mul(other.den);
        lcm.map_or(Rat::UNDEFINED, |lcm| Rat::new(num, lcm))
    }

    /// Reads `12`, `-3/4`, `1.5`, `2e-6`.
    pub fn parse(text: &str) -> Option<Rat> {
        if let Some((num, den)) = text.split_once('/') {
            let value = Rat::parse(num)? / Rat::parse(den)?;
            return (!value.is_undefined()).then_some(value);
        }
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = whole.strip_prefix(['-', '+']).unwrap_or(whole);
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if digits.len() + fraction.len() == 0 || !all_digits(digits) || !all_digits(fraction) {
            return None;
        }
        let number: i128 = format!("{digits}{fraction}").parse().ok()?;
        let number = if whole.starts_with('-') { -number } else { number };
        let scale = exponent.checked_sub(fraction.len() as i64)?;
        let value = Rat::int(number) * Rat::int(10).pow(scale.clamp(-400, 400));
        (!value.is_undefined()).then_some(value)
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    if a == 1 || b == 1 {
        return 1;
    }
    // Divisions of 64 bits are far cheaper, and nearly all numbers are small.
    if let (Ok(mut a), Ok(mut b)) = (u64::try_from(a), u64::try_from(b)) {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        return a.into();
    }
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.try_into().unwrap_or(1)
}

impl From<i64> for Rat {
    fn from(value: i64) -> Rat {
        Rat::int(value.into())
    }
}

impl Add for Rat {
    type Output = Rat;
    fn add(self, other: Rat) -> Rat {
        if self.den == 1 && other.den == 1 {
            return self.num.checked_add(other.num).map_or(Rat::UNDEFINED, Rat::int);
        }
        if self.den == 0 || other.den == 0 {
            return Rat::UNDEFINED;
        }
        let divisor = gcd(self.den, other.den).max(1);
        let sum = || {
            let left = self.num.checked_mul(other.den / divisor)?;
            let right = other.num.checked_mul(self.den / divisor)?;
            Some((left.checked_add(right)?, (self.den / divisor).checked_mul(other.den)?))
        };
        sum().map_or(Rat::UNDEFINED, |(num, den)| Rat::new(num, den))
    }
}

impl Neg for Rat {
    type Output = Rat;
    fn neg(self) -> Rat {
        Rat { num: self.num.wrapping_neg(), den: self.den }
    }
}

impl Sub for Rat {
    type Output = Rat;
    fn sub(self, other: Rat) -> Rat {
        self + -other
    }
}

impl Mul for Rat {
    type Output = Rat;
    fn mul(self, other: Rat) -> Rat {
        if self.den == 0 || other.den == 0 {
            return Rat::UNDEFINED;
        }
        if self.den == 1 && other.den == 1 {
            return self.num.checked_mul(other.num).map_or(Rat::UNDEFINED, |num| Rat::new(num, 1));
        }
        let (a, b) = (gcd(self.num, other.den).max(1), gcd(other.num, self.den).max(1));
        let num = (self.num / a).checked_mul(other.num / b);
        let den = (self.den / b).checked_mul(other.den / a);
        num.zip(den).map_or(Rat::UNDEFINED, |(num, den)| Rat::new(num, den))
    }
}

impl Div for Rat {
    type Output = Rat;
    #[allow(clippy::suspicious_arithmetic_impl)] // a fraction is divided by multiplying
    fn div(self, other: Rat) -> Rat {
        self * Rat::new(other.den, other.num)
    }
}

impl PartialOrd for Rat {
    fn partial_cmp(&self, other: &Rat) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By value; undefined comes first, so that sorting is total.
impl Ord for Rat {
    fn cmp(&self, other: &Rat) -> Ordering {
        if self.den == 0 || other.den == 0 || self.den == other.den {
            return self.den.min(1).cmp(&other.den.min(1)).then(self.num.cmp(&other.num));
        }
        if let (Some(left), Some(right)) = (self.num.checked_mul(other.den), other.num.checked_mul(self.den)) {
            return left.cmp(&right);
        }
        // The integer parts, then the reciprocals of the rests: exact, and ends as Euclid's algorithm does.
        let (a, b) = (self.floor(), other.floor());
        let rest = || (Rat::new(other.den, (*other - b).num), Rat::new(self.den, (*self - a).num));
        a.num.cmp(&b.num).then_with(|| {
            let (left, right) = rest();
            match (right.is_undefined(), left.is_undefined()) {
                (true, _) | (_, true) => (*self - a).num.signum().cmp(&(*other - b).num.signum()),
                _ => left.cmp(&right),
            }
        })
    }
}

impl fmt::Display for Rat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.den {
            0 => f.write_str("undefined"),
            1 => write!(f, "{}", self.num),
            den => write!(f, "{}/{den}", self.num),
        }
    }
}
