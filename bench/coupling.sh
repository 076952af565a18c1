#!/usr/bin/env bash
# Kernel coupling: how far predictions from kernels and chains are from what programs take, beside the sum of their kernels. The three programs of
# examples/coupling at several sizes and on several ranks, and BT, SP and LU of the NAS Parallel Benchmarks where their folder is given; mean relative
# errors by the length of chains, and each prediction beside what was measured.
#
#   BUDGET=20 LAUNCHES=5 SIZES="24 48 96" RANKS="1 2" bench/coupling.sh
#   NPB=~/NPB3.4/NPB3.4-MPI PROGRAMS="bt sp lu" bench/coupling.sh         the folder of NPB 3.4
#   nice -n -10 bench/coupling.sh                    as root, on a machine where others work too; where Linux groups what is scheduled by sessions
#                                                    (sched_autogroup_enabled), in one of its own after echo -10 >/proc/self/autogroup
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1

programs=${PROGRAMS:-adi sweep wavefront ${NPB:+bt sp lu}}
partune=$(realpath "${PARTUNE:-$target/release/partune}")
work=$(realpath -m "$target/bench/coupling")
rm -rf "$work"
mkdir -p "$work"

# Cells of an edge by class, and the file with the loop.
declare -A cells=([bt.S]=12 [bt.W]=24 [bt.A]=64 [sp.S]=12 [sp.W]=36 [sp.A]=64 [lu.S]=12 [lu.W]=33 [lu.A]=64)
declare -A loop=([bt]=BT/bt.f [sp]=SP/sp.f [lu]=LU/ssor.f)

# npb PROGRAM CLASS: $work/PROGRAM.CELLS, which asks to be measured before its loop.
npb() {
    local program=$1 class=$2 folder=$work/NPB/${1^^}
    rm -rf "$work/NPB"
    cp -r "$NPB" "$work/NPB"
    # As it comes first, which makes its modules.
    cp "$work/NPB/config/make.def.template" "$work/NPB/config/make.def"
    sed -i -E 's/^(MPIFC *=).*/\1 mpif90.openmpi/; s/^(MPICC *=).*/\1 mpicc.openmpi/; s/^(FFLAGS\s*=).*/\1 -O3 -fallow-argument-mismatch -fallow-invalid-boz/' "$work/NPB/config/make.def"
    mkdir -p "$work/NPB/bin"
    make -C "$work/NPB" SHELL=/bin/bash "$program" CLASS="$class" >"$work/make.log" 2>&1 || { cat "$work/make.log" >&2 && return 1; }
    mpicc.openmpi -x c -O2 -DPARTUNE_COUPLE_MPI -DPARTUNE_COUPLE_LINKAGE= -c include/partune_couple.h -o "$work/couple.o"
    (cd "$work" && mpif90.openmpi -O3 -c "$OLDPWD/fortran/partune_couple.f90" -o module.o)
    mpif90.openmpi -O3 -cpp "-D${program^^}" "-DTURNS=${TURNS:-10}" -I "$work" -I "$folder" -c bench/npb_couple.f90 -o "$work/kernels.o"
    sed -i -E 's/^( *)do  ?i?step = 1, niter$/      call partune_npb\n&/' "$work/NPB/${loop[$program]}"
    grep -q 'call partune_npb' "$work/NPB/${loop[$program]}"
    sed -i -E "s|^FMPI_LIB *=.*|FMPI_LIB = $work/kernels.o $work/module.o $work/couple.o|" "$work/NPB/config/make.def"
    make -C "$work/NPB" SHELL=/bin/bash "$program" CLASS="$class" >"$work/make.log" 2>&1 || { cat "$work/make.log" >&2 && return 1; }
    mv "$work/NPB/bin/$program.$class.x" "$work/$program.${cells[$program.$class]}"
}

for program in $programs; do
    command="mpirun.openmpi -n {pes} ./$program {size} ${TURNS:-10}" sizes=${SIZES:-16 24 32 48} ranks=${RANKS:-1 2}
    case $program in
        bt | sp | lu)
            : "${NPB:?set it to the folder NPB3.4-MPI of the NAS Parallel Benchmarks}"
            sizes='' command="mpirun.openmpi -n {pes} ./$program.{size}"
            for class in ${CLASSES:-W A}; do
                npb "$program" "$class"
                sizes+=" ${cells[$program.$class]}"
            done
            sizes=${sizes# }
            # BT and SP want a square of ranks.
            [[ $program = lu ]] && ranks=${RANKS:-1 2 4} || ranks=${SQUARES:-1 4}
            ;;
        *) mpicc.openmpi -O2 -Iinclude -o "$work/$program" "examples/coupling/$program.c" -lm ;;
    esac
    cat >"$work/$program.toml" <<PLAN
command = "$command"
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
