//! Where couplings change: they have "a finite number of major value changes" over problem sizes and PEs (Taylor and others), and in between one
//! value serves all.
//!
//! Plateaus are the segmentation of least squares, found exactly by dynamic programming (Jackson and others 2005), whose number is chosen by the
//! Bayesian information criterion with three parameters for each further plateau: its value, and two for its begin, which was chosen among many
//! (Zhang and Siegmund 2007; with one as of Yao 1988, noise of unknown size makes steps in one constant series of six). A steady drift would be cut
//! into stairs by that; so polynomials up to the third degree in the logarithm of the position compete, and where one of them explains the series better,
//! nothing changes suddenly. A drift that has a step as well is cut into stairs.

use crate::error::{CouplingError, Subject};
use crate::measured::Measured;
use crate::segments::{Segments, polynomials};

/// What counts as a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The least standard deviation that values have around what explains them: a change must stand out from that. Couplings have no unit.
    pub noise: f64,
    /// Values of the shortest plateau: a single one could be a mishap.
    pub shortest: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { noise: 0.005, shortest: 2 }
    }
}

/// Neighbours that have one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// Its first value and their number, in order of positions.
    pub first: usize,
    pub count: usize,
    /// Their mean, and the standard deviation of another value of the plateau from it.
    pub mean: Measured,
}

/// What a series looks like.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// One plateau or more.
    Plateaus(Vec<Plateau>),
    /// It drifts, as a polynomial of this degree.
    Smooth { degree: usize },
}

/// A series of couplings in order of their positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Ascending; where several are equal, as given.
    at: Vec<f64>,
    values: Vec<Measured>,
    shape: Shape,
}

/// Where a position lies that was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// Inside of a plateau, or between two values of a drift.
    Inside,
    /// Between two plateaus: the nearer one is taken, and half of the difference added to what it may be off.
    Between,
    /// Before the first value or after the last one, whichever is taken.
    Beyond,
}

impl Course {
    /// A series over bytes of working set, PEs, or whatever else is positive and varies by factors. Values³ by the length of the shortest plateau,
    /// squared values of memory.
    pub fn of(at: &[f64], values: &[Measured], options: &Options) -> Result<Course, CouplingError> {
        let (given, needed) = (values.len(), at.len().max(1));
        if given != needed {
            return Err(CouplingError::Number { given, needed });
        }
        for (point, (at, value)) in at.iter().zip(values).enumerate() {
            Measured::exact(*at).check_positive(&Subject::Point(point))?;
            value.check(&Subject::Point(point))?;
            // Their squares are added up.
            let most = 2.0 * values.len() as f64 * value.value.abs().max(value.deviation);
            Measured::exact(most * most).check(&Subject::Point(point))?;
        }
        let mut order: Vec<usize> = (0..at.len()).collect();
        order.sort_by(|a, b| at[*a].total_cmp(&at[*b]).then(a.cmp(b)));
        let at: Vec<f64> = order.iter().map(|point| at[*point]).collect();
        let values: Vec<Measured> = order.iter().map(|point| values[*point]).collect();
        let shape = shape(&at, &values, options);
        Ok(Course { at, values, shape })
    }

    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Positions at which another plateau begins; none of a drift.
    pub fn changes(&self) -> Vec<f64> {
        match &self.shape {
            Shape::Plateaus(plateaus) => plateaus.iter().skip(1).map(|plateau| self.at[plateau.first]).collect(),
            Shape::Smooth { .. } => Vec::new(),
        }
    }

    /// The coupling at a position: that of its plateau; of a drift between its neighbours, by the logarithm of positions.
    pub fn at(&self, at: f64) -> Result<(Measured, Support), CouplingError> {
        Measured::exact(at).check_positive(&Subject::Position)?;
        Ok(match &self.shape {
            Shape::Plateaus(plateaus) => self.on_plateau(plateaus, at),
            Shape::Smooth { .. } => self.on_drift(at),
        })
    }

    fn on_plateau(&self, plateaus: &[Plateau], at: f64) -> (Measured, Support) {
        let ends = |plateau: &Plateau| (self.at[plateau.first], self.at[plateau.first + plateau.count - 1]);
        let next = plateaus.partition_point(|plateau| ends(plateau).1 < at);
        let before = next.checked_sub(1).map(|before| plateaus[before]);
        match (before, plateaus.get(next).copied()) {
            (_, Some(own)) if ends(&own).0 <= at => (own.mean, Support::Inside),
            (Some(before), Some(after)) => {
                let is_after = at / ends(&before).1 > ends(&after).0 / at;
                let Measured { value, deviation } = if is_after { after } else { before }.mean;
                let half = 0.5 * (before.mean.value - after.mean.value);
                (Measured { value, deviation: deviation.hypot(half) }, Support::Between)
            }
            (before, after) => (after.or(before).expect("a course has a value and so a plateau").mean, Support::Beyond),
        }
    }

    fn on_drift(&self, at: f64) -> (Measured, Support) {
        let next = self.at.partition_point(|known| *known < at);
        match (next.checked_sub(1), self.values.get(next)) {
            (_, Some(value)) if self.at[next] <= at => (*value, Support::Inside),
            (Some(before), Some(after)) => {
                let share = (at / self.at[before]).ln() / (self.at[next] / self.at[before]).ln();
                let (from, to) = (self.values[before], after);
                let deviation = ((1.0 - share) * from.deviation).hypot(share * to.deviation);
                (Measured { value: from.value + share * (to.value - from.value), deviation }, Support::Inside)
            }
            (_, Some(first)) => (*first, Support::Beyond),
            (_, None) => (*self.values.last().expect("a course has a value"), Support::Beyond),
        }
    }
}

fn shape(at: &[f64], values: &[Measured], options: &Options) -> Shape {
    let count = values.len() as f64;
    let known = values.iter().map(|value| value.deviation.powi(2)).sum::<f64>() / count;
    let least = known.max(options.noise.powi(2)).max(f64::MIN_POSITIVE);
    let criterion =
        |squares: f64, parameters: usize| count * (squares / count).max(least).ln() + parameters as f64 * count.ln();
    let segments = Segments::new(at, values, options.shortest.max(1));
    let smooth = |(degree, squares)| (criterion(squares, degree + 3), Shape::Smooth { degree: degree + 1 });
    let plateaus = |firsts: &[usize]| -> Vec<Plateau> {
        let until = firsts.iter().skip(1).copied().chain([values.len()]);
        firsts.iter().zip(until).map(|(first, until)| plateau(&segments, values, *first, until)).collect()
    };
    let stairs = |(squares, firsts): (f64, Vec<usize>)| {
        (criterion(squares, 3 * firsts.len() - 1), Shape::Plateaus(plateaus(&firsts)))
    };
    // The first of equals: what drifts is not cut.
    let all =
        polynomials(at, values).into_iter().enumerate().map(smooth).chain(segments.best().into_iter().map(stairs));
    all.min_by(|a, b| a.0.total_cmp(&b.0)).expect("one plateau is always possible").1
}

fn plateau(segments: &Segments, values: &[Measured], first: usize, until: usize) -> Plateau {
    let (count, own) = (until - first, &values[first..until]);
    let mean = own.iter().map(|value| value.value).sum::<f64>() / count as f64;
    let known = own.iter().map(|value| value.deviation.powi(2)).sum::<f64>() / count as f64;
    let seen = segments.squares(first, until) / (count.max(2) - 1) as f64;
    let deviation = (seen.max(known) * (1.0 + 1.0 / count as f64)).sqrt();
    Plateau { first, count, mean: Measured { value: mean, deviation } }
}
