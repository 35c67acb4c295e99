# Everything runs in .venv, made with the newest Python ≥ 3.11 that is here, by pip alone.
# `make PYTHON=/path/to/python` chooses another one.

PYTHON ?= $(shell for name in python3.14 python3.13 python3.12 python3.11 python3 python; do \
	$$name -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$name; break; }; done)
BIN := .venv/bin
# Of the tests of the server each waits more than it computes: one more than the usual two processors.
JOBS ?= 3

.PHONY: demo test lint types bench clean
.DEFAULT_GOAL := .venv/dev.stamp

demo: .venv/bot.stamp
	$(BIN)/preflight demo $(if $(ONCE),--once)

test: .venv/dev.stamp
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal $(ARGS)

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/dev.stamp
	$(BIN)/mypy

bench: .venv/dev.stamp
	$(BIN)/python -m benchmarks $(ARGS)

clean:
	rm -rf .venv build dist

# Compiled once: where PYTHONDONTWRITEBYTECODE is set, each command would compile anew what it imports.
COMPILE := $(BIN)/python -m compileall -q analysis bot estimator sarif simulator

# A stamp is older than pyproject.toml when dependencies may have changed.
.venv/bot.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bot]'
	$(COMPILE)
	@touch $@

.venv/dev.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bot,dev]'
	$(COMPILE)
	@touch $@ .venv/bot.stamp

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Preflight needs Python 3.11 or newer with venv and pip; none was found on PATH." >&2; exit 1; }
	$(PYTHON) -m venv .venv
