# benchcore: everything that a developer runs. `make help` lists it.
SHELL := /bin/bash
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help setup demo-data demo check audit test test-slow test-faults bench bench-scale constraints clean distclean
.NOTPARALLEL:
# Images often set it. Without it, what the many processes of a run import is compiled once, not by each of them.
unexport PYTHONDONTWRITEBYTECODE

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

setup: ## make .venv, check or install Java, fetch Delta's jars (nothing when all is there)
	@infra/setup

demo-data: setup ## write the demo corpora to demo-data/ (once)
	@$(BIN)/python infra/demo_corpora.py

demo: demo-data ## compress the demo corpora: 100 prompts that stand for all, and a report
	@$(BIN)/benchcore run conf/demo.yaml

check: setup ## lint, formatting, types and the rooms' import arrows, in seconds
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy benchcore
	$(BIN)/lint-imports
	$(BIN)/bandit -q -c pyproject.toml -r benchcore jobs infra/airflow

audit: setup ## known weaknesses of the pinned packages; asks a service on the network
	$(BIN)/uv tool run pip-audit --no-deps --disable-pip -r constraints.txt

test: demo-data ## the tests; ARGS='tests/ingest -k csv' for some of them
	$(BIN)/pytest $(ARGS)

test-slow: demo-data ## the heavy proofs
	$(BIN)/pytest -m slow --timeout=3600 $(ARGS)

test-faults: demo-data ## kill processes at random moments; FAULT='driver' for one kind, SEED=7 for other moments, TRIALS=5 of each
	$(BIN)/pytest -m faults --timeout=3600 $(if $(FAULT),-k '$(FAULT)') $(ARGS)

bench: setup ## time and memory of the core, beside other libraries; CASES='growth same-picks', THREADS=1, ARGS=--list
	@$(BIN)/python -m infra.bench $(CASES) $(if $(THREADS),--threads $(THREADS)) $(ARGS)

bench-scale: setup ## selection from a million prompts; CASES='million quality', ARGS='--where DIR --root REGISTRY', ARGS=--list
	@$(BIN)/python -m infra.scale $(CASES) $(ARGS)

constraints: setup ## resolve constraints.txt anew from pyproject.toml
	sed '/^[^#]/d' constraints.txt > .cache/constraints.txt
	printf 'uv\nhatchling\neditables\n' | $(BIN)/uv pip compile --quiet --python-version 3.11 --no-header --no-annotate --all-extras pyproject.toml - >> .cache/constraints.txt
	mv .cache/constraints.txt constraints.txt

clean: ## remove the demo's data and registry and all tools' caches; .venv and the jars stay
	rm -rf demo-data .demo-data.* demo-registry dist build spark-warehouse metastore_db derby.log
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## remove .venv and the jars too
	rm -rf .venv .cache
