#!/usr/bin/env bash
# Bounds of loops beside what they take: the Livermore kernels 1 to 12, compiled in several ways, on this machine. A line a loop: the bounds of `partune kernel`, what
# llvm-mca says of the same instructions where it is installed, and cycles of the core as measured, all for one turn of the source's loop; M and MA are of the source, but of
# Fortran only where Flang is installed. All programs run in turns, and the least of their runs counts: a core whose other thread
# works for somebody else is up to four times slower for a while.
#
#   COMPILERS="gcc clang-19" LEVELS="-O1 -O3" ROUNDS=24 bench/kernels.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C

work=$target/bench/kernels
mkdir -p "$work"
partune=${PARTUNE:-$target/release/partune}
[ -x "$partune" ] || cargo build --release --bin partune
here=bench/kernels

gcc -O1 -g "$here/driver.c" -c -o "$work/driver.o"
rm -f "$work"/*.measured "$work"/*.ll
built=()
for compiler in ${COMPILERS:-gcc clang-19 gfortran flang-new-19}; do
    command -v "$compiler" >/dev/null || continue
    source=$here/livermore.c modules=()
    [[ $compiler == *fortran* || $compiler == flang* ]] && source=$here/livermore.f90
    [[ $compiler == *fortran* ]] && modules=(-J "$work")
    [[ $compiler == flang* ]] && modules=(-module-dir "$work")
    for level in ${LEVELS:--O1 -O3}; do
        program=$work/$compiler$level
        "$compiler" -g "$level" -march=native "${modules[@]}" -c "$source" -o "$program.o"
        gcc "$work/driver.o" "$program.o" -lm -o "$program"
        built+=("$compiler $level")
    done
done
if command -v flang-new-19 >/dev/null && command -v opt-19 >/dev/null; then
    flang-new-19 -g -O0 -S -emit-llvm -module-dir "$work" "$here/livermore.f90" -o "$work/f90.0.ll"
    opt-19 -S -passes=mem2reg,sroa "$work/f90.0.ll" -o "$work/f90.ll"
fi
for ((round = 0; round < ${ROUNDS:-12}; ++round)); do
    for name in "${built[@]}"; do "$work/${name/ /}" >>"$work/${name/ /}.measured"; done
done
: >"$work/table"
for name in "${built[@]}"; do
    program=$work/${name/ /}
    asked=(--source "$here/livermore.c")
    if [[ $name == *fortran* || $name == flang* ]]; then
        [[ -s $work/f90.ll ]] && asked=(--ir "$work/f90.ll") || asked=()
    fi
    "$partune" kernel "$program" $(printf -- '--function lfk%d ' {1..12}) "${asked[@]}" --json >"$program.json"
    python3 "$here/table.py" "$name" "$program" "$program.json" "$program.measured" >>"$work/table"
done
python3 "$here/table.py" --sum "$work/table"
