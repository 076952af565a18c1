#!/usr/bin/env bash
# What recording adds to calls of OpenSHMEM: no recorder, the floor of any (bare_shmem.c), partune with a trace and with a profile; in turns in one run, with Open MPI's.
#
# A figure is the median over the rounds of a difference within a round, of the best of some repetitions each. EZTrace records no OpenSHMEM.
#
#   ROUNDS=3 bench/shmem.sh           a short run
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
source bench/turns.bash
# With Open MPI's own hooks for memory, Debian's OpenSHMEM dies at its end.
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_opal_common_ucx_opal_mem_hooks=0

rounds=${ROUNDS:-11}
partune=$(realpath "${PARTUNE:-$target/release/partune}")
work=$(realpath -m "$target/bench/shmem")
rm -rf "$work"
mkdir -p "$work"

command -v oshcc >/dev/null || { echo 'shmem.sh: needs oshcc (Debian packages libopenmpi-dev, openmpi-bin)' >&2; exit 1; }
oshcc -O2 -o "$work/calls" bench/shmem_calls.c
oshcc -O2 -shared -fPIC -o "$work/bare.so" bench/bare_shmem.c

# run RECORDER: the lines of the program under a recorder.
run() {
    rm -rf "$work/archive"
    local launch=(oshrun -n 1)
    case $1 in
        none) "${launch[@]}" "$work/calls" ;;
        bare) "${launch[@]}" -x LD_PRELOAD="$work/bare.so" "$work/calls" ;;
        partune) "$partune" record -o "$work/archive" -- "${launch[@]}" "$work/calls" ;;
        profile) "$partune" record --profile -o "$work/archive" -- "${launch[@]}" "$work/calls" ;;
    esac 2>>"$work/log" | grep -E '^[a-z_]+ [0-9.]+$'
}

turns none bare partune profile
