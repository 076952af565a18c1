#!/usr/bin/env bash
# Builds the pages of `partune view` into ui/dist, from where they are embedded in the binary. Does nothing where the sources are
# those that were built last. Installs Node.js and npm with apt-get where they are missing; says so, and goes on, where that cannot be:
# partune builds without its pages, and `partune view` then says what to run.
#
#   scripts/ui.sh            build
#   scripts/ui.sh check      types, lint and formatting of the sources
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'ui: %s\n' "$*"; }

# Debian 12 has Node.js 18.
enough() { command -v npm >/dev/null && node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 18 ? 0 : 1)' 2>/dev/null; }

if ! enough && command -v apt-get >/dev/null; then
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    say "apt-get install nodejs npm"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 install -y --no-install-recommends nodejs npm >/dev/null || true
fi
if ! enough; then
    say "the pages of partune view are not built: they need Node.js 18 or newer and npm" >&2
    [ -z "${CI:-}" ]
    exit
fi

cd ui

# What was installed belongs to the lock file.
if [ ! -f node_modules/.installed ] || ! cmp -s package-lock.json node_modules/.installed; then
    say "npm ci"
    npm ci --no-fund --no-audit --loglevel=error
    cp package-lock.json node_modules/.installed
fi

if [ "${1:-build}" = check ]; then
    npm run --silent check
    exit
fi

sources=$(find index.html report.html package-lock.json vite.config.ts public src -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
if [ -f dist/partune.js ] && [ "$(cat node_modules/.built 2>/dev/null)" = "$sources" ]; then
    exit 0
fi
say "npm run build"
npm run --silent build -- --logLevel warn
printf '%s' "$sources" >node_modules/.built
