#!/usr/bin/env bash
# Completes recordings under faults at every system call, and prints a table of calls, faults and outcomes; see docs/promises.md.
set -euo pipefail
cd "$(dirname "$0")/.."

export PARTUNE_FAULTS=all
cargo test --quiet -p partune-record --test main -- --nocapture after_a_fault_at_any_call
