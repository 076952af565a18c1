//! Files of hints: what a runtime, a launcher or a library can apply by itself, and by what it was found.
//!
//! For whoever writes such files (from recorded runs, from settings that were tried) and whoever applies them. TOML; one section a kind of hint, typed here. Hints name types, arrays and methods, never
//! instances, and are symbolic in the number of PEs `P` and the objects of an array `n`: they serve other sizes. Pure: it is given text and gives text.
//!
//! ```
//! let text = "hints = 1\nprogram = \"gauss\"\n[[place]]\narray = \"Rows\"\nmap = \"block_cyclic\"\na = [1]\nb = [\"P\"]\n";
//! let file = partune_hints::read(text).expect("it is a file of hints");
//! let map = file.place[0].rule().expect("a map that is computed");
//! assert_eq!(map.on(&[100], 8).pe(&[11, 0, 0, 0, 0, 0]), 3);
//! assert_eq!(partune_hints::read(&file.to_string()).as_ref(), Ok(&file));
//! ```

mod map;
mod read;
mod size;
mod write;

use std::collections::BTreeMap;

pub use read::{Fault, read};
pub use size::Size;

/// The version of such files.
pub const VERSION: i64 = 1;

/// A file of hints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// The command that was recorded or tuned.
    pub program: String,
    /// What the run was: `pes`, `objects`, …
    pub run: Vec<(String, Datum)>,
    pub phases: Option<Phases>,
    pub place: Vec<Place>,
    pub tree: Vec<Tree>,
    pub priority: Vec<Priority>,
    pub pipeline: Vec<Pipeline>,
    pub combine: Vec<Combine>,
    pub knob: Vec<Knob>,
}

/// A number or a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    Integer(i64),
    Float(f64),
    Text(String),
}

/// By what a hint was found: names and values, in order.
pub type Evidence = Vec<(String, Datum)>;

/// The phases of the run, for who reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phases {
    /// `synchronous`, `initiation` or `loose`.
    pub kind: String,
    /// The method that begins them.
    pub method: Option<String>,
    /// Whether many objects are inactive in many of them.
    pub varying: bool,
}

/// How an array is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapKind {
    /// One block for each PE, whose edges have the proportions of `aspect`.
    Block,
    /// Object `i` on PE `i mod P`.
    Cyclic,
    /// Blocks of `a`, in turn on a grid of `b` PEs along each dimension.
    BlockCyclic,
    /// Tiles of `a` along diagonals, so that each PE has as many in every plane.
    Multipartition,
    /// PE by PE, of `pes` PEs and `extents` only.
    Table,
}

/// Where the objects of an array are.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The class of its elements.
    pub array: String,
    pub locality: Option<String>,
    pub map: MapKind,
    /// Objects of a block along each dimension.
    pub a: Vec<Size>,
    /// PEs along each dimension.
    pub b: Vec<Size>,
    /// Of edges of blocks.
    pub aspect: Vec<f64>,
    /// PEs by position, first dimension fastest.
    pub table: Vec<u32>,
    pub extents: Vec<u32>,
    pub pes: Option<u32>,
    /// Arrays whose objects are where those of this one with the same coordinates are.
    pub aligned_with: Vec<Aligned>,
    /// It is followed where the array has at least so many objects a PE, each of which has a processor; none: with any number.
    pub least_per_pe: Option<f64>,
    /// The same where PEs share processors.
    pub least_per_pe_shared: Option<f64>,
    pub evidence: Evidence,
}

/// Which dimension of the array that leads each own one follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aligned {
    pub array: String,
    pub dims: Vec<u8>,
}

/// How objects that make each other are spread.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    pub array: String,
    /// `uniform`, `uniform_branch`, `uniform_load` or `irregular`.
    pub kind: String,
    /// Children of each.
    pub branch: Option<u32>,
    /// Shares of the load of children in the order of their creation: PEs are shared out by them.
    pub ratios: Vec<f64>,
    /// The same of objects that none of the tree made, if there are several.
    pub roots: Vec<f64>,
    /// Of `irregular` ones: `round_robin`, `neighbours`, `hierarchy` or `manager`.
    pub strategy: Option<String>,
    pub evidence: Evidence,
}

/// What comes first. The smaller, the more urgent.
#[derive(Clone, Debug, PartialEq)]
pub struct Priority {
    pub of: Urgency,
    pub evidence: Evidence,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Urgency {
    /// Objects of an array by `Σ linear · at + offset`.
    Object { array: String, linear: Vec<f64>, offset: f64, r2: f64 },
    /// Messages that invoke a method.
    Message { message: String, level: u32 },
}

/// Messages in pieces.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    pub message: String,
    /// The method that is invoked piece by piece.
    pub method: String,
    pub degree: u32,
    /// The parameter by which the program takes the degree; none: `degree`.
    pub parameter: Option<String>,
    pub evidence: Evidence,
}

/// Messages together.
#[derive(Clone, Debug, PartialEq)]
pub struct Combine {
    pub message: String,
    /// `single`: all are for one object; `array`.
    pub dest: String,
    pub count: Count,
    pub timeout_us: f64,
    pub evidence: Evidence,
}

/// How many messages are sent as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// As many as objects of the sending array are on a PE.
    Local,
    Of(u32),
}

/// Something that a launcher or a library can be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    pub what: String,
    pub value: Option<Datum>,
    /// Variables and their values.
    pub environment: BTreeMap<String, String>,
    pub evidence: Evidence,
}

impl MapKind {
    pub const ALL: [MapKind; 5] =
        [MapKind::Block, MapKind::Cyclic, MapKind::BlockCyclic, MapKind::Multipartition, MapKind::Table];

    pub fn name(self) -> &'static str {
        match self {
            MapKind::Block => "block",
            MapKind::Cyclic => "cyclic",
            MapKind::BlockCyclic => "block_cyclic",
            MapKind::Multipartition => "multipartition",
            MapKind::Table => "table",
        }
    }
}

impl File {
    /// Whether it says anything that can be applied.
    pub fn is_empty(&self) -> bool {
        let File { program: _, run: _, phases: _, place, tree, priority, pipeline, combine, knob } = self;
        let of_objects = place.is_empty() && tree.is_empty() && priority.is_empty();
        of_objects && pipeline.is_empty() && combine.is_empty() && knob.is_empty()
    }
}
