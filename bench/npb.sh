#!/usr/bin/env bash
# What recording costs whole programs: the NAS Parallel Benchmarks (NPB 3.4, MPI), without a recorder, with a trace and with a profile, in turns.
#
# A run's time is the operations that the benchmark counts by the rate that it prints, which has more digits than its seconds. For each
# benchmark, the mean of the cost within a turn, with the interval that holds the true mean with 95 %.
#
#   NPB=~/NPB3.4/NPB3.4-MPI bench/npb.sh            the folder of NPB, with config/make.def for Open MPI
#   NPB=… KERNELS="lu.W ft.A" TURNS=20 bench/npb.sh
#   NPB=… chrt -f 5 bench/npb.sh                    as root, on a machine where others work too
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

if [[ -z ${NPB:-} ]]; then
    echo 'npb.sh: set NPB to the folder NPB3.4-MPI of the NAS Parallel Benchmarks; nothing was measured' >&2
    exit 0
fi
kernels=${KERNELS:-cg.A mg.A ft.A lu.W sp.W bt.W}
turns=${TURNS:-10}
ranks=${RANKS:-2}
partune=$(realpath "${PARTUNE:-$target/release/partune}")
work=$target/bench/npb
rm -rf "$work"
mkdir -p "$work"

for kernel in $kernels; do
    [[ -x $NPB/bin/$kernel.x ]] || make -C "$NPB" "${kernel%.*}" "CLASS=${kernel#*.}" >"$work/make.log" 2>&1
done

# run RECORDER KERNEL: its rate.
run() {
    local mpirun=(mpirun.openmpi -n "$ranks" "$NPB/bin/$2.x") record=("$partune" record -o "$work/archive")
    rm -rf "$work/archive"
    case $1 in
        none) "${mpirun[@]}" ;;
        trace) "${record[@]}" -- "${mpirun[@]}" ;;
        profile) "${record[@]}" --profile -- "${mpirun[@]}" ;;
    esac >"$work/out" 2>>"$work/log"
    grep -q 'Verification *= *SUCCESSFUL' "$work/out"
    awk '/Mop\/s total/ { print $NF }' "$work/out"
}

for kernel in $kernels; do
    for ((turn = 0; turn < turns; turn++)); do
        # Another one is first each time.
        recorders=(none trace profile none trace)
        for recorder in "${recorders[@]:turn % 3:3}"; do
            echo "$kernel $turn $recorder $(run "$recorder" "$kernel")" >>"$work/rates"
        done
    done
done
rm -rf "$work/archive"

printf '\n%s ranks, %s turns: cost in %%, mean and 95 %% interval, and median.\n\n' "$ranks" "$turns"
python3 - "$work/rates" <<'PYTHON'
import statistics
import sys

# Student's t for 95 %, by degrees of freedom.
T = {4: 2.776, 7: 2.365, 9: 2.262, 11: 2.201, 14: 2.145, 19: 2.093, 24: 2.064, 29: 2.045}

rates = {}
for line in open(sys.argv[1]):
    kernel, turn, recorder, rate = line.split()
    rates.setdefault(kernel, {}).setdefault(int(turn), {})[recorder] = float(rate)
print("| kernel | trace                  | profile                |")
print("|--------|------------------------|------------------------|")
for kernel, turns in rates.items():
    cells = []
    for recorder in ("trace", "profile"):
        costs = [100 * (it["none"] / it[recorder] - 1) for it in turns.values()]
        t = T[max(free for free in T if free <= len(costs) - 1)]
        half = t * statistics.stdev(costs) / len(costs) ** 0.5
        cells.append(f"{statistics.mean(costs):+6.2f} ± {half:.2f} ({statistics.median(costs):+.2f})".ljust(22))
    print(f"| {kernel:6} | {cells[0]} | {cells[1]} |")
PYTHON
