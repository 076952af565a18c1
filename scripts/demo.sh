#!/usr/bin/env bash
# Builds partune and shows it at work: it diagnoses the archive that is named; else it records the example program, diagnoses
# the recording, does the same with the repaired program, compares the two, and writes a report. Without MPI it diagnoses an archive that
# lies here.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh

show() { printf '\n$ %s\n' "$*"; "$@"; }

# first COMMAND...: the first that is here.
first() {
    for name in "$@"; do
        if command -v "$name" >/dev/null; then
            echo "$name"
            return
        fi
    done
    return 1
}

scripts/build.sh
partune=$target/release/partune
archive=${1:-}

if [ -z "$archive" ] && mpicc=$(first mpicc.openmpi mpicc) && mpirun=$(first mpirun.openmpi mpirun); then
    # Open MPI asks twice before it runs as root, and counts cores.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    ranks=$(nproc)
    ranks=$((ranks < 2 ? 2 : ranks > 4 ? 4 : ranks))
    work=$target/demo
    rm -rf "$work"
    mkdir -p "$work"
    for program in heat heat_repaired; do
        show "$mpicc" -O2 -g -w -o "$work/$program" "examples/heat/$program.c" -lm
        show "$partune" record -o "$work/$program.trace" -- "$mpirun" -n "$ranks" "$work/$program" "$work/plate"
        show "$partune" analyze "$work/$program.trace"
    done
    show "$partune" advise "$work/heat.trace"
    show "$partune" compare "$work/heat.trace" "$work/heat_repaired.trace"
    show "$partune" report "$work/heat.trace" -o "$work/heat.html"
    printf '\nTo look around in a browser: %s view %s %s\n' "$partune" "$work/heat.trace" "$work/heat_repaired.trace"
    printf 'What was wrong and how it was repaired: examples/heat/README.md\n'
    exit
fi

if [ -z "$archive" ]; then
    for archive in \
        "${PARTUNE_TRACES:-../shared/traces}/otf2/scorep84-ats-late_sender-4/traces.otf2" \
        examples/archives/ring/traces.otf2
    do
        [ -f "$archive" ] && break
    done
fi
if [ ! -f "$archive" ]; then
    echo "demo: no archive at $archive; name one: make demo ARCHIVE=path/to/traces.otf2" >&2
    exit 1
fi
show "$partune" analyze "$archive"
mkdir -p "$target/demo"
show "$partune" report "$archive" -o "$target/demo/report.html"
