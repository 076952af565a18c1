#!/usr/bin/env bash
# The whole of `partune analyze` beside a C reader that merely reads the same archive, in turns in one run.
#
# Four tables: the comparison at the bench size, the same where one rank is slow and all others wait for it in nearly every
# operation, the cost from one million events upwards, and an archive in which one location holds half of the events. Archives are generated once, and anew when the generator changed.
#
#   EVENTS=5M SLOW_EVENTS=2M SIZES="1M 5M" ROUNDS=1 bench/analyze.sh        a short run
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C

events=${EVENTS:-50M}
slow_events=${SLOW_EVENTS:-22M}
sizes=${SIZES:-1M 2M 5M 10M 20M 50M}
rounds=${ROUNDS:-3}
threads=${THREADS:-2}
ranks=${RANKS:-64}
partune=${PARTUNE:-$target/release/partune}
work=$target/bench
reader=$work/otf2_local_count
mkdir -p "$work"

if ! [ -x /usr/bin/time ]; then
    echo 'analyze.sh: needs /usr/bin/time (Debian package time)' >&2
    exit 1
fi
if ! gcc -O2 -o "$reader" bench/otf2_local_count.c -lotf2; then
    echo 'analyze.sh: needs the C library of OTF2 (Debian package libotf2-trace-dev)' >&2
    exit 1
fi

# archive NAME OPTION...: leaves the anchor file in $anchor and its events in $count.
archive() {
    local folder=$work/$1
    anchor=$folder/traces.otf2
    shift
    if [ ! -f "$anchor" ] || [ -n "$(find crates/partune-synth/src crates/partune-otf2/src -newer "$anchor" -name '*.rs' -print -quit)" ]; then
        rm -rf "$folder"
        "$partune" synth --ranks "$ranks" "$@" -o "$folder" >"$work/synth.log"
    fi
    find "$folder" -type f -exec cat {} + >/dev/null # into the page cache, for both alike
    "$partune" analyze "$anchor" --json --threads "$threads" >"$work/analyze.json"
    count=$(grep -o -m 1 '"events": *[0-9]*' "$work/analyze.json" | head -n 1 | grep -o '[0-9]*$')
}

# measure NAME COMMAND...: appends seconds and peak KiB to $work/NAME.runs.
measure() {
    local name=$1 start end
    shift
    start=$EPOCHREALTIME
    /usr/bin/time -v -o "$work/time.log" "$@" >"$work/stdout.log"
    end=$EPOCHREALTIME
    awk -v start="$start" -v end="$end" -F ': ' \
        '/Maximum resident set size/ { printf "%.3f %d\n", end - start, $2 }' "$work/time.log" >>"$work/$name.runs"
}

read_c() { measure "$1" "$reader" "$anchor"; }
analyze() { measure "$1" "$partune" analyze "$anchor" --json --threads "$2"; }

# median NAME: seconds and peak KiB of the median run.
median() { sort -n "$work/$1.runs" | sed -n "$((rounds / 2 + 1))p"; }

# row LABEL NAME SECONDS_OF_C: a line of the comparison.
row() {
    awk -v label="$1" -v runs="$(median "$2")" -v c="$3" -v n="$count" 'BEGIN {
        split(runs, r, " ")
        printf "| %-27s | %8.2f | %10.1f | %8.0f | %7.1f | %6.2f |\n", label, r[1], n / r[1] / 1e6, r[2] / 1024, r[2] * 1024 / n, r[1] / c
    }'
}

rm -f "$work"/*.runs
printf '\nSeconds are the median of %s runs in turns, from start to end of the process. Memory is resident memory at its\n' "$rounds"
printf 'peak; pages of mapped files count. %s; %s.\n' \
    "$(nproc) cores" "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)"

# compare NAME WHAT: the table of the archive that was made last.
compare() {
    for ((i = 0; i < rounds; i++)); do
        read_c "$1-c"
        analyze "$1-one" 1
        analyze "$1-all" "$threads"
    done
    c=$(median "$1-c" | cut -d ' ' -f 1)
    printf '\n### %s events, %s PEs, %s\n\n' "$count" "$ranks" "$2"
    echo '| what                        |  seconds | M events/s | peak MiB | B/event | x of C |'
    echo '|-----------------------------|---------:|-----------:|---------:|--------:|-------:|'
    row 'C library, reads only' "$1-c" "$c"
    row 'partune analyze, 1 thread' "$1-one" "$c"
    row "partune analyze, $threads threads" "$1-all" "$c"
}

archive "even-$events" --events "$events"
compare even 'all alike'
archive "slow-$slow_events" --events "$slow_events" --slow "$((ranks / 2)):1.5"
compare slow 'one of them slow'

printf '\n### Cost against size, %s threads\n\n' "$threads"
echo '|      events | seconds | ns/event | peak MiB | B/event |'
echo '|------------:|--------:|---------:|---------:|--------:|'
for size in $sizes; do
    archive "even-$size" --events "$size"
    for ((i = 0; i < rounds; i++)); do
        analyze "size-$size" "$threads"
    done
    awk -v runs="$(median "size-$size")" -v n="$count" 'BEGIN {
        split(runs, r, " ")
        printf "| %11d | %7.2f | %8.1f | %8.0f | %7.1f |\n", n, r[1], r[1] / n * 1e9, r[2] / 1024, r[2] * 1024 / n
    }'
done

printf '\n### One location holds half of the events\n\n'
echo '| archive | seconds, 1 thread | seconds, '"$threads"' threads | speed-up |'
echo '|---------|------------------:|-------------------:|---------:|'
archive "skewed-$events" --events "$events" --skew 0.5
for ((i = 0; i < rounds; i++)); do
    analyze skew-one 1
    analyze skew-all "$threads"
done
for pair in 'even even-one even-all' 'skewed skew-one skew-all'; do
    read -r label one all <<<"$pair"
    awk -v label="$label" -v one="$(median "$one")" -v all="$(median "$all")" 'BEGIN {
        split(one, a, " "); split(all, b, " ")
        printf "| %-7s | %17.2f | %18.2f | %8.2f |\n", label, a[1], b[1], a[1] / b[1]
    }'
done
