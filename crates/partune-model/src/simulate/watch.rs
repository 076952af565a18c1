//! Who looks on while the machine runs: nobody, or what makes the accounts of a breakdown.
//!
//! The machine is compiled once for each, so a plain run pays nothing. All processes are told of by their number in the machine.

use super::program::At;
use super::time::{Clock, Stop};

/// What happens in a run. Every branch of a parallel term must be a process of its own: a program without shortcuts.
pub(super) trait Watch<C: Clock> {
    /// A process that `owner` starts; for a branch, the step that starts it and the value of the range.
    fn created(&mut self, owner: u32, id: u32, branch: Option<(At, i64)>, now: C::Time);
    /// From now on a process waits for those that it starts.
    fn forked(&mut self, id: u32, now: C::Time);
    /// A process ended; it was started by `parent`.
    fn ended(&mut self, id: u32, parent: u32, now: C::Time);
    /// All that a process started have ended: it goes on.
    fn joined(&mut self, id: u32, now: C::Time);
    fn delayed(&mut self, id: u32, time: C::Time) -> Result<(), Stop>;
    /// A process goes on that waited for an event, which another one posted.
    fn posted(&mut self, id: u32, by: u32, since: C::Time, now: C::Time) -> Result<(), Stop>;
    /// A server begins to work for a process; `from` is who gave it back, if the process waited.
    fn granted(&mut self, grant: Grant<C::Time>, now: C::Time) -> Result<(), Stop>;
}

/// A use that begins.
pub(super) struct Grant<T> {
    pub(super) id: u32,
    pub(super) resource: u32,
    pub(super) duration: T,
    /// When the process asked.
    pub(super) since: T,
    pub(super) from: Option<u32>,
}

/// Nobody.
impl<C: Clock> Watch<C> for () {
    #[inline]
    fn created(&mut self, _: u32, _: u32, _: Option<(At, i64)>, _: C::Time) {}
    #[inline]
    fn forked(&mut self, _: u32, _: C::Time) {}
    #[inline]
    fn ended(&mut self, _: u32, _: u32, _: C::Time) {}
    #[inline]
    fn joined(&mut self, _: u32, _: C::Time) {}
    #[inline]
    fn delayed(&mut self, _: u32, _: C::Time) -> Result<(), Stop> {
        Ok(())
    }
    #[inline]
    fn posted(&mut self, _: u32, _: u32, _: C::Time, _: C::Time) -> Result<(), Stop> {
        Ok(())
    }
    #[inline]
    fn granted(&mut self, _: Grant<C::Time>, _: C::Time) -> Result<(), Stop> {
        Ok(())
    }
}
