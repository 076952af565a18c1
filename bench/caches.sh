#!/usr/bin/env bash
# What caches add to the bounds of loops, beside what is measured: ten loops with data in each cache and in memory, on this machine. A line a loop and size: MACS,
# what `partune kernel --elements` predicts with caches, and cycles of the core as measured, all for one turn of the source's loop. All programs run in turns, and
# the least of their runs counts.
#
#   COMPILERS="gcc clang-19" LEVELS="-O1 -O3" ROUNDS=5 bench/caches.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C

work=$target/bench/caches
mkdir -p "$work"
partune=${PARTUNE:-$target/release/partune}
[ -x "$partune" ] || cargo build --release --bin partune
here=bench/caches

"$partune" machine measure --only threads --threads 2 --budget 40 -o "$work/machine.toml" >/dev/null
"$partune" machine show "$work/machine.toml" --json >"$work/machine.json"
gcc -O1 -g "$here/driver.c" -c -o "$work/driver.o"
rm -f "$work"/*.measured
built=()
for compiler in ${COMPILERS:-gcc clang-19 clang-14}; do
    command -v "$compiler" >/dev/null || continue
    for level in ${LEVELS:--O3}; do
        program=$work/$compiler$level
        "$compiler" -g "$level" -march=native -c "$here/loops.c" -o "$program.o"
        gcc "$work/driver.o" "$program.o" -o "$program"
        built+=("$compiler $level")
    done
done
sizes=$(python3 "$here/table.py" --sizes "$work/machine.json")
for ((round = 0; round < ${ROUNDS:-3}; ++round)); do
    for name in "${built[@]}"; do "$work/${name/ /}" $sizes >>"$work/${name/ /}.measured"; done
done
: >"$work/table"
for name in "${built[@]}"; do
    program=$work/${name/ /}
    python3 "$here/table.py" "$name" "$partune" "$program" "$work/machine.toml" "$program.measured" >>"$work/table"
done
python3 "$here/table.py" --sum "$work/table"
