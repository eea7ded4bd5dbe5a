# make crawl URL=https://example.org/   install, then crawl that site into ./collection
# make test                             install with development tools, then run all tests
# make help                             list all targets

SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
# Tests wait as much as they compute: three processes at once, each test file in one process; ARGS="-n 0" takes one.
# Some tests mount small disks: where possible in a mount namespace, so that no mount outlives a killed run.
# COVERAGE=1 measures which lines the tests run; sys.monitoring (Python 3.12) makes that cheap.
IN_NAMESPACE := $(shell unshare --mount true 2>/dev/null && echo unshare --mount)
COVERAGE ?=
MEASURE = $(if $(COVERAGE),--cov --cov-report term:skip-covered)
CORE = $(if $(COVERAGE),COVERAGE_FILE=build/coverage COVERAGE_CORE=$$($(BIN)/python -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")'))
PYTEST = $(CORE) $(IN_NAMESPACE) $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(MEASURE)
EXTRAS := search,documents,alerts,fields,cluster,postgresql,migrant,parquet,images,numbers,aliases,mcp,browser

BUILT := pyproject.toml hatch_build.py src/sanderling/html/native_tables.py $(wildcard src/sanderling/html/_native/*)

.DEFAULT_GOAL := help
.PHONY: help setup dev browser crawl test check verify formatted format lint types layers commits site docs tests bench scale tables clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(VENV)/.ready  ## install the crawler into .venv

$(VENV)/.ready: $(BUILT)
	@bash scripts/compiler.sh
	@bash scripts/venv.sh $(PYTHON) $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.'
	@touch $@

dev: $(VENV)/.ready-dev

$(VENV)/.ready-dev: $(BUILT) requirements-dev.txt
	@bash scripts/compiler.sh install
	@bash scripts/venv.sh $(PYTHON) $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]' -r requirements-dev.txt
	@touch $@ $(VENV)/.ready

browser: setup  ## install a browser for pages that are built by scripts
	@bash scripts/system.sh browser
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[browser]'

crawl: setup  ## crawl a site: make crawl URL=https://example.org/ ARGS="--depth 3"
	@test -n "$(URL)" || { echo 'URL is missing: make crawl URL=https://example.org/' >&2; exit 4; }
	@$(BIN)/sanderling crawl "$(URL)" $(ARGS)

test: dev  ## install everything and run all tests
	@bash scripts/system.sh
	@bash scripts/replayweb.sh
	$(PYTEST) $(ARGS)

check: dev format lint types layers site tests  ## format, lint, types, layers, docs, tests: run before every commit

verify: dev formatted lint types layers commits site  ## the same without changing files, for continuous integration
	@bash scripts/system.sh
	@bash scripts/replayweb.sh
	@$(MAKE) --no-print-directory tests

formatted:
	$(BIN)/ruff format --check --quiet src tests benchmarks experiments examples scripts

format:
	$(BIN)/ruff format --quiet src tests benchmarks experiments examples scripts

lint:
	$(BIN)/ruff check src tests benchmarks experiments examples scripts

types:
	$(BIN)/mypy

layers:
	$(BIN)/lint-imports

site:
	$(BIN)/mkdocs build --quiet --strict

commits:  ## check the subjects of new commits
	@bash scripts/commits.sh

tests: dev
	@mkdir -p build
	$(PYTEST) $(ARGS)

bench: dev  ## compare crawlers on real sites, write docs/measurements/benchmarks.md: make bench ARGS="--rounds 3"
	PYTHONPATH=. bash scripts/bench.sh $(BIN)/python $(ARGS)

scale: dev  ## measure the frontier with 10 thousand, 1 million, and 5 million known URLs
	PYTHONPATH=.:src $(BIN)/python -m benchmarks.frontier.known_urls --write $(ARGS)

docs: dev  ## generate the reference and build the documentation into build/site
	$(BIN)/python scripts/generate_reference.py
	$(BIN)/mkdocs build --quiet --strict

tables: dev  ## reproduce the tables of the papers; fails when a number leaves its tolerance
	$(BIN)/python -m experiments all

clean:  ## remove everything that make created, never a collection
	rm -rf $(VENV) .venv-second .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build dist
