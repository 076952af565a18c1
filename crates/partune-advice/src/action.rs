//! What an action, an issue and a step are, as the data files say them.

use std::collections::BTreeMap;

use partune_analysis::Pattern;
use partune_trace::Role;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::GapName;

/// Something that can be done. Sets of issues and gaps are those of Hung and Davidson's Table 1 for `A-1` to `A-40`, and ours for others.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// `A-1` to `A-40` as in the table, a word of lower-case letters and dashes for others.
    pub id: String,
    pub name: String,
    /// What it is.
    pub text: String,
    /// When what it needs to know is known.
    pub level: Level,
    /// What partune does of it by itself, and with which command.
    pub by_partune: Option<String>,
    /// The issue that it belongs to, and by it the step.
    pub issue: u8,
    /// Issues that it is good for.
    #[serde(default)]
    pub positive: Vec<u8>,
    /// Issues that it makes worse.
    #[serde(default)]
    pub negative: Vec<u8>,
    /// Issues to look at again, since it may do either.
    #[serde(default)]
    pub affected: Vec<u8>,
    /// Gaps that it is meant to shrink, as the table has them: see [`Action::targeted`].
    #[serde(default)]
    pub targets: Vec<GapName>,
    /// Gaps to be measured again when it is done, as the table has them: see [`Action::affected_gaps`].
    #[serde(default)]
    pub affects: Vec<GapName>,
    /// What of the table is doubtful, by field.
    #[serde(default)]
    pub doubtful: BTreeMap<String, Doubt>,
    /// What it may cost.
    #[serde(default)]
    pub side_effects: Vec<String>,
    /// Where it applies; any one of them.
    #[serde(default)]
    pub when: Vec<Rule>,
    /// Why no change predicts it; every action without a change says so.
    pub unpredicted: Option<String>,
    /// Why nothing that is found in a run points to it; every action without a rule says so.
    pub unseen: Option<String>,
    /// How to do it, by paradigm.
    #[serde(default)]
    pub recipes: BTreeMap<String, Recipe>,
    /// Where it comes from.
    pub source: String,
}

/// The levels of performance tuning: the first at which all is known that an action needs (Hung and Davidson).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// When the program is written or compiled: by what the code is.
    Static,
    /// Between runs: by what a run before has shown.
    Incremental,
    /// When the program starts: by its input, its machine and how many PEs there are.
    StartUp,
    /// While it runs: by what its load is now.
    RunTime,
}

impl Level {
    /// All of them, in the order in which they come.
    pub const ALL: [Level; 4] = [Level::Static, Level::Incremental, Level::StartUp, Level::RunTime];

    /// As the data files and JSON have it.
    pub fn key(self) -> &'static str {
        match self {
            Level::Static => "static",
            Level::Incremental => "incremental",
            Level::StartUp => "start_up",
            Level::RunTime => "run_time",
        }
    }

    /// When that is.
    pub fn when(self) -> &'static str {
        match self {
            Level::Static => "in the code, before any run",
            Level::Incremental => "between runs, by what one has shown",
            Level::StartUp => "at start-up, by input, machine and number of PEs",
            Level::RunTime => "while the program runs, by its load",
        }
    }
}

/// A doubt about a cell of the table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Doubt {
    /// What the print has.
    pub printed: String,
    pub why: String,
    /// The gaps that are meant, where they are not those of the cell.
    pub read: Option<Vec<GapName>>,
}

/// Where an action applies: everything that it names must hold.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools, reason = "keys of a data file, each of which may stand there or not")]
pub struct Rule {
    /// A finding has one of these; without one it takes no finding, but a gap.
    #[serde(default, deserialize_with = "patterns")]
    pub patterns: Vec<Pattern>,
    /// The finding's role is one of these.
    #[serde(default, deserialize_with = "roles")]
    pub roles: Vec<Role>,
    /// One of these gaps is significant.
    #[serde(default)]
    pub gaps: Vec<GapName>,
    /// The finding's operation is one of these paradigms; where it is code, the run has one of them.
    #[serde(default)]
    pub paradigms: Vec<String>,
    /// Most of the loss is one PE's doing.
    #[serde(default)]
    pub by_one_pe: bool,
    /// The finding is of one barrier, which takes turns with others and is not the end of a parallel region; none of them is redundant. What it does
    /// not keep in order, they can.
    #[serde(default)]
    pub in_turns: bool,
    /// Code that is a cause is in one of these constructs, which are loops, and in none inside of it: once for each loop. Where other code in it is a cause
    /// too, or takes time that counts, the loop stands for all of it.
    #[serde(default)]
    pub loops: Vec<String>,
    /// Or in one of these, in which there may be a loop that is not recorded: nothing in it shares out work in another way, and it is in no parallel region.
    #[serde(default)]
    pub loops_unseen_in: Vec<String>,
    /// PEs come to it again and again, more often than once to begin and once to end.
    #[serde(default)]
    pub repeated: bool,
    /// What predicts it; any one of them.
    #[serde(default)]
    pub changes: Vec<Change>,
    /// Whether the prediction is an upper limit of what the action gains.
    #[serde(default)]
    pub upper_limit: bool,
}

/// A change of the run to be replayed, `VERB TARGET [SETTING…]`, in which names are still to be filled in: `{place}`, the finding's own place;
/// `{cause}`, that of its main cause; `{pe}`, the PE of the main cause as `pe:N`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub struct Change(String);

/// How an action is done in one paradigm.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    pub text: String,
    /// A section of a standard, or a paper.
    pub source: String,
}

/// Something to be tuned.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    /// 1 to 20 as in the table; ours follow.
    pub id: u8,
    pub name: String,
    pub step: u8,
    /// Gaps that it concerns although no action of it targets them.
    #[serde(default)]
    pub targets: Vec<GapName>,
    /// Whether the table's print leaves open to which step it belongs.
    #[serde(default)]
    pub step_doubtful: bool,
}

/// A step of tuning; they are taken in order.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    pub id: u8,
    pub name: String,
    /// Gaps that call for it.
    pub gaps: Vec<GapName>,
    /// Gaps that our own actions add.
    #[serde(default)]
    pub own_gaps: Vec<GapName>,
}

/// A step that must be looked at again after another one.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recheck {
    pub after: u8,
    pub step: u8,
    pub why: String,
}

impl Action {
    /// Gaps that it is meant to shrink, doubtful cells read as they are meant.
    pub fn targeted(&self) -> &[GapName] {
        self.read("targets").unwrap_or(&self.targets)
    }

    /// Gaps to be measured again when it is done, likewise.
    pub fn affected_gaps(&self) -> &[GapName] {
        self.read("affects").unwrap_or(&self.affects)
    }

    fn read(&self, field: &str) -> Option<&[GapName]> {
        self.doubtful.get(field)?.read.as_deref()
    }

    /// Whether some change predicts it.
    pub fn is_predicted(&self) -> bool {
        self.when.iter().any(|rule| !rule.changes.is_empty())
    }

    /// Whether it is good for an issue: its own, or one that it helps.
    pub fn helps(&self, issue: u8) -> bool {
        self.issue == issue || self.positive.contains(&issue)
    }
}

impl Step {
    /// Whether a gap calls for it.
    pub fn considers(&self, gap: GapName) -> bool {
        self.gaps.contains(&gap) || self.own_gaps.contains(&gap)
    }
}

impl Change {
    /// As the data file has it.
    pub fn template(&self) -> &str {
        &self.0
    }

    pub fn needs_place(&self) -> bool {
        self.0.contains("{place}")
    }

    pub fn needs_cause(&self) -> bool {
        self.0.contains("{cause}")
    }

    pub fn needs_pe(&self) -> bool {
        self.0.contains("{pe}")
    }

    /// Whether it lets an operation come back before it is done.
    pub fn is_nonblocking(&self) -> bool {
        self.0.starts_with("nonblocking ")
    }

    /// The change for a run. Names are those by which the replay knows places; `pe` is `pe:N`.
    pub fn fill(&self, place: &str, cause: &str, pe: &str) -> String {
        // Split, not replaced: a name may have braces of its own.
        let mut filled = String::with_capacity(self.0.len() + place.len() + cause.len());
        let mut rest = self.0.as_str();
        while let Some(open) = rest.find('{') {
            let (before, at) = rest.split_at(open);
            filled.push_str(before);
            let names = [("{place}", place), ("{cause}", cause), ("{pe}", pe)];
            let known = names.into_iter().find_map(|(key, name)| Some((name, at.strip_prefix(key)?)));
            let (name, after) = known.unwrap_or_else(|| at.split_at(1));
            filled.push_str(name);
            rest = after;
        }
        filled.push_str(rest);
        filled
    }
}

fn patterns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Pattern>, D::Error> {
    named(deserializer, &Pattern::ALL, Pattern::name, "pattern")
}

fn roles<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Role>, D::Error> {
    named(deserializer, &Role::ALL, Role::name, "role")
}

/// Values of a list by their names.
fn named<'de, D: Deserializer<'de>, T: Copy>(
    deserializer: D,
    all: &[T],
    name: fn(T) -> &'static str,
    what: &str,
) -> Result<Vec<T>, D::Error> {
    let find = |word: &String| {
        let known = all.iter().copied().find(|it| name(*it) == word);
        known.ok_or_else(|| D::Error::custom(format_args!("there is no {what} {word}")))
    };
    Vec::<String>::deserialize(deserializer)?.iter().map(find).collect()
}
