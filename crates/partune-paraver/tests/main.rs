//! Reading Paraver traces: small texts with answers computed by hand, and whatever else a text may be.

mod codec;
mod messages;
mod odd;
mod roles;
mod texts;
