#!/bin/sh
# tests/bench/run.sh BUILD [ROUNDS]: what the probes of BUILD/wakewhy cost, beside empty programs on
# the same hooks, and what stacks of an idle program cost wakewhy itself. BUILD is the build directory or
# the binary in it. Also writes BUILD/bench.json and BUILD/bench-stacks.json.
set -eu

python3 -B "$(dirname "$0")/bench.py" "$@"
exec python3 -B "$(dirname "$0")/result_time.py" "$1"
