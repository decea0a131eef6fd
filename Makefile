# Each target sets up what it needs in $(VENV); nothing else on the machine is touched.
VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help demo test coverage test-browser test-device lint types docs docs-serve dist speed accuracy comparison quality counts clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test]"
	@touch $@

demo: $(READY)  ## fit on noisy digits, compare test errors, write a page of suspect labels
	$(BIN)/python docs/examples/demo.py

test: $(READY)  ## run the tests and doctests; all of them with SKPRESTO_TESTS=all
	$(BIN)/python -m pytest -q --numprocesses=auto --dist=loadgroup

coverage: $(READY)  ## run them with branch coverage, which must be 99 % or more
	$(BIN)/python -m pytest -q --numprocesses=auto --dist=loadgroup --cov --cov-report=term

test-browser: $(READY)  ## run the tests of the audit page in Chromium; installs it if there is none
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test,browser]"
	command -v chromium chromium-browser google-chrome || $(BIN)/python -m playwright install --with-deps chromium
	$(BIN)/python -m pytest -q -rs tests/audit/test_*_in_browser.py

test-device: $(READY)  ## run the checks of GPUs on the GPU or Apple chip of this machine, and measure it
	SKPRESTO_TEST_DEVICE=auto $(BIN)/python -m pytest -q -rs tests/device/checks_*.py
	$(BIN)/python benchmarks/speed/device.py

lint: $(READY)  ## check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)  ## check types
	$(BIN)/mypy

docs: $(READY)  ## build the site in docs/_build/html, with its examples; warnings are errors (-a: all pages, or the search forgets phrases)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[test,docs]"
	$(BIN)/python -m sphinx -b html -a -W --keep-going docs docs/_build/html
	$(BIN)/python docs/_ext/check_site.py docs/_build/html

docs-serve: docs  ## build the site and show it at http://localhost:8000
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory docs/_build/html 8000

dist: $(READY)  ## build wheel and sdist in dist/, and try the wheel in an empty environment
	$(BIN)/python -m pip install --quiet --constraint constraints.txt build
	rm -rf dist $(VENV)/try-wheel
	$(BIN)/python -m build --outdir dist
	$(PYTHON) -m venv $(VENV)/try-wheel
	$(VENV)/try-wheel/bin/python -m pip install --quiet --constraint constraints.txt dist/*.whl
	$(VENV)/try-wheel/bin/python -I tests/smoke.py
	$(VENV)/try-wheel/bin/python -m pip install --quiet --constraint constraints.txt "skpresto[audit] @ file://$$(ls $(CURDIR)/dist/*.whl)"
	$(VENV)/try-wheel/bin/python -I tests/smoke.py --audit

speed: $(READY)  ## measure speed against plain loops, skorch and cleanlab
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python benchmarks/speed/run.py

accuracy: $(READY)  ## measure accuracy; reads data sets from the folder SKPRESTO_DATA
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python benchmarks/accuracy/run.py --preset laptop
	$(BIN)/python benchmarks/accuracy/tables.py benchmarks/accuracy/results/laptop.jsonl
	$(BIN)/python benchmarks/accuracy/figures.py benchmarks/accuracy/results/laptop.jsonl

comparison: $(READY)  ## compare methods at equal cost; reads SKPRESTO_DATA too
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python benchmarks/accuracy/run.py --preset rivals
	$(BIN)/python benchmarks/accuracy/run.py --preset cost --jobs 1
	$(BIN)/python benchmarks/accuracy/comparison.py

quality: $(READY)  ## measure how well wrong labels are found; reads SKPRESTO_DATA too
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[bench]"
	$(BIN)/python benchmarks/accuracy/run.py --preset quality
	$(BIN)/python benchmarks/accuracy/quality_table.py

counts: $(READY)  ## measure the numbers of label reports; reads SKPRESTO_DATA too
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[audit,bench]"
	$(BIN)/python benchmarks/audit/run.py
	$(BIN)/python benchmarks/audit/against_datalab.py
	$(BIN)/python benchmarks/audit/table.py

clean:  ## remove the virtual environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	rm -rf docs/_build docs/_live docs/reference docs/auto_examples dist
