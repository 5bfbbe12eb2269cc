#!/bin/sh
# tests/vm/prepare.sh BUILD amd64|arm64 USE...: installs what an emulated machine of this architecture needs, with what
# the USEs name (tests/setup/packages); CC is the compiler for it. Where that cannot be had, the reason is left in
# BUILD/vm/missing-ARCH, which tests/vm/run.py tells as why it skips, and the status is 1.
set -eu

missing=$1/vm/missing-$2
shift 2
mkdir -p "$(dirname "$missing")"
if tests/setup/deps.sh install vm "$@" > "$missing" 2>&1; then
	cat "$missing"
	rm -f "$missing"
	exit 0
fi
cat "$missing" >&2
# What it says last; names for systems without apt are above that.
why=$(grep -v '^ ' "$missing" | tail -n 1)
echo "${why:-cannot be installed}" > "$missing"
exit 1
