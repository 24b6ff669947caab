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
# -P: the checkout itself is no place to import from.
"$python" -P -m PyInstaller --noconfirm --log-level WARN \
    --workpath build/pyinstaller --distpath dist packaging/swag-studio.spec

# spaCy's compiled modules carry nine tenths of debugging symbols. Other packages' libraries were
# rewritten by their makers in ways that strip does not keep.
if command -v strip > /dev/null && [ "$(uname)" = Linux ]; then
    (cd dist/swag-studio/_internal && for name in spacy thinc preshed cymem murmurhash srsly; do
        find $name -name '*.so' -exec strip --strip-unneeded {} +
    done && strip --strip-unneeded libpython3.*.so.*)
fi

# What the packages for Linux need beside the bundle.
cp LICENSE README.md dist/swag-studio/
du -sh dist/swag-studio
