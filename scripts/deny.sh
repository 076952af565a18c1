#!/usr/bin/env bash
# What may stand in Cargo.lock: licences, sources, banned crates; and known vulnerabilities, where their list can be had. Without cargo-deny:
# with --install it is installed, else the check is left out, which is said.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo deny --version >/dev/null 2>&1; then
    if [ "${1:-}" != --install ]; then
        echo 'left out: cargo-deny is not installed (make test-all installs it)'
        exit 0
    fi
    cargo install --locked cargo-deny
fi
cargo deny check --hide-inclusion-graph bans licenses sources
if cargo deny fetch db >/dev/null 2>&1; then
    cargo deny check --hide-inclusion-graph advisories
else
    echo 'left out: the list of known vulnerabilities cannot be had from here'
fi
