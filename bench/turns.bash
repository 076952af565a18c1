# For benches of what recorders add to constructs, which source it: `run RECORDER` prints lines "construct ns".
# shellcheck shell=bash

# turns RECORDER...: all of them in each of the rounds, one after the other, and the tables of what they add.
turns() {
    local round recorder
    for ((round = 0; round < rounds; round++)); do
        for recorder in "$@"; do
            run "$recorder" | sed "s/^/$round $recorder /" >>"$work/times"
        done
    done
    awk -f bench/median.awk -f bench/added.awk -v order="$*" -v rounds="$rounds" "$work/times"
    rm -rf "$work/archive"
}
