//! The file: TOML in and out. Reading checks what the types cannot.

use crate::{Cache, LineCost, Machine, Point, VERSION};

/// Why a text is no description of a machine. The caller adds the name of the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("line {line}: {message}\n  remedy: correct the line, or measure again with partune machine measure")]
    Syntax { line: usize, message: String },
    #[error(
        "format version {found}, and this partune reads {VERSION}\n  remedy: measure again with partune machine measure"
    )]
    Version { found: u32 },
    #[error("{place}: {message}\n  remedy: correct the number, or measure again with partune machine measure")]
    Value { place: String, message: &'static str },
}

/// Reads a description. What comes back can be computed with: all numbers are finite, times are not negative, rates and
/// bandwidths positive, and points ascend.
pub fn read(text: &str) -> Result<Machine, ReadError> {
    let syntax = |error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let line =
            text.char_indices().take_while(|(index, _)| *index < at).filter(|(_, letter)| *letter == '\n').count() + 1;
        ReadError::Syntax { line, message: error.message().to_owned() }
    };
    // The version first: another one may have other keys.
    let value: toml::Table = text.parse().map_err(syntax)?;
    if let Some(found) = value.get("partune_machine").and_then(toml::Value::as_integer) {
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        if found != VERSION {
            return Err(ReadError::Version { found });
        }
    }
    let machine: Machine = toml::from_str(text).map_err(syntax)?;
    check(&machine)?;
    Ok(machine)
}

/// The description as text that [`read`] gives back unchanged.
pub fn write(machine: &Machine) -> String {
    // Every type of a description has a form in TOML; only foreign types can fail here.
    toml::to_string(machine).unwrap_or_default()
}

fn check(machine: &Machine) -> Result<(), ReadError> {
    let not_negative = |place: &str, value: f64| {
        let wrong = || ReadError::Value { place: place.to_owned(), message: "must be a number that is not negative" };
        if value.is_finite() && value >= 0.0 { Ok(()) } else { Err(wrong()) }
    };
    let positive = |place: &str, value: f64| {
        let wrong = || ReadError::Value { place: place.to_owned(), message: "must be a positive number" };
        if value.is_finite() && value > 0.0 { Ok(()) } else { Err(wrong()) }
    };
    not_negative("provenance.took_s", machine.provenance.took_s)?;
    not_negative("overheads.timer_s", machine.overheads.timer_s)?;
    not_negative("overheads.timer_step_s", machine.overheads.timer_step_s)?;
    not_negative("overheads.event_s", machine.overheads.event_s)?;
    positive("rates.flops_one", machine.rates.flops_one)?;
    positive("rates.flops_all", machine.rates.flops_all)?;
    positive("rates.memory_one", machine.rates.memory_one)?;
    positive("rates.memory_all", machine.rates.memory_all)?;
    if let Some(caches) = &machine.caches {
        positive("caches.cycle_s", caches.cycle_s)?;
        let cost = |place: &str, cost: LineCost| {
            positive(&format!("{place}.load_s"), cost.load_s)?;
            positive(&format!("{place}.store_s"), cost.store_s)
        };
        cost("caches.memory", caches.memory)?;
        let wrong = |level: usize, message| Err(ReadError::Value { place: format!("caches.level {level}"), message });
        if caches.levels.is_empty() {
            return wrong(1, "there must be one");
        }
        for (index, level) in caches.levels.iter().enumerate() {
            let Cache { bytes, line, ways, load_s, store_s } = *level;
            cost(&format!("caches.level {}", index + 1), LineCost { load_s, store_s })?;
            let set = u64::from(line) * u64::from(ways);
            if !line.is_power_of_two() || set == 0 || bytes == 0 || bytes % set != 0 {
                return wrong(index + 1, "must have whole sets: ways of lines of a power of two of bytes");
            }
        }
        let is_next = |pair: &[Cache]| pair[0].bytes < pair[1].bytes && pair[0].line == pair[1].line;
        if let Some(at) = caches.levels.windows(2).position(|pair| !is_next(pair)) {
            return wrong(at + 2, "must be larger than the level before, and have lines of the same length");
        }
    }
    for (index, link) in machine.links.iter().enumerate() {
        let place = |what: &str| format!("link {} ({:?}), {what}", index + 1, link.scope);
        not_negative(&place("latency_s"), link.latency_s)?;
        positive(&place("bandwidth"), link.bandwidth)?;
        not_negative(&place("overhead_s"), link.overhead_s)?;
        not_negative(&place("fit_error"), link.fit_error)?;
        points(&place("points"), &link.points)?;
    }
    for (index, baseline) in machine.baselines.iter().enumerate() {
        let place = format!("baseline {} ({} on {} PEs)", index + 1, baseline.operation, baseline.pes);
        if baseline.pes == 0 {
            return Err(ReadError::Value { place, message: "no operation without a PE" });
        }
        if baseline.points.is_empty() {
            return Err(ReadError::Value { place, message: "needs at least one point" });
        }
        points(&place, &baseline.points)?;
    }
    Ok(())
}

fn points(place: &str, points: &[Point]) -> Result<(), ReadError> {
    let wrong = |message| Err(ReadError::Value { place: place.to_owned(), message });
    if points.windows(2).any(|pair| pair[0].bytes >= pair[1].bytes) {
        return wrong("bytes of points must ascend");
    }
    let good = |value: f64| value.is_finite() && value >= 0.0;
    if points.iter().any(|point| !good(point.median_s) || !good(point.minimum_s)) {
        return wrong("times of points must be numbers that are not negative");
    }
    Ok(())
}
