//! Charm++: what its runtime does between and inside entry methods. Entry methods themselves are the user's code, and in no table.
//!
//! Names are ours, after the records of Projections logs, version 11: nobody calls these as functions. Only with the producer's word for it they count, since any
//! function may be called `idle`.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub static CHARM: Paradigm = Paradigm {
    name: "Charm++",
    aliases: &["charmxx", "charmpp"],
    class: Class::Processes,
    otf2: None,
    constructs: CONSTRUCTS,
    recognise: |_| None,
    recognise_hinted,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

fn recognise_hinted(name: &str) -> Option<&'static Construct> {
    EXACT.get(name)
}

static CONSTRUCTS: &[Construct] = constructs! {
    // The runtime of a PE, until it does anything that is recorded; PEs do not wait for each other there
    "start-up" => Init of Own;
    // No message to process: a PE waits until one comes, whoever sends it
    "idle" => Recv;
    // A message is made and handed to the runtime, for one PE, some or all
    "send" => Send, Buffered;
    // Arguments become a message, and a message arguments
    "pack" => Management;
    "unpack" => Management;
    // Between entry methods: queues, the network, delivery
    "scheduler" => Management;
    // The recorder writes its log
    "log flush" => Measurement;
};
