#!/usr/bin/env bash
# Archives with changed records through the commands of the program as it is released: COUNT of them (default 10000) through analyze, a tenth as
# many through each other command, each under 1 GiB and 10 s. None may abort, hang or exceed.
set -euo pipefail
cd "$(dirname "$0")/.."

shared=$(realpath "${PARTUNE_TRACES:-../shared/traces}")
mapfile -t archives < <(find "$PWD/examples/archives" "$shared/otf2" -name '*.otf2' 2>/dev/null | sort)
cargo build --release -p partune
cargo run --quiet --release -p xtask -- mutants target/release/partune "${1:-10000}" all "${archives[@]}"
