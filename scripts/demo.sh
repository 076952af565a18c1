#!/usr/bin/env bash
# Builds partune and lets it diagnose an archive: the one named, else a recorded one that lies here.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh

archive=${1:-}
if [ -z "$archive" ]; then
    for archive in \
        "${PARTUNE_TRACES:-../shared/traces}/otf2/scorep84-ats-late_sender-4/traces.otf2" \
        examples/archives/ring/traces.otf2
    do
        [ -f "$archive" ] && break
    done
fi
if [ ! -f "$archive" ]; then
    echo "demo: no archive at $archive; name one: make demo ARCHIVE=path/to/traces.otf2" >&2
    exit 1
fi

cargo build --release --quiet -p partune
echo "\$ partune analyze $archive"
exec "$target/release/partune" analyze "$archive"
