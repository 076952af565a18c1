# The commands of this repository; `make` or `make help` lists them.

.DEFAULT_GOAL := help
.PHONY: help setup demo test bench clean

# make demo ARCHIVE=path/to/traces.otf2
ARCHIVE ?=

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install the Debian packages that are missing (says which; does nothing twice)
	@scripts/setup.sh

demo: setup ## Build and diagnose a recorded program (yours with ARCHIVE=path/to/traces.otf2)
	@scripts/demo.sh "$(ARCHIVE)"

test: setup ## Check formatting, lints and layers, and run every test
	@scripts/test.sh

bench: setup ## Measure decoding and analysis beside the C library of OTF2 (minutes, and some GB in target/)
	@scripts/bench.sh

clean: ## Remove everything that was built
	@cargo clean
