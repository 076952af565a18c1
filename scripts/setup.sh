#!/usr/bin/env bash
# Installs what the build, the tests and the benches need and what is missing, and says what it does.
#
# Run it as often as you like: where nothing is missing it changes nothing and asks nobody. On a machine
# without apt-get, or without the right to use it, it names the packages and goes on; the tests that
# need them then say that they were skipped.
set -euo pipefail

# Package (name in Debian 12 and later, Ubuntu 22.04 and later) and what it is for.
packages() {
    cat <<'LIST'
gcc                the linker that Rust calls, and the C reader of the benches
g++                a program in C++ that the tests record
gfortran           programs in Fortran that the tests record
clang-14           programs that the tests record with another OpenMP runtime
llvm-14            its opt, for what the source of a loop asks for
libomp-14-dev      that runtime, and the header of its tools interface
libc6-dev          the C library's headers and start files
make               the commands of this repository
pkg-config         finds the libraries below
time               peak memory in the benches
otf2-tools         otf2-print, the second opinion on every archive that we read or write
libotf2-trace-dev  the C library that the benches compare with
python3-otf2       writes archives for tests without our code
libopenmpi-dev     MPI headers and libraries: the table of constructs is checked against them
openmpi-bin        mpicc, mpirun, oshcc and oshrun for the examples and for the programs that the tests record
libmpich-dev       the same from another MPI, whose names differ
mpich              mpicc and mpirun of that one
python3-mpi4py     MPI for Python: scripts that the tests record
python3-venv       makes the folders into which the tests install the mpi4py and the charm4py of PyPI
libpapi-dev        counters of PAPI, and events that a program of the tests defines for it
eztrace            a recorder to compare with in the benches
libcaf-openmpi-3   the coarray library of Fortran, for the same check
libcoarrays-openmpi-dev  caf and cafrun, for programs with coarrays that the tests record
valgrind           counts what programs execute, for the bounds of their loops
strace             makes system calls fail, for the tests of completion
chromium           the browser in which the tests open the pages of partune view
poppler-utils      reads the pages that the browser prints of a report, for their tests
LIST
}

say() { printf 'setup: %s\n' "$*"; }

if ! command -v cargo >/dev/null; then
    say "cargo is missing; install Rust from https://rustup.rs and open a new shell" >&2
    exit 1
fi
for component in rustfmt clippy; do
    if ! cargo "${component/rustfmt/fmt}" --version >/dev/null 2>&1; then
        if command -v rustup >/dev/null; then
            say "adding the Rust component $component"
            rustup component add "$component"
        else
            say "cargo ${component/rustfmt/fmt} is missing; install it beside cargo" >&2
            exit 1
        fi
    fi
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "no apt-get here; please see to it that the equivalents of these Debian packages are installed:"
    packages | sed 's/^/  /'
    exit 0
fi

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
known() { [[ "$(apt-cache policy "$1" 2>/dev/null)" =~ Candidate:\ [^\(] ]]; }

missing=()
while read -r name _; do
    installed "$name" || missing+=("$name")
done < <(packages)
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    # Ask for a password only where somebody can type one.
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
        as_root=(sudo)
    else
        say "missing and no right to install them: ${missing[*]}"
        say "as root: apt-get install ${missing[*]}"
        exit 0
    fi
fi
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"; }

say "missing: ${missing[*]}"
say "apt-get update"
apt update || say "the package lists could not be refreshed; trying with those that are here"

wanted=()
for name in "${missing[@]}"; do
    if known "$name"; then wanted+=("$name"); else say "this system has no package $name; going on without it"; fi
done
if [ ${#wanted[@]} -gt 0 ]; then
    say "apt-get install ${wanted[*]}"
    apt install -y --no-install-recommends "${wanted[@]}" \
        || say "installing failed; what needs ${wanted[*]} will be skipped"
fi
