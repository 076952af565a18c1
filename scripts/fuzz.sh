#!/usr/bin/env bash
# Every fuzz target for a while, with coverage as its guide: MINUTES altogether (default 10). Needs a nightly compiler and cargo-fuzz; what is
# missing is installed. Inputs that were worth keeping stay in target/fuzz/NAME and are taken again; an input that fails is named.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=${1:-10}
if ! cargo fuzz --version >/dev/null 2>&1; then
    printf '== cargo install cargo-fuzz\n'
    cargo install --locked cargo-fuzz
fi
source scripts/nightly.sh
nightly

mapfile -t targets < <(sed -n 's/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml | tail -n +2)
seconds=$((minutes * 60 / ${#targets[@]} + 1))
failed=0
for target in "${targets[@]}"; do
    corpus=target/fuzz/$target
    mkdir -p "$corpus"
    seeds=(fuzz/seeds/"$target"*)
    [ -d "${seeds[0]}" ] || seeds=()
    words=()
    [ ! -f "fuzz/dictionaries/$target" ] || words=(-dict="fuzz/dictionaries/$target")
    printf '== %s, %s s\n' "$target" "$seconds"
    cargo +nightly fuzz run --target-dir target/fuzz-build "$target" "$corpus" "${seeds[@]}" -- \
        "${words[@]}" -artifact_prefix="$corpus/failed-" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=200000 -print_final_stats=1 \
        >"target/fuzz/$target.log" 2>&1 || { failed=1; tail -n 30 "target/fuzz/$target.log"; }
    grep -E 'number_of_executed_units|average_exec_per_sec' "target/fuzz/$target.log" || true
    grep -oE 'cov: [0-9]+ ft: [0-9]+' "target/fuzz/$target.log" | tail -n 1 || true
done
exit "$failed"
