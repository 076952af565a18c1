#!/usr/bin/env bash
# Laws over several parameters (crates/partune-fit) beside those of Extra-P, on the examples of Extra-P's repository: relative errors of values that are
# left out, a line a series.
#
#   EXTRAP=~/extrap PYTHON=~/venv/bin/python bench/fits.sh     its sources, and a Python with `pip install extrap`
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh

if [[ -z ${EXTRAP:-} ]]; then
    echo 'fits.sh: set EXTRAP to the sources of Extra-P, and PYTHON to a Python that has it; nothing was measured' >&2
    exit 0
fi
cargo build --quiet --profile "${PROFILE:-release}" -p partune-fit --example left_out
folder=${PROFILE:-release}
"${PYTHON:-python3}" bench/fits.py "$EXTRAP/tests/data" "$target/${folder/dev/debug}/examples/left_out"
