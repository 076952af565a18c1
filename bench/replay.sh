#!/usr/bin/env bash
# Replays: run times of three programs of 64 processes on one LogGP machine, by SimGrid and by partune, and operations a second of both, in the same run.
#
#   TURNS=20 bench/replay.sh      a short run
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C

partune=${PARTUNE:-$target/release/partune}
work=$target/bench/replay
turns=${TURNS:-100}
rm -rf "$work"
mkdir -p "$work"

if [[ ! -e /usr/bin/smpirun || ! -e /usr/lib/python3/dist-packages/otf2 ]]; then
    apt-get install -y -q libsimgrid-dev python3-otf2 >"$work/install.log" 2>&1 || true
fi
if [[ ! -e /usr/bin/smpirun ]]; then
    echo 'replay.sh: needs SimGrid and the Python writer of OTF2 (Debian packages libsimgrid-dev, python3-otf2)' >&2
    exit 1
fi

# 5 us to the switch and 5 us from it, 1 GB/s.
cat >"$work/platform.xml" <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-63" speed="1Gf" bw="1GBps" lat="5us" sharing_policy="SPLITDUPLEX"/>
</platform>
END
seq 0 63 | sed 's/^/h/' >"$work/hosts"
cat >"$work/machine.toml" <<'END'
partune_machine = 1
[provenance]
date = ""
hosts = []
cpu = ""
cores = 64
kernel = ""
launch = []
pes = 64
partune = ""
took_s = 0.0
[overheads]
timer_s = 1e-9
timer_step_s = 1e-9
event_s = 1e-9
[rates]
flops_one = 1e9
flops_all = 1e9
memory_one = 1e9
memory_all = 1e9
[[link]]
scope = "node"
latency_s = 10e-6
bandwidth = 1e9
overhead_s = 0.0
fit_error = 0.0
points = []
END

# theirs PROGRAM ASYNC: seconds simulated, and seconds that it took. Messages of fewer bytes than ASYNC are on their way before they are received.
theirs() {
    smpirun -replay "$work/$1.ti/traces.txt" -np 64 -platform "$work/platform.xml" -hostfile "$work/hosts" \
        --cfg=smpi/privatization:0 --cfg=smpi/bw-factor:0:1.0 --cfg=smpi/lat-factor:0:1.0 --cfg=network/TCP-gamma:0 \
        --cfg=network/weight-S:0 --cfg=network/crosstraffic:0 --cfg=smpi/alltoall:pair \
        --cfg=smpi/async-small-thresh:"$2" --cfg=smpi/display-timing:1 2>&1 |
        awk '/Simulated time/ { for (i = 1; i < NF; ++i) if ($i == "time:") s = $(i + 1) } /simulation took/ { print s, $4 }'
}

# ours PROGRAM CHANGE: seconds predicted, and seconds that one of 16 changes took, on one thread. They change all work, by next to nothing.
ours() {
    local changes=()
    for _ in $(seq 16); do changes+=(--change 'scale main time*0.9999999'); done
    [[ -z $2 ]] || changes+=(--change "$2")
    RAYON_NUM_THREADS=1 "$partune" whatif --json --timings --machine "$work/machine.toml" "$work/$1" "${changes[@]}" \
        >"$work/whatif.json" 2>"$work/timings"
    awk -v n="${#changes[@]}" 'FNR == NR { if (/"replayed_s"/) r = $2; if (/"saves_s"/) s = $2; next }
        $1 == "changes" { t = $2 } END { printf "%.9f %.6f\n", r - s, t / n }' "$work/whatif.json" "$work/timings"
}

echo '| program  | operations | SimGrid, ms | partune, ms | difference | SimGrid, M operations/s | partune, M operations/s | ratio |'
echo '|----------|-----------:|------------:|------------:|-----------:|------------------------:|------------------------:|------:|'
/usr/bin/python3 bench/replay.py "$work" "$turns" | while read -r program operations; do
    async=65536 change=''
    # In all-to-all every exchange begins when both are there.
    [[ $program != alltoall ]] || { async=0 change='collective MPI_Alltoall pairwise'; }
    echo "$program $operations $(theirs "$program" "$async") $(ours "$program" "$change")"
done | awk '{ printf "| %-8s | %10d | %11.3f | %11.3f | %8.2f %% | %23.3f | %23.2f | %5.0f |\n",
    $1, $2, 1e3 * $3, 1e3 * $5, 100 * ($5 / $3 - 1), $2 / $4 / 1e6, $2 / $6 / 1e6, $4 / $6 }'
