//! The smallest shared vocabulary: typed dense ids, tables indexed by them, interned strings, and time.
//!
//! Everything above speaks in these types. Nothing here knows of events, files or paradigms.

mod alike;
mod ids;
mod printable;
mod short;
mod strings;
mod table;
mod time;

pub use alike::alike;
pub use ids::{CallPathId, FileId, GroupId, MetricId, ObjectId, PeId, ProcessId, RegionId, StringId, WindowId};
pub use printable::{printable, shortened, sign};
#[doc(hidden)]
pub use serde;
pub use short::short;
pub use strings::Strings;
pub use table::{Id, Table};
pub use time::{Clock, Span, Time};
