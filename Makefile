# The commands of this repository; `make` or `make help` lists them.

.DEFAULT_GOAL := help
.PHONY: help setup ui build install uninstall demo test test-all faults fuzz miri tsan bench clean

# make demo ARCHIVE=path/to/traces.otf2
ARCHIVE ?=
# make fuzz MINUTES=60
MINUTES ?= 10
# make install PREFIX=~/.local; packagers add DESTDIR
PREFIX ?= /usr/local
DESTDIR ?=
export PREFIX DESTDIR
# Archives with changed records that make test-all makes
MUTANTS ?= 10000

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install the Debian packages that are missing (says which; does nothing twice)
	@scripts/setup.sh

ui: ## Build the pages of partune view (installs Node.js and npm where they are missing)
	@scripts/ui.sh

build: ## Build what is released: target/release/partune
	@scripts/build.sh

# Who installs for others, with sudo, mostly has no cargo then: what `make build` made is taken.
install: $(if $(shell command -v cargo),build) ## Install the binary, manual pages and completions: PREFIX=/usr/local, DESTDIR=
	@scripts/install.sh

uninstall: ## Remove what install put there: the same PREFIX and DESTDIR
	@scripts/install.sh uninstall

demo: setup ## Build, record an example program and diagnose it (or diagnose yours: ARCHIVE=path/to/traces.otf2)
	@scripts/demo.sh "$(ARCHIVE)"

test: setup ## Check formatting, lints and layers, and run every test
	@scripts/test.sh

test-all: test ## The same, and what is slow: damage and faults in full, and ten thousand archives with changed records
	@scripts/deny.sh --install
	@PARTUNE_THOROUGH=1 cargo nextest run -p partune -E 'test(/^damage|^fuzz/)'
	@scripts/mutants.sh $(MUTANTS)
	@scripts/faults.sh

fuzz: setup ## Every fuzz target for a while: MINUTES=10 altogether (installs cargo-fuzz and a nightly compiler)
	@scripts/fuzz.sh $(MINUTES)

miri: ## The recorder's core in the interpreter Miri (installs a nightly compiler; minutes)
	@scripts/miri.sh

tsan: ## The recorder's core under ThreadSanitizer (installs a nightly compiler)
	@scripts/tsan.sh

faults: setup ## Complete recordings under faults at every system call, and print what came of it (minutes)
	@scripts/faults.sh

bench: setup ## Measure decoding, analysis and what recording adds, beside other tools (minutes, and some GB in target/)
	@scripts/bench.sh

clean: ## Remove everything that was built
	@cargo clean
