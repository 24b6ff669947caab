# Everything happens in .venv, made from constraints.txt. For systems without make, the README
# has the plain lines.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INTEROP := .venv-interop
PACKAGE := .venv-package
BENCHMARKS := sampling lm_training remap ensemble startup

.PHONY: run test lint soak check-interop bench package smoke clean

run: $(VENV)/.installed          ## the demo, from captions to a draft dataset
	$(BIN)/swag-studio demo

test: $(VENV)/.installed-dev     ## all tests but the soak tests, on all cores
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(VENV)/.installed-dev     ## style, types, and which file may import which
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

soak: $(VENV)/.installed-dev     ## twenty kills of the demo, fifty closings, 200 dialogs
	$(BIN)/python -m pytest -m soak -s tests/soak

# Makes the demo and a small project of real captions, where there are any: a quarter of an hour.
check-interop: $(INTEROP)/.installed  ## releases read by pandas, datasets, lm-evaluation-harness
	$(INTEROP)/bin/python -m pytest -m interop tests/interop

bench: $(VENV)/.installed-dev    ## what is fast, measured
	for name in $(BENCHMARKS); do $(BIN)/python benchmarks/$$name.py || exit 1; done

package: $(PACKAGE)/.installed   ## the bundle, a .deb and a folder for other distributions, in dist/
	packaging/make_deb.sh --possible
	packaging/make_tar.sh --possible
	PYTHON=$(PACKAGE)/bin/python packaging/build.sh
	packaging/make_deb.sh
	packaging/make_tar.sh

smoke:                           ## what `make package` made: started, installed, removed
	packaging/smoke

clean:
	rm -rf $(VENV) $(INTEROP) $(PACKAGE) build dist *.egg-info

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -c constraints.txt -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	touch $@

# An environment of its own: the extras bring many packages that the program does not need.
$(INTEROP)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(INTEROP)
	$(INTEROP)/bin/python -m pip install --quiet -c constraints.txt -e '.[dev,interop]'
	touch $@

# Neither editable nor with what tests need: what is here may come into the bundle.
$(PACKAGE)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(PACKAGE)
	$(PACKAGE)/bin/python -m pip install --quiet -c constraints.txt '.[package]'
	touch $@
