#!/usr/bin/env bash
# Kernel coupling: how far predictions from kernels and chains are from what programs take, beside the sum of their kernels. The three programs of
# examples/coupling, at several sizes and on several ranks; mean relative errors by the length of chains.
#
#   BUDGET=20 LAUNCHES=5 SIZES="24 48 96" RANKS="1 2" bench/coupling.sh
#   nice -n -10 bench/coupling.sh                    as root, on a machine where others work too
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

programs=${PROGRAMS:-adi sweep wavefront}
sizes=${SIZES:-16 24 32 48}
ranks=${RANKS:-1 2}
partune=$(realpath "${PARTUNE:-$target/release/partune}")
work=$(realpath -m "$target/bench/coupling")
rm -rf "$work"
mkdir -p "$work"

for program in $programs; do
    mpicc.openmpi -O2 -Iinclude -o "$work/$program" "examples/coupling/$program.c" -lm
    cat >"$work/$program.toml" <<PLAN
command = "mpirun.openmpi -n {pes} ./$program {size} ${TURNS:-10}"
sizes = [${sizes// /, }]
pes = [${ranks// /, }]
lengths = [2, 3, 4]
launches = ${LAUNCHES:-3}
budget_s = ${BUDGET:-10}
PLAN
    "$partune" couple "$work/$program.toml" >"$work/$program.txt" 2>"$work/$program.log" || {
        cat "$work/$program.log" >&2
        exit 1
    }
    printf '%s\n' "$program"
    sed -n '/^mean errors/,/^$/p' "$work/$program.txt" | sed 1d
    printf '  warnings of faults: %d\n' "$(grep -c '^warning' "$work/$program.txt" || true)"
done
