# make crawl URL=https://example.org/   set everything up, then crawl that site into ./collection
# make test                             set everything up, then run all tests
# make help                             the rest

SHELL := /bin/bash
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
# Tests wait as much as they compute: three processes at once, each file in one of them; ARGS="-n 0" takes one process.
# Some mount small disks: where we may, in a view of the file system of their own, so that none outlives a run that was killed
# (the next one could not clear it away).
APART := $(shell unshare --mount true 2>/dev/null && echo unshare --mount)
PYTEST := $(APART) $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder
EXTRAS := search,documents,alerts,cluster,postgresql,host,parquet,images,numbers,aliases

BUILT := pyproject.toml hatch_build.py $(wildcard src/sanderling/html/_native/*)

.DEFAULT_GOAL := help
.PHONY: help setup dev crawl test check verify formatted format lint types layers site docs tests bench scale tables clean

help:  ## say what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(VENV)/.ready  ## the crawler in .venv, nothing else

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

crawl: setup  ## crawl a site: make crawl URL=https://example.org/ ARGS="--depth 3"
	@test -n "$(URL)" || { echo 'say which site: make crawl URL=https://example.org/' >&2; exit 4; }
	@$(BIN)/sanderling crawl "$(URL)" $(ARGS)

test: dev  ## all tests, from nothing
	@bash scripts/system.sh
	$(PYTEST) $(ARGS)

check: dev format lint types layers site tests  ## what must hold before a commit

verify: dev formatted lint types layers site  ## the same without changing a file, as continuous integration runs it
	@bash scripts/system.sh
	$(PYTEST) $(ARGS)

formatted:
	$(BIN)/ruff format --check --quiet src tests benchmarks experiments scripts

format:
	$(BIN)/ruff format --quiet src tests benchmarks experiments scripts

lint:
	$(BIN)/ruff check src tests benchmarks experiments scripts

types:
	$(BIN)/mypy

layers:
	$(BIN)/lint-imports

site:
	$(BIN)/mkdocs build --quiet --strict

tests: dev
	$(PYTEST) $(ARGS)

bench: dev  ## crawl real sites with us and with others, write docs/measurements/benchmarks.md: make bench ARGS="--rounds 3"
	PYTHONPATH=. bash scripts/bench.sh $(BIN)/python $(ARGS)

scale: dev  ## how the frontier holds at 10 thousand, 1 million and 5 million known URLs
	PYTHONPATH=.:src $(BIN)/python -m benchmarks.frontier.known_urls --write $(ARGS)

docs: dev  ## write the reference from the program, and build the documentation into build/site
	$(BIN)/python scripts/generate_reference.py
	$(BIN)/mkdocs build --quiet --strict

tables: dev  ## the papers' tables again; fails when a number leaves its tolerance
	$(BIN)/python -m experiments all

clean:  ## remove what make made, never a collection
	rm -rf $(VENV) .venv-second .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build dist
