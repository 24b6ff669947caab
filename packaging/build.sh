#!/usr/bin/env bash
# Builds the bundle dist/swag-studio from this checkout. It needs no network, only an environment
# with the program's dependencies, PyInstaller and setuptools: `make package` makes one.
#   PYTHON=.venv-package/bin/python packaging/build.sh
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv-package/bin/python}

# The package as a wheel has it, with resources/ in its place; an editable install has not.
rm -rf build/stage build/lib dist/swag-studio  # build/lib: a stale one is packed too
"$python" -m pip install --quiet --no-index --no-deps --no-build-isolation \
    --disable-pip-version-check --target build/stage .

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH PYTHONHASHSEED=0 PYTHONPATH=$PWD/build/stage
"$python" -m PyInstaller --noconfirm --log-level WARN \
    --workpath build/pyinstaller --distpath dist packaging/swag-studio.spec

# What the packages for Linux need beside the bundle.
cp LICENSE README.md dist/swag-studio/
du -sh dist/swag-studio
