#!/usr/bin/env bash
# What recording costs whole programs: the NAS Parallel Benchmarks (NPB 3.4, MPI).
#
# In two ways, since runs of one program differ by 5 to 15 % on many machines:
#
# - Runs without a recorder, with a trace and with a profile in turns, by the rate that the benchmark prints.
# - Iterations of the main loop in one run, recorded and with recording switched off (MPI_Pcontrol) in turns: what disturbs
#   a machine for longer than an iteration falls out. The call of npb_turns.c is put into a copy of the sources.
#
# Costs within a turn are summed up by an estimate that outliers do not move (Hodges and Lehmann: the median of the means of all pairs of turns),
# with the interval that holds the true cost with 95 % (of Wilcoxon's signed ranks).
#
#   NPB=~/NPB3.4/NPB3.4-MPI bench/npb.sh            the folder of NPB, with config/make.def for Open MPI
#   NPB=… KERNELS="lu.W ft.A" MODES=profile EACH=600 TURNS=0 bench/npb.sh
#   NPB=… chrt -f 5 bench/npb.sh                    as root, on a machine where others work too
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

if [[ -z ${NPB:-} ]]; then
    echo 'npb.sh: set NPB to the folder NPB3.4-MPI of the NAS Parallel Benchmarks; nothing was measured' >&2
    exit 0
fi
kernels=${KERNELS:-bt.W cg.A ft.A is.A lu.W mg.A sp.W}
each=${EACH:-150} # seconds of runs with iterations in turns
turns=${TURNS:-10}
IFS=' ' read -ra modes <<<"${MODES:-trace profile}" # of recording, for these
ranks=${RANKS:-2}
# Where there is a core for each process, it stays on its own.
bind=(--bind-to core)
((ranks <= $(nproc))) || bind=(--bind-to none)
partune=$(realpath "${PARTUNE:-$target/release/partune}")
work=$(realpath -m "$target/bench/npb")
rm -rf "$work"
mkdir -p "$work"
touch "$work/rates" "$work/turns"

# The main loop of each benchmark: its file, and the line that it begins with.
declare -A loop=(
    [bt]='BT/bt.f:do  *step *= *1, *niter' [cg]='CG/cg.f:do  *cgit *= *1, *cgitmax' [ft]='FT/ft.f:do  *iter *= *1, *niter'
    [is]='IS/is.c:rank( iteration );' [lu]='LU/ssor.f:do  *istep *= *1, *niter' [mg]='MG/mg.f:do  *it *= *1, *[0-9*]*nit'
    [sp]='SP/sp.f:do  *step *= *1, *niter'
)
# Those with few iterations get so many times more; then their results are not those that they verify.
declare -A longer=([ft]=10 [is]=10 [mg]=10)
cp -r "$NPB" "$work/NPB"
# FT has its number in a table, since arrays depend on it.
sed -i -E "s/(nz = [0-9]+; *niter *= *)6;/\\1$((longer[ft] * 6));/" "$work/NPB/sys/setparams.c"
mpicc.openmpi -O2 -c -o "$work/npb_turns.o" bench/npb_turns.c
sed -i -E "s|^(FMPI_LIB\|CMPI_LIB) *=.*|& $work/npb_turns.o|" "$work/NPB/config/make.def"
for kernel in $kernels; do
    name=${kernel%.*} class=${kernel#*.}
    [[ -x $NPB/bin/$kernel.x ]] || make -C "$NPB" SHELL=/bin/bash "$name" "CLASS=$class" >"$work/make.log" 2>&1
    file=$work/NPB/${loop[$name]%%:*} line=${loop[$name]#*:}
    if [[ ${longer[$name]:-} ]]; then
        sed -i -E "s/(do +it *= *1,) *nit *\$/\1 ${longer[$name]}*nit/; s/iteration<=MAX_ITERATIONS/iteration<=${longer[$name]}*MAX_ITERATIONS/" "$file"
    fi
    case $file in
        *.c) sed -i "s|$line|{ extern void npb_turn_(void); npb_turn_(); } &|" "$file" ;;
        *) sed -i "/^ *$line *\$/a\\      call npb_turn" "$file" ;;
    esac
    if [[ $(grep -c npb_turn "$file") != 1 ]]; then
        echo "npb.sh: the main loop of $name is not where it is in NPB 3.4: $file" >&2
        exit 1
    fi
    touch "$file"
    make -C "$work/NPB" SHELL=/bin/bash "$name" "CLASS=$class" >"$work/make.log" 2>&1
done

# run RECORDER PROGRAM: what it prints is in $work/out.
run() {
    local mpirun=(mpirun.openmpi "${bind[@]}" -n "$ranks" "$2") record=("$partune" record -o "$work/archive")
    rm -rf "$work/archive"
    case $1 in
        none) "${mpirun[@]}" ;;
        trace) "${record[@]}" -- "${mpirun[@]}" ;;
        profile) "${record[@]}" --profile -- "${mpirun[@]}" ;;
    esac >"$work/out" 2>&1
}

for kernel in $kernels; do
    for ((turn = 0; turn < turns; turn++)); do
        # Another one is first each time.
        recorders=(none trace profile none trace)
        for recorder in "${recorders[@]:turn % 3:3}"; do
            run "$recorder" "$NPB/bin/$kernel.x"
            grep -q 'Verification *= *SUCCESSFUL' "$work/out"
            awk -v row="$kernel $turn $recorder" '/Mop\/s total/ { print row, $NF }' "$work/out" >>"$work/rates"
        done
    done
    end=$((SECONDS + each))
    for ((i = 0; SECONDS < end; i++)); do
        recorder=${modes[i % ${#modes[@]}]}
        NPB_FIRST=$((i / ${#modes[@]} % 2)) run "$recorder" "$work/NPB/bin/$kernel.x"
        awk -v row="$kernel $recorder" '/^npb_turn/ { print row, $2 }' "$work/out" >>"$work/turns"
    done
done
rm -rf "$work/archive"

printf '\n%s ranks: cost in %%, estimate and 95 %% interval, and the number of turns.\n\n' "$ranks"
python3 - "$work/rates" "$work/turns" <<'PYTHON'
import sys

RECORDERS = ("trace", "profile")


def mean_at(costs, count):
    """The mean of two (of one with itself, too) that so many others do not exceed, of sorted costs; by bisection, since there are millions."""
    low, high = costs[0], costs[-1]
    while high - low > 1e-4:
        middle, others, below = (low + high) / 2, len(costs), 0
        for i, cost in enumerate(costs):
            while others > i and costs[others - 1] + cost > 2 * middle:
                others -= 1
            if others <= i:
                break
            below += others - i
        low, high = (low, middle) if below >= count else (middle, high)
    return high


def estimate(costs):
    """Median of the means of all pairs, and the interval between those whose signed ranks are just not rejected."""
    n = len(costs)
    if n < 6:
        return "-"
    costs = sorted(costs)
    pairs = n * (n + 1) // 2
    half = 1.96 * (n * (n + 1) * (2 * n + 1) / 24) ** 0.5
    outside = max(0, int(pairs / 2 - half))
    median, low, high = (mean_at(costs, count) for count in ((pairs + 1) // 2, outside + 1, pairs - outside))
    return f"{median:+6.2f}, {low:+6.2f} to {high:+6.2f} ({n})"


rates, costs = {}, {}
for line in open(sys.argv[1]):
    kernel, turn, recorder, rate = line.split()
    rates.setdefault((kernel, turn), {})[recorder] = float(rate)
for (kernel, _), rate in rates.items():
    for recorder in RECORDERS:
        costs.setdefault(kernel, {}).setdefault(("run", recorder), []).append(100 * (rate["none"] / rate[recorder] - 1))
for line in open(sys.argv[2]):
    kernel, recorder, cost = line.split()
    costs.setdefault(kernel, {}).setdefault(("iteration", recorder), []).append(float(cost))
columns = [(what, recorder) for recorder in RECORDERS for what in ("iteration", "run")]
print("| kernel |", " | ".join(f"{f'{recorder}, by {what}s':32}" for what, recorder in columns), "|")
print("|--------|" + "|".join("-" * 34 for _ in columns) + "|")
for kernel, of in costs.items():
    print(f"| {kernel:6} |", " | ".join(f"{estimate(of.get(column, [])):32}" for column in columns), "|")
PYTHON
