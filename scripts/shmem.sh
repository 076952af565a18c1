#!/usr/bin/env bash
# Builds Sandia OpenSHMEM, an implementation of version 1.5, for the tests that record programs of it; they are skipped without. Not part of
# `make setup`: no distribution has a package of it, and its sources are on GitHub alone.
#
#   scripts/shmem.sh                 into target/shmem, where the tests look, unless PARTUNE_SHMEM names another folder
#   scripts/shmem.sh REPOSITORY      from a clone
#
# Needs git, a compiler and these packages of Debian: autoconf automake libtool libfabric-dev hydra.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh

from=${1:-https://github.com/Sandia-OpenSHMEM/SOS.git}
prefix=$(realpath -m "${PARTUNE_SHMEM:-$target/shmem}")
if [ -x "$prefix/bin/oshcc" ]; then
    printf 'shmem: it is in %s\n' "$prefix"
    exit
fi
for command in git autoreconf libtoolize mpiexec.hydra; do
    command -v "$command" >/dev/null || { printf 'shmem: %s is missing; see the head of %s\n' "$command" "$0" >&2; exit 1; }
done

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
git clone --quiet --depth 1 --branch v1.5.3 "$from" "$build"
cd "$build"
# Its own tests are in another repository, and are not built.
sed -i '/modules\//d; s|^  src/sandia-openshmem.pc$|&])|' configure.ac
sed -i 's|^SUBDIRS = .*|SUBDIRS = bindings mpp pmi-simple src|' Makefile.am
printf 'dist_man1_MANS =\ndist_man3_MANS =\n' >man/Makefile.am
mkdir -p config
autoreconf -if
./configure --quiet --prefix="$prefix" --with-ofi=/usr --with-ofi-libdir="/usr/lib/$(gcc -print-multiarch)" --enable-pmi-simple \
    --enable-profiling --disable-fortran --disable-cxx --disable-manpages --disable-static --with-oshrun-launcher=mpiexec.hydra
make --silent -j"$(nproc)" install
printf 'shmem: built in %s\n' "$prefix"
