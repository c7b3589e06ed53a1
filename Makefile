# One list of commands; `make help` shows it. A virtual environment in .venv is made on first use.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# where TNTP networks are kept, if they are
TNTP ?= $(wildcard ../shared/data/tntp)

.PHONY: help demo test check bench docs clean
.DEFAULT_GOAL := help

help:  ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(BIN)/.demo  ## The paper's road-grid example: a result table, and conformio-demo/report.html
	$(BIN)/conformio demo --out conformio-demo

test: $(BIN)/.dev  ## The whole test suite with branch coverage
	$(BIN)/python -m pytest --numprocesses auto --cov --cov-fail-under=95

check: $(BIN)/.dev docs  ## Lint, format, types, import layers and the documentation build
	$(BIN)/ruff check src tests docs
	$(BIN)/ruff format --check src tests docs/conf.py docs/_extensions
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_layers.py

bench: $(BIN)/.dev  ## Speed against plain formulations and other libraries; TNTP=folder adds real networks
	$(BIN)/conformio bench --out benchmarks.json $(if $(TNTP),--data $(TNTP))

docs: $(BIN)/.dev  ## The documentation as a site: docs/_build/html/index.html
	rm -rf docs/api/generated
	$(BIN)/python -m sphinx -W --keep-going -q -E -b html docs docs/_build/html

clean:  ## Remove the environment and build leftovers
	rm -rf $(VENV) build dist conformio-demo docs/_build docs/api/generated .pytest_cache .mypy_cache .ruff_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(BIN)/.demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[cli,plots]"
	@touch $@

$(BIN)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@
