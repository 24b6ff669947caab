#!/usr/bin/env bash
# Makes dist/swag-studio_VERSION_ARCHITECTURE.deb from the bundle, with dpkg-deb alone.
#   packaging/make_deb.sh --possible    only says whether what it needs is there
set -euo pipefail
command -v dpkg-deb > /dev/null || {
    echo "The .deb needs dpkg-deb. Without it: packaging/build.sh, then packaging/make_tar.sh" >&2
    exit 1
}
[ "${1:-}" != --possible ] || exit 0
cd "$(dirname "$0")/.."
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' swag_studio/__init__.py)
architecture=$(dpkg --print-architecture)
root=build/deb
rm -rf "$root"
umask 022
mkdir -p "$root/DEBIAN"
chmod 00755 "$root/DEBIAN"  # also where the checkout's folder gives its group on: dpkg-deb is strict
packaging/lay_out.sh "$root/usr"
gzip -9n < CHANGELOG.md | install -D -m 644 /dev/stdin "$root/usr/share/doc/swag-studio/changelog.gz"

# The bundle runs on this system's C library or a newer one.
glibc=$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)
size=$(du -sk "$root/usr" | cut -f1)
sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@GLIBC@/$glibc/; s/@SIZE@/$size/" \
    packaging/deb/control.in > "$root/DEBIAN/control"
install -m 755 packaging/deb/postinst packaging/deb/postrm "$root/DEBIAN/"
find "$root/usr" -type d -exec chmod 755 {} +
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) > "$root/DEBIAN/md5sums"

package=dist/swag-studio_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zzstd -z"${LEVEL:-15}" --build "$root" "$package" > /dev/null
rm -rf "$root"
ls -lh "$package"
