# The commands of this repository; `make` or `make help` lists them.

.DEFAULT_GOAL := help
.PHONY: help setup ui demo test faults bench clean

# make demo ARCHIVE=path/to/traces.otf2
ARCHIVE ?=

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install the Debian packages that are missing (says which; does nothing twice)
	@scripts/setup.sh

ui: ## Build the pages of partune view (installs Node.js and npm where they are missing)
	@scripts/ui.sh

demo: setup ## Build, record an example program and diagnose it (or diagnose yours: ARCHIVE=path/to/traces.otf2)
	@scripts/demo.sh "$(ARCHIVE)"

test: setup ## Check formatting, lints and layers, and run every test
	@scripts/test.sh

faults: setup ## Complete recordings under faults at every system call, and print what came of it (minutes)
	@scripts/faults.sh

bench: setup ## Measure decoding, analysis and what recording adds, beside other tools (minutes, and some GB in target/)
	@scripts/bench.sh

clean: ## Remove everything that was built
	@cargo clean
