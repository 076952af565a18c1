//! Events of a walk: when each was posted.

use partune_model::code::Value;
use partune_model::model::Model;
use partune_model::shape::{MAX_EVENTS, Shape, lay_out};
use partune_model::{Diagnostic, Span};

use crate::layout::int;

pub(crate) struct Events {
    shapes: Vec<Shape>,
    /// Seconds; infinite where it is not posted.
    posted: Vec<f64>,
}

impl Events {
    pub(crate) fn new(model: &Model) -> Result<Events, Diagnostic> {
        let mut shapes = Vec::new();
        for event in &model.events {
            let ranges = event.dimensions.iter();
            let ranges = ranges.map(|(lo, hi)| Ok((int(model, lo, event.span)?, int(model, hi, event.span)?)));
            let dimensions = ranges.collect::<Result<_, Diagnostic>>()?;
            shapes.push(Shape { name: event.name.clone(), dimensions, first: 0, span: event.span });
        }
        let count = lay_out(&mut shapes, MAX_EVENTS, "events")?;
        Ok(Events { shapes, posted: vec![f64::INFINITY; count as usize] })
    }

    pub(crate) fn name(&self, event: usize) -> &str {
        &self.shapes[event].name
    }

    pub(crate) fn place(
        &self,
        event: usize,
        index: &[Value],
        variables: &[i64],
        span: Span,
    ) -> Result<usize, Diagnostic> {
        self.shapes[event].place(index, variables, span).map(|place| place as usize)
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
}
