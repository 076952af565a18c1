//! A session: open an archive, import it, derive, analyse. The only API that a front end sees.
//!
//! The first floor that touches files. Everything here is told to a [`Progress`], and everything that was noticed about the
//! input ends in [`Diagnosis::quality`].

mod convert;
mod diagnosis;
mod files;
mod formats;
mod session;

pub use convert::{ConvertError, Converted, convert, create};
pub use diagnosis::{Diagnosis, Ranked};
pub use formats::{FORMATS, Format, OpenError};
pub use session::{Request, analyze, open};

pub use partune_analysis::{ANALYSES, Analysis, Options};
pub use partune_diag::{Diagnostic, Quality, Severity};

/// Is told what the engine does. Called from several threads.
pub trait Progress: Sync {
    /// A stage began.
    fn stage(&self, name: &'static str);

    /// The stage's work: so many of so many bytes.
    fn advance(&self, done: u64, total: u64) {
        let _ = (done, total);
    }
}

/// Nobody listens.
impl Progress for () {
    fn stage(&self, _: &'static str) {}
}
