//! The file of results: lines of JSON that launches append, each with the label of its launch.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;

use crate::error::CoupleError;
use crate::plan::Plan;

/// What one launch left.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    pub head: Head,
    /// The loop with all its turns; what is in it is for one turn.
    pub whole: Sampled,
    /// By names of kernels; of one kernel alone, too.
    pub chains: BTreeMap<Vec<String>, Sampled>,
    /// Why nothing was measured.
    pub fault: Option<String>,
    pub ended: Option<Ending>,
}

/// Why a launch ended, and what it was asked for.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Ending {
    #[serde(rename = "ended")]
    pub why: Why,
    /// None of what older programs wrote.
    #[serde(flatten)]
    pub asked: Option<Asked>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub struct Asked {
    pub budget_s: f64,
    pub confidence: f64,
    pub rounds: f64,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Why {
    /// No round more was within the seconds that it had.
    Budget,
    /// Errors were as small as asked for.
    Confidence,
    /// It did as many rounds as any launch does.
    Rounds,
}

/// What holds for a whole launch.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct Head {
    pub ranks: u32,
    pub threads: u32,
    /// Kernels of one turn.
    #[serde(rename = "loop")]
    pub order: Vec<String>,
    pub iterations: u64,
    /// Of the rank that has most.
    pub state_bytes: f64,
    /// Floating-point numbers in it.
    pub values: f64,
    /// The least step of the clock, and what calling a kernel costs.
    pub clock_s: f64,
    pub call_s: f64,
    /// Seconds of what is done beside the loop.
    pub once: BTreeMap<String, f64>,
}

/// What a chain took.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct Sampled {
    #[serde(default)]
    pub chain: Vec<String>,
    #[serde(flatten)]
    pub timed: Timed,
    /// Of one execution, by round.
    pub seconds: Vec<f64>,
    /// Times of which another program took a part.
    pub disturbed: f64,
    /// Values of the state after the most executions that follow each other which are no finite numbers, and which are subnormal.
    pub not_finite: f64,
    pub subnormal: f64,
    /// By how much the state after one execution differs if others were done before it was restored.
    pub differs: f64,
}

/// How a chain was executed in each round.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum Timed {
    /// From the saved state on `few` times, and again `many` times, each time without a pause: what counts is the difference.
    InARow {
        few: u64,
        many: u64,
        /// What an execution of the second half took by one of the first half, by round; the first `few` are not in it, in which ranks that met make up for each
        /// other's delays.
        halves: Vec<f64>,
    },
    /// So many times, each from the state on that the chain begins with in the loop: what counts is the median, without the seconds that no kernel at all takes so.
    OneByOne { one_by_one: u64, empty_s: f64 },
}

impl Default for Timed {
    fn default() -> Timed {
        Timed::InARow { few: 0, many: 0, halves: Vec::new() }
    }
}

impl Timed {
    pub fn is_one_by_one(&self) -> bool {
        matches!(self, Timed::OneByOne { .. })
    }

    /// Executions that follow each other before the state is restored; without what warms up.
    pub fn executions(&self) -> u64 {
        match self {
            Timed::InARow { many, .. } => *many,
            Timed::OneByOne { .. } => 1,
        }
    }

    /// What is timed in a round of a chain.
    pub fn times(&self) -> u64 {
        match self {
            Timed::InARow { .. } => 2,
            Timed::OneByOne { one_by_one, .. } => *one_by_one,
        }
    }
}

#[derive(Deserialize)]
struct Labelled {
    run: String,
    couple: Option<u32>,
    fault: Option<String>,
    ended: Option<serde::de::IgnoredAny>,
    chain: Option<Vec<String>>,
}

/// The version of lines that is read.
const VERSION: u32 = 1;

/// Launches by their labels; none of a file that is not there. A line that says nothing is not counted on: what is missing then is said.
pub fn read(path: &Path) -> Result<BTreeMap<String, Recorded>, CoupleError> {
    match partune_files::read_regular(path) {
        Ok(bytes) => Ok(parse(&String::from_utf8_lossy(&bytes))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(CoupleError::Results { path: path.to_owned(), error }),
    }
}

fn parse(text: &str) -> BTreeMap<String, Recorded> {
    let mut all: BTreeMap<String, Recorded> = BTreeMap::new();
    for line in text.lines() {
        let Ok(labelled) = serde_json::from_str::<Labelled>(line) else { continue };
        let recorded = all.entry(labelled.run).or_default();
        if labelled.fault.is_some() {
            *recorded = Recorded { fault: labelled.fault, ..Recorded::default() };
        } else if labelled.couple.is_some() {
            // A new launch of that label: what an earlier one left does not count.
            let head = serde_json::from_str::<Head>(line).ok().filter(|_| labelled.couple == Some(VERSION));
            *recorded = Recorded { head: head.unwrap_or_default(), ..Recorded::default() };
        } else if labelled.ended.is_some() {
            recorded.ended = serde_json::from_str(line).ok();
        } else if let Ok(sampled) = serde_json::from_str::<Sampled>(line) {
            match labelled.chain {
                Some(chain) => _ = recorded.chains.insert(chain, sampled),
                None => recorded.whole = sampled,
            }
        }
    }
    all
}

impl Recorded {
    /// Whether there is anything to go by.
    pub fn is_complete(&self) -> bool {
        self.ended.is_some() && !self.head.order.is_empty() && !self.whole.seconds.is_empty()
    }

    /// Whether it is what a plan asks for now: not if it ended since its budget was over and the plan's is larger, or since errors were small enough for another
    /// plan, or rounds enough. What does not say what it was asked for is taken as it is.
    pub fn is_enough(&self, plan: &Plan) -> bool {
        let is_met = |Ending { why, asked }: &Ending| {
            let Some(asked) = asked else { return true };
            match why {
                Why::Budget => plan.budget_s <= asked.budget_s,
                Why::Confidence => plan.confidence >= asked.confidence && f64::from(plan.rounds) <= asked.rounds,
                Why::Rounds => true,
            }
        };
        self.is_complete() && self.ended.as_ref().is_some_and(is_met)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Plan, Timed, parse};

    const HEAD: &str = r#"{"run":"a","couple":1,"ranks":2,"threads":1,"loop":["x","y"],"iterations":20,"state_bytes":800,"values":100,"clock_s":1e-8,"call_s":1e-9,"once":{"init":0.5}}"#;
    const WHOLE: &str = r#"{"run":"a","few":0,"many":20,"seconds":[0.5],"halves":[1],"disturbed":0,"not_finite":0,"subnormal":0,"differs":0}"#;
    const CHAIN: &str = r#"{"run":"a","chain":["x","y"],"few":1,"many":5,"seconds":[0.4,0.5],"halves":[1,1],"disturbed":0,"not_finite":3,"subnormal":0,"differs":0.25}"#;
    const END: &str = r#"{"run":"a","ended":"budget","took_s":3.5}"#;

    #[test]
    fn the_last_launch_of_a_label_counts_if_it_ended() {
        let all = parse(&[HEAD, WHOLE, CHAIN, END].join("\n"));
        let one = &all["a"];
        assert!(one.is_complete());
        assert_eq!(one.head.once["init"].to_string(), "0.5");
        assert_eq!(one.chains[&["x", "y"].map(str::to_owned)[..]].seconds, [0.4, 0.5]);
        let again = parse(&[HEAD, WHOLE, CHAIN, END, HEAD, WHOLE].join("\n"));
        assert!(!again["a"].is_complete() && again["a"].chains.is_empty());
        // Cut in the middle of a line.
        let cut = parse(&[HEAD, WHOLE, &CHAIN[..40], END].join("\n"));
        assert!(cut["a"].is_complete() && cut["a"].chains.is_empty());
        let newer = parse(&[&HEAD.replace(r#""couple":1"#, r#""couple":2"#), WHOLE, END].join("\n"));
        assert!(!newer["a"].is_complete());
        let fault = parse(r#"{"run":"a","fault":"no kernel was named"}"#);
        assert_eq!(fault["a"].fault.as_deref(), Some("no kernel was named"));
    }

    /// Each chain says for itself how it was executed.
    #[test]
    fn chains_are_executed_in_a_row_or_one_by_one() {
        let one = r#"{"run":"a","chain":["y"],"one_by_one":5,"empty_s":4e-8,"seconds":[0.4,0.5],"disturbed":1,"not_finite":0,"subnormal":0,"differs":0}"#;
        let all = parse(&[HEAD, WHOLE, CHAIN, one, END].join("\n"));
        let timed = |kernels: &[&str]| {
            let it = &all["a"].chains[&kernels.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()[..]];
            (it.timed.clone(), it.timed.executions(), it.timed.times())
        };
        assert_eq!(timed(&["x", "y"]), (Timed::InARow { few: 1, many: 5, halves: vec![1.0; 2] }, 5, 2));
        assert_eq!(timed(&["y"]), (Timed::OneByOne { one_by_one: 5, empty_s: 4e-8 }, 1, 5));
        // Neither of both.
        let cut = parse(&[HEAD, WHOLE, &one.replace(r#","empty_s":4e-8"#, ""), END].join("\n"));
        assert!(cut["a"].chains.is_empty());
    }

    /// A launch counts as long as the plan asks for no more than what ended it.
    #[test]
    fn what_ended_too_early_for_the_plan_is_not_enough() {
        let is_enough = |why: &str, asked: &str, plan: &str| {
            let end = format!(r#"{{"run":"a","ended":"{why}","took_s":3.5{asked}}}"#);
            let plan = format!("command = 'app'\nsizes = [8]\npes = [1]\n{plan}");
            let plan = Plan::parse(Path::new("app.toml"), &plan).expect("a plan");
            parse(&[HEAD, WHOLE, CHAIN, &end].join("\n"))["a"].is_enough(&plan)
        };
        let asked = r#","budget_s":2.5,"confidence":0.01,"rounds":7"#;
        for (why, plan, should) in [
            ("budget", "budget_s = 2.5", true),
            ("budget", "budget_s = 2.6", false),
            ("budget", "budget_s = 2.5\nconfidence = 0.001\nrounds = 9", true),
            ("confidence", "confidence = 0.01", true),
            ("confidence", "confidence = 0.01\nrounds = 8", false),
            ("confidence", "confidence = 0.005", false),
            ("rounds", "rounds = 300\nconfidence = 0.001", true),
        ] {
            assert_eq!(is_enough(why, asked, plan), should, "{why}, and then {plan}");
            assert!(is_enough(why, "", plan), "of before: {why}, and then {plan}");
        }
    }
}
