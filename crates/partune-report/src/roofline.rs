//! Loops under the ceilings of a machine: a part of the document of `partune kernel --elements`, a line of its text, and the picture of `--roofline`.

use std::fmt::Write;

use partune_base::printable;
use partune_engine::{Ceilings, Kernel, LoopBounds, Loops, Roof, Roofline};
use schemars::JsonSchema;
use serde::Serialize;

use crate::machine::rate;
use crate::names::{base_name, fixed, three_digits};
use crate::runs::plural;

/// What the machine can do at most. Operations are floating-point ones on numbers of eight bytes, a second.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CeilingsEntry {
    /// Of one core, and of all PEs of the machine's file together.
    peak: f64,
    peak_all: f64,
    /// Bytes a second between one core and each level, nearest first.
    levels: Vec<CeilingEntry>,
    /// Bytes a second between memory and all PEs together.
    memory_all: f64,
}

#[derive(Serialize, JsonSchema)]
struct CeilingEntry {
    /// `L1`, `L2`, …, `memory`.
    name: String,
    /// Of lines that are only loaded from.
    load: f64,
    /// Of lines that are stored to: both ways together.
    store: f64,
}

/// Where a loop is below the ceilings.
#[derive(Serialize, JsonSchema)]
pub(crate) struct RooflineEntry {
    /// Nearest first; what comes from farther away passes each that is nearer.
    levels: Vec<PassedEntry>,
    /// Operations a second at most, by arithmetic alone, on numbers such as the loop has.
    peak: f64,
    /// Operations a second at most, and what binds: `peak`, `L1`, `L2`, …, `memory`.
    most: f64,
    binds: String,
    /// The same of all PEs together, each with data of its own: by arithmetic and memory, since caches were measured by one core.
    most_all: f64,
    binds_all: String,
    /// Operations a second by the bound `I`; null without it.
    bound: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct PassedEntry {
    name: String,
    /// That pass between the core and this level for one turn of the source's loop.
    bytes: f64,
    /// Operations for each of them; null where nothing passes.
    intensity: Option<f64>,
    /// Operations a second at most.
    most: Option<f64>,
}

pub(crate) fn ceilings_entry(ceilings: &Ceilings) -> CeilingsEntry {
    let levels = ceilings.levels.len();
    let level = |(at, it): (usize, &partune_engine::Ceiling)| CeilingEntry {
        name: level_name(at, levels),
        load: it.load,
        store: it.store,
    };
    CeilingsEntry {
        peak: ceilings.flops,
        peak_all: ceilings.flops_all,
        levels: ceilings.levels.iter().enumerate().map(level).collect(),
        memory_all: ceilings.memory_all,
    }
}

pub(crate) fn roofline_entry(it: &Roofline, kernel: &Kernel) -> RooflineEntry {
    let levels = it.levels.len();
    let passed = |(at, passed): (usize, &partune_engine::Passing)| PassedEntry {
        name: level_name(at, levels),
        bytes: passed.bytes,
        intensity: passed.intensity(kernel),
        most: passed.most,
    };
    RooflineEntry {
        levels: it.levels.iter().enumerate().map(passed).collect(),
        peak: it.peak,
        most: it.most.0,
        binds: roof_name(it.most.1, levels),
        most_all: it.most_all.0,
        binds_all: roof_name(it.most_all.1, levels),
        bound: it.bound,
    }
}

/// `at most 3.10 Gflop/s of 60.2 Gflop/s: memory binds, at 0.083 flop/B from memory; the bound I allows 2.90 Gflop/s; all PEs at most 5.20 Gflop/s: memory binds`.
pub(crate) fn roofline_line(it: &Roofline, kernel: &Kernel) -> String {
    let bound = it.bound.map_or_else(String::new, |bound| format!("; the bound I allows {}", rate(bound, FLOPS)));
    let binds = roof_name(it.most_all.1, it.levels.len());
    format!("{}{bound}; all PEs at most {}: {binds} binds", of_one(it, kernel), rate(it.most_all.0, FLOPS))
}

/// What one core is allowed, and by which roof.
fn of_one(it: &Roofline, kernel: &Kernel) -> String {
    let levels = it.levels.len();
    let intensity = match it.most.1 {
        Roof::Peak => farthest(it, kernel)
            .map(|(at, value)| format!(", with {} flop/B from {}", three(value), level_name(at, levels))),
        Roof::Level(at) => it.levels[at]
            .intensity(kernel)
            .map(|value| format!(", at {} flop/B from {}", three(value), level_name(at, levels))),
    };
    let (most, peak) = (rate(it.most.0, FLOPS), rate(it.peak, FLOPS));
    format!("at most {most} of {peak}: {} binds{}", roof_name(it.most.1, levels), intensity.unwrap_or_default())
}

const FLOPS: &str = "flop/s";

/// The farthest level that anything passes from, and operations for each byte.
fn farthest(it: &Roofline, kernel: &Kernel) -> Option<(usize, f64)> {
    it.levels.iter().enumerate().rev().find_map(|(at, passed)| Some((at, passed.intensity(kernel)?)))
}

fn three(value: f64) -> String {
    if value < 0.1 { fixed(value, 3) } else { three_digits(value) }
}

fn level_name(at: usize, levels: usize) -> String {
    if at + 1 == levels { "memory".to_owned() } else { format!("L{}", at + 1) }
}

fn roof_name(roof: Roof, levels: usize) -> String {
    match roof {
        Roof::Peak => "peak".to_owned(),
        Roof::Level(at) => level_name(at, levels),
    }
}

/// Of the picture, in its units: the sheet, the field of the graph in it, and a line of what is told below.
const WIDTH: f64 = 860.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 840.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 480.0;
const ROW: f64 = 18.0;

/// Where values lie in the field: both axes are logarithmic.
struct Field {
    x: (f64, f64),
    y: (f64, f64),
}

impl Field {
    fn x(&self, value: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * part(self.x, value)
    }

    fn y(&self, value: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * part(self.y, value)
    }
}

fn part((first, last): (f64, f64), value: f64) -> f64 {
    ((value / first).log10() / (last / first).log10()).clamp(0.0, 1.0)
}

/// Loops as points under the roofs, as a drawing of SVG: operations a second by operations for each byte, each loop at the level that binds it, or at the farthest
/// that it has bytes from. At the bound I, with a line up to its roof; those of `loops` that have a roofline, at most so many. None without caches.
pub(crate) fn roofline_picture(loops: &Loops, chosen: &[&LoopBounds]) -> Option<String> {
    let ceilings = loops.ceilings.as_ref()?;
    let points: Vec<(&LoopBounds, &Roofline)> =
        chosen.iter().filter_map(|it| Some((*it, it.finite.as_ref()?.as_ref().ok()?.roofline.as_ref()?))).collect();
    let place = |it: &LoopBounds, roofline: &Roofline| match roofline.most.1 {
        Roof::Peak => farthest(roofline, &it.kernel).map(|(_, intensity)| intensity),
        Roof::Level(at) => roofline.levels[at].intensity(&it.kernel),
    };
    let ridges = || ceilings.levels.iter().map(|level| ceilings.flops / level.load);
    let intensities: Vec<f64> =
        points.iter().filter_map(|(it, roofline)| place(it, roofline)).chain(ridges()).collect();
    let (least, most) = ends(intensities);
    let rates = points.iter().map(|(_, it)| it.bound.unwrap_or(it.most.0));
    let memory = ceilings.levels.last().map_or(ceilings.memory_all, |level| level.load);
    let peaks = points.iter().map(|(_, it)| it.peak).chain([ceilings.flops, ceilings.flops_all]);
    let (slowest, highest) = ends(rates.chain(peaks).chain([memory * least / 2.0]).collect());
    let field = Field { x: (least / 2.0, most * 4.0), y: (slowest / 2.0, highest * 2.0) };

    let mut out = String::new();
    let height = BOTTOM + 60.0 + ROW * (points.len() as f64 + 1.0);
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n\
         <title>Roofline of {} on {}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
        plural(points.len(), "loop", "loops"),
        escaped(&loops.core.name)
    );
    axes(&mut out, &field);
    for (at, level) in ceilings.levels.iter().enumerate() {
        let name = level_name(at, ceilings.levels.len());
        roof(&mut out, &field, (&name, level.load), ceilings.flops, "");
    }
    label(&mut out, (RIGHT, field.y(ceilings.flops) - 4.0), "end", &format!("peak {}", rate(ceilings.flops, FLOPS)));
    if ceilings.flops_all > ceilings.flops {
        roof(
            &mut out,
            &field,
            ("memory, all PEs", ceilings.memory_all),
            ceilings.flops_all,
            " stroke-dasharray=\"6 3\"",
        );
        let all = format!("peak of all PEs {}", rate(ceilings.flops_all, FLOPS));
        label(&mut out, (RIGHT, field.y(ceilings.flops_all) - 4.0), "end", &all);
    }
    for (number, (it, roofline)) in points.iter().enumerate() {
        let y = BOTTOM + 60.0 + ROW * number as f64;
        let name = if it.line > 0 {
            format!("{} ({}:{})", it.function, base_name(&it.file), it.line)
        } else {
            it.function.clone()
        };
        let row = format!("{}  {name}: {}", number + 1, of_one(roofline, &it.kernel));
        label(&mut out, (LEFT, y), "start", &row);
        let Some(intensity) = place(it, roofline) else { continue };
        let (x, top) = (field.x(intensity), field.y(roofline.most.0));
        let at = field.y(roofline.bound.unwrap_or(roofline.most.0));
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" y1=\"{at:.1}\" x2=\"{x:.1}\" y2=\"{top:.1}\" stroke=\"#c2410c\"/>\n\
             <circle cx=\"{x:.1}\" cy=\"{at:.1}\" r=\"4\" fill=\"#c2410c\"/>"
        );
        label(&mut out, (x + 6.0, at + 4.0), "start", &(number + 1).to_string());
    }
    out.push_str("</svg>\n");
    Some(out)
}

/// The least and the greatest of values that there are.
fn ends(values: Vec<f64>) -> (f64, f64) {
    let values = values.into_iter().filter(|value| value.is_finite() && *value > 0.0);
    let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(least, most), it| (least.min(it), most.max(it)));
    if most > 0.0 { (least, most) } else { (1.0, 1.0) }
}

/// A slope of so many bytes a second up to a height, and on from there.
fn roof(out: &mut String, field: &Field, (name, bytes): (&str, f64), peak: f64, dashes: &str) {
    // From where it enters the field.
    let first = field.x.0.max(field.y.0 / bytes);
    let ridge = (peak / bytes).max(first);
    let corners = [(first, bytes * first), (ridge, peak), (field.x.1, peak)];
    let corners: Vec<String> = corners.iter().map(|(x, y)| format!("{:.1},{:.1}", field.x(*x), field.y(*y))).collect();
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#334155\" stroke-width=\"1.5\"{dashes}/>",
        corners.join(" ")
    );
    // Along the slope, a third of the way up.
    let at = first * (ridge / first).powf(1.0 / 3.0);
    let (x, y) = (field.x(at), field.y(bytes * at));
    let (dx, dy) = (field.x(ridge) - field.x(first), field.y(peak) - field.y(bytes * first));
    let turn = dy.atan2(dx).to_degrees();
    let _ = writeln!(
        out,
        "<text transform=\"translate({x:.1} {y:.1}) rotate({turn:.1})\" dy=\"-4\">{} {}</text>",
        escaped(name),
        rate(bytes, "B/s")
    );
}

/// The frame, lines at powers of ten, and what they are.
fn axes(out: &mut String, field: &Field) {
    let _ = writeln!(
        out,
        "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#94a3b8\"/>",
        RIGHT - LEFT,
        BOTTOM - TOP
    );
    for value in tens(field.x) {
        let x = field.x(value);
        let _ = writeln!(out, "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{BOTTOM}\" stroke=\"#e2e8f0\"/>");
        label(out, (x, BOTTOM + 16.0), "middle", &format!("{value}"));
    }
    for value in tens(field.y) {
        let y = field.y(value);
        let _ = writeln!(out, "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\" stroke=\"#e2e8f0\"/>");
        label(out, (LEFT - 6.0, y + 4.0), "end", &rate(value, ""));
    }
    label(out, (RIGHT, BOTTOM + 32.0), "end", "floating-point operations for each byte");
    label(out, (LEFT, TOP - 12.0), "start", "floating-point operations a second");
}

/// Powers of ten in a range.
fn tens((first, last): (f64, f64)) -> Vec<f64> {
    let (first, last) = (first.log10().ceil() as i32, last.log10().floor() as i32);
    (first..=last).map(|power| 10_f64.powi(power)).collect()
}

fn label(out: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escaped(text));
}

/// Text in a drawing: what XML takes for markup or does not allow is written otherwise.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for it in printable(text).chars() {
        match it {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // No characters of XML.
            '\u{fffe}' | '\u{ffff}' => out.push(char::REPLACEMENT_CHARACTER),
            _ => out.push(it),
        }
    }
    out
}
