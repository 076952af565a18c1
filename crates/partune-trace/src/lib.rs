//! The event model.
mod role;
pub use role::{Activity, Role};
