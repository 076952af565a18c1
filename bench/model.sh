#!/usr/bin/env bash
# Models: uses simulated a second beside SimGrid on machine repair, in the same run; estimates and simulations of ADI.
#
#   MACHINES=64 REPAIRS=200 bench/model.sh      a short run
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C

partune=${PARTUNE:-$target/release/partune}
library=crates/partune-model/library
work=$target/bench
machines=${MACHINES:-512}
repairs=${REPAIRS:-200}
mkdir -p "$work"

if ! g++ -O2 -std=c++17 -o "$work/simgrid_repair" bench/simgrid_repair.cpp -lsimgrid; then
    echo 'model.sh: needs SimGrid (Debian package libsimgrid-dev)' >&2
    exit 1
fi

# ours FILE OPTION...: uses, seconds of the whole process, makespan.
ours() {
    local start=$EPOCHREALTIME
    "$partune" model simulate --json "$@" >"$work/model.json"
    local end=$EPOCHREALTIME
    awk -v s="$start" -v e="$end" -F '[:,]' '/"makespan"/ { m = $2 } /"uses"/ && !u { } /^  "uses"/ { u = $2 }
        END { printf "%d %.6f %s\n", u, e - s, m }' "$work/model.json"
}

row() { awk -v label="$1" '{ printf "| %-34s | %9d | %8.3f | %8.2f | %s |\n", label, $1, $2, $1 / $2 / 1e6, $3 }'; }

echo '| simulated                          |      uses |  seconds | M uses/s | makespan |'
echo '|------------------------------------|----------:|---------:|---------:|---------:|'
"$work/simgrid_repair" "$machines" "$repairs" 2>"$work/simgrid.log" | row "machine repair, SimGrid"
ours "$library/machine_repair.pam" -D P="$machines" -D N="$repairs" -D tl=997 -D ts=2 | row 'machine repair, partune'
for alternative in vertical horizontal remap pipelined exchanged; do
    ours "$library/adi.pam" --alt "$alternative" -D N=512 -D P=8 -D tf=1 -D tm=4 | row "adi $alternative, N=512 P=8"
done
for alternative in vertical remap pipelined; do
    /usr/bin/time -f '%M' -o "$work/memory" "$partune" model simulate --json "$library/adi.pam" --alt "$alternative" \
        -D N=4096 -D P=512 -D tf=1 -D tm=4 >/dev/null
    printf 'adi %s, N=4096 P=512: %d MiB at its peak\n' "$alternative" $(($(cat "$work/memory") / 1024))
done
cargo bench -q -p partune-model --bench model -- estimate 2>/dev/null | grep -A1 estimate
