//! MPI.

use crate::row::{Names, constructs};
use crate::{Construct, Paradigm};
use std::sync::LazyLock;

pub(crate) static MPI: Paradigm =
    Paradigm { name: "MPI", aliases: &[], constructs: CONSTRUCTS, recognise, recognise_hinted: recognise };

static CONSTRUCTS: &[Construct] = constructs! {
    "MPI_Send" => Send;
    "MPI_Ssend" => Send, Synchronous;
    "MPI_Isend" => Send, NonBlocking;
    "MPI_Recv" => Recv;
    "MPI_Barrier" => GroupSync;
};

static NAMES: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

fn recognise(name: &str) -> Option<&'static Construct> {
    NAMES.get(name)
}
