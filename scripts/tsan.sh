#!/usr/bin/env bash
# The tests of the recorder's core under ThreadSanitizer, which reports memory that two threads use without order.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/nightly.sh
nightly rust-src

RUSTFLAGS=-Zsanitizer=thread cargo +nightly test -Zbuild-std --target "$(rustc -vV | sed -n 's/^host: //p')" --target-dir target/tsan \
    -p partune-parts -p partune-collect --lib
