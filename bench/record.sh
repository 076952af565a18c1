#!/usr/bin/env bash
# What recording adds to calls of MPI: no recorder, the floor of any (bare_preload.c), EZTrace, and partune's recorder with
# call paths, without, and as a profile; in turns in one run, with Open MPI.
#
# A cost is what a call takes longer than without a recorder, in ns: the median over the rounds of the difference within a
# round, of the best of some repetitions each. Ping-pong differs more between two processes than by a recorder; so each process makes it
# bare, between two time stamps (the floor), and recorded, in turns of half a millisecond, and its costs are differences within a process.
# At the end one process makes so many calls that their events fill its buffer many times over.
#
# EZTrace (2.0) records no MPI_Comm_rank, of MPI_Sendrecv no messages, and of requests no completion: it does less.
#
#   ROUNDS=3 LONG=1000000 bench/record.sh        a short run
#   chrt -f 5 bench/record.sh                    as root, on a machine where others work too
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C

rounds=${ROUNDS:-11}
long=${LONG:-50000000} # calls; two events each
buffer=${BUFFER:-64M}
partune=$(realpath "${PARTUNE:-$target/release/partune}")
work=$target/bench/record
rm -rf "$work"
mkdir -p "$work"

for need in mpicc.openmpi mpirun.openmpi; do
    if ! command -v "$need" >/dev/null; then
        echo "record.sh: needs $need (Debian packages libopenmpi-dev, openmpi-bin)" >&2
        exit 1
    fi
done
mpicc.openmpi -O2 -o "$work/calls" bench/record_calls.c
mpicc.openmpi -O2 -w -shared -fPIC -o "$work/bare.so" bench/bare_preload.c
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

recorders=(none bare path flat profile)
if command -v eztrace >/dev/null; then
    recorders=(none bare eztrace path flat profile)
else
    echo 'record.sh: no eztrace here (Debian package eztrace); it is left out' >&2
fi

# run RECORDER RANKS [ARGUMENT...]: the lines of the program under a recorder; its archive is in $work/archive.
run() {
    local recorder=$1 ranks=$2
    shift 2
    rm -rf "$work/archive"
    local program=("$work/calls" "$@") mpirun=(mpirun.openmpi -n "$ranks") record=("$partune" record -o "$work/archive")
    case $recorder in
        none) "${mpirun[@]}" "${program[@]}" ;;
        bare) "${mpirun[@]}" -x LD_PRELOAD="$PWD/$work/bare.so" "${program[@]}" ;;
        eztrace) "${mpirun[@]}" eztrace -t openmpi -o "$work/archive" "${program[@]}" ;;
        path) "${record[@]}" -- "${mpirun[@]}" "${program[@]}" ;;
        flat) "${record[@]}" --depth 0 -- "${mpirun[@]}" "${program[@]}" ;;
        profile) "${record[@]}" --profile -- "${mpirun[@]}" "${program[@]}" ;;
        long) "${record[@]}" --buffer "$buffer" -- "${mpirun[@]}" "${program[@]}" ;;
    esac 2>>"$work/log" | grep -E '^[A-Za-z_]+ [0-9.]+$'
}

for ((round = 0; round < rounds; round++)); do
    for recorder in "${recorders[@]}"; do
        { run "$recorder" 1; run "$recorder" 2; } | sed "s/^/$round $recorder /" >>"$work/times"
    done
done

# Lines of times: round, recorder, kind of call, ns.
awk -f bench/median.awk -f /dev/stdin -v order="${recorders[*]}" -v rounds="$rounds" "$work/times" <<'AWK'
    function over(recorder, kind,    i, n, list) { # the median of a number that a program gives
        for (i = 0; i < rounds; i++) list[++n] = ns[i, recorder, kind]
        return median(list, n)
    }
    function cost(recorder, kind,    i, n, list, base) { # absolute for none, else what is added
        for (i = 0; i < rounds; i++) {
            base = kind == "pingpong" ? ns[i, recorder, "pingpong_bare"] : ns[i, "none", kind]
            if (kind == "pingpong" && recorder == "none") list[++n] = base
            else if (kind == "pingpong" && recorder == "bare") list[++n] = ns[i, recorder, "pingpong_floor"] - base
            else list[++n] = ns[i, recorder, kind] - (recorder == "none" ? 0 : base)
        }
        return median(list, n)
    }
    { ns[$1, $2, $3] = $4; if ($3 !~ /pingpong_/ && !seen[$3]++) kinds[++k] = $3 }
    END {
        n = split(order, recorders, " ")
        label["none"] = "no recorder, ns"
        label["bare"] = "floor adds"
        label["eztrace"] = "EZTrace adds"
        label["path"] = "partune adds"
        label["flat"] = "partune --depth 0 adds"
        label["profile"] = "partune --profile adds"
        printf "\nMedians of %d rounds in turns, ns a call.\n\n| %-22s |", rounds, ""
        for (i = 1; i <= k; i++) printf " %13s |", kinds[i]
        printf "\n|------------------------|"
        for (i = 1; i <= k; i++) printf "--------------:|"
        for (r = 1; r <= n; r++) {
            printf "\n| %-22s |", label[recorders[r]]
            for (i = 1; i <= k; i++) printf " %13.1f |", cost(recorders[r], kinds[i])
        }
        print "\n"
        for (i = 1; i <= k; i++) {
            line = sprintf("%-13s partune adds %.1f times the floor", kinds[i], cost("path", kinds[i]) / cost("bare", kinds[i]))
            ez = order ~ /eztrace/ ? cost("eztrace", kinds[i]) : 0
            if (ez > 10) line = line sprintf(", %.2f of what EZTrace adds", cost("path", kinds[i]) / ez)
            else if (order ~ /eztrace/) line = line ", EZTrace does not record it"
            print line
        }
        for (i = 1; i <= n; i++) {
            if (recorders[i] ~ /none|bare/) continue
            printf "pingpong      %-22s %.2f of its time under the floor, %.2f bare; %.2f with the pauses\n", label[recorders[i]] ":",
                over(recorders[i], "pingpong_of_floor"), over(recorders[i], "pingpong_of_bare"), over(recorders[i], "pingpong_sum_of_floor")
        }
    }
AWK

printf '\n%s events under --buffer %s:\n\n' "$((2 * long))" "$buffer"
run long 1 "$long" | tee "$work/long"
printf 'MiB on disk %s\n' "$(du -sm "$work/archive" | cut -f 1)"
rm -rf "$work/archive"
