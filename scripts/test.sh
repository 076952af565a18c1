#!/usr/bin/env bash
# Everything that must hold before a commit. The last lines are those of the test runner, and then what was skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh

step() { printf '== %s\n' "$*"; }

step pages
scripts/ui.sh
scripts/ui.sh check

step formatting
cargo fmt --all --check

step lints
cargo clippy --workspace --all-targets -- -D warnings

step dependencies
scripts/deny.sh

# What tests could not test for want of archives or programs; they say so here, since runners hide what a passing test prints.
PARTUNE_SKIPPED=$(realpath -m "$target")/skipped
export PARTUNE_SKIPPED
rm -f "$PARTUNE_SKIPPED"
skipped() {
    if [ -s "$PARTUNE_SKIPPED" ]; then
        step "skipped: $(sort -u "$PARTUNE_SKIPPED" | wc -l) tests, or parts of them"
        sort -u "$PARTUNE_SKIPPED"
    fi
}
trap skipped EXIT

# Without nextest the runner of cargo does the same, one binary after the other.
if cargo nextest --version >/dev/null 2>&1; then
    step 'examples in the documentation'
    cargo test --workspace --doc --quiet
    step tests
    cargo nextest run --workspace --no-fail-fast
else
    step 'tests and examples in the documentation'
    cargo test --workspace --no-fail-fast
fi
