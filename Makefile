# Everything works in .venv; nothing outside this folder is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check format bench clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' Makefile

$(VENV)/.core: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "groundfault needs Python 3.11 or newer; set PYTHON=python3.x")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) …"
	@$(BIN)/pip install -qq --constraint constraints.txt --editable '.[nano,world]'
	@$(BIN)/python -m compileall -q src/groundfault
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	@echo "installing into $(VENV) …"
	@$(BIN)/pip install -qq --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(VENV)/.core ## Render a small world, see one model misled and another not
	@BIN=$(BIN) sh examples/demo.sh

test: $(VENV)/.dev check ## Checks and tests
	$(BIN)/pytest -n 2 --dist loadgroup

test-all: $(VENV)/.dev check ## The same, and what takes longer
	GROUNDFAULT_TEST_ALL=1 $(BIN)/pytest -n 2 --dist loadgroup

check: $(VENV)/.dev ## Format, lint, strict types, import contract, doctests
	$(BIN)/ruff format --check src tests bench examples
	$(BIN)/ruff check src tests bench examples
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest src

format: $(VENV)/.dev ## Format and fix what can be fixed
	$(BIN)/ruff format src tests bench examples
	$(BIN)/ruff check --fix src tests bench examples

bench: $(VENV)/.dev ## Measure against the published evaluators
	@echo "installing into $(VENV) …"
	@$(BIN)/pip install -qq --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python bench/cafe.py
	$(BIN)/python bench/halluseg.py
	$(BIN)/python bench/scale.py
	$(BIN)/python bench/world.py

clean: ## Remove what was made here
	rm -rf $(VENV) demo bench/data bench/results
