#!/bin/sh
# Reads Projections logs from memory on one thread: records alone, and into a trace; prints records a second.
# Usage: bench/projections.sh [RUN.sts] [MILLIONS]     (needs cargo); without logs, shared ones of Jacobi2D, or the example
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
shared=${PARTUNE_TRACES:-$root/../shared/traces}/projections/charm-local-jacobi2d-8-gz/jacobi2d.prj.sts
[ -f "$shared" ] || shared=$root/examples/archives/projections/steps.sts
run=$(realpath "${1:-$shared}")
cd "$root/crates/partune-projections"
cargo bench --quiet --bench records -- "$run" "${2:-10}"
