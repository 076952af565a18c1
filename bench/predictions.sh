#!/usr/bin/env bash
# Predictions: how many intervals that `partune whatif` gives for the pairs of programs of the tests have the truth in them, and how wide they are. Each
# program is recorded with what loses time, and repaired; work is sleep. A line a change: shares of the run that are saved at least, at most, by design,
# and between the two recordings.
#
#   PAIRS='test(/late/)' bench/predictions.sh     some of them
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C

pairs=${PAIRS:-'not test(/ranks|numbers/)'}
work=$target/bench/predictions
mkdir -p "$work"

cargo nextest run --workspace --success-output final -E "test(/^record::predict::/) and ($pairs)" >"$work/tests.log" 2>&1 || {
    tail -40 "$work/tests.log" >&2
    exit 1
}
# A program that was tried again has several lines a change: the last ones count.
awk '$1 == "prediction" { line = $0; sub(/^ *prediction /, "", line); key = line; sub(/ [^\]]*$/, "", key); last[key] = line }
     END { for (key in last) print last[key] }' "$work/tests.log" | sort >"$work/table"

awk 'BEGIN { print "at least  at most   design  recorded  program and change" }
     { low = $(NF - 3); high = $(NF - 2); design = $(NF - 1); recorded = $NF; NF -= 4
       printf "%7.2f %%%7.2f %%%7.2f %%%8.2f %%  %s\n", 100 * low, 100 * high, 100 * design, 100 * recorded, $0
       in_design += low <= design && design <= high; in_recorded += low <= recorded && recorded <= high; width[NR] = high - low }
     END { for (i = 2; i <= NR; ++i) { it = width[i]; for (j = i - 1; j > 0 && width[j] > it; --j) width[j + 1] = width[j]; width[j + 1] = it }
       printf "\n%d changes: what is saved is in the interval for %d by design, %d as recorded; median width %.2f %% of the run\n",
              NR, in_design, in_recorded, 100 * width[int((NR + 1) / 2)] }' "$work/table"
