//! Names from archives as they are sent: their end, without controls.

use partune_analysis::{Cause, Pattern};
use partune_base::{CallPathId, PeId, RegionId, StringId};
use partune_report::names;
use partune_trace::Trace;

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

pub(crate) fn string(trace: &Trace, id: StringId) -> String {
    name(trace.strings().get(id))
}

pub(crate) fn region(trace: &Trace, region: RegionId) -> String {
    name(names::region_name(trace, region))
}

pub(crate) fn construct(trace: &Trace, path: CallPathId) -> String {
    name(names::construct(trace, path))
}

pub(crate) fn place(trace: &Trace, path: CallPathId) -> String {
    name(&names::place(trace, path))
}

/// What the PE that made others wait did.
pub(crate) fn cause(trace: &Trace, pattern: Pattern, cause: &Cause) -> String {
    name(&names::cause(trace, pattern, cause))
}

/// The PEs of a row: `7`, or `64–127`.
pub(crate) fn row(trace: &Trace, pes: &[PeId]) -> String {
    match pes {
        [] => String::new(),
        [one] => names::pe(trace, *one),
        [first, .., last] => format!("{}–{}", names::pe(trace, *first), names::pe(trace, *last)),
    }
}
