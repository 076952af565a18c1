//! Which piece of a run is looked at: the same options for every command that analyses.

use partune_engine::{Moment, Selection};

use crate::commands::share::share;
use crate::commands::size::count;

#[derive(clap::Args)]
#[command(next_help_heading = "A piece of the run")]
pub(crate) struct Piece {
    /// Leave out what lies before: seconds after the first event (1.5, 20ms), or a share of the run (10%)
    #[arg(long, value_name = "TIME", value_parser = moment)]
    from: Option<Moment>,
    /// Leave out what lies after
    #[arg(long, value_name = "TIME", value_parser = moment)]
    to: Option<Moment>,
    /// Only from the first enter of this function or phase to its last leave
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,
    /// Leave out the start and the first N marked turns of the main loop, which warm up
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = count::<u32>(0))]
    skip_turns: u32,
}

impl Piece {
    pub(crate) fn selection(&self) -> Selection {
        Selection { from: self.from, to: self.to, phase: self.phase.clone(), skip_turns: self.skip_turns }
    }
}

/// Units of time, longest name first where one ends another.
const UNITS: [(&str, f64); 6] = [("min", 60.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("ns", 1e-9), ("s", 1.0)];

/// A moment of a run: `1.5`, `1.5s`, `20ms`, `10%`.
fn moment(text: &str) -> Result<Moment, String> {
    if text.ends_with('%') {
        return share(text).map(Moment::Share).map_err(|_| "a share between 0% and 100%".to_owned());
    }
    let seconds = seconds(text).map(Moment::Seconds);
    seconds.ok_or_else(|| "seconds (1.5), a time with its unit (20ms) or a share (10%)".to_owned())
}

/// Seconds: `1.5`, `1.5s`, `20ms`.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let unit = UNITS.iter().find_map(|(name, scale)| Some((text.strip_suffix(name)?, *scale)));
    let (number, scale) = unit.unwrap_or((text, 1.0));
    let seconds = number.trim().parse::<f64>().ok().map(|number| number * scale);
    seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::{Moment, moment};

    #[test]
    fn moments_are_seconds_times_with_a_unit_or_shares() {
        for (text, seconds) in [("1.5", 1.5), ("1.5s", 1.5), ("2 s", 2.0), ("0", 0.0), ("2min", 120.0)] {
            assert_eq!(moment(text), Ok(Moment::Seconds(seconds)), "{text}");
        }
        for (text, scale) in [("20ms", 1e-3), ("20 us", 1e-6), ("20µs", 1e-6), ("20ns", 1e-9)] {
            assert_eq!(moment(text), Ok(Moment::Seconds(20.0 * scale)), "{text}");
        }
        assert_eq!(moment("10%"), Ok(Moment::Share(0.1)));
        for wrong in ["", "-1", "-1s", "101%", "NaN", "inf", "1h", "s", "ms", "1.5 seconds", "%"] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }
}
