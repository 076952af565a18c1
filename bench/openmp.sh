#!/usr/bin/env bash
# What recording adds to constructs of OpenMP where the runtime tells tools what it does (OMPT): no recorder, a bare tool that stamps and returns (bare_ompt.c),
# EZTrace, partune with a trace and with a profile; in turns in one run. One thread, so that no wait is in it.
#
# A figure is the median over the rounds of a difference within a round, of the best of some repetitions each.
#
#   ROUNDS=3 bench/openmp.sh          a short run
#   chrt -f 5 bench/openmp.sh         as root, on a machine where others work too
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
source bench/turns.bash
export LC_ALL=C

rounds=${ROUNDS:-11}
clang=${CLANG:-clang-14}
partune=$(realpath "${PARTUNE:-$target/release/partune}")
work=$(realpath -m "$target/bench/openmp")
rm -rf "$work"
mkdir -p "$work"

command -v "$clang" >/dev/null || { echo "openmp.sh: needs $clang and its OpenMP (Debian packages clang-14, libomp-14-dev)" >&2; exit 1; }
"$clang" -O2 -fopenmp -o "$work/constructs" bench/openmp_constructs.c
"$clang" -O2 -shared -fPIC -o "$work/bare.so" bench/bare_ompt.c

recorders=(none bare eztrace partune profile)
if ! command -v eztrace >/dev/null; then
    recorders=(none bare partune profile)
    echo 'openmp.sh: no eztrace here (Debian package eztrace); it is left out' >&2
fi

# run RECORDER: the lines of the program under a recorder.
run() {
    rm -rf "$work/archive"
    case $1 in
        none) "$work/constructs" ;;
        bare) OMP_TOOL_LIBRARIES="$work/bare.so" "$work/constructs" ;;
        eztrace) eztrace -t ompt -o "$work/archive" "$work/constructs" ;;
        partune) "$partune" record -o "$work/archive" -- "$work/constructs" ;;
        profile) "$partune" record --profile -o "$work/archive" -- "$work/constructs" ;;
    esac 2>>"$work/log" | grep -E '^[a-z_]+ [0-9.]+$'
}

turns "${recorders[@]}"
