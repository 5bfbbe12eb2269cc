#!/bin/sh
# tests/e2e/run.sh BINARY [FILTER]: the real binary on this kernel. FILTER is a part of a test's name.
# Subjects are looked for in subjects/ beside BINARY, or in $WAKEWHY_SUBJECTS; the pinned runtimes in
# $WAKEWHY_RUNTIMES, or in runtimes/ of the checkout.
exec python3 -B "$(dirname "$0")/run.py" "$@"
