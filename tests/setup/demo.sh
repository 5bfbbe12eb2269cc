#!/bin/sh
# The main job on whatever is here, in under three minutes: a short startup, idle and hash over the
# floor, the pinned runtimes and the registered ones on PATH, ending in one report. Needs root.
#
#   demo.sh BUILD
set -eu

cd "$(dirname "$0")/../.."
build=$1
wakewhy=$build/wakewhy
results=$build/demo

if [ "$(id -u)" != 0 ]; then
	echo "make demo: measuring needs root: sudo make demo" >&2
	exit 1
fi
"$wakewhy" doctor > "$build/doctor.txt" || {
	cat "$build/doctor.txt" >&2
	exit 4
}

set -- floor
for pinned in $(tests/setup/runtimes.sh list); do
	set -- "$@" "$pinned"
done
for name in bun node deno python3 perl ruby php; do
	if command -v "$name" > /dev/null 2>&1; then
		set -- "$@" "$name"
	fi
done

# Idle runs one after the other and takes most of the time: it gets 80 s, 10 s each at most.
idle_s=$((80 / $#))
[ "$idle_s" -lt 10 ] || idle_s=10
echo "measuring on: $*"
mkdir -p "$results"
rm -f "$results"/*.wkw

# A runtime that cannot be measured is named at once and in the report; the others go on. Whether
# figures can be trusted stands in the report too. Only no figures at all is a failure of the demo.
measure()
{
	workload=$1
	echo "$2"
	shift 2
	status=0
	"$wakewhy" "$workload" "$@" -q -o "$results/$workload.wkw" > /dev/null || status=$?
	[ -e "$results/$workload.wkw" ] || exit "$((status ? status : 1))"
}
measure startup "startup: 10 runs each" -r 10 -w 1 "$@"
measure idle "idle: $idle_s s each, after each has started and gone quiet" -d "$idle_s" "$@"
measure hash "hash: 1 s for each style" -d 1 "$@"

if [ -n "${SUDO_UID:-}" ]; then
	chown -R "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$results" "$build/doctor.txt"
fi
echo
set -- "$results/startup.wkw" "$results/idle.wkw" "$results/hash.wkw"
status=0
"$wakewhy" report "$@" || status=$?
[ "$status" != 5 ] || status=0 # not to be trusted: said in its first lines
echo
echo "again, without measuring: $wakewhy report $*"
exit "$status"
