//! A session: open an archive, import it, derive, analyse. The only API that a front end sees.
//!
//! The first floor that touches files. Everything here is told to a [`Progress`], and everything that was noticed about the
//! input ends in [`Diagnosis::quality`].

mod compare;
mod convert;
mod diagnosis;
mod files;
mod formats;
mod machine;
mod selection;
mod session;

use std::time::{Duration, Instant};

pub use compare::{CompareError, compare, scale};
pub use convert::{ConvertError, Converted, convert, create};
pub use diagnosis::{Diagnosis, Ranked};
pub use formats::{FORMATS, OpenError};
pub use machine::{MachineError, read_machine, write_machine};
pub use selection::{Moment, Selection, SelectionError};
pub use session::{Request, analyze, analyze_piece, open};

pub use partune_analysis::{ANALYSES, Analysis, Comparison, Mode, Options, Scaling};
pub use partune_diag::{Diagnostic, Quality, Severity};
pub use partune_machine::Machine;

/// Is told what the engine does. Called from several threads.
pub trait Progress: Sync {
    /// A stage began.
    fn stage(&self, name: &'static str);

    /// A stage, or an analysis of the last stage, is done.
    fn finished(&self, name: &'static str, took: Duration) {
        let _ = (name, took);
    }

    /// The stage's work: so many of so many bytes.
    fn advance(&self, done: u64, total: u64) {
        let _ = (done, total);
    }
}

/// Nobody listens.
impl Progress for () {
    fn stage(&self, _: &'static str) {}
}

/// Does a stage and tells how long it took.
pub(crate) fn timed<T>(progress: &dyn Progress, name: &'static str, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = work();
    progress.finished(name, begin.elapsed());
    result
}
