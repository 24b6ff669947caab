# Everything happens in .venv, made from constraints.txt. For systems without make, the README
# has the plain lines.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INTEROP := .venv-interop
BENCHMARKS := sampling lm_training remap ensemble startup

.PHONY: run test lint soak check-interop bench clean

run: $(VENV)/.installed          ## the demo, from captions to a draft dataset
	$(BIN)/swag-studio demo

test: $(VENV)/.installed-dev     ## all tests but the soak tests
	$(BIN)/python -m pytest

lint: $(VENV)/.installed-dev     ## style, types, and which file may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

soak: $(VENV)/.installed-dev     ## twenty kills of the demo, fifty closings, 200 dialogs
	$(BIN)/python -m pytest -m soak -s tests/soak

check-interop: $(INTEROP)/.installed  ## releases read by pandas, datasets, lm-evaluation-harness
	$(INTEROP)/bin/python -m pytest -m interop tests/interop

bench: $(VENV)/.installed-dev    ## what is fast, measured
	for name in $(BENCHMARKS); do $(BIN)/python benchmarks/$$name.py || exit 1; done

clean:
	rm -rf $(VENV) $(INTEROP) build dist *.egg-info

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	touch $@

# An environment of its own: the extras bring many packages that the program does not need.
$(INTEROP)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(INTEROP)
	$(INTEROP)/bin/python -m pip install --quiet -c constraints.txt -e '.[dev,interop]'
	touch $@
