//! What the loops of a program need at least: text and JSON of `partune kernel`.

use std::fmt::Write;

use partune_engine::{Core, Finite, Kernel, LoopBounds, Loops, Roofline, SourceLines};
use schemars::JsonSchema;
use serde::Serialize;

use crate::names::{base_name, some_of, three_digits};
use crate::roofline::{CeilingsEntry, RooflineEntry, ceilings_entry, roofline_entry, roofline_line, roofline_picture};
use crate::runs::{plural, pretty, schema_of};
use crate::style::{Style, Tone};

/// What `partune kernel --json` prints. Bounds are cycles of the core for one turn of the source's loop, with all data in the first cache but for `I`.
#[derive(Serialize, JsonSchema)]
struct KernelDocument<'a> {
    /// Version of this document.
    partune: u32,
    binary: &'a str,
    core: CoreEntry<'a>,
    /// Turns of the source's loops that `I` and `caches` are of; null without `--elements`.
    elements: Option<u64>,
    /// What the machine can do at most; null without `--elements`.
    ceilings: Option<CeilingsEntry>,
    /// Innermost loops, in order of address.
    loops: Vec<LoopEntry<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct CoreEntry<'a> {
    /// As in `--core`.
    id: &'a str,
    name: &'a str,
    /// Where its figures are from.
    source: &'a str,
}

#[derive(Serialize, JsonSchema)]
struct LoopEntry<'a> {
    place: PlaceEntry<'a>,
    /// Addresses of its first and its last instruction, as a disassembler prints them.
    first: String,
    last: String,
    /// The same of each of its pieces: compilers put what hardly ever runs elsewhere, and other code may lie in between.
    pieces: Vec<[String; 2]>,
    /// What `M` and `MA` count: `source`, or `machine code`.
    from: &'static str,
    /// Null where the loop calls something.
    #[serde(rename = "M")]
    m: Option<f64>,
    #[serde(rename = "MA")]
    ma: Option<f64>,
    #[serde(rename = "MAC")]
    mac: Option<f64>,
    /// Null also where the loop is too large to be run.
    #[serde(rename = "MACS")]
    macs: Option<f64>,
    /// MACS with the caches of `--machine`, run over and over with `elements` turns; null without `--elements`, and where the accesses cannot be followed.
    #[serde(rename = "I")]
    i: Option<f64>,
    /// What `I` is made of.
    caches: Option<CachesEntry>,
    /// Where it is below the ceilings; null also where nothing is computed with floating-point numbers.
    roofline: Option<RooflineEntry>,
    /// Why the accesses cannot be followed.
    not_followed: Option<String>,
    /// Turns of the source's loop in one of the machine's.
    turns: u32,
    /// Whether `turns` are known; else they are 1, and all that is for one turn of the source's loop is for one of the machine's.
    knows_turns: bool,
    /// Turns of the source's loop that were counted, in all processes together; null if none were.
    executed: Option<f64>,
    /// What a turn asks for in the source; null where `from` is the machine code.
    source: Option<SourceTurn>,
    /// Instructions that every turn runs, and others, of which no bound knows.
    instructions: usize,
    conditional: usize,
    flops: f64,
    /// Different bytes that a turn of the source loads and stores.
    loaded_bytes: f64,
    stored_bytes: f64,
    /// Elements in the widest vector of the core, and in those that are used.
    lanes: u32,
    used_lanes: u32,
    /// Cycles of the longest chain from turn to turn, and its instructions.
    chain: Option<f64>,
    chain_instructions: &'a [String],
    /// The ports that bind MAC; empty where it is the rate of instructions.
    busy: Vec<&'a str>,
    /// Instructions that the table of the core does not know: bounds leave them out.
    unknown: &'a [String],
    calls: bool,
    /// Whether there is a way out of it.
    has_exit: bool,
    /// What lies between the bounds, in words.
    gaps: Vec<GapEntry>,
}

/// A turn of the source's loop.
#[derive(Serialize, JsonSchema)]
struct SourceTurn {
    flops: f64,
    /// Of different elements, less those that the loop itself stored before.
    loaded_bytes: u64,
    stored_bytes: u64,
    /// Of both, those of accesses that do not move by a constant.
    scattered_bytes: u64,
    /// Operations and accesses that not every turn does: they are in nothing else.
    conditional: usize,
}

#[derive(Serialize, JsonSchema)]
struct PlaceEntry<'a> {
    /// Null without debug data.
    file: Option<&'a str>,
    line: Option<u32>,
    function: &'a str,
}

/// For one turn of the source's loop; `I` is the greatest of MACS, `first_cache` and the sum of `cycles`.
#[derive(Serialize, JsonSchema)]
struct CachesEntry {
    /// Lines that come from farther than the first cache, nearest first.
    lines: Vec<SourceEntry>,
    /// Loads across two lines.
    loads_across: f64,
    /// Cycles of the ports, where a line that comes and the second part of such a load take a load's place.
    first_cache: f64,
}

#[derive(Serialize, JsonSchema)]
struct SourceEntry {
    /// `L2`, `L3`, …, `memory`.
    from: String,
    /// That are only loaded from.
    loaded: f64,
    /// That are stored to: brought in, and given back.
    stored: f64,
    /// What all of them take in a stream.
    cycles: f64,
}

#[derive(Serialize, JsonSchema)]
struct GapEntry {
    /// `A`, `C`, `S`, `$`.
    name: &'static str,
    cycles: f64,
    why: String,
}

/// The document of `--json`.
pub fn kernels_document(loops: &Loops, binary: &str) -> String {
    let core = loops.core;
    pretty(&KernelDocument {
        partune: 1,
        binary,
        core: CoreEntry { id: &core.id, name: &core.name, source: &core.source },
        elements: loops.elements,
        ceilings: loops.ceilings.as_ref().map(ceilings_entry),
        loops: loops.loops.iter().map(|it| entry(it, core)).collect(),
    })
}

/// The JSON schema of the document.
pub fn kernels_schema() -> String {
    schema_of::<KernelDocument<'_>>()
}

fn address(at: u64) -> String {
    format!("{at:#x}")
}

fn entry<'a>(it: &'a LoopBounds, core: &'a Core) -> LoopEntry<'a> {
    let kernel = &it.kernel;
    let first = it.first_bounds(core);
    LoopEntry {
        place: PlaceEntry {
            file: Some(it.file.as_str()).filter(|file| !file.is_empty()),
            line: Some(it.line).filter(|line| *line > 0),
            function: &it.function,
        },
        first: kernel.pieces.first().map_or_else(String::new, |it| address(it.0)),
        last: kernel.pieces.last().map_or_else(String::new, |it| address(it.1)),
        pieces: kernel.pieces.iter().map(|it| [address(it.0), address(it.1)]).collect(),
        from: if it.asked.is_some() { "source" } else { "machine code" },
        m: first.map(|(m, _)| m),
        ma: first.map(|(_, ma)| ma),
        mac: kernel.bounds.as_ref().map(|it| it.mac),
        macs: kernel.bounds.as_ref().and_then(|it| it.macs),
        i: followed(it).and_then(|finite| finite.bound),
        caches: followed(it).map(|finite| CachesEntry {
            lines: sources(finite),
            loads_across: finite.across,
            first_cache: finite.first_cache,
        }),
        roofline: roofline(it).map(|found| roofline_entry(found, kernel)),
        not_followed: it.finite.as_ref().and_then(|finite| finite.as_ref().err()).map(ToString::to_string),
        turns: kernel.turns(),
        knows_turns: kernel.known_turns.is_some(),
        executed: it.executed,
        source: it.asked.as_ref().map(|asked| SourceTurn {
            flops: asked.flops(),
            loaded_bytes: asked.essential.loaded,
            stored_bytes: asked.essential.stored,
            scattered_bytes: asked.scattered,
            conditional: asked.conditional,
        }),
        instructions: kernel.instructions,
        conditional: kernel.conditional,
        flops: kernel.flops,
        loaded_bytes: kernel.loaded,
        stored_bytes: kernel.stored,
        lanes: kernel.lanes,
        used_lanes: kernel.used_lanes,
        chain: kernel.chain.as_ref().map(|it| it.cycles),
        chain_instructions: &it.chain,
        busy: busy(kernel, core),
        unknown: &it.unknown,
        calls: kernel.calls,
        has_exit: kernel.has_exit,
        gaps: gaps(it, core),
    }
}

fn followed(it: &LoopBounds) -> Option<&Finite> {
    it.finite.as_ref()?.as_ref().ok()
}

fn roofline(it: &LoopBounds) -> Option<&Roofline> {
    followed(it)?.roofline.as_ref()
}

fn sources(finite: &Finite) -> Vec<SourceEntry> {
    let source = |it: &SourceLines| SourceEntry {
        from: it.level.map_or_else(|| "memory".to_owned(), |level| format!("L{level}")),
        loaded: it.lines.loaded,
        stored: it.lines.stored,
        cycles: it.cycles,
    };
    finite.sources.iter().map(source).collect()
}

fn busy<'a>(kernel: &Kernel, core: &'a Core) -> Vec<&'a str> {
    let ports = core.ports.iter().enumerate().filter(|(at, _)| kernel.busy & 1 << at != 0);
    ports.map(|(_, name)| name.as_str()).collect()
}

/// What lies between neighbouring bounds.
fn gaps(it: &LoopBounds, core: &Core) -> Vec<GapEntry> {
    let kernel = &it.kernel;
    let Some((bounds, (m, ma))) = kernel.bounds.as_ref().zip(it.first_bounds(core)) else { return Vec::new() };
    let mut gaps = vec![
        GapEntry { name: "A", cycles: ma - m, why: "what the operations need beside the arithmetic units".to_owned() },
        GapEntry { name: "C", cycles: bounds.mac - ma, why: of_compiler(it, bounds.mac < ma, core) },
    ];
    if let Some(macs) = bounds.macs {
        gaps.push(GapEntry { name: "S", cycles: macs - bounds.mac, why: of_schedule(it, macs) });
        if let Some((finite, bound)) = followed(it).and_then(|finite| Some((finite, finite.bound?))) {
            gaps.push(GapEntry { name: "$", cycles: bound - macs, why: of_caches(finite, macs) });
        }
    }
    gaps
}

fn of_compiler(it: &LoopBounds, is_less: bool, core: &Core) -> String {
    let kernel = &it.kernel;
    let mut why = Vec::new();
    if is_less {
        why.push("less was compiled than the source asks for, or into turns that are not one of it each".to_owned());
    }
    if let Some(asked) = &it.asked {
        let more = kernel.loaded + kernel.stored - (asked.essential.loaded + asked.essential.stored) as f64;
        if more > 0.0 {
            why.push(format!("{} bytes more are loaded and stored than the source asks for", three_digits(more)));
        }
    }
    if kernel.lanes > 1 && kernel.used_lanes > 0 && kernel.used_lanes < kernel.lanes {
        let unused = kernel.lanes - kernel.used_lanes;
        let what = if kernel.used_lanes == 1 { "not vectorised" } else { "vectors are short" };
        why.push(format!("{what}: {unused} of {} lanes unused", kernel.lanes));
    }
    let busy = busy(kernel, core);
    why.push(if busy.is_empty() {
        format!("{} instructions at {} a cycle", kernel.instructions, core.issue)
    } else {
        format!("{} instructions, busiest {}", kernel.instructions, busy.join(" "))
    });
    why.join("; ")
}

fn of_schedule(it: &LoopBounds, macs: f64) -> String {
    /// A chain that takes so much of the schedule is what it waits for.
    const MOST: f64 = 0.9;
    /// Instructions of a chain that are named.
    const CHAIN: usize = 4;
    match &it.kernel.chain {
        Some(chain) if chain.cycles > 0.0 && chain.cycles >= MOST * macs => {
            let cycles = chain.cycles * f64::from(it.kernel.turns());
            let shown = some_of(&it.chain, CHAIN, String::clone);
            format!("a chain of {} from turn to turn: {shown}", three_digits(cycles))
        }
        _ => "the order that results allow".to_owned(),
    }
}

/// What comes from where, and what that takes.
fn of_caches(finite: &Finite, macs: f64) -> String {
    let lines = |it: &SourceEntry| it.loaded + it.stored;
    let sources = sources(finite);
    let far: Vec<&SourceEntry> = sources.iter().filter(|it| lines(it) > 0.0).collect();
    let cycles: f64 = far.iter().map(|it| it.cycles).sum();
    let mut why = Vec::new();
    if far.is_empty() {
        why.push("all data stay in the first cache".to_owned());
    } else {
        let said = |it: &&SourceEntry| {
            let stored =
                if it.stored > 0.0 { format!(" ({} stored to)", three_digits(it.stored)) } else { String::new() };
            format!("{}{stored} from {}", three_digits(lines(it)), it.from)
        };
        let hidden = if cycles <= macs { ", while it computes" } else { "" };
        let all: Vec<String> = far.iter().map(said).collect();
        why.push(format!("lines a turn: {}: {} cycles{hidden}", all.join(", "), three_digits(cycles)));
    }
    if finite.first_cache > macs.max(cycles) {
        let across = match finite.across {
            across if across > 0.0 => format!(", with {} loads across two lines", three_digits(across)),
            _ => String::new(),
        };
        why.push(format!("the first cache is busy for {} cycles{across}", three_digits(finite.first_cache)));
    }
    why.join("; ")
}

/// Three digits, in thousands, millions and so on.
fn large(value: f64) -> String {
    let scales = [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    let (scale, unit) = scales.into_iter().find(|it| value >= it.0).unwrap_or((1.0, ""));
    format!("{}{unit}", three_digits(value / scale))
}

/// Cycles that all counted turns of a loop need at least.
fn weight(it: &LoopBounds) -> f64 {
    let bound = it.kernel.bounds.as_ref().map_or(0.0, |bounds| bounds.macs.unwrap_or(bounds.mac));
    it.executed.map_or(0.0, |turns| turns * bound)
}

/// What M and MA count.
fn whose(loops: &Loops) -> &'static str {
    let asked = loops.loops.iter().filter(|it| it.asked.is_some()).count();
    match asked {
        0 => "M and MA count what the machine code asks for, not the source.",
        _ if asked == loops.loops.len() => "M and MA count what the source asks for.",
        _ => "M and MA count what the source asks for, and where it says so, what the machine code does.",
    }
}

/// What needs most first where turns were counted, then loops that compute with numbers.
fn in_order(loops: &Loops) -> Vec<&LoopBounds> {
    let mut all: Vec<&LoopBounds> = loops.loops.iter().collect();
    all.sort_by(|one, other| {
        let key =
            |it: &LoopBounds| (it.kernel.bounds.is_none(), it.kernel.flops == 0.0, it.kernel.pieces.first().copied());
        weight(other).total_cmp(&weight(one)).then_with(|| key(one).cmp(&key(other)))
    });
    all
}

/// The loops under the ceilings of the machine as a drawing (SVG), of as many as the text has; none where caches were not asked for.
pub fn kernels_picture(loops: &Loops, rows: usize) -> Option<String> {
    let chosen: Vec<&LoopBounds> = in_order(loops).into_iter().filter(|it| roofline(it).is_some()).take(rows).collect();
    roofline_picture(loops, &chosen)
}

/// For the terminal: what needs most first where turns were counted, then loops that compute with numbers, at most so many.
pub fn kernels_text(loops: &Loops, rows: usize, style: Style) -> String {
    let mut out = String::new();
    let core = loops.core;
    let count = loops.loops.len();
    let of = plural(loops.functions, "function", "functions");
    let title = format!("{} of {of}, on {}", plural(count, "innermost loop", "innermost loops"), core.name);
    let _ = writeln!(out, "{}", style.paint(Tone::Strong, &title));
    style.wrapped(
        &mut out,
        (Tone::Plain, ""),
        &format!(
            "Cycles of the core for one turn of the source's loop, with all data in the first cache. {}",
            whose(loops)
        ),
    );
    if let Some(elements) = loops.elements {
        let text = format!(
            "I is with the caches of the machine, each loop run again and again with {} through the same data.",
            plural(elements as usize, "turn", "turns")
        );
        style.wrapped(&mut out, (Tone::Plain, ""), &text);
    }
    for it in in_order(loops).iter().take(rows) {
        let is_marked = it.calls_in_source || it.asked.is_none() && loops.loops.iter().any(|it| it.asked.is_some());
        lines(&mut out, it, is_marked, core, style);
    }
    if count > rows {
        let _ = writeln!(out, "\n{} more: --rows {count}, or --function and --loop choose", count - rows);
    }
    out
}

fn lines(out: &mut String, it: &LoopBounds, is_marked: bool, core: &Core, style: Style) {
    let kernel = &it.kernel;
    let place = if it.line > 0 {
        format!("{} ({}:{})", it.function, base_name(&it.file), it.line)
    } else {
        it.function.clone()
    };
    let executed = it.executed.map_or_else(String::new, |turns| {
        let cycles = weight(it);
        let least = if cycles > 0.0 { format!(": {} cycles at least", large(cycles)) } else { String::new() };
        format!("  {} turns{least}", large(turns))
    });
    let pieces: Vec<String> = kernel.pieces.iter().map(|it| format!("{}…{}", address(it.0), address(it.1))).collect();
    let _ = writeln!(out, "\n{}  {}{executed}", style.paint(Tone::Strong, &place), pieces.join(" "));
    let Some((bounds, (m, ma))) = kernel.bounds.as_ref().zip(it.first_bounds(core)) else {
        let _ = writeln!(out, "  no bounds: it calls something, so its time is not its own");
        return;
    };
    let macs = bounds.macs.map_or_else(|| "–".to_owned(), three_digits);
    let finite = followed(it)
        .and_then(|finite| finite.bound)
        .map_or_else(String::new, |bound| format!("   I {}", three_digits(bound)));
    let turns = if let Some(turns) = kernel.known_turns {
        format!("{} in one of the machine's", plural(turns as usize, "turn", "turns"))
    } else {
        "turns not known: bounds are for one turn of the machine's loop".to_owned()
    };
    let _ = writeln!(
        out,
        "  M {}   MA {}   MAC {}   MACS {macs}{finite}   {turns}{}",
        three_digits(m),
        three_digits(ma),
        three_digits(bounds.mac),
        match (is_marked, it.calls_in_source) {
            (false, _) => "",
            (true, false) => "; M and MA of the machine code",
            (true, true) => "; M and MA of the machine code, since the source's loop calls something",
        }
    );
    for gap in gaps(it, core).iter().filter(|gap| gap.name == "$" || gap.cycles != 0.0 && gap.name != "A") {
        let _ = writeln!(out, "  {}  {:>6}  {}", gap.name, three_digits(gap.cycles), gap.why);
    }
    if let Some(found) = roofline(it) {
        let _ = writeln!(out, "  roofline  {}", roofline_line(found, kernel));
    }
    if let Some(Err(why)) = &it.finite {
        let _ = writeln!(out, "  no bound with caches: {why}");
    }
    if kernel.conditional > 0 {
        let _ = writeln!(out, "  {} instructions that not every turn runs are in no bound", kernel.conditional);
    }
    if !it.unknown.is_empty() {
        let _ = writeln!(
            out,
            "  not in the table of this core, so only their rate, loads and stores count: {}",
            it.unknown.join(", ")
        );
    }
    if !kernel.has_exit {
        let _ = writeln!(out, "  it has no end");
    }
}
