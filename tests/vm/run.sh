#!/bin/sh
# tests/vm/run.sh BUILD amd64|arm64 SERIES...: wakewhy and its subjects in BUILD on Debian's cloud kernels of these
# series (6.1, 6.12), emulated by qemu. What is downloaded, and what each case left, is in BUILD/vm.
exec python3 -B "$(dirname "$0")/run.py" "$@"
