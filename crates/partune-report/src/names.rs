//! Names for people: PEs, places in the source, call paths, numbers. For documents, and for who serves them.

use std::borrow::Cow;
use std::fmt::Write;

use partune_analysis::{Cause, Pattern};
use partune_base::{CallPathId, PeId, RegionId, StringId, printable, sign};
pub use partune_diag::seconds;
pub(crate) use partune_diag::{scale, three_digits};
use partune_trace::{PeKind, Region, Trace};

use crate::runs::plural;

/// Where in the source something is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location<'a> {
    pub file: &'a str,
    /// 0 if unknown.
    pub line: u32,
    /// The user function around it; empty if unknown.
    pub function: &'a str,
}

/// The region of a path.
pub fn region(trace: &Trace, path: CallPathId) -> &Region {
    &trace.regions()[trace.paths().region(path)]
}

/// What main threads do where nothing was recorded.
pub const OUTSIDE: &str = "code outside of recorded regions";

/// What other threads do there.
const NOT_AT_WORK: &str = "not yet at work";

/// The name of a region, or of what is outside of all.
pub fn region_name(trace: &Trace, region: RegionId) -> &str {
    trace.regions().get(region).map_or(OUTSIDE, |region| trace.strings().get(region.name))
}

/// The construct, or function, of a path.
pub fn construct(trace: &Trace, path: CallPathId) -> &str {
    if path.is_some() { trace.strings().get(region(trace, path).construct) } else { "" }
}

/// Where a path is, see [`partune_trace::Place`].
pub fn location(trace: &Trace, path: CallPathId) -> Location<'_> {
    let place = trace.paths().place(path);
    let text = |id: StringId| if id.is_some() { trace.strings().get(id) } else { "" };
    Location { file: text(place.site.file), line: place.site.line, function: text(place.function) }
}

/// Where the innermost user function around a construct is called from, if that is known: two findings at one line may differ in it.
pub fn caller(trace: &Trace, path: CallPathId) -> Option<Location<'_>> {
    let ancestors = trace.paths().ancestors(path).take(LEVELS).skip(1);
    let mut functions = ancestors.filter(|path| region(trace, *path).is_function());
    let site = trace.paths().site(functions.next()?);
    let function = functions.next().map_or("", |path| trace.strings().get(region(trace, path).name));
    site.is_some().then(|| Location { file: trace.strings().get(site.file), line: site.line, function })
}

/// The same, or the name of the function that calls it where the line is not known.
pub fn called_from(trace: &Trace, path: CallPathId) -> String {
    if let Some(at) = caller(trace, path) {
        return at.text();
    }
    let ancestors = trace.paths().ancestors(path).take(LEVELS).skip(1);
    let function = ancestors.filter(|path| region(trace, *path).is_function()).nth(1);
    function.map_or(OUTSIDE, |path| trace.strings().get(region(trace, path).name)).to_owned()
}

/// `MPI_Recv in exchange (halo.c:12)`.
pub fn place(trace: &Trace, path: CallPathId) -> String {
    if !path.is_some() {
        return OUTSIDE.to_owned();
    }
    let name = construct(trace, path);
    let at = location(trace, path);
    match at.text() {
        text if text.is_empty() => name.to_owned(),
        text if at.function == name => text,
        text => format!("{name} in {text}"),
    }
}

/// Operations that are named of those that a cause came through.
const LINKS: usize = 4;

/// Who passed on what a cause cost, nearest to the finding first: `MPI_Recv in exchange (halo.c:12) of PE 2, 1`; none if it came directly.
pub fn via(trace: &Trace, cause: &Cause) -> Option<String> {
    let mut text = String::new();
    let shown = &cause.via[..cause.via.len().min(LINKS)];
    for links in shown.chunk_by(|a, b| a.1 == b.1) {
        let pes: Vec<String> = links.iter().map(|(of, _)| pe(trace, *of)).collect();
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{} of PE {}", place(trace, links[0].1), pes.join(", "));
    }
    if cause.via.len() > LINKS {
        let _ = write!(text, " and {} more", cause.via.len() - LINKS);
    }
    (!text.is_empty()).then_some(text)
}

/// Who made others wait, without the PE: the operation that did, what was done before it where that is why it came late, or code.
///
/// Of a PE whose operation has no recorded region around it, all other time is outside of them: a recorder that sees operations only does not
/// know more, and to name the operation alone would blame it for what came before.
pub fn cause(trace: &Trace, pattern: Pattern, cause: &Cause) -> String {
    let before = |origin: String| format!("{origin}, before {}", construct(trace, cause.path));
    let is_operation = cause.path.is_some() && trace.paths().operation(cause.path) == cause.path;
    // Who competes for memory is not late: nothing that it did before is why.
    let is_late = pattern.is_wait() && pattern != Pattern::CompetingPutGet;
    // Where nothing is recorded of the main thread of a process, it computes; other threads do nothing then, or are not there yet.
    let is_thread = trace.pes().get(cause.pe).is_some_and(|pe| pe.thread > 0 && pe.kind == PeKind::Cpu);
    let at = |path: CallPathId| if is_thread && !path.is_some() { NOT_AT_WORK.to_owned() } else { place(trace, path) };
    if is_operation && is_late && cause.origin != cause.path { before(at(cause.origin)) } else { at(cause.path) }
}

/// How far out the function around a construct is looked for. Who recurses deeper calls what is looked for from the same place.
const LEVELS: usize = 10_000;

/// Names of a call path that are shown, and their bytes. Each row of a table has a path, so documents would grow with rows × depth.
const NAMES: usize = 128;
const NAME_BYTES: usize = 16 << 10;

/// Names along a path, outermost first. Of a very deep one, or of very long names, those of the innermost, and before them how many there
/// are outside.
pub fn callpath(trace: &Trace, path: CallPathId) -> Vec<Cow<'_, str>> {
    let depth = if path.is_some() { trace.paths().depth(path) as usize + 1 } else { 0 };
    let mut room = NAME_BYTES;
    let name = |path| trace.strings().get(region(trace, path).name);
    let inner = trace.paths().ancestors(path).map(name).take(NAMES).take_while(|name| {
        let fits = name.len() <= room;
        room = room.saturating_sub(name.len());
        fits
    });
    let mut names: Vec<Cow<'_, str>> = inner.map(Cow::Borrowed).collect();
    if names.len() < depth {
        names.push(format!("… {} more", depth - names.len()).into());
    }
    names.reverse();
    names
}

/// A PE: `0` for the main thread of rank 0, `0.2` for its second worker thread, `0 CUDA[0:7]` for a stream of a device.
pub fn pe(trace: &Trace, id: PeId) -> String {
    let Some(pe) = trace.pes().get(id) else { return "?".to_owned() };
    let process = trace.processes().get(pe.process);
    let rank = process.and_then(|process| process.rank).unwrap_or(pe.process.0);
    let name = trace.strings().get(pe.name);
    if pe.kind == PeKind::Accelerator && !name.is_empty() {
        return format!("{rank} {}", clip(name, 120));
    }
    // Threads come first.
    let second = process.and_then(|process| trace.pes().get(*process.pes.get(1)?));
    let is_alone = process.is_some() && second.is_none_or(|second| second.kind != PeKind::Cpu);
    if is_alone && pe.kind == PeKind::Cpu { rank.to_string() } else { format!("{rank}.{}", pe.thread) }
}

/// How many PEs ran: `4 PEs in 2 processes, 2 GPU streams`. Streams of devices are counted apart: they are no PEs of a process.
pub fn pes(trace: &Trace) -> String {
    let (pes, processes) = (trace.cpu_pes().count(), trace.cpu_processes().count());
    let (streams, devices) = (trace.device_pes().count(), trace.devices());
    let mut text = format!("{} in {}", plural(pes, "PE", "PEs"), plural(processes, "process", "processes"));
    if streams > 0 {
        text = format!("{text}, {}", plural(streams, "GPU stream", "GPU streams"));
    }
    if devices < streams {
        text = format!("{text} on {}", plural(devices, "device", "devices"));
    }
    text
}

impl Location<'_> {
    /// `exchange (halo.c:12)`, as far as known.
    pub fn text(&self) -> String {
        let file = self.file.rsplit('/').next().unwrap_or(self.file);
        match (self.function, file, self.line) {
            ("", "", _) => String::new(),
            (function, "", _) => function.to_owned(),
            ("", file, 0) => file.to_owned(),
            ("", file, line) => format!("{file}:{line}"),
            (function, file, 0) => format!("{function} ({file})"),
            (function, file, line) => format!("{function} ({file}:{line})"),
        }
    }
}

/// A share in per cent: `16.7 %`.
pub fn percent(value: f64) -> String {
    format!("{} %", three_digits(value * 100.0))
}

/// Bytes with a binary unit.
pub fn bytes(value: f64) -> String {
    let mut value = value;
    for unit in ["B", "KiB", "MiB", "GiB", "TiB"] {
        if value.abs() < 1024.0 || unit == "TiB" {
            return format!("{} {unit}", three_digits(value));
        }
        value /= 1024.0;
    }
    unreachable!("the last unit returns")
}

/// The part of a path that tells runs apart: recorders call all their anchor files the same.
pub fn run(archive: &str) -> &str {
    let mut parts = archive.trim_end_matches('/').rsplit('/').filter(|part| !part.is_empty());
    match (parts.next(), parts.next()) {
        (Some(file), Some(folder)) if file.starts_with("traces.") && folder != "." && folder != ".." => folder,
        (Some(file), _) => file,
        (None, _) => archive,
    }
}

/// The end of a text that needs at most so many bytes in the page, as [`printable`] has it.
pub fn clip(text: &str, most: usize) -> Cow<'_, str> {
    let weight = |it: char| match it {
        '&' | '"' | '<' | '>' => 6,
        it => sign(it).len_utf8(),
    };
    let mut room = most;
    let kept = text.char_indices().rev().take_while(|(_, it)| {
        let fits = room >= weight(*it);
        room = room.saturating_sub(weight(*it));
        fits
    });
    let begin = kept.last().map_or(text.len(), |(at, _)| at);
    match printable(&text[begin..]) {
        end if begin == 0 => end,
        end => Cow::Owned(format!("…{end}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_construct_is_where_it_is_called() {
        let trace = partune_testkit::trace(
            "pe 0: main@m.c:1 0..100 {
                 exchange@h.c:30^m.c:10 0..40 { MPI_Send^h.c:42 0..1 MPI_Send^h.c:50 1..2 MPI_Wait 2..3 }
                 phase solve^m.c:12 40..90 { MPI_Barrier 50..60 \"!$omp barrier\" 60..70 }
                 phase setup@s.c:5 90..100
             }
             pe 1: block lines 0..100 { MPI_Send^b.c:3 0..1 }
             pe 2: start@libc.c:5 0..100 { app+0x14 0..50 { MPI_Send 0..1 } }",
        );
        let at = |path: u32| location(&trace, CallPathId(path)).text();
        let texts: Vec<String> = (0..trace.paths().len() as u32).map(at).collect();
        assert_eq!(
            texts,
            [
                "main (m.c:1)",
                "exchange (h.c:30)",
                "exchange (h.c:42)",
                "exchange (h.c:50)",
                "exchange (h.c:30)",
                "main (m.c:12)",
                "main (m.c:12)",
                "main (m.c:12)",
                "main (s.c:5)",
                "lines",
                "lines (b.c:3)",
                "start (libc.c:5)",
                // Stripped: no line of the code that started it.
                "app+0x14",
                "app+0x14",
            ]
        );
    }

    #[test]
    fn a_function_is_called_from_a_line_of_another() {
        let trace = partune_testkit::trace(
            "pe 0: main 0..9 { exchange^m.c:10 0..4 { phase p 0..4 { MPI_Send^h.c:42 0..1 } } other 4..9 { MPI_Send 4..9 } }",
        );
        let send = |names| caller(&trace, partune_testkit::path(&trace, names)).map(|location| location.text());
        assert_eq!(send("main/exchange/p/MPI_Send").as_deref(), Some("main (m.c:10)"));
        assert_eq!([send("main/other/MPI_Send"), send("main/exchange"), send("main")], [None, None, None]);
    }

    #[test]
    fn a_cause_is_what_was_done_before_the_operation() {
        let trace = partune_testkit::trace(
            "pe 0: MPI_Allreduce 40..50 main@m.c:1 50..100 { work@w.c:3 50..80 MPI_Send^m.c:9 80..81 }",
        );
        let path = |names: &str| partune_testkit::path(&trace, names);
        let words = |pattern, names: &str, origin: Option<&str>| {
            let origin = origin.map_or(CallPathId::NONE, path);
            let path = if names.is_empty() { CallPathId::NONE } else { path(names) };
            cause(
                &trace,
                pattern,
                &Cause {
                    pe: PeId(0),
                    path,
                    origin,
                    time: partune_base::Span(1),
                    passed_on: partune_base::Span::ZERO,
                    via: Vec::new(),
                },
            )
        };
        // Nothing was recorded around the collective, so what came before it was outside.
        let late = Pattern::WaitAtNxn;
        assert_eq!(words(late, "MPI_Allreduce", None), "code outside of recorded regions, before MPI_Allreduce");
        assert_eq!(words(late, "MPI_Allreduce", Some("MPI_Allreduce")), "MPI_Allreduce");
        assert_eq!(words(late, "main/MPI_Send", Some("main/work")), "work (w.c:3), before MPI_Send");
        assert_eq!(words(late, "main/MPI_Send", Some("main/MPI_Send")), "MPI_Send in main (m.c:9)");
        // A thread that nothing was recorded of has not started, or has nothing to do.
        let threads = partune_testkit::trace(
            "pe 0: \"!$omp barrier\" 10..50
             pe 0.1: \"!$omp barrier\" 40..50",
        );
        let barrier = partune_testkit::path(&threads, "!$omp barrier");
        let of_thread = |rank, thread| {
            let pe = partune_testkit::thread(&threads, rank, thread);
            let (time, passed_on) = (partune_base::Span(1), partune_base::Span::ZERO);
            let origin = CallPathId::NONE;
            cause(
                &threads,
                Pattern::WaitAtBarrier,
                &Cause { pe, path: barrier, origin, time, passed_on, via: Vec::new() },
            )
        };
        assert_eq!(of_thread(0, 1), format!("not yet at work, before {}", construct(&threads, barrier)));
        assert_eq!(of_thread(0, 0), format!("{OUTSIDE}, before {}", construct(&threads, barrier)));
        // Whoever competes is not late, and code is what it is.
        assert_eq!(words(Pattern::CompetingPutGet, "MPI_Allreduce", None), "MPI_Allreduce");
        assert_eq!(words(Pattern::LoadImbalance, "main/work", None), "work (w.c:3)");
        assert_eq!(words(Pattern::LoadImbalance, "", None), "code outside of recorded regions");
    }

    #[test]
    fn streams_of_devices_are_counted_apart() {
        let of = |text| pes(&partune_testkit::trace(text));
        assert_eq!(of("pe 0: main 0..9"), "1 PE in 1 process");
        assert_eq!(of("pe 0 1.0 1.1: main 0..9"), "3 PEs in 2 processes");
        let one = "device a = 0.1\n device b = 0.2\n pe 0: main 0..9 pe 0.1 0.2: kernel 0..9";
        assert_eq!(of(one), "1 PE in 1 process, 2 GPU streams");
        assert_eq!(
            of("device a = 0.1 0.2\n pe 0 1: main 0..9 pe 0.1 0.2: kernel 0..9"),
            "2 PEs in 2 processes, 2 GPU streams on 1 device"
        );
        // A main thread with streams is not the first of several threads.
        let trace = partune_testkit::trace(one);
        let names: Vec<String> = trace.pes().ids().map(|id| pe(&trace, id)).collect();
        assert_eq!(names, ["0", "0 rank 0 thread 1", "0 rank 0 thread 2"]);
    }

    #[test]
    fn a_run_is_called_after_its_folder() {
        let name = |path| run(path);
        assert_eq!(
            [name("a/run7/traces.otf2"), name("run7/"), name("x.otf2"), name("./traces.otf2")],
            ["run7", "run7", "x.otf2", "traces.otf2"]
        );
    }

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!([1.0204, 0.0131, 2.5e-6, 0.0, 123.4].map(seconds), ["1.02 s", "13.1 ms", "2.50 µs", "0 s", "123 s"]);
        assert_eq!([0.1667, 1.0, 0.0004].map(percent), ["16.7 %", "100 %", "0.04 %"]);
        assert_eq!([12.0, 2048.0].map(bytes), ["12.0 B", "2.00 KiB"]);
    }
}
