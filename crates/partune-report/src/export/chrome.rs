//! Chrome's trace format, which Perfetto and chrome://tracing open: one JSON object with a list of events.
//!
//! Visits are complete events (`X`), metrics counters (`C`); processes and threads are named (`M`). Waits, messages and one-sided accesses
//! are in [`arrows`](super::arrows). Times are in microseconds since the first event, exact to the picosecond, so that visits which nest in the
//! trace nest here. Source: "Trace Event Format" (Google, 2016).

use std::io::Write;

use partune_base::{Clock, PeId, Time};
use partune_engine::{Diagnosis, Run};
use serde_json::json;

use super::ExportError;
use crate::names;

/// Writes the time line of a run. Memory: what one event needs.
pub fn chrome(diagnosis: &Diagnosis, out: &mut dyn Write) -> Result<(), ExportError> {
    let run = &diagnosis.run;
    if run.is_profile() {
        return Err(ExportError::Profile);
    }
    let names: Vec<String> = run
        .paths()
        .map(|path| {
            let (region, place) = (run.region_at(path), run.location(path));
            let (name, role) = (json!(region.construct), json!(region.role.name()));
            match place.file {
                "" => format!("\"name\":{name},\"cat\":{role}"),
                file => {
                    let args = json!({ "file": file, "line": place.line });
                    format!("\"name\":{name},\"cat\":{role},\"args\":{args}")
                }
            }
        })
        .collect();
    let mut writer = Writer { out, run, clock: run.clock(), begin: run.begin(), first: true, arrows: 0 };
    writer.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
    writer.names()?;
    writer.wait_names()?;
    for pe in run.active_pes() {
        writer.visits(*pe, &names)?;
        writer.metrics(*pe, &format!("PE {}", names::pe(run, *pe)))?;
        writer.waits(*pe)?;
    }
    for source in run.metric_sources() {
        let name = run.pe(source).map(|source| source.name).filter(|name| !name.is_empty());
        writer.metrics(source, &name.map_or_else(|| format!("source {}", source.0), str::to_owned))?;
    }
    writer.messages()?;
    writer.accesses()?;
    writer.out.write_all(b"\n]}\n")?;
    writer.out.flush()?;
    Ok(())
}

/// The list of events in the making.
pub(super) struct Writer<'a> {
    out: &'a mut dyn Write,
    pub(super) run: &'a Run,
    pub(super) clock: Clock,
    begin: Time,
    first: bool,
    /// Arrows so far: the number of the next one.
    pub(super) arrows: u64,
}

/// Picoseconds, at least zero; printed as microseconds, exactly.
pub(super) struct Micros(pub(super) i128);

impl std::fmt::Display for Micros {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (whole, part) = (self.0 / 1_000_000, self.0 % 1_000_000);
        if part == 0 {
            return write!(f, "{whole}");
        }
        if part % 1000 == 0 { write!(f, "{whole}.{:03}", part / 1000) } else { write!(f, "{whole}.{part:06}") }
    }
}

impl Writer<'_> {
    pub(super) fn event(&mut self, event: std::fmt::Arguments<'_>) -> Result<(), ExportError> {
        self.out.write_all(if self.first { b"\n{" } else { b",\n{" })?;
        self.first = false;
        self.out.write_fmt(event)?;
        self.out.write_all(b"}")?;
        Ok(())
    }

    /// Picoseconds since the begin of the trace; rounding keeps the order of times.
    pub(super) fn micros(&self, time: Time) -> Micros {
        let ticks = i128::from(time.0) - i128::from(self.begin.0);
        Micros((ticks.max(0) * 1_000_000_000_000) / i128::from(self.clock.ticks_per_second()))
    }

    /// `"pid":0,"tid":3`: thread numbers are those of PEs, since viewers expect them to be unique.
    pub(super) fn place(&self, pe: PeId) -> String {
        let process = self.run.pe(pe).map_or(0, |it| it.process.0);
        format!("\"pid\":{process},\"tid\":{}", pe.0)
    }

    fn names(&mut self) -> Result<(), ExportError> {
        let run = self.run;
        for (id, process) in run.processes() {
            if !process.pes.iter().any(|pe| run.has_visits(*pe)) {
                continue;
            }
            let order = process.rank.unwrap_or(id.0);
            self.event(format_args!(
                "\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{},\"tid\":0,\"args\":{}",
                id.0,
                json!({ "name": names::process(run, id) })
            ))?;
            self.event(format_args!(
                "\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":{},\"tid\":0,\"args\":{{\"sort_index\":{order}}}",
                id.0
            ))?;
        }
        for pe in run.active_pes().iter().copied() {
            let own = run.pe(pe).map_or("", |pe| pe.name);
            let name = if own.is_empty() {
                format!("PE {}", names::pe(run, pe))
            } else {
                format!("PE {}: {own}", names::pe(run, pe))
            };
            let place = self.place(pe);
            self.event(format_args!(
                "\"ph\":\"M\",\"name\":\"thread_name\",{place},\"args\":{}",
                json!({ "name": name })
            ))?;
            self.event(format_args!(
                "\"ph\":\"M\",\"name\":\"thread_sort_index\",{place},\"args\":{{\"sort_index\":{}}}",
                2 * u64::from(pe.0)
            ))?;
        }
        Ok(())
    }

    fn visits(&mut self, pe: PeId, names: &[String]) -> Result<(), ExportError> {
        let place = self.place(pe);
        for visit in self.run.visits(pe) {
            let (begin, end) = (self.micros(visit.enter), self.micros(visit.exit.max(visit.enter)));
            let duration = Micros(end.0 - begin.0);
            let name = names.get(visit.path.0 as usize).map_or("\"name\":\"\"", String::as_str);
            self.event(format_args!("\"ph\":\"X\",{place},\"ts\":{begin},\"dur\":{duration},{name}"))?;
        }
        Ok(())
    }

    fn metrics(&mut self, pe: PeId, label: &str) -> Result<(), ExportError> {
        let (run, place) = (self.run, self.place(pe));
        for sample in run.samples(pe) {
            // A viewer joins counters of one process and name.
            let name = json!(format!("{} of {label}", sample.name));
            let series = json!({ if sample.unit.is_empty() { "value" } else { sample.unit }: sample.value });
            let time = self.micros(sample.time);
            self.event(format_args!("\"ph\":\"C\",{place},\"ts\":{time},\"name\":{name},\"args\":{series}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_are_exact() {
        let text = |picos| Micros(picos).to_string();
        assert_eq!([text(0), text(1_500_000), text(1), text(7_000_000)], ["0", "1.500", "0.000001", "7"]);
    }
}
