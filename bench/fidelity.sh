#!/usr/bin/env bash
# How well runs are followed without changes: of each archive in a folder the run, how far its replay is off, the root mean square by which ends of the operations
# in its second half are, and how many operations these are. What a replay takes from the first half has no part in the second.
#
#   bench/fidelity.sh FOLDER      by default the archives of others that the tests use
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C

partune=${PARTUNE:-$target/release/partune}
folder=${1:-${PARTUNE_TRACES:-../shared/traces}}

printf '%12s %9s %9s %11s  %s\n' 'run, s' 'off' 'RMS' 'operations' 'archive'
for archive in "$folder"/otf2/*/ "$folder"/paraver/*/*.prv* "$folder"/projections/*/; do
    [[ -e $archive ]] || continue
    "$partune" whatif "$archive" --json 2>/dev/null | python3 -c '
import json, sys
try:
    said = json.load(sys.stdin)
except ValueError:
    sys.exit()
run, replay = said["run_s"], said["replay"]
share = lambda seconds: 100 * seconds / run if run else 0
print("%12.4f %+7.2f %% %7.2f %% %11d  %s" % (run, share(said["replayed_s"] - run), share(replay["error_s"]), replay["operations"], sys.argv[1]))
' "${archive#"$folder"/}" || true
done
