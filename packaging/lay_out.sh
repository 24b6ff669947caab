#!/usr/bin/env bash
# Lays the bundle and what a desktop needs of it into a folder, as under a prefix:
#   packaging/lay_out.sh FOLDER    ->    FOLDER/lib/swag-studio, FOLDER/bin, FOLDER/share
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bundle=$here/../dist/swag-studio icons=$here/../resources/icons
[ -x "$bundle/swag-studio" ] || { echo "There is no bundle: run packaging/build.sh first." >&2; exit 1; }
prefix=$1
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$here/../swag_studio/__init__.py")
day=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%F)

mkdir -p "$prefix/lib" "$prefix/bin"
cp -a "$bundle" "$prefix/lib/swag-studio"
ln -s ../lib/swag-studio/swag-studio "$prefix/bin/swag-studio"

put() { install -D -m 644 "$1" "$prefix/share/$2"; }
put "$here/linux/swag-studio.desktop" applications/swag-studio.desktop
put "$here/linux/swag-studio.xml" mime/packages/swag-studio.xml
put "$here/linux/copyright" doc/swag-studio/copyright
for licence in LGPL-3 GPL-3; do  # of Qt; its packages for Python bring no text
    [ ! -f "/usr/share/common-licenses/$licence" ] \
        || put "/usr/share/common-licenses/$licence" "doc/swag-studio/$licence"
done
for size in 16 24 32 48 64 128 256; do
    put "$icons/swag-studio-$size.png" "icons/hicolor/${size}x$size/apps/swag-studio.png"
done
put "$icons/swag-studio.svg" icons/hicolor/scalable/apps/swag-studio.svg
for kind in project packet; do
    name=application-x-swag-studio-$kind.svg
    put "$here/linux/$name" "icons/hicolor/scalable/mimetypes/$name"
done
mkdir -p "$prefix/share/metainfo"
sed "s/@VERSION@/$version/; s/@DATE@/$day/" "$here/linux/swag-studio.metainfo.xml" \
    > "$prefix/share/metainfo/swag-studio.metainfo.xml"
