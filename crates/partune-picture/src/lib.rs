//! What a picture of a run shows, before anybody draws it: bins, cells and trees of bounded size, whatever the size of the trace.
//!
//! For everybody who draws: the pages, who are sent tiles. Nothing here knows colours, text or HTML. A picture has so many
//! rows and columns as its caller can draw; more PEs than rows are folded, see [`Fold`]. Results do not depend on the number of
//! threads.

mod between;
mod content;
mod counters;
mod detail;
mod exchange;
mod flame;
mod flat;
mod fold;
mod functions;
mod heat;
mod kind;
mod ladder;
mod lines;
mod longest;
mod parts;
mod sketch;
mod spent;
mod stacks;
mod tiles;
mod tree;

pub use between::{Between, First, Holding};
pub use content::{Content, Contents, Lasting, Moving, Waited};
pub use counters::{Counters, Reading};
pub use detail::{Detail, Times};
pub use exchange::{Exchange, Exchanges};
pub use flame::{Block, Flame, FlameBox, FlameRun, FlameView, Stacking};
pub use flat::{Flat, firsts, flat, moved_by_region};
pub use fold::Fold;
pub use functions::{FunctionShares, Functions};
pub use heat::{Heat, blocks, regions};
pub use kind::Kind;
pub use lines::{Found, Lines, Moved, moved};
pub use parts::Sum;
pub use sketch::{LongWait, Sketch};
pub use spent::Spent;
pub use stacks::Stacks;
pub use tiles::{Bin, Tiles, View};
pub use tree::{CallTree, Node};
