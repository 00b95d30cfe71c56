# Everything a person runs here. Nothing but Python 3.11 or later is needed to begin; the virtual
# environment is made once, and again only where pyproject.toml or constraints.txt changed.

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=
LINE   ?= 2026
PORT   ?= 7687
HTTP_PORT ?= 7474
WORKERS ?= 2

BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help install demo test check fmt neo4j bench clean

help:    ## this list
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z0-9]*\):[^#]*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 11

demo:    $(STAMP) ## see notes being reconciled, with the real model, on the embedded engine
	$(BIN)/reconciler demo

test:    $(STAMP) ## all tests; ENGINES=embedded chooses, ARGS='-k slot' goes to pytest, WORKERS=0
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup $(ARGS)

check:   $(STAMP) ## lint, format and types, changing nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fmt:     $(STAMP) ## mend format and what the linter can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

neo4j:   $(STAMP) ## a Neo4j with the Browser, without Docker; LINE=5.26, PORT=, HTTP_PORT=
	$(BIN)/python -m tests.neo4j_server --line $(LINE) --port $(PORT) --http-port $(HTTP_PORT) $(ARGS)

bench:   $(STAMP) ## measure what the README claims
	$(BIN)/python -m benchmarks $(ARGS)

install: $(STAMP) ## only make the virtual environment

clean:   ## remove the virtual environment and the tools' caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build

$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "No $(PYTHON) on PATH: install Python 3.11 or later, or name one: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$$($(PYTHON) --version) is too old, 3.11 or later is needed: make PYTHON=/path/to/python3"; exit 1; }
	@test -e $@ || echo "First install into $(VENV): some minutes and about 7 GB of disk, most of it PyTorch."
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install -c constraints.txt -e '.[plots,dev]'
	@touch $@
