#!/usr/bin/env bash
# Makes dist/swag-studio-VERSION-linux-MACHINE.tar.zst: a folder to be unpacked anywhere. Its
# install.sh tells the desktop of the program, for one person and without root's rights.
#   packaging/make_tar.sh --possible    only says whether what it needs is there
set -euo pipefail
command -v zstd > /dev/null || { echo "The archive needs zstd: install that first." >&2; exit 1; }
[ "${1:-}" != --possible ] || exit 0
cd "$(dirname "$0")/.."
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' swag_studio/__init__.py)
name=swag-studio-$version-linux-$(uname -m)
rm -rf build/tar
mkdir -p build/tar
packaging/lay_out.sh "build/tar/$name"
install -m 755 packaging/linux/install.sh "build/tar/$name/"
install -m 644 LICENSE README.md "build/tar/$name/"
tar --create --directory build/tar --sort=name --owner=0 --group=0 --numeric-owner "$name" \
    | zstd --quiet --force -"${LEVEL:-15}" -T0 -o "dist/$name.tar.zst"
rm -rf build/tar
ls -lh "dist/$name.tar.zst"
