# Each target sets up what it needs. `make` alone shows the list.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV ?= .venv
VARIANT ?= long
BUDGET ?= 10m
ARGS ?=
PYTHON ?=
export PYTHON

BIN := $(VENV)/bin
PY := $(BIN)/python
DEPS := pyproject.toml constraints/constraints.txt scripts/setup.sh
CODE := engine nardy_rl scripts tests

.PHONY: help setup setup-dev train test test-slow lint fmt types arch bench peers compare strength anchors \
        figures rules golden notebooks wheel-test ci clean

help: ## show this list
	@echo 'usage: make TARGET [VARIANT=long] [BUDGET=10m] [ARGS="key=value ..."] [PYTHON=python3.12]'
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.installed ## create .venv and install the project into it
	@:

setup-dev: $(VENV)/.installed-dev ## the same with what tests, lint and notebooks need
	@:

$(VENV)/.installed: $(DEPS)
	@scripts/setup.sh $(VENV) export
	@touch $@

$(VENV)/.installed-dev: $(DEPS)
	@scripts/setup.sh $(VENV) dev
	@touch $@ $(VENV)/.installed

train: setup ## train a bot by self-play, then measure it (VARIANT, BUDGET, ARGS)
	@$(BIN)/nardy train variant=$(VARIANT) budget=$(BUDGET) $(ARGS)

test: setup-dev ## run the tests (ARGS goes to pytest)
	@$(PY) -m pytest -q -m "not slow and not gpu and not oracle" $(ARGS)

test-slow: setup-dev ## run every test, the long ones too
	@$(PY) -m pytest -q -m "not gpu" $(ARGS)

lint: setup-dev ## check style, types and the direction of imports
	@echo "lint: ruff"
	@$(BIN)/ruff check --quiet $(CODE)
	@$(BIN)/ruff format --quiet --check $(CODE) || { echo 'lint: run `make fmt`'; exit 1; }
	@echo "lint: mypy"
	@$(MAKE) types
	@echo "lint: import-linter"
	@$(MAKE) arch

fmt: setup-dev ## format the code and fix what can be fixed by machine
	@$(BIN)/ruff check --quiet --fix $(CODE) || true
	@$(BIN)/ruff format --quiet $(CODE)

types: setup-dev ## check types with mypy --strict
	@$(BIN)/mypy --no-error-summary
	@if compgen -G 'scripts/*.py' >/dev/null; then $(BIN)/mypy --no-error-summary scripts/*.py; fi
	@MYPYPATH=scripts/peers $(BIN)/mypy --no-error-summary scripts/peers/*.py

arch: setup-dev ## check that imports only point down
	@$(BIN)/lint-imports --no-cache

bench: setup ## measure engine, network and training throughput
	@$(BIN)/nardy bench $(ARGS)

peers: setup ## measure speed beside other programs, which it installs (ARGS="--quick")
	@$(PY) scripts/bench.py --peers $(ARGS)

compare: setup ## compare the two engines on random positions (ARGS="--pairs 1000000")
	@$(PY) scripts/compare_engines.py $(ARGS)

strength: setup ## play the published comparisons again, hours, goes on if stopped (ARGS="--quick")
	@$(PY) scripts/fill_figures.py --measure strength games $(ARGS)

anchors: setup ## compare with GNU Backgammon in an environment of its own (ARGS="rules")
	@$(PY) scripts/anchors.py $(or $(ARGS),--help)

figures: setup ## run the commands behind published figures again (ARGS="all --quick", "bench")
	@$(PY) scripts/fill_figures.py --measure $(or $(ARGS),all)

rules: setup ## write RULES.md, the rules in plain English, from the data of the games
	@$(PY) scripts/write_rules.py

golden: setup ## record the golden games again; review is the difference in git
	@$(PY) scripts/record_golden.py

notebooks: setup-dev ## run the notebooks from top to bottom
	@$(PY) -m pytest -q tests/contracts/test_notebooks.py $(ARGS)

wheel-test: setup-dev ## build the wheel and use it outside the checkout
	@$(PY) -m pytest -q tests/contracts/test_wheel.py $(ARGS)

ci: ## what the CI runs: lint and test
	@CI=true bash .ci/run

clean: ## remove .venv, builds and caches; runs/ and checkpoints/ stay
	@rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	@find engine nardy_rl scripts tests -name __pycache__ -type d -prune -exec rm -rf {} +
