# For the other scripts, which source it from the root of the repository.
# shellcheck shell=bash

# Where cargo builds.
target=${CARGO_TARGET_DIR:-target}
