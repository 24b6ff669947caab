#!/bin/sh
# Tells this person's desktop of SWAG Studio, which stays where it was unpacked.
#   ./install.sh            menu entry, file types, icons, and ~/.local/bin/swag-studio
#   ./install.sh --remove   takes them away again
set -eu
here=$(cd "$(dirname "$0")" && pwd)
share=${XDG_DATA_HOME:-$HOME/.local/share}
command=$HOME/.local/bin/swag-studio
entry=applications/swag-studio.desktop

# A path as an argument of a desktop entry's Exec: between quotes, where four characters take a
# backslash; each backslash doubled, as in every string of an entry; % begins a field code.
quoted() {
    printf '"'
    printf '%s' "$1" | sed 's/[\"`$]/\\&/g; s/\\/\\\\/g; s/%/%%/g'
    printf '"'
}

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
    mkdir -p "$HOME/.local/bin"
    ln -sf "$here/bin/swag-studio" "$command"
    # The link, not what it leads to: a desktop entry cannot name every path of a program, one
    # with = or % for instance, and a home has seldom such a name.
    {
        sed '/^Exec=/d' "$here/share/$entry"
        printf 'Exec=%s %%F\n' "$(quoted "$command")"
    } > "$share/$entry"
fi
if command -v update-desktop-database > /dev/null; then
    update-desktop-database -q "$share/applications" || true
fi
if command -v update-mime-database > /dev/null; then
    update-mime-database "$share/mime" || true
fi
