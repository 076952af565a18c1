#!/usr/bin/env bash
# `partune view` on an archive of 256 PEs: seconds from the command to the first picture, and what each zoom takes the server.
#
# The time of a zoom is that of the whole answer as curl sees it, over one connection: question, work, and all of its bytes. All
# zooms are asked in turns, and the best time of each counts, since a machine that does something else at a moment makes any of them
# slow; the worst time of all is told beside.
#
#   EVENTS=2M ZOOMS=50 bench/view.sh        a short run
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C

events=${EVENTS:-50M}
ranks=${RANKS:-256}
zooms=${ZOOMS:-300}
threads=${THREADS:-2}
rounds=${ROUNDS:-3}
partune=${PARTUNE:-$target/release/partune}
work=$target/bench
archive=$work/view-$events-$ranks
mkdir -p "$work"

if ! command -v curl >/dev/null; then
    echo 'view.sh: needs curl (Debian package curl)' >&2
    exit 1
fi
if [ ! -f "$archive/traces.otf2" ] || [ -n "$(find crates/partune-synth/src crates/partune-otf2/src -newer "$archive/traces.otf2" -name '*.rs' -print -quit)" ]; then
    rm -rf "$archive"
    "$partune" synth --ranks "$ranks" --events "$events" --inject late-sender:3:200000:20 --inject late-at-nxn:7:300000:30 -o "$archive" >"$work/synth.log"
fi
find "$archive" -type f -exec cat {} + >/dev/null # into the page cache

rm -f "$work/view.url"
begin=$EPOCHREALTIME
"$partune" view --no-open --threads "$threads" "$archive" >"$work/view.url" 2>"$work/view.log" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
until [ -s "$work/view.url" ]; do sleep 0.02; done
url=$(cat "$(sed -n 's/^partune: .* is in //p' "$work/view.url")")
listening=$EPOCHREALTIME
until curl -sf "${url}api/runs" >"$work/view.runs" && grep -q '"state":"ready"' "$work/view.runs"; do
    if grep -q '"state":"failed"' "$work/view.runs"; then
        cat "$work/view.runs" >&2
        exit 1
    fi
    sleep 0.05
done
curl -sf -o "$work/view.first" "${url}api/runs/0/timeline?columns=1400&rows=256"
first=$EPOCHREALTIME
field() { grep -o "\"$1\":[0-9]*" "$work/view.runs" | head -n 1 | grep -o '[0-9]*$'; }

printf '\n### partune view, %s events, %s PEs\n\n' "$(field events)" "$(field pes)"
printf '%s; %s, %s threads.\n\n' "$(nproc) cores" "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" "$threads"
awk -v begin="$begin" -v listening="$listening" -v first="$first" -v bytes="$(stat -c %s "$work/view.first")" 'BEGIN {
    printf "| from the command to             | seconds |\n|---------------------------------|--------:|\n"
    printf "| the page, which shows progress  | %7.2f |\n", listening - begin
    printf "| the first time line (%4.0f KiB)   | %7.2f |\n", bytes / 1024, first - begin
}'

# What the server makes ready after the first picture shall not be measured with it.
curl -sf -o /dev/null "${url}api/runs/0/matrix"

# questions KIND: so many views of a kind, at places and widths by chance (of every size alike), the same each time.
questions() {
    awk -v kind="$1" -v n="$zooms" -v length_ns="$(field duration_ns)" -v pes="$(field pes)" -v base="${url}api/runs/0/" 'BEGIN {
        srand(7)
        for (i = 0; i < n; i++) {
            width = length_ns * exp(log(1e-6) * rand()); from = (length_ns - width) * rand()
            few = int(1 + pes * exp(log(1 / pes) * rand())); at = int((pes - few + 1) * rand())
            view = sprintf("from=%.0f&to=%.0f", from, from + width + 1)
            if (kind == "all PEs, 256 rows") q = "timeline?columns=1024&rows=256&" view
            if (kind == "by function") q = "timeline?columns=1024&rows=256&by=function&" view
            if (kind == "flame graph") q = "flame?" view
            if (kind == "inverted, some PEs") q = sprintf("flame?stacking=callers&first=%d&pes=%d&%s", at, few, view)
            if (kind == "all PEs, 64 rows") q = "timeline?columns=2048&rows=64&" view
            if (kind == "some PEs") q = sprintf("timeline?columns=1400&rows=256&first=%d&pes=%d&%s", at, few, view)
            if (kind == "selection") q = "selection?" view
            if (kind == "selection, some PEs") q = sprintf("selection?first=%d&pes=%d&%s", at, few, view)
            if (kind == "search by name") q = sprintf("find?text=%c", 97 + i % 26)
            if (kind == "search by value") q = sprintf("find?text=time%%20%%3E%%20%.0f%%20ns", width / 100)
            if (kind == "what is at a place") q = sprintf("at?pe=%d&time=%.0f", at, from)
            printf "url = \"%s%s\"\noutput = /dev/null\n", base, q
        }
    }' >"$work/view.questions"
    for ((round = 0; round < rounds; round++)); do
        curl -sf --globoff -w '%{time_total} %{size_download}\n' -K "$work/view.questions" >"$work/view.round$round"
    done
    paste "$work"/view.round[0-9]* | awk '{
        best = $1; worst = $1
        for (i = 3; i <= NF; i += 2) { if ($i < best) best = $i; if ($i > worst) worst = $i }
        print best, worst, $2
    }' | sort -n >"$work/view.times"
    awk -v kind="$1" '{ t[NR] = $1 * 1e3; if ($2 * 1e3 > worst) worst = $2 * 1e3; if ($3 > size) size = $3 } END {
        printf "| %-19s | %5d | %9.1f | %7.1f | %7.1f | %13.1f | %11.0f |\n", kind, NR, t[int((NR + 1) / 2)], t[int(NR * 0.95 + 0.5)], t[NR], worst, size / 1024
    }' "$work/view.times"
}

printf '\nZooms, best of %s:\n\n' "$rounds"
echo '| zoom                |     n | median ms |  p95 ms |  max ms | worst of all  | largest KiB |'
echo '|---------------------|------:|----------:|--------:|--------:|--------------:|------------:|'
rm -f "$work"/view.round*
questions 'all PEs, 256 rows'
questions 'all PEs, 64 rows'
questions 'some PEs'
questions 'by function'
questions 'flame graph'
questions 'inverted, some PEs'
questions 'selection'
questions 'selection, some PEs'
questions 'search by name'
questions 'search by value'
questions 'what is at a place'

printf '\n| other view, asked first and again | ms | ms |\n|-----------------------------------|---:|---:|\n'
for question in summary findings profile 'tree?depth=12' flame 'flame?stacking=callers' balance matrix 'find?text=a' environment; do
    ask() { curl -sf -o /dev/null -w '%{time_total}' "${url}api/runs/0/$question"; }
    awk -v name="$question" -v one="$(ask)" -v two="$(ask)" 'BEGIN { printf "| %-33s | %.1f | %.1f |\n", name, one * 1e3, two * 1e3 }'
done
printf '\nResident memory of the server at its peak: %s MiB\n' "$(awk '/VmHWM/ { printf "%.0f", $2 / 1024 }' "/proc/$server/status")"
