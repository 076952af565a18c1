#!/usr/bin/env bash
# Installs partune, its manual pages and what shells complete below $DESTDIR$PREFIX (default /usr/local), or removes them again. The pages and
# completions are made by the binary itself, from the definitions of its options. $PARTUNE is the binary, if not the one that scripts/build.sh made.
#
#   scripts/install.sh              install
#   scripts/install.sh uninstall    remove
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh

share=${DESTDIR:-}${PREFIX:-/usr/local}/share
binary=${DESTDIR:-}${PREFIX:-/usr/local}/bin/partune
pages=$share/man/man1
declare -A completions=(
    [bash]=$share/bash-completion/completions/partune
    [fish]=$share/fish/vendor_completions.d/partune.fish
    [zsh]=$share/zsh/site-functions/_partune
)

if [ "${1:-}" = uninstall ]; then
    rm -f "$binary" "$pages"/partune.1 "$pages"/partune-*.1 "${completions[@]}"
    exit
fi

built=${PARTUNE:-$target/release/partune}
install -D "$built" "$binary"
"$built" man -o "$pages"
for shell in "${!completions[@]}"; do
    mkdir -p "$(dirname "${completions[$shell]}")"
    "$built" completions "$shell" >"${completions[$shell]}"
done
printf 'install: %s, %s MB; %s manual pages; completions for bash, fish and zsh\n' \
    "$binary" "$(($(stat -c %s "$binary") / 1000000))" "$(ls "$pages"/partune.1 "$pages"/partune-*.1 | wc -l)"
