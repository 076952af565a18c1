#!/usr/bin/env bash
# Runs every bench of bench/, one after the other, so that none disturbs another.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/build.sh
for bench in bench/*.sh; do
    printf '== %s\n' "$bench"
    bash "$bench"
done
