//! Names from archives as they are sent: their end, without controls.

use partune_base::{CallPathId, RegionId};
use partune_engine::{Cause, Pattern, Run};
use partune_report::names;

/// Bytes of a name that are kept.
const NAME: usize = 300;

/// A name, or its end if it is very long.
pub(crate) fn name(text: &str) -> String {
    names::clip(text, NAME).into_owned()
}

/// The same for a message.
pub(crate) fn long(text: &str) -> String {
    names::clip(text, 1200).into_owned()
}

pub(crate) fn region(run: &Run, region: RegionId) -> String {
    name(names::region_name(run, region))
}

pub(crate) fn construct(run: &Run, path: CallPathId) -> String {
    name(names::construct(run, path))
}

pub(crate) fn place(run: &Run, path: CallPathId) -> String {
    name(&names::place(run, path))
}

/// What the PE that made others wait did.
pub(crate) fn cause(run: &Run, pattern: Pattern, cause: &Cause) -> String {
    name(&names::cause(run, pattern, cause))
}
