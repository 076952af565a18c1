#!/usr/bin/env bash
# Models: uses simulated a second beside SimGrid on machine repair, in the same run; estimates and simulations of ADI.
#
#   MACHINES=64 REPAIRS=200 ROUNDS=3 bench/model.sh      a short run; seconds of partune are of the whole process, the median of all rounds
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C

partune=${PARTUNE:-$target/release/partune}
library=crates/partune-model/library
work=$target/bench
machines=${MACHINES:-512}
repairs=${REPAIRS:-1000}
rounds=${ROUNDS:-5}
mkdir -p "$work"

[[ -e /usr/include/simgrid/s4u.hpp ]] || apt-get install -y -q libsimgrid-dev >"$work/simgrid-install.log" 2>&1 || true
if ! g++ -O2 -std=c++17 -o "$work/simgrid_repair" bench/simgrid_repair.cpp -lsimgrid; then
    echo 'model.sh: needs SimGrid (Debian package libsimgrid-dev)' >&2
    exit 1
fi

# median COMMAND...: of several runs the one whose seconds, the second field, are in the middle.
median() {
    for _ in $(seq "$rounds"); do "$@"; done | sort -k2,2n | sed -n "$(((rounds + 1) / 2))p"
}

# ours FILE OPTION...: uses, seconds of the whole process, makespan.
ours() {
    local start=$EPOCHREALTIME
    "$partune" model simulate --json "$@" >"$work/model.json"
    local end=$EPOCHREALTIME
    awk -v s="$start" -v e="$end" -F '[:,]' '/"makespan"/ { m = $2 } /^  "uses"/ { u = $2 }
        END { printf "%d %.6f %s\n", u, e - s, m }' "$work/model.json"
}

row() { awk -v label="$1" '{ printf "| %-34s | %9d | %8.3f | %8.2f | %s |\n", label, $1, $2, $1 / $2 / 1e6, $3 }'; }

echo '| simulated                          |      uses |  seconds | M uses/s | makespan |'
echo '|------------------------------------|----------:|---------:|---------:|---------:|'
simgrid() { "$work/simgrid_repair" "$machines" "$repairs" 2>"$work/simgrid.log"; }
theirs=$(median simgrid)
own=$(median ours "$library/machine_repair.pam" -D P="$machines" -D N="$repairs" -D tl=997 -D ts=2)
row 'machine repair, SimGrid' <<<"$theirs"
row 'machine repair, partune' <<<"$own"
for alternative in vertical horizontal remap pipelined exchanged; do
    median ours "$library/adi.pam" --alt "$alternative" -D N=512 -D P=8 -D tf=1 -D tm=4 | row "adi $alternative, N=512 P=8"
done
paste <(echo "$own") <(echo "$theirs") | awk '{ printf "machine repair: %.1f times the speed of SimGrid, same makespan: %s\n", $5 / $2, $3 + 0 == $6 + 0 ? "yes" : "no" }'
for alternative in vertical remap pipelined; do
    /usr/bin/time -f '%M' -o "$work/memory" "$partune" model simulate --json "$library/adi.pam" --alt "$alternative" \
        -D N=4096 -D P=512 -D tf=1 -D tm=4 >/dev/null
    printf 'adi %s, N=4096 P=512: %d MiB at its peak\n' "$alternative" $(($(cat "$work/memory") / 1024))
done
cargo bench -q -p partune-model --bench model -- estimate 2>/dev/null | grep -A1 estimate
