# Everything works in .venv; nothing outside this folder is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OMP_NUM_THREADS := 1
unexport PYTHONDONTWRITEBYTECODE  # hundreds of processes would compile everything again
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check types others docs format bench fuzz advisories dist clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile

$(VENV)/.core: pyproject.toml requirements/core.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "groundfault needs Python 3.11 or newer; set PYTHON=python3.x")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) …"
	@$(BIN)/pip install -qq --require-hashes --requirement requirements/core.txt
	@$(BIN)/pip install -qq --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q src/groundfault
	@touch $@

$(VENV)/.dev: $(VENV)/.core requirements/dev.txt
	@echo "installing into $(VENV) …"
	@$(BIN)/pip install -qq --no-compile --constraint requirements/dev.txt --no-build-isolation --editable '.[dev]'
	@$(BIN)/python -W ignore -m compileall -qq -j 2 -x '/tests/' $(VENV)/lib || true # some are templates
	@touch $@

demo: $(VENV)/.core ## Render a small world, see one model misled and another not
	@rm -rf demo
	@$(BIN)/groundfault demo

test: $(VENV)/.dev check ## Checks and tests
	$(BIN)/pytest -n 2 --dist loadgroup tests

test-all: $(VENV)/.dev check ## The same, and what takes longer
	GROUNDFAULT_TEST_ALL=1 $(BIN)/pytest -n 2 --dist loadgroup tests

check: $(VENV)/.dev ## Format, lint, strict types, import contract, doctests
	@$(MAKE) --no-print-directory -j 2 types others

types: $(VENV)/.dev
	$(BIN)/mypy --num-workers 2

others: $(VENV)/.dev
	$(BIN)/ruff format --check src tests bench examples docs
	$(BIN)/ruff check src tests bench examples docs
	$(BIN)/lint-imports
	$(BIN)/pytest src

docs: $(VENV)/.dev ## Build the documentation into docs/_built, offline; a dead link is an error
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_built
	@echo "open docs/_built/index.html"

format: $(VENV)/.dev ## Format and fix what can be fixed
	$(BIN)/ruff format src tests bench examples docs
	$(BIN)/ruff check --fix src tests bench examples docs

fuzz: $(VENV)/.dev ## Every command on 500 damaged files of every format: hours
	$(BIN)/python -m tests.fuzz --each 500

bench: $(VENV)/.dev ## Measure against the published evaluators
	@echo "installing into $(VENV) …"
	@$(BIN)/pip install -qq --constraint requirements/dev.txt --no-build-isolation --editable '.[bench]'
	$(BIN)/python bench/cafe.py
	$(BIN)/python bench/halluseg.py
	$(BIN)/python bench/scale.py
	$(BIN)/python bench/world.py

$(VENV)-tools: requirements/tools.txt
	@$(PYTHON) -m venv $@
	@echo "installing into $@ …"
	@$@/bin/pip install -qq --requirement $<
	@touch $@

advisories: $(VENV)-tools ## Ask the advisory databases about every package of the core
	$(VENV)-tools/bin/pip-audit --require-hashes --requirement requirements/core.txt

dist: $(VENV)-tools $(VENV)/.core ## Wheel, source archive and their bill of materials (CycloneDX)
	$(VENV)-tools/bin/cyclonedx-py requirements --pyproject pyproject.toml --output-file dist/groundfault.cdx.json requirements/core.txt
	$(BIN)/python -m hatchling build -d dist

clean: ## Remove what was made here
	rm -rf $(VENV) $(VENV)-tools dist demo bench/data bench/results
