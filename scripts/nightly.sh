# For scripts that need a nightly compiler: `nightly COMPONENT…` installs it, and what it lacks of these.
nightly() {
    command -v rustup >/dev/null || { printf 'rustup is missing; it installs the nightly compiler: https://rustup.rs\n' >&2; exit 1; }
    rustup toolchain list | grep -q nightly || rustup toolchain install nightly --profile minimal
    local component
    for component in "$@"; do
        rustup component list --toolchain nightly --installed | grep -q "^$component" || rustup component add --toolchain nightly "$component"
    done
}
