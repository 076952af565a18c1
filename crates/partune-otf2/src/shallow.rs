//! What an archive says of call paths that the recorder made shallower, since they took too much of the run: partune's recorder writes it, and the importer
//! reads it.

use std::fmt;
use std::str::FromStr;

use partune_diag::{Code, Diagnostic};

/// The property of a location.
pub const SHALLOW: &str = "PARTUNE::SHALLOW_CALL_PATHS";

/// How deep call paths of a location are. As a text, its fields with spaces between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shallow {
    /// Frames of a path at most.
    pub frames: u32,
    /// From when on, in nanoseconds after the first event of the archive.
    pub since: u64,
    /// Millionths of the run that deeper ones took more than.
    pub share: u32,
}

impl fmt::Display for Shallow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.frames, self.since, self.share)
    }
}

impl FromStr for Shallow {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let numbers: Vec<u64> = text.split(' ').map(|word| word.parse().map_err(|_| ())).collect::<Result<_, _>>()?;
        let [frames, since, share] = numbers[..] else { return Err(()) };
        let narrow = |number: u64| u32::try_from(number).map_err(|_| ());
        Ok(Shallow { frames: narrow(frames)?, since, share: narrow(share)? })
    }
}

/// What is to be said of all locations that have such paths, out of so many.
pub fn note(shallow: &[Shallow], locations: usize) -> Option<Diagnostic> {
    let (least, most) = (shallow.iter().map(|it| it.frames).min()?, shallow.iter().map(|it| it.frames).max()?);
    let since = shallow.iter().map(|it| it.since).min()? as f64 / 1e9;
    // The least millionth stands for a budget of nothing.
    let share = match shallow.iter().map(|it| it.share).max()? {
        0 | 1 => 0.0,
        share => f64::from(share) / 1e4,
    };
    let whose =
        if shallow.len() == locations { String::new() } else { format!(" of {} of {locations} PEs", shallow.len()) };
    let frames = match (least, most) {
        (1, 1) => "1 frame".to_owned(),
        _ if least == most => format!("{most} frames"),
        _ => format!("{least} to {most} frames"),
    };
    let message = format!(
        "call paths{whose} are {frames} deep from {since:.2} s on, since deeper ones took more than {share} % of the run"
    );
    Some(Diagnostic::info(Code::ShallowCallPaths, message, "record with a larger --budget, or --budget off"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shallow(frames: u32, since: u64) -> Shallow {
        Shallow { frames, since, share: 50_000 }
    }

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(shallow(4, 1_250_000_000).to_string().parse(), Ok(shallow(4, 1_250_000_000)));
        for damaged in ["", "4", "4 5", "4 5 6 7", "4 five 6", "-4 5 6", "4294967296 5 6"] {
            assert_eq!(damaged.parse::<Shallow>(), Err(()), "{damaged}");
        }
    }

    #[test]
    fn it_is_said_whose_and_from_when_on() {
        let said = |all: &[Shallow], locations| note(all, locations).map(|it| it.message);
        assert_eq!(said(&[], 3), None);
        assert_eq!(
            said(&[shallow(4, 1_250_000_000); 2], 2).as_deref(),
            Some("call paths are 4 frames deep from 1.25 s on, since deeper ones took more than 5 % of the run")
        );
        let some = [shallow(8, 3_000_000_000), Shallow { share: 2_500, ..shallow(1, 500_000_000) }];
        assert_eq!(
            said(&some, 3).as_deref(),
            Some(
                "call paths of 2 of 3 PEs are 1 to 8 frames deep from 0.50 s on, since deeper ones took more than 5 % of the run"
            )
        );
        let nothing = Shallow { share: 1, ..shallow(1, 0) };
        assert!(said(&[nothing], 1).is_some_and(|it| it.ends_with("took more than 0 % of the run")));
        assert!(said(&[shallow(1, 0)], 1).is_some_and(|it| it.contains("are 1 frame deep")));
    }
}
