//! What a process evaluates and draws: durations, chances, numbers of rounds. For the machine.
//!
//! A draw depends on the seed, the path of the process among those that started each other, and how often it drew before: not on when it runs.

use super::{Machine, Run, of_eval};
use crate::code::Value;
use crate::diagnostic::Span;
use crate::simulate::program::Drawn;
use crate::simulate::random::Source;
use crate::simulate::time::Clock;
use crate::simulate::watch::Watch;

impl<C: Clock, W: Watch<C>> Machine<'_, C, W> {
    pub(super) fn source(&mut self, id: u32) -> Source<'_> {
        let process = &mut self.processes[id as usize];
        Source { seed: self.options.seed, path: process.path, count: &mut process.draws }
    }

    pub(super) fn chance(&self, id: u32, chance: &Value, span: Span) -> Run<f64> {
        let value = self.plain(id, chance, span)?;
        if (0.0..=1.0).contains(&value) {
            Ok(value)
        } else {
            Err(Self::error(span, format!("{value} is no probability")))
        }
    }

    fn plain(&self, id: u32, value: &Value, span: Span) -> Run<f64> {
        let quantity = value.eval(self.variables(id)).map_err(|error| of_eval(&error, span))?;
        Ok(quantity.to_f64())
    }

    /// A duration.
    #[inline]
    pub(super) fn draw(&mut self, id: u32, drawn: &Drawn, span: Span) -> Run<C::Time> {
        if let Drawn::Fixed(value) = drawn {
            let quantity = value.eval(self.variables(id)).map_err(|error| of_eval(&error, span))?;
            if quantity.is_negative() {
                return Err(Self::error(span, format!("a negative duration: {}", quantity.to_f64())));
            }
            return self.clock.duration(quantity);
        }
        let value = self.sample(id, drawn, span)?;
        self.clock.real(value)
    }

    pub(super) fn sample(&mut self, id: u32, drawn: &Drawn, span: Span) -> Run<f64> {
        let of = |machine: &Self, value: &Value| {
            let value = machine.plain(id, value, span)?;
            if value < 0.0 {
                Err(Self::error(span, format!("a negative duration or number: {value}")))
            } else {
                Ok(value)
            }
        };
        Ok(match drawn {
            Drawn::Fixed(value) => of(self, value)?,
            Drawn::Exponential(mean) => {
                let mean = of(self, mean)?;
                self.source(id).exponential(mean)
            }
            Drawn::Uniform(low, high) => {
                let (low, high) = (of(self, low)?, of(self, high)?);
                if high < low {
                    return Err(Self::error(span, format!("no number lies between {low} and {high}")));
                }
                low + (high - low) * self.source(id).unit()
            }
            Drawn::Normal(mean, deviation) => {
                let (mean, deviation) = (of(self, mean)?, of(self, deviation)?);
                self.source(id).normal(mean, deviation).max(0.0)
            }
            Drawn::Erlang(stages, mean) => {
                let (stages, mean) = (of(self, stages)?, of(self, mean)?);
                if !(1.0..=1e6).contains(&stages) {
                    return Err(Self::error(span, format!("{stages} stages: one to a million are possible")));
                }
                let mut source = self.source(id);
                (0..stages as u64).map(|_| source.exponential(mean / stages.floor())).sum()
            }
            Drawn::Empirical(values) => {
                let position = self.source(id).position(values.len());
                values.get(position).map_or(0.0, |value| value.to_f64())
            }
        })
    }
}
