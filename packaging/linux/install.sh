#!/bin/sh
# Tells this person's desktop of SWAG Studio, which stays where it was unpacked.
#   ./install.sh            menu entry, file types, icons, and ~/.local/bin/swag-studio
#   ./install.sh --remove   takes them away again
set -eu
here=$(cd "$(dirname "$0")" && pwd)
share=${XDG_DATA_HOME:-$HOME/.local/share}
command=$HOME/.local/bin/swag-studio

if [ "${1:-}" = --remove ]; then
    (cd "$here/share" && find applications mime icons metainfo -type f) | while read -r file; do
        rm -f "$share/$file"
    done
    rm -f "$command"
else
    for folder in applications mime icons metainfo; do
        mkdir -p "$share"
        cp -R "$here/share/$folder" "$share/"
    done
    # A quoted path: it may hold spaces.
    sed -i "s|^Exec=swag-studio|Exec=\"$here/bin/swag-studio\"|" \
        "$share/applications/swag-studio.desktop"
    mkdir -p "$HOME/.local/bin"
    ln -sf "$here/bin/swag-studio" "$command"
fi
if command -v update-desktop-database > /dev/null; then
    update-desktop-database -q "$share/applications" || true
fi
if command -v update-mime-database > /dev/null; then
    update-mime-database "$share/mime" || true
fi
