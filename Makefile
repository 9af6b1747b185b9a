# Every target sets up what it needs: the environment in .venv, from requirements.lock.
# pip, not uv: torch's CPU builds lie where pip is told to look for them, and uv would bring a CUDA build of several GB.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/ready
STUDY ?= params.yaml
CONFIGFILE = $(if $(filter-out params.yaml,$(STUDY)),--configfile $(STUDY))
#: How the rules begin whose jobs need models, or puzzles to roll out.
BEFORE_VOTING := fetch|data|audit|strata|train|import_run|rollouts
#: Tests of one file share what they need, so they stay together.
SIDE_BY_SIDE := -n logical --maxprocesses 4 --dist loadfile
#: What DVC keeps of a published study, where it keeps something.
PUBLISHED = docs/results/$(basename $(notdir $(STUDY)))/dvc.yaml
FROM_ROLLOUTS := stage_voting stage_calibration stage_figures
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help setup reproduce figures report publish test test-fast check bench clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY)  ## the environment alone (PYTHON=python3.12 chooses the interpreter)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit(f"$(PYTHON) is Python {v[0]}.{v[1]}, but Python 3.11 or newer is needed: make PYTHON=<interpreter>")'
	@echo "setting up $(VENV) from requirements.lock: a few minutes, once"
	@$(PYTHON) -m venv $(VENV)
	@python -m pip install --quiet --requirement requirements.lock
	@python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

reproduce: $(READY)  ## everything of params.yaml, or of STUDY=params/real.yaml; goes on where it was interrupted
	snakemake --cores all $(CONFIGFILE)

figures: $(READY)  ## every figure and table again, from rollouts that are here (`dvc pull`); never trains
	snakemake --cores all $(FROM_ROLLOUTS) --forceall --allowed-rules $(FROM_ROLLOUTS) \
		$$(snakemake --list-rules 2> /dev/null | grep -vE '^($(BEFORE_VOTING)|stage_)') $(CONFIGFILE)

report: $(READY)  ## one page with every figure and table, captions and parameters: results/report.html
	snakemake --report results/report.html $(CONFIGFILE)

publish: $(READY)  ## the study's small results in docs/results/, the pages made of them, and what DVC keeps of it
	snakemake --cores all publish $(CONFIGFILE)
	python -m cvoting headline
	python -m cvoting findings
	if [ -e $(PUBLISHED) ]; then dvc commit --force $(PUBLISHED) && dvc push $(PUBLISHED); fi

test: $(READY)  ## all tests, within 25 minutes
	python -m pytest $(SIDE_BY_SIDE)

test-fast: $(READY)  ## the tests that take seconds
	python -m pytest $(SIDE_BY_SIDE) -m "not slow"

check: $(READY)  ## style, types, spelling, workflow lint, schema, generated parts of pages
	ruff check
	ruff format --check
	snakefmt --check --line-length 120 Snakefile workflow
	codespell
	mypy
	snakemake --lint
	python -m cvoting schema --check
	python -m cvoting headline --check
	python -m cvoting findings --check
	python -m cvoting cost --check
	python benchmarks/page.py --check

bench: $(READY)  ## speed beside the machine's, kept in docs/benchmarks: five minutes
	python benchmarks/bench.py

clean:  ## the environment and all caches; data, results and figures stay
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -exec rm -rf {} +
