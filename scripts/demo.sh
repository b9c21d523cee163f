#!/usr/bin/env bash
# A guided run of cmem over two recorded sessions, in a throw-away data directory: what was captured, stored,
# injected and found. No account, no network; your own memory and settings are not touched.
#
#   scripts/demo.sh [PROGRAM]     default: cmem in ~/.local/bin or on the PATH
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)

installed=${CMEM_INSTALL_DIR:-$HOME/.local/bin}/cmem
cmem=${1:-}
if [ -z "$cmem" ]; then
    if [ -x "$installed" ]; then cmem=$installed; else cmem=$(command -v cmem || true); fi
fi
[ -n "$cmem" ] || { echo "demo: no cmem found; scripts/install.sh installs it" >&2; exit 1; }
cmem=$(realpath "$cmem")

world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
while IFS= read -r name; do unset "$name"; done < <(compgen -e | grep -E '^(CMEM|CLAUDE_MEM)_' || true)
# The embedded observer, whatever is installed here.
export HOME=$world/home CMEM_DATA_DIR=$world/data CMEM_PROVIDER=builtin
project=$world/shop-api
mkdir -p "$HOME" "$project"
git -C "$project" init --quiet 2>/dev/null || true
cd "$project"

step() { printf '\n\033[1m== %s\033[0m\n' "$1"; }
show() { printf '$ %s\n' "$*"; }
if [ ! -t 1 ]; then step() { printf '\n== %s\n' "$1"; }; fi

hook() { # FILE: sends one recorded payload, as Claude Code does
    sed "s#/home/dev/shop-api#$project#g" "$1" | "$cmem" hook
}

session() { # NUMBER: plays the recorded payloads of one session
    local file name
    for file in "$here"/tests/fixtures/demo/"$1"-*.json; do
        name=$(basename "$file" .json)
        printf '   %s\n' "${name#*-*-}"
        hook "$file" >>"$world/answers"
    done
}

drain() {
    show cmem drain --wait
    "$cmem" drain --wait
}

echo "cmem demo: $("$cmem" --version), data in $CMEM_DATA_DIR (removed at the end)"

step "Session 1: a developer asks why checkout hangs. Each line is one hook event that Claude Code sent."
session 1

step "The drainer turns the events into memories. It runs by itself in the background; here we wait for it."
drain

step "What was kept"
show cmem status
"$cmem" status
show "cmem search '*'"
"$cmem" search '*'

step "Private text and credentials never reached the disk"
for secret in 'door code 4711' 't0ken4LoadTest'; do
    if grep -raqF -- "$secret" "$CMEM_DATA_DIR"; then echo "LEAKED: $secret"; exit 1; fi
    printf '   not in any file: %s\n' "$secret"
done

step "Session 2, the next day. This is what cmem adds to its context at the start:"
: >"$world/answers"
hook "$here/tests/fixtures/demo/2-01-SessionStart.json" >"$world/answers"
grep -q additionalContext "$world/answers" || { echo "demo: nothing was injected" >&2; exit 1; }
show cmem context
"$cmem" context
session 2
drain

step "Finding things again: an index first, then one record"
show "cmem search 'connection pool'"
"$cmem" search 'connection pool'
id=$("$cmem" search 'connection pool' --kind observation --limit 1 --json | sed -n 's/.*"id": *\([0-9][0-9]*\).*/\1/p' | head -n 1)
[ -n "$id" ] || { echo "demo: nothing was found" >&2; exit 1; }
show "cmem get $id"
"$cmem" get "$id"

step "Nothing vanished: every event is accounted for"
show cmem doctor
"$cmem" doctor || true

step "To use it: cmem install (registers the hooks with Claude Code), then work as always"
