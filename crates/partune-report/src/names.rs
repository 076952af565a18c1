//! Names for people: PEs, places in the source, call paths, numbers. For documents, and for who serves them.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::hash::Hash;

use partune_base::{CallPathId, PeId, ProcessId, RegionId, Span, printable, sign};
pub use partune_diag::seconds;
pub(crate) use partune_diag::{fixed, scale, three_digits};
use partune_engine::{Cause, Counts, Diagnosis, Finding, Frame, Location, Pattern, PeKind, Process, Run};

use crate::runs::plural;

/// What main threads do where nothing was recorded.
pub const OUTSIDE: &str = "code outside of recorded regions";

/// What other threads do there.
const NOT_AT_WORK: &str = "not yet at work";

/// The name of a region, or of what is outside of all.
pub fn region_name(run: &Run, region: RegionId) -> &str {
    run.region(region).map_or(OUTSIDE, |region| region.name)
}

/// The construct, or function, of a path.
pub fn construct(run: &Run, path: CallPathId) -> &str {
    if path.is_some() { run.region_at(path).construct } else { "" }
}

/// Where the innermost user function around a construct is called from, if that is known: two findings at one line may differ in it.
pub fn caller(run: &Run, path: CallPathId) -> Option<Location<'_>> {
    let mut functions = functions_around(run, path);
    let site = functions.next()?.site;
    let function = functions.next().map_or("", |frame| frame.region.name);
    site.is_known().then_some(Location { file: site.file, line: site.line, function })
}

/// The same, or the name of the function that calls it where the line is not known.
pub fn called_from(run: &Run, path: CallPathId) -> String {
    if let Some(at) = caller(run, path) {
        return at_text(&at);
    }
    functions_around(run, path).nth(1).map_or(OUTSIDE, |frame| frame.region.name).to_owned()
}

/// The user's functions around what a path ends in, innermost first.
fn functions_around(run: &Run, path: CallPathId) -> impl Iterator<Item = Frame<'_>> {
    run.frames(path).take(LEVELS).skip(1).filter(|frame| frame.region.is_function)
}

/// `MPI_Recv in exchange (halo.c:12)`.
pub fn place(run: &Run, path: CallPathId) -> String {
    if !path.is_some() {
        return OUTSIDE.to_owned();
    }
    let name = construct(run, path);
    let at = run.location(path);
    match at_text(&at) {
        text if text.is_empty() => name.to_owned(),
        text if at.function == name => text,
        text => format!("{name} in {text}"),
    }
}

/// Lines of a place that are named where it has several.
const LINES: usize = 3;

/// Where a finding is: `MPI_Recv in exchange (halo.c:12, 40)`; where several places are told together, of how many; or the processors that PEs
/// waited for.
pub fn spot(run: &Run, finding: &Finding) -> String {
    if finding.pattern == Pattern::WaitForProcessor {
        return match host(run, finding) {
            "" => "processors".to_owned(),
            host => format!("processors of {host}"),
        };
    }
    if finding.paths.is_empty() {
        return place(run, finding.path);
    }
    let constructs = distinct(finding, |path| construct(run, path));
    if constructs > 1 {
        return format!(
            "{} and {}",
            construct(run, finding.path),
            plural(constructs - 1, "other operation", "other operations")
        );
    }
    let places = distinct(finding, |path| scope(run, path));
    if places > 1 {
        return format!("{} in {places} smaller places", construct(run, finding.path));
    }
    let lines = lines(run, finding);
    if lines.len() < 2 {
        return place(run, finding.path);
    }
    let (name, at) = (construct(run, finding.path), run.location(finding.path));
    let shown: Vec<String> = lines.iter().take(LINES).map(|(path, _)| run.location(*path).line.to_string()).collect();
    let rest = lines.len().saturating_sub(LINES);
    let more = if rest > 0 { format!(" and {}", plural(rest, "more line", "more lines")) } else { String::new() };
    format!("{name} in {} ({}:{}{more})", at.function, base_name(at.file), shown.join(", "))
}

/// The same of the finding of a run that has this path; none if there is none.
pub fn spot_at(diagnosis: &Diagnosis, pattern: Pattern, path: CallPathId) -> Option<String> {
    let mut findings = diagnosis.findings.iter().map(|ranked| &ranked.finding);
    let finding = findings.find(|finding| finding.pattern == pattern && finding.path == path)?;
    Some(spot(&diagnosis.run, finding))
}

/// What call paths to one construct are one place by: file and function, or the line where no function is known.
pub(crate) fn scope(run: &Run, path: CallPathId) -> Location<'_> {
    let at = run.location(path);
    Location { line: if at.function.is_empty() { at.line } else { 0 }, ..at }
}

/// The lines that a finding is at where there are several, with their part of its time, the one that loses most first: of each the call path
/// that loses most.
pub fn lines(run: &Run, finding: &Finding) -> Vec<(CallPathId, Span)> {
    let mut lines = sums(finding.paths.iter().map(|(path, time)| (run.location(*path), *path, *time)));
    if lines.len() < 2 {
        lines.clear();
    }
    lines
}

/// The node whose PEs lose most together.
fn host<'a>(run: &'a Run, finding: &Finding) -> &'a str {
    let time = |pe: &PeId| finding.pes.binary_search_by_key(pe, |it| it.0).ok().map(|at| finding.pes[at].1);
    let of_process = |process: Process<'a>| (process.host, process.host, process.pes.iter().filter_map(time).sum());
    sums(run.processes().map(|(_, process)| of_process(process))).first().map_or("", |it| it.0)
}

/// What has equal keys with its time together, the most first; of equal ones, and of each, the one that came first.
fn sums<K: Eq + Hash, T>(rows: impl Iterator<Item = (K, T, Span)>) -> Vec<(T, Span)> {
    let mut known: HashMap<K, usize> = HashMap::new();
    let mut sums: Vec<(T, Span)> = Vec::new();
    for (key, of, time) in rows {
        let at = *known.entry(key).or_insert(sums.len());
        match sums.get_mut(at) {
            Some((_, sum)) => *sum += time,
            None => sums.push((of, time)),
        }
    }
    sums.sort_by_key(|(_, time)| Reverse(*time));
    sums
}

/// How many there are of something that call paths of a finding have.
fn distinct<K: Eq + Hash>(finding: &Finding, of: impl Fn(CallPathId) -> K) -> usize {
    finding.call_paths().map(of).collect::<HashSet<K>>().len()
}

/// Operations that are named of those that a cause came through.
const LINKS: usize = 4;

/// Who passed on what a cause cost, nearest to the finding first: `MPI_Recv in exchange (halo.c:12) of PE 2, 1`; none if it came directly.
pub fn via(run: &Run, cause: &Cause) -> Option<String> {
    let mut text = String::new();
    let shown = &cause.via[..cause.via.len().min(LINKS)];
    for links in shown.chunk_by(|a, b| a.1 == b.1) {
        let pes: Vec<String> = links.iter().map(|(of, _)| pe(run, *of)).collect();
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{} of PE {}", place(run, links[0].1), pes.join(", "));
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
pub fn cause(run: &Run, pattern: Pattern, cause: &Cause) -> String {
    let before = |origin: String| format!("{origin}, before {}", construct(run, cause.path));
    // Who competes for memory is not late: nothing that it did before is why.
    let is_late = pattern.is_wait() && pattern != Pattern::CompetingPutGet;
    // Where nothing is recorded of the main thread of a process, it computes; other threads do nothing then, or are not there yet.
    let is_thread = run.pe(cause.pe).is_some_and(|pe| pe.thread > 0 && pe.kind == PeKind::Cpu);
    let at = |path: CallPathId| if is_thread && !path.is_some() { NOT_AT_WORK.to_owned() } else { place(run, path) };
    if run.is_operation(cause.path) && is_late && cause.origin != cause.path {
        before(at(cause.origin))
    } else if pattern == Pattern::WaitForThread && cause.origin.is_some() {
        // What the thread did until it ended.
        at(cause.origin)
    } else {
        at(cause.path)
    }
}

/// How far out the function around a construct is looked for. Who recurses deeper calls what is looked for from the same place.
const LEVELS: usize = 10_000;

/// Names of a call path that are shown, and their bytes. Each row of a table has a path, so documents would grow with rows × depth.
pub(crate) const NAMES: usize = 128;
const NAME_BYTES: usize = 16 << 10;

/// Names along a path, outermost first. Of a very deep one, or of very long names, those of the innermost, and before them how many there
/// are outside.
pub fn callpath(run: &Run, path: CallPathId) -> Vec<Cow<'_, str>> {
    let depth = run.levels(path);
    let mut room = NAME_BYTES;
    let inner = run.frames(path).map(|frame| frame.region.name).take(NAMES).take_while(|name| {
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
pub fn pe(run: &Run, id: PeId) -> String {
    let Some(pe) = run.pe(id) else { return "?".to_owned() };
    let process = run.process(pe.process);
    let rank = process.and_then(|process| process.rank).unwrap_or(pe.process.0);
    if pe.kind == PeKind::Accelerator && !pe.name.is_empty() {
        return format!("{rank} {}", clip(pe.name, 120));
    }
    // Threads come first.
    let second = process.and_then(|process| run.pe(*process.pes.get(1)?));
    let is_alone = process.is_some() && second.is_none_or(|second| second.kind != PeKind::Cpu);
    if is_alone && pe.kind == PeKind::Cpu { rank.to_string() } else { format!("{rank}.{}", pe.thread) }
}

/// A process: `rank 3`, or what it is called.
pub fn process(run: &Run, id: ProcessId) -> String {
    match run.process(id) {
        Some(Process { rank: Some(rank), .. }) => format!("rank {rank}"),
        Some(Process { name: "", .. }) => format!("process {}", id.0),
        Some(Process { name, .. }) => name.to_owned(),
        None => "?".to_owned(),
    }
}

/// How many PEs ran: `4 PEs in 2 processes, 2 GPU streams`. Streams of devices are counted apart: they are no PEs of a process.
pub fn pes(run: &Run) -> String {
    let Counts { pes, processes, device_streams: streams, devices } = run.counts();
    let mut text = format!("{} in {}", plural(pes, "PE", "PEs"), plural(processes, "process", "processes"));
    if streams > 0 {
        text = format!("{text}, {}", plural(streams, "GPU stream", "GPU streams"));
    }
    if devices < streams {
        text = format!("{text} on {}", plural(devices, "device", "devices"));
    }
    text
}

/// The first so many of some names, and how many more there are.
pub(crate) fn some_of<T>(all: &[T], most: usize, name: impl Fn(&T) -> String) -> String {
    let named: Vec<String> = all.iter().take(most).map(name).collect();
    let more = all.len().saturating_sub(most);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

pub(crate) fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// A location as text: `exchange (halo.c:12)`, as far as known.
pub fn at_text(at: &Location<'_>) -> String {
    let file = base_name(at.file);
    match (at.function, file, at.line) {
        ("", "", _) => String::new(),
        (function, "", _) => function.to_owned(),
        ("", file, 0) => file.to_owned(),
        ("", file, line) => format!("{file}:{line}"),
        (function, file, 0) => format!("{function} ({file})"),
        (function, file, line) => format!("{function} ({file}:{line})"),
    }
}

/// The PEs of a row: `7`, or `64–127`.
pub fn row(run: &Run, pes: &[PeId]) -> String {
    match pes {
        [] => String::new(),
        [one] => pe(run, *one),
        [first, .., last] => format!("{}–{}", pe(run, *first), pe(run, *last)),
    }
}

/// A share in per cent: `16.7 %`; `0 %` is nothing at all.
pub fn percent(value: f64) -> String {
    match value.abs() {
        0.0 => "0 %".to_owned(),
        size if size < 5e-5 => "< 0.01 %".to_owned(),
        _ => format!("{} %", three_digits(value * 100.0)),
    }
}

/// The end of a text, which tells paths apart, in so many letters.
pub(crate) fn clip_begin(text: &str, most: usize) -> String {
    let letters = text.chars().count();
    if letters <= most {
        text.to_owned()
    } else {
        std::iter::once('…').chain(text.chars().skip(letters + 1 - most)).collect()
    }
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
    use partune_engine::{Diagnosis, Request, inside};

    use super::*;

    fn diagnosis(text: &str) -> Diagnosis {
        let request = Request { only: vec!["frequency".to_owned()], ..Request::default() };
        partune_engine::analyze(partune_testkit::trace(text), &request, &())
    }

    #[test]
    fn a_construct_is_where_it_is_called() {
        let run = diagnosis(
            "pe 0: main@m.c:1 0..100 {
                 exchange@h.c:30^m.c:10 0..40 { MPI_Send^h.c:42 0..1 MPI_Send^h.c:50 1..2 MPI_Wait 2..3 }
                 phase solve^m.c:12 40..90 { MPI_Barrier 50..60 \"!$omp barrier\" 60..70 }
                 phase setup@s.c:5 90..100
             }
             pe 1: block lines 0..100 { MPI_Send^b.c:3 0..1 }
             pe 2: start@libc.c:5 0..100 { app+0x14 0..50 { MPI_Send 0..1 } }",
        )
        .run;
        let texts: Vec<String> = run.paths().map(|path| at_text(&run.location(path))).collect();
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
        let diagnosis = diagnosis(
            "pe 0: main 0..9 { exchange^m.c:10 0..4 { phase p 0..4 { MPI_Send^h.c:42 0..1 } } other 4..9 { MPI_Send 4..9 } }",
        );
        let path = |names| partune_testkit::path(inside::of(&diagnosis).trace, names);
        let send = |names| caller(&diagnosis.run, path(names)).map(|location| at_text(&location));
        assert_eq!(send("main/exchange/p/MPI_Send").as_deref(), Some("main (m.c:10)"));
        assert_eq!([send("main/other/MPI_Send"), send("main/exchange"), send("main")], [None, None, None]);
    }

    #[test]
    fn a_cause_is_what_was_done_before_the_operation() {
        let ranks =
            diagnosis("pe 0: MPI_Allreduce 40..50 main@m.c:1 50..100 { work@w.c:3 50..80 MPI_Send^m.c:9 80..81 }");
        let path = |names: &str| partune_testkit::path(inside::of(&ranks).trace, names);
        let words = |pattern, names: &str, origin: Option<&str>| {
            let origin = origin.map_or(CallPathId::NONE, path);
            let path = if names.is_empty() { CallPathId::NONE } else { path(names) };
            cause(
                &ranks.run,
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
        let diagnosis = diagnosis(
            "pe 0: \"!$omp barrier\" 10..50
             pe 0.1: \"!$omp barrier\" 40..50",
        );
        let (threads, run) = (inside::of(&diagnosis).trace, &diagnosis.run);
        let barrier = partune_testkit::path(threads, "!$omp barrier");
        let of_thread = |rank, thread| {
            let pe = partune_testkit::thread(threads, rank, thread);
            let (time, passed_on) = (partune_base::Span(1), partune_base::Span::ZERO);
            let origin = CallPathId::NONE;
            cause(run, Pattern::WaitAtBarrier, &Cause { pe, path: barrier, origin, time, passed_on, via: Vec::new() })
        };
        assert_eq!(of_thread(0, 1), format!("not yet at work, before {}", construct(run, barrier)));
        assert_eq!(of_thread(0, 0), format!("{OUTSIDE}, before {}", construct(run, barrier)));
        // Whoever competes is not late, and code is what it is.
        assert_eq!(words(Pattern::CompetingPutGet, "MPI_Allreduce", None), "MPI_Allreduce");
        assert_eq!(words(Pattern::LoadImbalance, "main/work", None), "work (w.c:3)");
        assert_eq!(words(Pattern::LoadImbalance, "", None), "code outside of recorded regions");
    }

    /// Beside the place stand figures of a node, so it is that one: where PEs waited longest together, not where one did.
    #[test]
    fn processors_are_those_of_the_node_that_lost_most() {
        let spot = |hosts: [&str; 4], waited: [i64; 4]| {
            let text = "pe 0: main 0..9 { MPI_Barrier 8..9 barrier }\npe 1 2 3: main 0..9 { MPI_Barrier 1..9 barrier }";
            let mut builder = partune_testkit::builder(text);
            let (processes, strings) = (&mut builder.processes, &mut builder.strings);
            processes.iter_mut().zip(hosts).for_each(|(process, host)| process.node = strings.intern(host));
            let diagnosis = partune_engine::analyze(builder.seal(), &Request::default(), &());
            let mut finding = diagnosis.findings[0].finding.clone();
            finding.pattern = Pattern::WaitForProcessor;
            finding.pes = (0..4).map(PeId).zip(waited.map(Span)).filter(|it| it.1.is_positive()).collect();
            super::spot(&diagnosis.run, &finding)
        };
        assert_eq!(spot(["a", "a", "b", "b"], [80, 0, 50, 50]), "processors of b");
        assert_eq!(spot(["a", "b", "b", "a"], [50, 80, 0, 50]), "processors of a");
        assert_eq!(spot(["a", "b", "b", "a"], [0, 80, 0, 80]), "processors of a", "of equal ones the first");
        assert_eq!(spot(["", "", "a", "a"], [80, 0, 5, 5]), "processors");
    }

    #[test]
    fn a_process_has_a_name() {
        let mut builder = partune_testkit::builder("pe 0 1 2: main 0..9");
        let (processes, strings) = (&mut builder.processes, &mut builder.strings);
        for (process, name) in processes.iter_mut().zip(["launcher", "", "worker"]) {
            process.name = strings.intern(name);
            process.rank = (name == "worker").then_some(7);
        }
        let run = partune_engine::analyze(builder.seal(), &Request::default(), &()).run;
        assert_eq!([0, 1, 2, 3].map(|id| process(&run, ProcessId(id))), ["launcher", "process 1", "rank 7", "?"]);
    }

    #[test]
    fn streams_of_devices_are_counted_apart() {
        let of = |text| pes(&diagnosis(text).run);
        assert_eq!(of("pe 0: main 0..9"), "1 PE in 1 process");
        assert_eq!(of("pe 0 1.0 1.1: main 0..9"), "3 PEs in 2 processes");
        let one = "device a = 0.1\n device b = 0.2\n pe 0: main 0..9 pe 0.1 0.2: kernel 0..9";
        assert_eq!(of(one), "1 PE in 1 process, 2 GPU streams");
        assert_eq!(
            of("device a = 0.1 0.2\n pe 0 1: main 0..9 pe 0.1 0.2: kernel 0..9"),
            "2 PEs in 2 processes, 2 GPU streams on 1 device"
        );
        // A main thread with streams is not the first of several threads.
        let run = diagnosis(one).run;
        let names: Vec<String> = run.pes().map(|id| pe(&run, id)).collect();
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

    /// The pages have a test with the same list.
    #[test]
    fn numbers_are_rounded_as_on_pages() {
        for line in include_str!("../../../ui/test/rounding.txt").lines() {
            let [form, value, told] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let value: f64 = value.parse().unwrap();
            let text = match form {
                "seconds" => seconds(value),
                "percent" => percent(value),
                _ => fixed(value, 3),
            };
            assert_eq!(text, told, "{line}");
        }
    }
}
