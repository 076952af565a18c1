//! Small pictures in SVG: rasters of coloured runs, stacks, bars, axes. Sizes in pixels of a picture [`WIDTH`] wide.
//!
//! A raster is drawn as one path a colour: a row's neighbours of one colour are one stroke. That keeps 50,000 cells below half a
//! megabyte, whatever is in them.

use std::fmt::Write;

use maud::{Markup, PreEscaped, html};

use crate::names::seconds;

/// Width of a picture.
pub(super) const WIDTH: f64 = 960.0;
/// Where rows begin, right of their names.
pub(super) const LEFT: f64 = 76.0;

/// A raster: rows of cells, each with a colour or none.
pub(super) struct Raster {
    /// Left upper corner.
    pub(super) x: f64,
    pub(super) y: f64,
    /// Of the whole raster.
    pub(super) width: f64,
    pub(super) row_height: f64,
    /// Share of a row's height that is drawn, at its bottom.
    pub(super) fill: f64,
    pub(super) columns: usize,
}

impl Raster {
    /// Draws cells given as positions in `classes`.
    pub(super) fn draw(
        &self,
        classes: &[&str],
        rows: impl Iterator<Item = impl Iterator<Item = Option<usize>>>,
    ) -> Markup {
        let mut paths = vec![String::new(); classes.len()];
        for (row, cells) in rows.enumerate() {
            // Coordinates are in columns and rows; the transform makes pixels of them.
            let mut run: Option<(usize, usize, usize)> = None;
            let mut pens: Vec<Option<usize>> = vec![None; classes.len()];
            let mut flush = |(class, begin, end): (usize, usize, usize)| {
                let out = &mut paths[class];
                let _ = match pens[class] {
                    None => write!(out, "M{begin} {row}h{}", end - begin),
                    Some(pen) => write!(out, "m{} 0h{}", begin - pen, end - begin),
                };
                pens[class] = Some(end);
            };
            for (column, class) in cells.enumerate() {
                match (&mut run, class) {
                    (Some((of, _, end)), Some(class)) if *of == class => *end = column + 1,
                    (_, class) => {
                        if let Some(run) = run.take() {
                            flush(run);
                        }
                        run = class.map(|class| (class, column, column + 1));
                    }
                }
            }
            if let Some(run) = run {
                flush(run);
            }
        }
        let (sx, sy) = (self.width / self.columns.max(1) as f64, self.row_height);
        let middle = self.y + self.row_height * (1.0 - self.fill / 2.0);
        html! {
            g.runs transform={ "translate(" (px(self.x)) " " (px(middle)) ") scale(" (format!("{sx:.5}")) " " (px(sy)) ")" } stroke-width=(format!("{:.3}", self.fill)) {
                @for (class, path) in classes.iter().zip(&paths).filter(|(_, path)| !path.is_empty()) {
                    path class={ "s-" (class) } d=(PreEscaped(path)) {}
                }
            }
        }
    }
}

/// A picture with a name for those who cannot see it.
pub(super) fn picture(height: f64, name: &str, content: &Markup) -> Markup {
    sized(WIDTH, height, name, content)
}

pub(super) fn sized(width: f64, height: f64, name: &str, content: &Markup) -> Markup {
    html! { svg viewBox={ "0 0 " (px(width)) " " (px(height)) } width=(px(width)) height=(px(height)) role="img" aria-label=(name) { (content) } }
}

/// A picture with links in it: its parts are read out one by one.
pub(super) fn linked(height: f64, name: &str, content: &Markup) -> Markup {
    html! { svg viewBox={ "0 0 " (px(WIDTH)) " " (px(height)) } width=(px(WIDTH)) height=(px(height)) role="group" aria-label=(name) { (content) } }
}

/// A number of pixels, short.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

/// Text; `anchor` is start, middle or end.
pub(super) fn text(x: f64, y: f64, anchor: &str, class: &str, words: &str) -> Markup {
    html! { text x=(px(x)) y=(px(y)) text-anchor=(anchor) class=[(!class.is_empty()).then_some(class)] { (words) } }
}

/// A line of an axis.
pub(super) fn line(from: (f64, f64), to: (f64, f64)) -> Markup {
    html! { path.axis d=(format!("M{} {}L{} {}", px(from.0), px(from.1), px(to.0), px(to.1))) {} }
}

/// Round steps that divide a range into about so many parts: 1, 2 or 5 times a power of ten.
pub(super) fn ticks(range: f64, parts: f64) -> Vec<f64> {
    if range <= 0.0 || !range.is_finite() {
        return vec![0.0];
    }
    let raw = range / parts;
    let power = 10f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|it| it * power).find(|it| *it >= raw).unwrap_or(raw);
    (0..=(range / step * (1.0 + 1e-9)) as usize).map(|tick| tick as f64 * step).collect()
}

/// An axis of time below a picture that begins `offset` seconds after the run: its first label says that, the others count from there.
pub(super) fn time_axis(y: f64, range: f64, offset: f64) -> Markup {
    let at = |value: f64| LEFT + (WIDTH - LEFT) * value / range.max(f64::MIN_POSITIVE);
    let plus = if offset > 0.0 { "+" } else { "" };
    let label = |tick: f64| if tick == 0.0 { seconds(offset) } else { format!("{plus}{}", seconds(tick)) };
    html! {
        (line((LEFT, y), (WIDTH, y)))
        @for tick in ticks(range, 8.0).into_iter().filter(|tick| at(*tick) < WIDTH - 30.0) {
            (line((at(tick), y), (at(tick), y + 4.0)))
            (text(at(tick), y + 16.0, if tick == 0.0 { "start" } else { "middle" }, "small", &label(tick)))
        }
    }
}

/// Names of rows: as many as there is room for.
pub(super) fn row_names(y: f64, row_height: f64, names: &[String]) -> Markup {
    let each = (13.0 / row_height).ceil().max(1.0) as usize;
    html! {
        @for (row, name) in names.iter().enumerate().step_by(each) {
            (text(LEFT - 8.0, y + (row as f64 + 0.5) * row_height + 4.0, "end", "small", name))
        }
    }
}

/// Height of each of so many rows.
pub(super) fn row_height(rows: usize) -> f64 {
    (420.0 / rows.max(1) as f64).clamp(4.5, 22.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(ticks(10.7, 8.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!([ticks(0.0, 8.0), ticks(f64::NAN, 8.0)], [[0.0], [0.0]]);
    }

    #[test]
    fn neighbours_are_one_stroke() {
        let raster = Raster { x: 0.0, y: 0.0, width: 4.0, row_height: 1.0, fill: 1.0, columns: 4 };
        let cells = [vec![Some(0), Some(0), None, Some(0)], vec![Some(1); 4]];
        let text = raster.draw(&["a", "b"], cells.into_iter().map(Vec::into_iter)).into_string();
        assert!(text.contains("d=\"M0 0h2m1 0h1\"") && text.contains("class=\"s-b\" d=\"M0 1h4\""), "{text}");
    }
}
