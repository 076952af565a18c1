//! Thresholds of the command line: an option for each of their list.

use clap::{Arg, ArgMatches, Command};
use partune_engine::{Options, THRESHOLDS, Threshold, ThresholdKind};

use crate::commands::share::share;

/// Those that were given; all others are as they are by default.
pub(crate) struct Thresholds(Options);

impl Thresholds {
    pub(crate) fn options(&self) -> Options {
        self.0.clone()
    }
}

fn parse(of: &Threshold, text: &str) -> Result<f64, String> {
    let value = match of.kind {
        ThresholdKind::Share => share(text)?,
        _ => text.parse().map_err(|_| "a number".to_owned())?,
    };
    of.set(&mut Options::default(), value).map(|()| value)
}

impl clap::FromArgMatches for Thresholds {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut thresholds = Thresholds(Options::default());
        thresholds.update_from_arg_matches(matches)?;
        Ok(thresholds)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for of in THRESHOLDS {
            if let Some(value) = matches.get_one::<f64>(of.name) {
                let wrong = |error| clap::Error::raw(clap::error::ErrorKind::ValueValidation, error);
                of.set(&mut self.0, *value).map_err(wrong)?;
            }
        }
        Ok(())
    }
}

impl clap::Args for Thresholds {
    fn augment_args(command: Command) -> Command {
        let default = Options::default();
        THRESHOLDS.iter().fold(command, |command, of| {
            let (value_name, how) = match of.kind {
                ThresholdKind::Share => ("SHARE", ": 0.05 or 5%"),
                ThresholdKind::Factor => ("FACTOR", ""),
                ThresholdKind::Count => ("N", ""),
                ThresholdKind::Bytes => ("BYTES", ""),
            };
            let help = format!("{}{how} [default: {}]", of.meaning, (of.value)(&default));
            let arg = Arg::new(of.name).long(of.name.replace('_', "-")).value_name(value_name).help(help);
            let parser = move |text: &str| parse(of, text);
            command.arg(arg.help_heading("Thresholds").value_parser(parser))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
