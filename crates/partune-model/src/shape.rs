//! Shapes of what has indices: which place each has among all of its kind.

use partune_expr::{Expr, Symbol};

use crate::code::Value;
use crate::diagnostic::{Diagnostic, Span};

/// Events that one model may have.
pub const MAX_EVENTS: u32 = 1 << 26;

/// A name with dimensions.
#[derive(Clone, Debug)]
pub struct Shape {
    pub name: String,
    /// First and last index of each dimension.
    pub dimensions: Vec<(i64, i64)>,
    /// The place of its first; see [`lay_out`].
    pub first: u32,
    pub span: Span,
}

/// Gives all shapes their first places; gives how many places there are. More than `most` are an error.
pub fn lay_out(shapes: &mut [Shape], most: u32, what: &str) -> Result<u32, Diagnostic> {
    let mut total: u32 = 0;
    for shape in shapes {
        shape.first = total;
        let next = shape.count().and_then(|count| total.checked_add(u32::try_from(count).ok()?));
        total = next
            .filter(|next| *next <= most)
            .ok_or_else(|| Diagnostic::error(shape.span, format!("more than {most} {what} in all")))?;
    }
    Ok(total)
}

/// Which of some shapes has a place.
pub(crate) fn at(shapes: &[Shape], place: u32) -> Option<(usize, &Shape)> {
    let number = shapes.partition_point(|shape| shape.first <= place).checked_sub(1)?;
    Some((number, shapes.get(number)?))
}

/// How many indices a range has.
fn extent((lo, hi): (i64, i64)) -> i64 {
    hi.wrapping_sub(lo).wrapping_add(1)
}

impl Shape {
    /// The shape of dimensions of a model with all parameters given; it has no place yet.
    pub fn new(name: &str, dimensions: &[(Expr, Expr)], span: Span) -> Result<Shape, Diagnostic> {
        let int = |e: &Expr| e.eval_int(&|_: &Symbol| None).map_err(|error| Diagnostic::error(span, error.to_string()));
        let dimensions = dimensions.iter().map(|(lo, hi)| Ok((int(lo)?, int(hi)?)));
        Ok(Shape { name: name.to_owned(), dimensions: dimensions.collect::<Result<_, Diagnostic>>()?, first: 0, span })
    }

    /// How many there are; none if nobody can count them.
    pub fn count(&self) -> Option<u64> {
        self.dimensions.iter().try_fold(1_u64, |count, &(lo, hi)| {
            let extent = (i128::from(hi) - i128::from(lo) + 1).max(0);
            // Of nothing, too, no more than can be counted along each dimension.
            count.checked_mul(i64::try_from(extent).ok()?.cast_unsigned())
        })
    }

    /// The index at a place.
    pub fn index(&self, place: u32) -> Vec<i64> {
        let mut rest = i64::from(place.saturating_sub(self.first));
        let mut index: Vec<i64> = Vec::new();
        for &(lo, hi) in self.dimensions.iter().rev() {
            let extent = extent((lo, hi)).max(1);
            index.push(lo + rest % extent);
            rest /= extent;
        }
        index.reverse();
        index
    }

    /// As it is written, with its index: `l[3]`.
    pub fn name(&self, place: u32) -> String {
        if self.dimensions.is_empty() { self.name.clone() } else { format!("{}[{}]", self.name, self.told(place)) }
    }

    /// The index at a place: `3,1`.
    pub fn told(&self, place: u32) -> String {
        self.index(place).iter().map(i64::to_string).collect::<Vec<_>>().join(",")
    }

    /// The place at an index.
    #[inline]
    pub fn place(&self, index: &[Value], variables: &[i64], span: Span) -> Result<u32, Diagnostic> {
        Ok(self.first.wrapping_add(self.offset(index, variables, span)? as u32))
    }

    /// The place at an index from the first one on, also where there are more than have places.
    #[inline]
    pub fn offset(&self, index: &[Value], variables: &[i64], span: Span) -> Result<i64, Diagnostic> {
        let mut place: i64 = 0;
        for (value, &(lo, hi)) in index.iter().zip(&self.dimensions) {
            let at = value.int(variables).map_err(|error| Diagnostic::error(span, error.to_string()))?;
            if at < lo || at > hi {
                let text = format!("`{}` has indices {lo} to {hi}, and {at} is used", self.name);
                return Err(Diagnostic::error(span, text));
            }
            // An empty dimension behind a long one is told next.
            place = place.saturating_mul(extent((lo, hi))).saturating_add(at.wrapping_sub(lo));
        }
        Ok(place)
    }
}
