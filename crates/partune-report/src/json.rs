//! The JSON document of `analyze`.
//!
//! Versioned by its field `partune`. Fixed fields are typed here; each section of an analysis adds its scalars under its own
//! name and its tables under theirs, so a new analysis needs no change; it declares them, and [`crate::schema`] says so. Seconds are floating point, summed over PEs unless said.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use partune_base::{CallPathId, Span, Time};
use partune_engine::{Code, Diagnosis, OwnPattern, Pattern, Role, Run, Severity};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::tables::Part;
use crate::{ending, names, next};

/// What `partune analyze --json` prints.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Document<'a> {
    /// Version of this document.
    partune: u32,
    /// As it was named on the command line.
    archive: &'a str,
    /// Number of PEs of CPUs that recorded something.
    pes: usize,
    /// Number of streams of devices that recorded something.
    device_streams: usize,
    /// Number of devices that these are streams of.
    devices: usize,
    /// Number of event records.
    events: u64,
    /// From the first event to the last.
    duration_s: f64,
    /// The piece of the run that all of this is of; null for the whole run.
    piece: Option<PieceEntry>,
    /// False if times of different PEs cannot be compared: efficiency, bounds and all between processes are doubtful then.
    clocks_aligned: bool,
    /// What was noticed about the input.
    quality: Vec<Quality<'a>>,
    /// How the run ended, if that was not in order; null if it was, if nothing is known of it, or if it was not asked for.
    ending: Option<ending::Entry<'a>>,
    /// Worst first.
    findings: Vec<Finding<'a>>,
    /// Functions whose names are longer than `function` and call paths say: what each short name stands for.
    whole_names: Vec<WholeName<'a>>,
    /// Name and position of each PE; numbers of PEs elsewhere are positions in this list.
    pe_names: Vec<String>,
    /// Scalars by section, and tables: as the analyses declare them, see [`crate::schema`].
    #[serde(flatten)]
    #[schemars(skip)]
    sections: BTreeMap<&'a str, Part<'a>>,
}

/// A piece of a run, in seconds after its first event.
#[derive(Serialize, JsonSchema)]
#[allow(clippy::struct_field_names, reason = "a key names its unit")]
pub(crate) struct PieceEntry {
    begin_s: f64,
    end_s: f64,
    /// How long the whole run is.
    of_s: f64,
}

impl PieceEntry {
    /// That of a trace; none if it is the whole run.
    pub(crate) fn of(run: &Run) -> Option<PieceEntry> {
        let piece = run.piece()?;
        let since = |time: Time| run.seconds(time - piece.run.0);
        Some(PieceEntry { begin_s: since(piece.begin), end_s: since(piece.end), of_s: since(piece.run.1) })
    }
}

#[derive(Serialize, JsonSchema)]
struct Quality<'a> {
    /// What it is, for programs; the message may change. docs/quality.md has them all.
    #[schemars(extend("enum" = codes()))]
    code: &'static str,
    #[schemars(extend("enum" = severities()))]
    severity: &'static str,
    message: &'a str,
    remedy: &'a str,
    count: u64,
}

#[derive(Serialize, JsonSchema)]
struct Finding<'a> {
    /// Stable for the same pattern and place, also between runs of a program.
    id: String,
    #[schemars(extend("anyOf" = patterns()))]
    pattern: &'static str,
    seconds: f64,
    /// What is lost besides outside of the run: by start-up and shut-down.
    outside_s: f64,
    /// `seconds` in hours of PEs.
    core_hours: f64,
    /// Share of the run's time on all PEs.
    fraction: f64,
    count: u64,
    #[schemars(extend("enum" = roles()))]
    role: &'static str,
    construct: &'a str,
    location: Location<'a>,
    /// Outermost first; of several that lead to this place the one that loses most. Of a path of more than 128 names or 16 KiB the innermost,
    /// and before them `… N more`.
    callpath: Vec<Cow<'a, str>>,
    /// The call paths that lead to this place, if there are several, the one that loses most first.
    callpaths: Vec<PathShare<'a>>,
    /// The lines of the source that it is at, if there are several, the one that loses most first: `location` has that of the call path that
    /// loses most.
    lines: Vec<LineShare<'a>>,
    pes: Vec<PeShare>,
    /// Those that cost most.
    causes: Vec<Cause<'a>>,
    /// What the other causes cost together: where there are causes, `seconds` is theirs, this and `unexplained_s`.
    other_causes_s: f64,
    unexplained_s: f64,
    /// The path of the file that was read or written, where it is about one.
    data_file: Option<&'a str>,
    /// The longest instances.
    instances: Vec<Instance>,
    /// More numbers, specific to the pattern.
    facts: BTreeMap<&'static str, f64>,
    advice: Vec<Advice>,
    /// What it means, by the file of operations; of patterns of the user's own only.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct Location<'a> {
    file: &'a str,
    line: u32,
    /// Without arguments, and with those of templates as `<…>`, as in call paths.
    function: &'a str,
    /// All of the function's name; left out if that is `function`.
    #[serde(skip_serializing_if = "Option::is_none")]
    whole_function: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct WholeName<'a> {
    name: &'a str,
    /// In order of the alphabet.
    whole: Vec<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct PathShare<'a> {
    callpath: Vec<Cow<'a, str>>,
    seconds: f64,
}

#[derive(Serialize, JsonSchema)]
struct LineShare<'a> {
    #[serde(flatten)]
    location: Location<'a>,
    seconds: f64,
}

#[derive(Serialize, JsonSchema)]
struct PeShare {
    pe: u32,
    seconds: f64,
}

/// Who made operations at a place wait: the root, not one that only waited itself.
#[derive(Serialize, JsonSchema)]
struct Cause<'a> {
    pe: Option<u32>,
    construct: &'a str,
    location: Location<'a>,
    callpath: Vec<Cow<'a, str>>,
    /// Where that PE spent the time that made it late: the operation itself if it was in there or nothing more is known; left out
    /// for code outside of recorded regions (of the main thread; other threads are not yet at work then), and for causes that are code themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<Place<'a>>,
    seconds: f64,
    /// The part of `seconds` that came through others, which had been kept waiting and passed it on.
    via_s: f64,
    /// The operations of these others, nearest to the finding first; of several ways the one of the largest part.
    via: Vec<Via<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct Via<'a> {
    pe: u32,
    #[serde(flatten)]
    place: Place<'a>,
}

#[derive(Serialize, JsonSchema)]
struct Place<'a> {
    construct: &'a str,
    location: Location<'a>,
    callpath: Vec<Cow<'a, str>>,
}

#[derive(Serialize, JsonSchema)]
struct Instance {
    pe: u32,
    /// Seconds since the begin of the run.
    begin_s: f64,
    end_s: f64,
    cause: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
struct Advice {
    /// Of docs/advice.md, as `partune advise` has them; last the finding's own pattern.
    action: &'static str,
    text: &'static str,
    /// What it saves of the time between the end of start-up and the begin of shut-down; null where nothing predicted it.
    predicted_gain_s: Option<f64>,
}

fn codes() -> Vec<&'static str> {
    Code::ALL.iter().map(|code| code.name()).collect()
}

/// The names of patterns: those that every build has, and those of the user's own.
pub(crate) fn patterns() -> Value {
    let own = format!("^{}[A-Za-z0-9_-]+$", OwnPattern::PREFIX);
    let names: Vec<&str> = Pattern::ALL.iter().map(|pattern| pattern.name()).collect();
    serde_json::json!([{ "enum": names }, { "type": "string", "pattern": own }])
}

pub(crate) fn roles() -> Vec<&'static str> {
    Role::ALL.iter().map(|role| role.name()).collect()
}

fn severities() -> [&'static str; 3] {
    Severity::ALL.map(Severity::name)
}

/// The document of a diagnosis, indented, with a line break at its end.
pub fn document(diagnosis: &Diagnosis, archive: &str) -> String {
    let run = &diagnosis.run;
    let mut sections = BTreeMap::new();
    for section in &diagnosis.sections {
        if !section.scalars.is_empty() {
            sections.insert(section.name, Part::Scalars(&section.scalars));
        }
        for table in &section.tables {
            sections.insert(table.name, Part::Table(run, table));
        }
    }
    let quality = diagnosis.quality.entries().iter().map(|entry| Quality {
        code: entry.code.name(),
        severity: entry.severity.name(),
        message: &entry.message,
        remedy: &entry.remedy,
        count: entry.count,
    });
    let counts = run.counts();
    let document = Document {
        partune: 1,
        archive,
        pes: counts.pes,
        device_streams: counts.device_streams,
        devices: counts.devices,
        events: run.events(),
        duration_s: run.seconds(run.duration()),
        piece: PieceEntry::of(run),
        clocks_aligned: diagnosis.clocks_aligned(),
        quality: quality.collect(),
        ending: diagnosis.ending().map(|it| ending::Entry::of(run, it)),
        findings: (0..diagnosis.findings.len()).map(|at| finding(diagnosis, at)).collect(),
        whole_names: whole_names(run),
        pe_names: run.pes().map(|pe| names::pe(run, pe)).collect(),
        sections,
    };
    let mut text = serde_json::to_string_pretty(&document).expect("the document has string keys only");
    text.push('\n');
    text
}

fn whole_names(run: &Run) -> Vec<WholeName<'_>> {
    let mut whole: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for region in run.regions().filter(|region| region.whole != region.name) {
        whole.entry(region.name).or_default().insert(region.whole);
    }
    whole.into_iter().map(|(name, whole)| WholeName { name, whole: whole.into_iter().collect() }).collect()
}

fn finding(diagnosis: &Diagnosis, at: usize) -> Finding<'_> {
    let (run, ranked) = (&diagnosis.run, &diagnosis.findings[at]);
    let finding = &ranked.finding;
    let mends = diagnosis.advised.iter().flat_map(|advised| advised.mends(at));
    let predicted = mends.map(|(advice, saving)| {
        let action = advice.candidate.action;
        Advice { action: &action.id, text: &action.text, predicted_gain_s: Some(saving.saves_s) }
    });
    let (action, text) = (finding.pattern.name(), next::step(finding.pattern));
    let clock = run.clock();
    let seconds = clock.seconds(finding.time);
    let share = |(path, time): &(CallPathId, Span)| PathShare {
        callpath: names::callpath(run, *path),
        seconds: clock.seconds(*time),
    };
    let line = |(path, time)| LineShare { location: location(run, path), seconds: clock.seconds(time) };
    Finding {
        id: finding_id(run, finding),
        pattern: finding.pattern.name(),
        seconds,
        outside_s: clock.seconds(finding.outside),
        core_hours: seconds / 3600.0,
        fraction: ranked.fraction,
        count: finding.count,
        role: finding.role.name(),
        construct: names::construct(run, finding.path),
        location: location(run, finding.path),
        callpath: names::callpath(run, finding.path),
        callpaths: finding.paths.iter().map(share).collect(),
        lines: names::lines(run, finding).into_iter().map(line).collect(),
        pes: finding.pes.iter().map(|(pe, time)| PeShare { pe: pe.0, seconds: clock.seconds(*time) }).collect(),
        causes: finding
            .causes
            .iter()
            .map(|cause| Cause {
                pe: cause.pe.some().map(|pe| pe.0),
                construct: names::construct(run, cause.path),
                location: location(run, cause.path),
                callpath: names::callpath(run, cause.path),
                origin: cause.origin.some().filter(|path| *path != cause.path).map(|path| place(run, path)),
                seconds: clock.seconds(cause.time),
                via_s: clock.seconds(cause.passed_on),
                via: cause.via.iter().map(|(pe, path)| Via { pe: pe.0, place: place(run, *path) }).collect(),
            })
            .collect(),
        other_causes_s: clock.seconds(finding.other_causes()),
        unexplained_s: clock.seconds(finding.unexplained),
        data_file: run.file(finding.file),
        instances: finding
            .occurrences
            .iter()
            .map(|it| Instance {
                pe: it.pe.0,
                begin_s: run.since_origin(it.begin),
                end_s: run.since_origin(it.end),
                cause: it.cause.some().map(|pe| pe.0),
            })
            .collect(),
        facts: finding.facts.iter().copied().filter(|(_, value)| value.is_finite()).collect(),
        advice: predicted.chain([Advice { action, text, predicted_gain_s: None }]).collect(),
        text: match finding.pattern {
            Pattern::User(own) => Some(&own.text),
            _ => None,
        },
    }
}

/// Stable for the same pattern and place, also between runs of a program: construct and function with its file (where no function is known, the line); where several
/// places are told together, what they have in common; where call paths are told apart, the path and the lines of its calls.
pub fn finding_id(run: &Run, finding: &partune_engine::Finding) -> String {
    let (mut names, mut sites) = (names::callpath(run, finding.path), Vec::new());
    if finding.pattern.is_of_place() {
        let common = |same: &dyn Fn(CallPathId) -> bool| finding.call_paths().all(same);
        let (construct, at) = (names::construct(run, finding.path), names::scope(run, finding.path));
        names.clear();
        if common(&|path| names::construct(run, path) == construct) {
            names.push(construct.into());
            if common(&|path| names::scope(run, path) == at) {
                names.push(at.function.into());
                sites.push((at.file, at.line));
            }
        }
    } else {
        let shown = run.frames(finding.path).take(names.len()).map(|frame| frame.site);
        sites.extend(shown.filter(partune_engine::Site::is_known).map(|site| (site.file, site.line)));
    }
    format!("{}-{:08x}", finding.pattern.name(), hash(&names, &sites))
}

fn place(run: &Run, path: CallPathId) -> Place<'_> {
    Place {
        construct: names::construct(run, path),
        location: location(run, path),
        callpath: names::callpath(run, path),
    }
}

fn location(run: &Run, path: CallPathId) -> Location<'_> {
    let partune_engine::Location { file, line, function } = run.location(path);
    let whole_function = Some(run.whole_function(path)).filter(|whole| *whole != function);
    Location { file, line, function, whole_function }
}

/// FNV-1a over names and lines of files: the same on every machine.
pub(crate) fn hash(names: &[Cow<'_, str>], sites: &[(&str, u32)]) -> u32 {
    let names = names.iter().flat_map(|name| name.bytes().chain([0]));
    let sites = sites.iter().flat_map(|(file, line)| file.bytes().chain(line.to_le_bytes()));
    names.chain(sites).fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
