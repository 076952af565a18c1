#!/bin/sh
# Decodes an archive with the C library and with partune's codec, one thread each, in the same run, and prints the ratio of the best rates.
# Usage: bench/decode.sh [ARCHIVE.otf2]     (needs cc, libotf2's headers, cargo); without an archive, the one that analyze.sh made
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
archive=$(realpath "${1:-$root/target/bench/even-50M/traces.otf2}")
[ -f "$archive" ] || { echo "decode.sh: no archive at $archive; name one, or run bench/analyze.sh first" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cc -O2 -o "$work/otf2_local_count" "$root/bench/otf2_local_count.c" -lotf2
cd "${PARTUNE_BENCH_PACKAGE:-$root/crates/partune-otf2}"
cargo bench --quiet --no-run --bench decode
for _ in 1 2; do
    "$work/otf2_local_count" "$archive"
    cargo bench --quiet --bench decode -- "$archive"
done | tee "$work/rates"

awk '{ for (i = 2; i <= NF; i++) if ($(i) == "M") rate = $(i - 1); if (rate > best[$1]) best[$1] = rate }
     END { printf "codec / libotf2: %.1f\n", best["codec:"] / best["libotf2:"] }' "$work/rates"
