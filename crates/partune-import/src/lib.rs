//! What the reader of any trace format needs, so that a format is what is written in its files and nothing else.
//!
//! - [`Files`]: bytes by name, from whoever may open files; [`read_text`]: text, plain or compressed, piece by piece;
//! - [`Source`]: definitions that are read, and parts of events that can be, each into a [`Segment`] by an [`Assembler`] that learns of
//!   enters, leaves and facts and does not know what came before;
//! - [`read`]: from a source to a sealed trace, in parallel;
//! - [`Slices`]: a run that is too large to be read at once;
//! - [`Format`]: one value a format; [`ImportError`]: why something cannot be read at all.
//!
//! It knows no format.

mod error;
mod files;
mod format;
mod ids;
mod joined;
mod pauses;
mod replaced;
mod segment;
mod slices;
mod source;
mod tasks;
mod text;
mod tree;

pub use error::ImportError;
pub use files::{Bytes, Contents, Files, Pieces, read_all, read_range};
pub use format::Format;
pub use ids::{IdMap, lock_key};
pub use joined::{Joined, UNKNOWN_BEGIN};
pub use replaced::{PePath, Recorded, Replaced};
pub use segment::{Assembler, Beside, Faults, RegionKey, Segment};
pub use slices::{Around, FindAround, FindSlices, Slices};
pub use source::{Advance, Source, merge_paths, read};
pub use text::{COMPRESSED, read_small_text, read_text};
pub use tree::Tree;
