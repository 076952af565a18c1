#!/usr/bin/env bash
# `partune analyze` with all the memory that it wants and with a limit, in turns in one run: what the limit costs, whether it is held, and that no byte differs.
#
#   SIZES="10M 50M" LIMITS="512M" bench/memory.sh        a short run
#   RANKS=65536 SIZES=130M LIMITS=2G bench/memory.sh     many PEs
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C

sizes=${SIZES:-10M 50M 100M}
limits=${LIMITS:-256M 1G}
ranks=${RANKS:-64}
partune=${PARTUNE:-$target/release/partune}
work=${WORK:-$target/bench}
mkdir -p "$work"

if ! [ -x /usr/bin/time ]; then
    echo 'memory.sh: needs /usr/bin/time (Debian package time)' >&2
    exit 1
fi

# row LIMIT OPTION...: measures one analysis.
row() {
    local limit=$1 start end
    shift
    start=$EPOCHREALTIME
    /usr/bin/time -v -o "$work/time.log" "$partune" analyze --json "$@" "$anchor" >"$work/memory.json" 2>"$work/memory.log"
    end=$EPOCHREALTIME
    cmp "$work/memory.json" "$work/memory-whole.json"
    awk -v start="$start" -v end="$end" -v n="$count" -v ranks="$ranks" -v limit="$limit" -F ': ' '
        /Maximum resident set size/ { kib = $2 }
        END { printf "| %11d | %6d | %5s | %7.2f | %8.1f | %8.0f | %7.1f |\n", n, ranks, limit, end - start, (end - start) / n * 1e9, kib / 1024, kib * 1024 / n }' "$work/time.log"
}

printf '\n%s cores; the disk of %s writes %s.\n\n' "$(nproc)" "$work" \
    "$(dd if=/dev/zero of="$work/disk" bs=1M count=1024 conv=fdatasync 2>&1 | sed -n '$s/.*, //p')"
rm -f "$work/disk"
echo '|      events |    PEs | limit | seconds | ns/event | peak MiB | B/event |'
echo '|------------:|-------:|------:|--------:|---------:|---------:|--------:|'
for size in $sizes; do
    folder=$work/memory-$ranks-$size
    anchor=$folder/traces.otf2
    if [ ! -f "$anchor" ]; then
        rm -rf "$folder"
        "$partune" synth --ranks "$ranks" --events "$size" -o "$folder" >"$work/synth.log"
    fi
    "$partune" analyze --json "$anchor" >"$work/memory-whole.json"
    count=$(grep -o -m 1 '"events": *[0-9]*' "$work/memory-whole.json" | head -n 1 | grep -o '[0-9]*$')
    row none
    for limit in $limits; do
        row "$limit" --memory "$limit" --spill "$work"
    done
done
