//! Numbers that other sizes of a program change: of PEs along a dimension, and of objects in a block.

use std::fmt::{self, Display};
use std::str::FromStr;

/// As written: a number, or a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    Of(u32),
    /// `"P"`: all PEs.
    Pes,
    /// `"P^(1/2)"`, `"2*P^(1/2)"`: along one of so many dimensions, in proportion to the others.
    Share {
        factor: f64,
        root: u32,
    },
    /// `"n/b"`: objects along the dimension by PEs along it, rounded up.
    Even,
}

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Of(number) => write!(f, "{number}"),
            Size::Pes => f.write_str("P"),
            Size::Even => f.write_str("n/b"),
            Size::Share { factor, root } => {
                if (factor - 1.0).abs() > 1e-9 {
                    write!(f, "{factor}*")?;
                }
                write!(f, "P^(1/{root})")
            }
        }
    }
}

/// Not a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSize;

impl FromStr for Size {
    type Err = NoSize;

    fn from_str(text: &str) -> Result<Size, NoSize> {
        let text: String = text.split_whitespace().collect();
        match text.as_str() {
            "P" => return Ok(Size::Pes),
            // What was meant before grids had more than one dimension.
            "n/b" | "n/P" => return Ok(Size::Even),
            _ => {}
        }
        if let Ok(number) = text.parse() {
            return if number > 0 { Ok(Size::Of(number)) } else { Err(NoSize) };
        }
        let (factor, power) = text.split_once('*').map_or(("1", text.as_str()), |parts| parts);
        let root = power.strip_prefix("P^(1/").and_then(|rest| rest.strip_suffix(')')).ok_or(NoSize)?;
        let (factor, root): (f64, u32) = (factor.parse().map_err(|_| NoSize)?, root.parse().map_err(|_| NoSize)?);
        let is_right = factor.is_finite() && factor > 0.0 && (1..=6).contains(&root);
        is_right.then_some(Size::Share { factor, root }).ok_or(NoSize)
    }
}
