//! Changes as people write them: `VERB TARGET [SETTING…]`.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// One change of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Each PE does the same share of the work there, in each block between global synchronisations.
    Balance(Place),
    /// What a thread does there outside of parallel regions is done by its whole team.
    Spread(Place),
    /// What is done there takes this many times as long.
    Scale(Place, f64),
    /// All work of a PE takes this many times as long.
    ScalePe(PeName, f64),
    /// Processors are this many times as fast.
    ScaleCpu(f64),
    /// The operations there are not done: barriers.
    Remove(Place),
    /// The operations there are only started, and awaited when the PE next does something with others.
    Nonblocking(Place),
    /// What operations there take from others is awaited only after the next visit of another place.
    DelayWait(Place, Place),
    /// Barriers there become a signal for each pair of PEs whose accesses to memory they order.
    PointToPoint(Place),
    /// Messages there are sent in so many pieces, and the work before and after each is done in as many.
    Split(Place, u32),
    /// So many operations there that follow each other are one, which moves what all of them moved.
    Combine(Place, u32),
    /// Collectives there that follow directly on another one are done with that.
    Merge(Place),
    /// Collectives there are done by another algorithm.
    Collective(Place, Algorithm),
    /// A PE leaves its work to all others, who do it when it would have begun it.
    Dedicate(PeName),
    /// Another network, or another limit: messages of fewer bytes are sent without asking whether their receive is posted.
    Network { latency: Option<Setting>, bandwidth: Option<Setting>, eager: Option<u64> },
    /// Processes are on so many nodes, as many on each, in the order of their ranks.
    Nodes(u32),
    /// Processes are on the nodes that a file names; once that is read, the node of each in the order of their ranks.
    Map { file: String, nodes: Option<Vec<String>> },
    /// The program on so many PEs, at least one: no run shows it, but several on other numbers do.
    Pes(u32),
}

/// What a PE is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeName {
    /// Its number in the run.
    Number(u32),
    /// The rank of its process, or the process's number where that has none, and its thread there.
    Thread(u32, u32),
}

impl FromStr for PeName {
    type Err = ();

    fn from_str(text: &str) -> Result<PeName, ()> {
        let number = |text: &str| text.parse::<u32>().map_err(|_| ());
        match text.split_once('.') {
            Some((rank, thread)) => Ok(PeName::Thread(number(rank)?, number(thread)?)),
            None => number(text).map(PeName::Number),
        }
    }
}

impl fmt::Display for PeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PeName::Number(number) => write!(f, "{number}"),
            PeName::Thread(rank, thread) => write!(f, "{rank}.{thread}"),
        }
    }
}

/// What a quantity becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
    Times(f64),
    /// Seconds, or bytes a second.
    Is(f64),
}

/// How a collective is done: in how many rounds, and how often its bytes pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Everybody talks to the root, or to everybody, one after the other.
    Linear,
    Binomial,
    RecursiveDoubling,
    /// Around a ring, in as many pieces as there are PEs.
    Ring,
    /// Everybody exchanges its part with one other after the other, all at the same time.
    Pairwise,
}

impl Algorithm {
    /// By their names in changes.
    pub const ALL: [(&str, Algorithm); 5] = [
        ("linear", Algorithm::Linear),
        ("binomial", Algorithm::Binomial),
        ("recursive_doubling", Algorithm::RecursiveDoubling),
        ("ring", Algorithm::Ring),
        ("pairwise", Algorithm::Pairwise),
    ];

    fn name(self) -> &'static str {
        Algorithm::ALL.iter().find(|it| it.1 == self).map_or("", |it| it.0)
    }
}

/// Where in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of a file; of the file's path the end suffices.
    Line { file: String, line: u32 },
    /// A function, construct or phase, with those that it is called from before it, as many as are needed.
    Path(Vec<String>),
}

/// Why a text is no change.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}`: {reason}\n  remedy: {remedy}")]
pub struct ChangeError {
    pub text: String,
    pub reason: String,
    pub remedy: String,
}

/// The forms of changes, for help and errors.
pub const FORMS: [&str; 21] = [
    "balance PLACE",
    "spread PLACE",
    "scale PLACE time*FACTOR",
    "scale pe:N time*FACTOR",
    "scale cpu speed*FACTOR",
    "remove PLACE",
    "nonblocking PLACE",
    "delay-wait PLACE past PLACE",
    "p2p PLACE",
    "split PLACE COUNT",
    "combine PLACE COUNT",
    "merge PLACE",
    "collective PLACE linear|binomial|recursive_doubling|ring|pairwise",
    "dedicate pe:N",
    "set network latency=TIME",
    "set network bandwidth=RATE",
    "set network eager=SIZE",
    "scale network latency*FACTOR bandwidth*FACTOR",
    "set nodes =COUNT",
    "map FILE",
    "set pes =COUNT",
];

/// A message in more pieces is none.
const MOST_PIECES: u32 = 1024;

/// The longest text that is read.
const LONGEST: usize = 4096;

impl Change {
    /// Whether it is something to do about a loss; else it supposes a faster processor, network or code, and does not say how.
    pub fn mends(&self) -> bool {
        match self {
            Change::Scale(..) | Change::ScalePe(..) | Change::ScaleCpu(_) | Change::Nodes(_) | Change::Pes(_) => false,
            Change::Network { latency, bandwidth, .. } => latency.is_none() && bandwidth.is_none(),
            Change::Balance(_)
            | Change::Spread(_)
            | Change::Remove(_)
            | Change::Nonblocking(_)
            | Change::DelayWait(..)
            | Change::PointToPoint(_)
            | Change::Split(..)
            | Change::Map { .. }
            | Change::Combine(..)
            | Change::Merge(_)
            | Change::Collective(..)
            | Change::Dedicate(_) => true,
        }
    }
}

impl FromStr for Change {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Change, ChangeError> {
        let forms = || format!("a change is one of: {}", FORMS.join(", "));
        let error = |reason: &str, remedy: String| ChangeError {
            text: text.chars().take(80).collect(),
            reason: reason.to_owned(),
            remedy,
        };
        if text.len() > LONGEST {
            return Err(error("it is too long", forms()));
        }
        let words = words(text).ok_or_else(|| error("a quotation mark has no partner", "close it".to_owned()))?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let wrong = |what: &str| error(what, forms());
        let (verb, target, settings) = match words.as_slice() {
            [] => return Err(wrong("nothing is said")),
            [_] => return Err(wrong("no target is named")),
            [verb, target, settings @ ..] => (*verb, *target, settings),
        };
        let place = |name: &str| place(name).ok_or_else(|| wrong("the place has an empty name"));
        let none = |change: Change| if settings.is_empty() { Ok(change) } else { Err(wrong("it takes no setting")) };
        let one = |name: &str| match settings {
            [setting] => factor(setting, name).ok_or_else(|| {
                error(
                    &format!("`{setting}` is not {name}*FACTOR, a factor of 0 or more"),
                    format!("for example {name}*0.5"),
                )
            }),
            _ => Err(wrong("it takes one setting")),
        };
        let count = |verb: &str| {
            match settings {
                [count] => count.parse::<u32>().ok().filter(|count| *count > 0),
                _ => None,
            }
            .ok_or_else(|| error("it takes a count of 1 or more", format!("for example {verb} {target} 8")))
        };
        let pe = |target: &str| {
            target.strip_prefix("pe:").map(|number| {
                let wrong = || {
                    error("a PE is pe: and its number, or its rank and thread", "for example pe:3 or pe:0.1".to_owned())
                };
                number.parse::<PeName>().map_err(|()| wrong())
            })
        };
        match verb {
            "balance" => none(Change::Balance(place(target)?)),
            "spread" => none(Change::Spread(place(target)?)),
            "remove" => none(Change::Remove(place(target)?)),
            "nonblocking" => none(Change::Nonblocking(place(target)?)),
            "merge" => none(Change::Merge(place(target)?)),
            "p2p" => none(Change::PointToPoint(place(target)?)),
            "delay-wait" => match settings {
                ["past", other] => Ok(Change::DelayWait(place(target)?, place(other)?)),
                _ => Err(error(
                    "it takes the place that comes before the wait",
                    format!("for example delay-wait {target} past solve"),
                )),
            },
            "combine" => Ok(Change::Combine(place(target)?, count("combine")?)),
            "split" => match count("split")? {
                pieces @ 1..=MOST_PIECES => Ok(Change::Split(place(target)?, pieces)),
                _ => Err(error("that is too many pieces", format!("at most {MOST_PIECES}"))),
            },
            "map" => none(Change::Map { file: target.to_owned(), nodes: None }),
            "collective" => {
                let named = |name: &&str| Algorithm::ALL.iter().find(|it| it.0 == *name).map(|it| it.1);
                match settings.first().and_then(named) {
                    Some(algorithm) if settings.len() == 1 => Ok(Change::Collective(place(target)?, algorithm)),
                    _ => Err(wrong("it takes an algorithm")),
                }
            }
            "dedicate" => match pe(target) {
                Some(number) => none(Change::Dedicate(number?)),
                None => Err(wrong("only a PE can be dedicated")),
            },
            "set" | "scale" if target == "network" => network(verb == "set", settings).map_err(|reason| wrong(&reason)),
            "scale" if target == "cpu" => {
                let speed = one("speed")?;
                if (1.0 / speed).is_finite() {
                    Ok(Change::ScaleCpu(speed))
                } else {
                    Err(wrong("a processor of speed 0 ends nothing"))
                }
            }
            "scale" => match pe(target) {
                Some(number) => Ok(Change::ScalePe(number?, one("time")?)),
                None => Ok(Change::Scale(place(target)?, one("time")?)),
            },
            "set" => {
                let whole = [&[target], settings].concat().concat();
                let (name, count) = whole.split_once('=').unwrap_or((target, ""));
                let count = count.parse().ok().filter(|count| *count > 0);
                let none = || error("it takes a count of 1 or more", format!("for example set {name} =64"));
                match name {
                    "pes" => count.map(Change::Pes).ok_or_else(none),
                    "nodes" => count.map(Change::Nodes).ok_or_else(none),
                    _ => Err(wrong("only the network, nodes and pes can be set")),
                }
            }
            _ => Err(wrong("there is no such change")),
        }
    }
}

/// The nodes of processes in the order of their ranks, from a file with a line for each rank, `NODE`, or `rank N=NODE …` (Open MPI's rank file), or
/// with a line for each node and how many it takes, `NODE slots=N` or `NODE:N` (host files). Else the number of the first line that is none of
/// these, and why.
pub fn mapping(text: &str) -> Result<Vec<String>, (usize, &'static str)> {
    let mut nodes: Vec<Option<String>> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let error = |what| (number + 1, what);
        let Some((first, rest)) = line.split_whitespace().next().map(|first| (first, line[first.len()..].trim()))
        else {
            continue;
        };
        if first == "rank" {
            let (rank, node) = rest.split_once('=').ok_or_else(|| error("a rank and its node are `rank N=NODE`"))?;
            let rank: usize = rank.trim().parse().map_err(|_| error("a rank is a number"))?;
            let node = node.split_whitespace().next().ok_or_else(|| error("the node has no name"))?;
            if rank >= MOST_RANKS {
                return Err(error("there are not so many ranks"));
            }
            nodes.resize(nodes.len().max(rank + 1), None);
            nodes[rank] = Some(node.to_owned());
            continue;
        }
        let slots = rest.split_whitespace().find_map(|word| word.strip_prefix("slots="));
        let (node, count) = match (slots, first.split_once(':')) {
            (Some(count), _) => (first, count),
            (None, Some((node, count))) => (node, count),
            (None, None) => (first, "1"),
        };
        let count: usize = count.parse().map_err(|_| error("how many ranks a node takes is a number"))?;
        if count > MOST_RANKS - nodes.len().min(MOST_RANKS) {
            return Err(error("there are not so many ranks"));
        }
        nodes.extend(std::iter::repeat_n(Some(node.to_owned()), count));
    }
    let named = nodes.iter().take_while(|node| node.is_some()).count();
    if named < nodes.len() {
        return Err((text.lines().count(), "a rank before the last one has no node"));
    }
    Ok(nodes.into_iter().flatten().collect())
}

/// No job has more.
const MOST_RANKS: usize = 1 << 24;

/// Words between spaces; what is in quotation marks is one, or part of one.
fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    for sign in text.chars() {
        match sign {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            _ if sign.is_whitespace() && !quoted => words.extend(word.take()),
            _ => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    (!quoted).then_some(words)
}

fn place(name: &str) -> Option<Place> {
    if let Some((file, line)) = name.rsplit_once(':')
        && let Ok(line) = line.parse()
        && !file.is_empty()
    {
        return Some(Place::Line { file: file.to_owned(), line });
    }
    let names: Vec<String> = name.split('/').map(str::to_owned).collect();
    names.iter().all(|name| !name.is_empty()).then_some(Place::Path(names))
}

/// `NAME*FACTOR`.
fn factor(setting: &str, name: &str) -> Option<f64> {
    let factor: f64 = setting.strip_prefix(name)?.strip_prefix('*')?.parse().ok()?;
    (factor.is_finite() && factor >= 0.0).then_some(factor)
}

fn network(sets: bool, settings: &[&str]) -> Result<Change, String> {
    let (mut latency, mut bandwidth, mut eager) = (None, None, None);
    for setting in settings {
        let (name, value) = match setting.split_once(['=', '*']) {
            Some((name, value)) if setting.contains('=') == sets => (name, value),
            _ => return Err(format!("`{setting}` is no setting of a network")),
        };
        if (name, sets) == ("eager", true) {
            eager = Some(size(value).ok_or_else(|| format!("`{value}` is no number of bytes"))?);
            continue;
        }
        let number = match (name, sets) {
            (_, false) => value.parse().ok().filter(|factor: &f64| factor.is_finite()),
            ("latency", true) => seconds(value),
            (_, true) => rate(value),
        };
        let number =
            number.filter(|number| *number >= 0.0).ok_or_else(|| format!("`{value}` is no value of the {name}"))?;
        let value = if sets { Setting::Is(number) } else { Setting::Times(number) };
        match name {
            "latency" => latency = Some(value),
            "bandwidth" if number > 0.0 => bandwidth = Some(value),
            "bandwidth" => return Err("a network of no bandwidth moves nothing".to_owned()),
            _ => return Err(format!("a network has latency and bandwidth, and no {name}")),
        }
    }
    match (latency, bandwidth, eager) {
        (None, None, None) => Err("no setting is named".to_owned()),
        (latency, bandwidth, eager) => Ok(Change::Network { latency, bandwidth, eager }),
    }
}

const TIMES: [(&str, f64); 5] = [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
const RATES: [(&str, f64); 3] = [("k", 1e3), ("M", 1e6), ("G", 1e9)];

const SIZES: [(&str, f64); 3] = [("Ki", 1024.0), ("Mi", 1_048_576.0), ("Gi", 1_073_741_824.0)];

/// A number with a unit; without one in the base unit.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let unit = units.iter().find_map(|(name, scale)| Some((text.strip_suffix(name)?, *scale)));
    let (number, scale) = unit.unwrap_or((text, 1.0));
    number.parse::<f64>().ok().map(|number| number * scale)
}

fn seconds(text: &str) -> Option<f64> {
    with_unit(text, &TIMES).filter(|seconds| seconds.is_finite())
}

/// Bytes a second.
fn rate(text: &str) -> Option<f64> {
    let text = text.strip_suffix("B/s").unwrap_or(text);
    if text == "inf" { Some(f64::INFINITY) } else { with_unit(text, &RATES).filter(|rate| !rate.is_nan()) }
}

/// Bytes.
fn size(text: &str) -> Option<u64> {
    let bytes = text.strip_suffix('B').unwrap_or(text);
    let whole = |bytes: f64| (bytes >= 0.0 && bytes < u64::MAX as f64).then_some(bytes as u64);
    if text == "inf" {
        Some(u64::MAX)
    } else {
        with_unit(bytes, &SIZES).or_else(|| with_unit(bytes, &RATES)).and_then(whole)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Place::Line { file, line } => format!("{file}:{line}"),
            Place::Path(names) => names.join("/"),
        };
        if text.contains(char::is_whitespace) { write!(f, "\"{text}\"") } else { f.write_str(&text) }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let setting = |name: &str, value: &Option<Setting>| match value {
            None => String::new(),
            Some(Setting::Times(factor)) => format!(" {name}*{factor}"),
            Some(Setting::Is(value)) => format!(" {name}={value}"),
        };
        match self {
            Change::Balance(place) => write!(f, "balance {place}"),
            Change::Spread(place) => write!(f, "spread {place}"),
            Change::Scale(place, factor) => write!(f, "scale {place} time*{factor}"),
            Change::ScalePe(pe, factor) => write!(f, "scale pe:{pe} time*{factor}"),
            Change::ScaleCpu(speed) => write!(f, "scale cpu speed*{speed}"),
            Change::Remove(place) => write!(f, "remove {place}"),
            Change::Nonblocking(place) => write!(f, "nonblocking {place}"),
            Change::DelayWait(place, other) => write!(f, "delay-wait {place} past {other}"),
            Change::PointToPoint(place) => write!(f, "p2p {place}"),
            Change::Split(place, count) => write!(f, "split {place} {count}"),
            Change::Combine(place, count) => write!(f, "combine {place} {count}"),
            Change::Nodes(count) => write!(f, "set nodes ={count}"),
            Change::Map { file, .. } if file.contains(char::is_whitespace) => write!(f, "map \"{file}\""),
            Change::Map { file, .. } => write!(f, "map {file}"),
            Change::Merge(place) => write!(f, "merge {place}"),
            Change::Collective(place, algorithm) => write!(f, "collective {place} {}", algorithm.name()),
            Change::Dedicate(pe) => write!(f, "dedicate pe:{pe}"),
            Change::Pes(count) => write!(f, "set pes ={count}"),
            Change::Network { latency, bandwidth, eager } => {
                let sets = [latency, bandwidth].into_iter().flatten().all(|it| matches!(it, Setting::Is(_)));
                let verb = if sets { "set" } else { "scale" };
                write!(f, "{verb} network{}{}", setting("latency", latency), setting("bandwidth", bandwidth))?;
                match eager {
                    None => Ok(()),
                    Some(u64::MAX) => f.write_str(" eager=inf"),
                    Some(bytes) => write!(f, " eager={bytes}"),
                }
            }
        }
    }
}
