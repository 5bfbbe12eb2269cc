#!/bin/sh
# tests/bench/run.sh BUILD [--seconds N] [--quick] [--anyway]: what wakewhy costs beside its peers; docs/bench.md says
# how. BUILD is the build directory or the binary in it. Also writes BUILD/bench.json.
#
# In a mount namespace of its own: some peers need tracefs, and perf mounts it where it is not and leaves it.
set -eu

here=$(dirname "$0")
# shellcheck disable=SC2016
exec "$here/../e2e/namespace.sh" sh -c '
	for kind in tracefs:/sys/kernel/tracing debugfs:/sys/kernel/debug; do
		grep -q " ${kind#*:} ${kind%:*} " /proc/mounts || mount -t "${kind%:*}" none "${kind#*:}" || true
	done
	exec python3 -B "$@"' sh "$here/bench.py" "$@"
