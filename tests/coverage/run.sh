#!/bin/bash
# Line coverage of rooms of user/, by gcov.
#
#   tests/coverage/run.sh BUILD MIN "ROOM..." TEST...    BUILD is made with --coverage
#
# Runs BUILD/tests/unit/TEST..., the golden renderings and the fuzz corpora, and prints a row for
# each room, the ten files with the most lines that nothing ran, and the total. Status 1 when a test failed or
# the total is below MIN per cent. Only .c files count: what a header's inline function is in, is counted there.
set -u

cd "$(dirname "$0")/../.." || exit 1
build=$1
min=$2
rooms=$3
shift 3
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0

find "$build" -name '*.gcda' -delete

# runs COMMAND...: nothing is said of what succeeds.
runs()
{
	timeout -k 5 900 "$@" > "$log" 2>&1 && return
	echo "not ok - $*"
	tail -n 40 "$log" | sed 's/^/    /'
	status=1
}

for test; do
	runs "$build/tests/unit/$test"
done
runs tests/golden/run.sh "$build/wakewhy"
runs tests/fuzz/run.sh replay "$build/fuzz"

gcov=${CC:-gcc}
gcov=$("$gcov" -print-prog-name=gcov 2> /dev/null || echo gcov)
for room in $rooms; do
	"$gcov" -n "$build/user/$room"/*.gcno
done 2> /dev/null | awk -v min="$min" -v rooms="$rooms" '
	/^File / { split($0, quoted, "\x27"); file = quoted[2] }
	/^Lines executed:/ && file ~ /^user\/[a-z]+\/[^\/]*\.c$/ {
		split($0, part, /[:% ]+/)
		lines = part[length(part)]
		missed = int(lines * (100 - part[3]) / 100 + 0.5)
		split(file, folder, "/")
		n[folder[2]] += lines
		left[folder[2]] += missed
		all += lines
		all_left += missed
		missing[file] = missed
		share[file] = part[3]
		file = ""
	}
	END {
		if (!all) {
			print "not ok - coverage: nothing was counted"
			exit 1
		}
		split(rooms, room, " ")
		printf "%-10s %8s %8s %8s\n", "room", "lines", "run", "%"
		for (i = 1; i in room; i++)
			printf "%-10s %8d %8d %8.1f\n", room[i], n[room[i]], n[room[i]] - left[room[i]],
				n[room[i]] ? 100 * (n[room[i]] - left[room[i]]) / n[room[i]] : 0
		total = 100 * (all - all_left) / all
		printf "%-10s %8d %8d %8.1f\n\nmost lines not run:\n", "total", all, all - all_left, total
		for (i = 0; i < 10; i++) {
			worst = ""
			for (file in missing)
				if (worst == "" || missing[file] > missing[worst])
					worst = file
			if (worst == "" || !missing[worst])
				break
			printf "%8d  %5.1f %%  %s\n", missing[worst], share[worst], worst
			delete missing[worst]
		}
		printf "%s - coverage: %.1f %% of the lines of the pure rooms, at least %d %%\n",
			total < min ? "not ok" : "ok", total, min
		exit total < min
	}' || status=1
exit $status
