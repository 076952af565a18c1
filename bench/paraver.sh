#!/bin/sh
# Reads a Paraver trace from memory on one thread: records alone, and into a trace; prints records a second.
# Usage: bench/paraver.sh [TRACE.prv[.gz]] [MB]     (needs cargo); without a trace, a shared one of EPOCH, or the example
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
shared=${PARTUNE_TRACES:-$root/../shared/traces}/paraver/pypop-epoch-mpi-1to16/epoch_16proc.prv.gz
[ -f "$shared" ] || shared=$root/examples/archives/paraver/trace.prv
trace=$(realpath "${1:-$shared}")
cd "$root/crates/partune-paraver"
cargo bench --quiet --bench records -- "$trace" "${2:-500}"
