#!/usr/bin/env bash
# Builds a fully static cmem for Linux, proves that it is one, and prints the path of the program.
#
#   scripts/build-static.sh
#
# The musl target is used where rustup has it (or can add it) and musl-gcc is installed (Debian: musl-tools);
# otherwise the gnu target with a static C library.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "build-static: $*" >&2; }

arch=$(uname -m)
musl=$arch-unknown-linux-musl
gnu=$arch-unknown-linux-gnu

has_musl() {
    command -v musl-gcc >/dev/null || { say "musl-gcc is not installed (Debian: apt-get install musl-tools)"; return 1; }
    rustc --print target-libdir --target "$musl" >/dev/null 2>&1 &&
        [ -d "$(rustc --print target-libdir --target "$musl")" ] && return 0
    command -v rustup >/dev/null && rustup target add "$musl" >&2 && return 0
    say "the target $musl is not installed and rustup cannot add it"
    return 1
}

if has_musl; then
    target=$musl
else
    target=$gnu
    export RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static -C relocation-model=static"
fi
say "building for $target"
cargo build --release --locked --target "$target" >&2
program=${CARGO_TARGET_DIR:-target}/$target/release/cmem
# A linker writes here and there, a copy is written in one go: the system then caches it in larger pieces, and
# starting it takes a fifth less time.
cp "$program" "$program.copy"
mv "$program.copy" "$program"

linkage=$(ldd "$program" 2>&1 || true)
case "$linkage" in
    *"not a dynamic executable"* | *"statically linked"*) ;;
    *) say "not static: $linkage"; exit 1 ;;
esac

# A static C library must still find hosts. Nobody listens on this port: a request that gets as far as being
# refused has found the host "localhost" by name.
data=$(mktemp -d)
trap 'rm -rf "$data"' EXIT
export HOME=$data CMEM_DATA_DIR=$data/data CMEM_PROVIDER=openai CMEM_OPENAI_BASE_URL=http://localhost:9/v1 CMEM_MODEL=none
# Settings of the person who builds are no part of the check.
unset CMEM_OFF CMEM_OBSERVER CMEM_EXCLUDED_PROJECTS
export CMEM_LINGER_SECS=0
"$program" --help >/dev/null
printf '{"session_id":"s","cwd":"%s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"make"},"tool_response":{"stdout":"built"}}' "$data" |
    "$program" hook >/dev/null
"$program" drain --wait >/dev/null 2>&1 || true
outcome=$("$program" status --json)
case "$outcome" in
    *[Rr]efused*) say "name resolution works" ;;
    *) say "name resolution does not work: $outcome"; exit 1 ;;
esac

say "$linkage"
say "$(stat -c %s "$program") bytes"
echo "$program"
