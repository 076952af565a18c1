#!/usr/bin/env bash
# The partitioner beside METIS on grids, a random geometric and a random graph: cuts, and the heaviest part by the mean one.
#
#   SCALE=1 bench/partition.sh       the graphs of the test, whose numbers of METIS come from here
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C

scale=${SCALE:-3}
work=$target/bench/partition
mkdir -p "$work"

command -v gpmetis >/dev/null || apt-get install -y -q metis >"$work/install.log" 2>&1 || true
if ! command -v gpmetis >/dev/null; then
    echo 'partition.sh: needs METIS (Debian package metis)' >&2
    exit 1
fi

# metis GRAPH PARTS KIND: cut and imbalance, with the same 3 % allowed as ours has.
metis() {
    gpmetis -ptype="$3" -ufactor=30 -nooutput "$work/$1.graph" "$2" |
        awk '/Edgecut/ { gsub(",", ""); cut = $3 } /constraint #0/ { print cut, $3 }'
}

echo "| graph | parts | cut | imbalance | s | METIS k-way | imbalance | METIS recursive | imbalance | cut / METIS |"
echo "|---|---|---|---|---|---|---|---|---|---|"
cargo run -q --release -p partune-objects --example partition -- "$work" "$scale" | while read -r graph parts cut imbalance seconds; do
    read -r kway kway_imbalance <<<"$(metis "$graph" "$parts" kway)"
    read -r rb rb_imbalance <<<"$(metis "$graph" "$parts" rb)"
    # The better one of those that are as even.
    awk -v row="| $graph | $parts | $cut | $imbalance | $seconds | $kway | $kway_imbalance | $rb | $rb_imbalance |" \
        -v cut="$cut" -v kway="$kway" -v rb="$rb" -v even="$rb_imbalance" \
        'BEGIN { best = even <= 1.03 && rb < kway ? rb : kway; printf "%s %.3f |\n", row, cut / best }'
done
