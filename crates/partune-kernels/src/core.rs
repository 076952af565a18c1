//! Processor cores as data: `cores/*.toml`, one file each, with its source.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;
use thiserror::Error;

use crate::class::Class;

/// A set of ports, a bit each.
pub type Ports = u32;

/// A core: its ports, and what each kind of work asks of them.
#[derive(Clone, Debug)]
pub struct Core {
    /// As in `--core`: `zen4`.
    pub id: String,
    pub name: String,
    /// Where its figures are from.
    pub source: String,
    /// Names of the ports, by their bits.
    pub ports: Vec<String>,
    /// Instructions a cycle that are renamed and sent to the ports.
    pub issue: u32,
    /// Instructions that may be under way.
    pub window: u32,
    /// Bytes of the widest vector.
    pub vector: u32,
    /// Cycles from a store to a load of the same bytes that takes them from it.
    pub forward: u32,
    /// Whether comparisons, and whether other simple operations too, are one instruction with the branch after them.
    pub fuses: Fuses,
    pub load: Access,
    pub store: Access,
    work: BTreeMap<Class, Work>,
    cpus: Vec<Cpu>,
}

/// What becomes one instruction with the conditional branch after it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Fuses {
    Comparisons,
    /// Additions, subtractions and logic too.
    Arithmetic,
}

/// What one operation asks: one use of one port of a set, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub ports: Ports,
    /// Those for operands of 64 bytes.
    pub wide: Ports,
    /// Cycles until the result can be used.
    pub latency: u32,
    /// The same where work of the same class uses it, on operands of up to the second of [`WIDTHS`].
    pub chained: u32,
    /// Cycles that the port is taken, for operands up to each of [`WIDTHS`].
    pub cycles: [u32; WIDTHS.len()],
}

/// Widths in bytes that differ in cost.
pub const WIDTHS: [u32; 3] = [16, 32, 64];

impl Work {
    /// Cycles until work on an operand of so many bytes has a result that work of the same class can use.
    pub fn chained_of(&self, bytes: u32) -> u32 {
        if bytes > WIDTHS[1] { self.latency } else { self.chained }
    }

    /// The ports that can take an operand of so many bytes.
    pub fn ports_of(&self, bytes: u32) -> Ports {
        if bytes > WIDTHS[1] { self.wide } else { self.ports }
    }

    /// Cycles that the port is taken by an operand of so many bytes.
    pub fn cycles_of(&self, bytes: u32) -> u32 {
        self.cycles[WIDTHS.iter().position(|width| bytes <= *width).unwrap_or(WIDTHS.len() - 1)]
    }
}

/// What a load or a store asks, of integers and of vectors: uses of ports, one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    pub integer: Vec<Work>,
    pub vector: Vec<Work>,
}

impl Access {
    /// What one of integer or vector registers asks.
    pub fn of(&self, is_vector: bool) -> &[Work] {
        if is_vector { &self.vector } else { &self.integer }
    }
}

/// Processors that have such cores.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct Cpu {
    vendor: String,
    family: u32,
    /// First and last model.
    models: Vec<[u32; 2]>,
}

/// Why a file of a core is not one.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum CoreError {
    #[error("{0}")]
    Toml(String),
    #[error("port {port} of {what} is not in the list of ports")]
    Port { port: String, what: String },
    #[error("{0:?} is said twice")]
    Twice(Class),
    #[error("{0} ports are too many")]
    Many(usize),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    source: String,
    ports: Vec<String>,
    issue: u32,
    window: u32,
    vector: u32,
    forward: u32,
    fuses: Fuses,
    #[serde(default)]
    cpu: Vec<Cpu>,
    load: AccessRows,
    store: AccessRows,
    work: Vec<WorkRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AccessRows {
    integer: Vec<UseRow>,
    vector: Vec<UseRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UseRow {
    ports: Vec<String>,
    wide: Option<Vec<String>>,
    #[serde(default)]
    latency: u32,
    chained: Option<u32>,
    #[serde(default = "once")]
    cycles: [u32; WIDTHS.len()],
}

#[derive(Deserialize)]
struct WorkRow {
    class: Vec<Class>,
    #[serde(flatten)]
    uses: UseRow,
}

fn once() -> [u32; WIDTHS.len()] {
    [1; WIDTHS.len()]
}

impl Core {
    /// Reads a file; `id` is its name without its ending.
    pub fn read(id: &str, text: &str) -> Result<Core, CoreError> {
        let file: File = toml::from_str(text).map_err(|error| CoreError::Toml(error.to_string()))?;
        if file.ports.len() > Ports::BITS as usize {
            return Err(CoreError::Many(file.ports.len()));
        }
        let set = |names: &[String], what: &str| {
            names.iter().try_fold(0, |set, name| {
                let at = file.ports.iter().position(|port| port == name);
                let at = at.ok_or_else(|| CoreError::Port { port: name.clone(), what: what.to_owned() })?;
                Ok(set | 1 << at)
            })
        };
        let one = |row: &UseRow, what: &str| -> Result<Work, CoreError> {
            let ports = set(&row.ports, what)?;
            let wide = row.wide.as_ref().map_or(Ok(ports), |names| set(names, what))?;
            let chained = row.chained.unwrap_or(row.latency);
            Ok(Work { ports, wide, latency: row.latency, chained, cycles: row.cycles })
        };
        let uses = |rows: &[UseRow], what: &str| rows.iter().map(|row| one(row, what)).collect::<Result<Vec<_>, _>>();
        let access = |rows: &AccessRows, what: &str| -> Result<Access, CoreError> {
            Ok(Access { integer: uses(&rows.integer, what)?, vector: uses(&rows.vector, what)? })
        };
        let mut work = BTreeMap::new();
        for row in &file.work {
            for class in &row.class {
                if work.insert(*class, one(&row.uses, &format!("{class:?}"))?).is_some() {
                    return Err(CoreError::Twice(*class));
                }
            }
        }
        let (load, store) = (access(&file.load, "loads")?, access(&file.store, "stores")?);
        Ok(Core {
            id: id.to_owned(),
            name: file.name,
            source: file.source,
            issue: file.issue.max(1),
            window: file.window.max(1),
            vector: file.vector.max(WIDTHS[0]),
            forward: file.forward,
            fuses: file.fuses,
            ports: file.ports,
            load,
            store,
            work,
            cpus: file.cpu,
        })
    }

    /// What a kind of work asks; none of kinds that the file does not say.
    pub fn work(&self, class: Class) -> Option<&Work> {
        self.work.get(&class)
    }

    /// Most floating-point operations a cycle on elements of so many bytes, of the widths that there are: multiply-add on every port that has it at that width, and
    /// additions on those that have no more.
    pub fn peak_flops(&self, element: u32) -> f64 {
        let bytes = |width: u32| {
            let Some(fma) = self.work(Class::FpFma) else { return 0.0 };
            let alone = self.work(Class::FpAdd).map_or(0.0, |add| {
                let ports = add.ports_of(width) & !fma.ports_of(width);
                f64::from(width * ports.count_ones()) / f64::from(add.cycles_of(width).max(1))
            });
            rate_at(fma, width) * f64::from(Class::FpFma.flops()) + alone
        };
        let widths = WIDTHS.into_iter().filter(|width| *width <= self.vector);
        widths.map(bytes).fold(0.0, f64::max) / f64::from(element.max(1))
    }

    /// Most bytes of operands of a kind a cycle: the best of the widths that there are.
    pub fn rate(&self, class: Class) -> f64 {
        self.work(class).map_or(0.0, |work| rate(work, self.vector))
    }

    /// Most bytes a cycle that one kind of access moves.
    pub fn bytes_a_cycle(&self, access: &Access) -> f64 {
        access.vector.iter().map(|work| rate(work, self.vector)).fold(f64::INFINITY, f64::min)
    }
}

fn rate(work: &Work, most: u32) -> f64 {
    WIDTHS.iter().filter(|width| **width <= most).map(|width| rate_at(work, *width)).fold(0.0, f64::max)
}

/// Bytes of operands of a width a cycle.
fn rate_at(work: &Work, width: u32) -> f64 {
    f64::from(width * work.ports_of(width).count_ones()) / f64::from(work.cycles_of(width).max(1))
}

/// All cores that are known, in order of their names.
pub fn cores() -> &'static [Core] {
    static CORES: OnceLock<Vec<Core>> = OnceLock::new();
    const FILES: [(&str, &str); 4] = [
        ("golden-cove", include_str!("../cores/golden-cove.toml")),
        ("skylake-server", include_str!("../cores/skylake-server.toml")),
        ("zen3", include_str!("../cores/zen3.toml")),
        ("zen4", include_str!("../cores/zen4.toml")),
    ];
    CORES.get_or_init(|| {
        FILES.iter().map(|(id, text)| Core::read(id, text).expect("a test reads every file of ours")).collect()
    })
}

/// The core of a processor, as `/proc/cpuinfo` names it.
pub fn core_of(vendor: &str, family: u32, model: u32) -> Option<&'static Core> {
    let is_its = |cpu: &Cpu| {
        cpu.vendor == vendor
            && cpu.family == family
            && cpu.models.iter().any(|[first, last]| (*first..=*last).contains(&model))
    };
    cores().iter().find(|core| core.cpus.iter().any(is_its))
}
