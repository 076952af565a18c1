#!/usr/bin/env bash
# What a browser needs for the pages of `partune view` on an archive of 256 PEs: memory of all of its processes, and of the page's, in every
# view and from the whole run down to single visits; the seconds until each is on the screen; and the time between frames
# while a pointer zooms, drags and moves.
#
#   EVENTS=2M bench/browser.sh        a short run
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
export LC_ALL=C

events=${EVENTS:-50M}
ranks=${RANKS:-256}
partune=$(realpath "${PARTUNE:-$target/release/partune}")
archive=$target/bench/view-$events-$ranks
mkdir -p "$target/bench"

scripts/ui.sh
if [ ! -d ui/node_modules/playwright-core ] || ! command -v chromium >/dev/null; then
    echo 'browser.sh: needs Node.js and Chromium (Debian packages nodejs, npm, chromium)' >&2
    exit 1
fi
# The same archive as in view.sh.
[ -f "$archive/traces.otf2" ] || "$partune" synth --ranks "$ranks" --events "$events" --inject late-sender:3:200000:20 --inject late-at-nxn:7:300000:30 -o "$archive" >/dev/null
archive=$(realpath "$archive")
cd ui
npm run --silent build-test
PARTUNE_BIN=$partune node node_modules/.test/memory.bench.mjs "$archive"
