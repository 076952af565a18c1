#!/usr/bin/env bash
# Builds what is released: one stripped binary with the collectors and the pages in it, and checks that it has not become large.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh

limit=25000000 # bytes

scripts/ui.sh
cargo build --release --quiet -p partune
bytes=$(stat -c %s "$target/release/partune")
if [ "$bytes" -gt "$limit" ]; then
    echo "build: $target/release/partune has $bytes bytes, more than $limit; size -A and nm --size-sort (cargo build --profile profiling) show what of" >&2
    exit 1
fi
