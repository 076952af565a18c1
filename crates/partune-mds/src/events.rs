//! Events of a walk: when each was posted.

use partune_expr::Expr;
use partune_model::code::Value;
use partune_model::model::Model;
use partune_model::{Diagnostic, Span};

use crate::layout::int;
use crate::program::at;

/// Events of a model altogether.
const MAX_EVENTS: u64 = 1 << 26;

struct Shape {
    name: String,
    first: u64,
    /// First index and how many, one a dimension.
    ranges: Vec<(i64, u64)>,
}

pub(crate) struct Events {
    shapes: Vec<Shape>,
    /// Seconds; infinite where it is not posted.
    posted: Vec<f64>,
}

impl Events {
    pub(crate) fn new(model: &Model) -> Result<Events, Diagnostic> {
        let (mut shapes, mut count) = (Vec::new(), 0_u64);
        for event in &model.events {
            let range = |(lo, hi): &(Expr, Expr)| {
                let (lo, hi) = (int(model, lo, event.span)?, int(model, hi, event.span)?);
                Ok((lo, hi.saturating_sub(lo).saturating_add(1).max(0) as u64))
            };
            let ranges = event.dimensions.iter().map(range).collect::<Result<Vec<_>, Diagnostic>>()?;
            let own = ranges.iter().try_fold(1_u64, |own, range| own.checked_mul(range.1));
            shapes.push(Shape { name: event.name.clone(), first: count, ranges });
            match own.and_then(|own| own.checked_add(count)).filter(|count| *count <= MAX_EVENTS) {
                Some(more) => count = more,
                None => return Err(Diagnostic::error(event.span, format!("more than {MAX_EVENTS} events in all"))),
            }
        }
        Ok(Events { shapes, posted: vec![f64::INFINITY; count as usize] })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.posted.is_empty()
    }

    pub(crate) fn place(
        &self,
        event: usize,
        index: &[Value],
        variables: &[i64],
        span: Span,
    ) -> Result<usize, Diagnostic> {
        let shape = &self.shapes[event];
        let mut place = 0;
        for (value, (lo, length)) in index.iter().zip(&shape.ranges) {
            let index = value.int(variables).map_err(at(span))?;
            let offset = index.wrapping_sub(*lo) as u64;
            if offset >= *length {
                let last = lo.wrapping_add_unsigned(*length).wrapping_sub(1);
                let text = format!("`{}` has indices {lo} to {last}, not {index}", shape.name);
                return Err(Diagnostic::error(span, text));
            }
            place = place * length + offset;
        }
        Ok((shape.first + place) as usize)
    }

    /// Seconds; none where it is not posted.
    pub(crate) fn posted(&self, place: usize) -> Option<f64> {
        self.posted.get(place).copied().filter(|time| time.is_finite())
    }

    /// The first time counts.
    pub(crate) fn post(&mut self, place: usize, time: f64) {
        let posted = &mut self.posted[place];
        *posted = posted.min(time);
    }

    /// Nobody is left who could post it.
    pub(crate) fn never(&self, event: usize, span: Span) -> Diagnostic {
        let text = format!("`{}` is awaited, and nothing up to the end of the loop posts it", self.shapes[event].name);
        Diagnostic::error(span, text).help("loops are followed one after the other: post it in this one or before")
    }
}
