#!/usr/bin/env bash
# Installs cmem for the present user: builds it, or copies a given program.
#
#   scripts/install.sh            build and install
#   scripts/install.sh PROGRAM    install that program
#
# It goes to ${CMEM_INSTALL_DIR:-~/.local/bin}. No root, nothing else is touched; `cmem install` registers the
# hooks with Claude Code afterwards.
set -euo pipefail

folder=${CMEM_INSTALL_DIR:-$HOME/.local/bin}
program=${1:-}
if [ -z "$program" ]; then
    cd "$(dirname "$0")/.."
    command -v cargo >/dev/null || { echo "install: cargo is not installed; see https://rustup.rs" >&2; exit 1; }
    if [ "$(uname -s)" = Linux ]; then
        # A static program starts in a third of the time, which every hook pays.
        program=$(scripts/build-static.sh)
    else
        cargo build --release --locked
        program=${CARGO_TARGET_DIR:-target}/release/cmem
    fi
fi
[ -x "$program" ] || { echo "install: $program is not a program" >&2; exit 1; }

mkdir -p "$folder"
# Hooks may be running the old one: replace the name, never the bytes.
cp "$program" "$folder/.cmem.new"
chmod 755 "$folder/.cmem.new"
mv "$folder/.cmem.new" "$folder/cmem"

echo "Installed $("$folder/cmem" --version) as $folder/cmem"
case ":$PATH:" in
    *":$folder:"*) ;;
    *) echo "$folder is not on your PATH yet: export PATH=\"$folder:\$PATH\"" ;;
esac
echo "Next: cmem install"
