//! What measurement systems write about themselves: regions that are neither the program nor a programming model.
//!
//! Regions that a recorder spent time in are [`Role::Measurement`](partune_trace::Role::Measurement). Frames that a recorder puts
//! around the program's own code (`THREADS`, `PARALLEL`) are user code: whatever is inside counts as what it is.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub static MEASUREMENT: Paradigm = Paradigm {
    name: "measurement",
    aliases: &["measurementsystem"],
    class: Class::None,
    otf2: Some(6),
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted: recognise,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

fn recognise(name: &str) -> Option<&'static Construct> {
    EXACT.get(name)
}

static CONSTRUCTS: &[Construct] = constructs! {
    // Score-P
    "TRACE BUFFER FLUSH" => Measurement;
    "BUFFER FLUSH" => Measurement;
    "MEASUREMENT OFF" => Measurement;
    "flush_cupti_activity_buffer" => Measurement;
    "!$omp offloading flush" => Measurement;
    "PARALLEL" => User;
    "THREADS" => User;
    "TASKS" => User;
    "KERNELS" => User;
    "COLLAPSE" => User;
    // EZTrace
    "EZTrace finalize" => Measurement;
    "Working" => User;
};
