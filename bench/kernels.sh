#!/usr/bin/env bash
# Bounds of loops beside what they take: the Livermore kernels 1 to 12, compiled in several ways, on this machine. A line a loop: the bounds of `partune kernel`, what
# llvm-mca says of the same instructions where it is installed, and cycles of the core as measured, all for one turn of the source's loop.
#
#   COMPILERS="gcc clang-19" LEVELS="-O1 -O3" bench/kernels.sh
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
: >"$work/table"
for compiler in ${COMPILERS:-gcc clang-19 gfortran}; do
    command -v "$compiler" >/dev/null || continue
    source=$here/livermore.c
    [[ $compiler == *fortran* || $compiler == flang* ]] && source=$here/livermore.f90
    [ -e "$source" ] || continue
    for level in ${LEVELS:--O1 -O3}; do
        program=$work/$compiler$level
        modules=()
        [[ $source == *.f90 ]] && modules=(-J "$work")
        "$compiler" -g "$level" -march=native "${modules[@]}" -c "$source" -o "$program.o"
        gcc "$work/driver.o" "$program.o" -lm -o "$program"
        "$program" >"$program.measured"
        "$partune" kernel "$program" $(printf -- '--function lfk%d ' {1..12}) --json >"$program.json"
        python3 "$here/table.py" "$compiler $level" "$program" "$program.json" "$program.measured" >>"$work/table"
    done
done
python3 "$here/table.py" --sum "$work/table"
