#!/usr/bin/env bash
# Builds dist/SWAG Studio.app on macOS and puts it into a disk image.
#
# Written without a Mac: never run. What is likely to need a look: the names of the Qt plug-ins in
# packaging/leave_out.py, which are those of Linux, and a signature with notarization, without
# which macOS asks before it opens the app.
#   python3.11 -m venv .venv-package
#   .venv-package/bin/python -m pip install -c constraints.txt '.[package]'
#   packaging/macos/build.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
packaging/build.sh
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' swag_studio/__init__.py)
rm -rf build/dmg
mkdir -p build/dmg
cp -R "dist/SWAG Studio.app" build/dmg/
ln -s /Applications build/dmg/Applications
hdiutil create -volname "SWAG Studio" -srcfolder build/dmg -ov -format UDZO \
    "dist/swag-studio-$version-macos.dmg"
