#!/usr/bin/env bash
# The interpreter Miri on the tests of what runs inside the user's program and can run in it: undefined behaviour that no test would show. It
# maps no files and runs no instructions of one processor, so lanes are in private memory, and what needs either is left out.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/nightly.sh
nightly miri rust-src

export MIRIFLAGS='-Zmiri-disable-isolation' PROPTEST_CASES=2
cargo +nightly miri test --target-dir target/miri -p partune-parts --lib
cargo +nightly miri test --target-dir target/miri -p partune-collect --lib -- lane mapped log filter
