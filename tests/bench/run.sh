#!/bin/sh
# tests/bench/run.sh BUILD [ROUNDS]: what the probes of BUILD/wakewhy cost, beside empty programs on
# the same hooks. BUILD is the build directory or the binary in it. Also writes BUILD/bench.json.
exec python3 -B "$(dirname "$0")/bench.py" "$@"
