#!/usr/bin/env bash
# What deduced hints gain: records each example of charm4py once, deduces hints from that recording, and runs the program without and with them in turns: as recorded, with twice the size,
# on twice the PEs, and both. Prints what the hints are, what they are predicted to save, and what they save. Work is made of sleeping, so eight PEs do not need eight cores.
#
#   bench/hints.sh PYTHON [PAIRS] [PROGRAM...]      PYTHON has charm4py; by default 10 pairs of each program
#   WORK=real bench/hints.sh …                      work that computes, on two PEs, as recorded only
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C PARTUNE=${PARTUNE:-$target/release/partune}

python=${1:?the Python that has charm4py}
pairs=${2:-10}
shift $(($# < 2 ? $# : 2))
programs=("${@:-gauss factorial collect jacobi}")
# Arguments, and those of twice the size.
declare -A arguments=(
    [gauss]='--work sleep:0.0005 --n 32' [factorial]='--work sleep:0.0005 --grain 64 --n 2048'
    [collect]='--work sleep:0.0005 --rounds 4 --n 256' [jacobi]='--work sleep:0.003 --turns 10 --tiles 6')
declare -A twice=([gauss]='--n 64' [factorial]='--n 4096' [collect]='--n 512' [jacobi]='--tiles 12')
pes=8
if [[ ${WORK:-sleep} = real ]]; then
    arguments=([gauss]='--n 128' [factorial]='--n 30000 --grain 200' [collect]='--rounds 20 --n 512' [jacobi]='--tiles 8 --cells 64 --turns 20')
    pes=2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for program in ${programs[@]}; do
    file=examples/charm4py/$program.py given=${arguments[$program]}
    export HINTS=$folder/$program.toml
    echo "$program $given on $pes PEs, load $(cut -d' ' -f1 /proc/loadavg)"
    "$PARTUNE" record -o "$folder/$program" -- "$python" -m charmrun.start +p$pes "$file" $given >"$folder/said" 2>&1 || { cat "$folder/said"; exit 1; }
    "$PARTUNE" hints "$folder/$program" -o "$HINTS" --program "$program.py" --explain
    [[ -e $HINTS ]] || { echo; continue; }
    measure() {
        echo "$program $2 on $1 PEs, load $(cut -d' ' -f1 /proc/loadavg)"
        "$python" examples/charm4py/measure.py "$1" "$pairs" "$file" $2
    }
    measure $pes "$given"
    if [[ $pes -gt 2 ]]; then
        measure $pes "$given ${twice[$program]}"
        measure $((2 * pes)) "$given"
        measure $((2 * pes)) "$given ${twice[$program]}"
    fi
    echo
done
