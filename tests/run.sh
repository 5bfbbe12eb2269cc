#!/bin/bash
# Runs test suites one after the other: a line for each test, the whole output of what failed, the
# failures once more at the end, and as the last line the count that everything else goes by.
#
#   tests/run.sh BUILD SUITE...      SUITE: unit sanitizers fuzz layers golden runtimes e2e docs
#                                    storms lint valgrind coverage vm-amd64 vm-arm64
#
# BUILD holds the program and the unit tests, BUILD-san the unit tests and the fuzz targets under
# sanitizers. Status 1 when a test failed or nothing was tested.
set -u

cd "$(dirname "$0")/.." || exit 1
build=$1
shift
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# Whoever runs us in the background has interrupts ignored, which tests would inherit.
clean='env --default-signal'

passed=0
failed=0
skipped=0
: > "$logs/failures"

pass()
{
	passed=$((passed + 1))
	echo "ok - $1"
}

# fail NAME LOG: the log follows, indented.
fail()
{
	failed=$((failed + 1))
	{
		echo "not ok - $1"
		sed 's/^/    /' "$2"
	} | tee -a "$logs/failures"
}

skip()
{
	skipped=$((skipped + 1))
	echo "skip - $1: $2"
}

# count_cmocka NAME LOG STATUS: one program of unit tests, in TAP.
count_cmocka()
{
	local name=$1 log=$2 status=$3 planned seen=0 bad=0 line test
	planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
	while IFS= read -r line; do
		test=$(sed -E 's/^(not )?ok [0-9]+ (- )?//; s/^# SKIP //' <<< "$line")
		seen=$((seen + 1))
		case $line in
		*'# SKIP'*) skip "$name: $test" "the test says so" ;;
		ok*) pass "$name: $test" ;;
		*)
			bad=$((bad + 1))
			fail "$name: $test" "$log"
			;;
		esac
	done < <(grep -E '^(not )?ok [0-9]+' "$log")
	if [ "$seen" = 0 ] || [ "$seen" -lt "$planned" ]; then
		fail "$name: ran $seen of $planned tests, ended with status $status" "$log"
	elif [ "$status" != 0 ] && [ "$bad" = 0 ]; then
		fail "$name: all tests passed, yet it ended with status $status" "$log"
	fi
}

# count_lines NAME LOG STATUS: a suite that says "ok - x", "not ok - x", "skip - x: why".
count_lines()
{
	local name=$1 log=$2 status=$3 seen bad
	seen=$(grep -cE '^(ok|not ok|skip) - ' "$log")
	bad=$(grep -c '^not ok - ' "$log")
	passed=$((passed + $(grep -c '^ok - ' "$log")))
	failed=$((failed + bad))
	awk '!/^ / { bad = /^not ok - / } bad' "$log" >> "$logs/failures"
	skipped=$((skipped + $(grep -c '^skip - ' "$log")))
	if [ "$seen" = 0 ]; then
		fail "$name: no test ran, ended with status $status" /dev/null
	elif [ "$status" != 0 ] && [ "$bad" = 0 ]; then
		fail "$name: nothing failed, yet it ended with status $status" /dev/null
	fi
}

# run_cmocka NAME FOLDER: every unit test program in the folder.
run_cmocka()
{
	local program log=$logs/unit source status
	# The programs are those that have a source now, whatever else lies in the folder.
	for source in tests/unit/test_*.c; do
		program=$2/$(basename "$source" .c)
		CMOCKA_MESSAGE_OUTPUT=TAP $clean timeout -k 5 300 "$program" > "$log" 2>&1
		status=$?
		count_cmocka "$1 $(basename "$program")" "$log" "$status"
	done
}

# run_lines NAME COMMAND...: shown while it runs, then counted; a total of its own is left out.
run_lines()
{
	local log=$logs/lines name=$1
	shift
	$clean "$@" 2>&1 | tee "$log" | grep --line-buffered -vE '^[0-9]+ passed, [0-9]+ failed'
	count_lines "$name" "$log" "${PIPESTATUS[0]}"
}

run_layers()
{
	if tests/layers.sh "$build" > "$logs/layers" 2>&1; then
		pass "layers: the rooms keep to what they may know"
	else
		fail "layers: the rooms keep to what they may know" "$logs/layers"
	fi
}

# The pinned runtimes, which e2e measures: fetched where npm is.
run_runtimes()
{
	local name="runtimes: the pinned ones are here"

	if ! tests/setup/as-user.sh tests/setup/runtimes.sh > "$logs/runtimes" 2>&1; then
		fail "$name" "$logs/runtimes"
	elif [ -z "$(tests/setup/runtimes.sh list)" ]; then
		skip "$name" "$(tail -n 1 "$logs/runtimes")"
	else
		pass "$name"
	fi
}

run_lint()
{
	if tests/setup/as-user.sh make --no-print-directory -k "B=$build" lint > "$logs/lint" 2>&1; then
		pass "lint: clang-tidy and cppcheck find nothing"
	else
		fail "lint: clang-tidy and cppcheck find nothing" "$logs/lint"
	fi
}

run_suite()
{
	case $1 in
	unit) run_cmocka unit "$build/tests/unit" ;;
	sanitizers) run_cmocka sanitizers "$build-san/tests/unit" ;;
	fuzz) run_lines fuzz tests/fuzz/run.sh replay "$build-san/fuzz" ;;
	layers) run_layers ;;
	runtimes) run_runtimes ;;
	golden) run_lines golden tests/golden/run.sh "$build/wakewhy" ;;
	docs) run_lines docs tests/docs/commands.sh "$build/wakewhy" ;;
	e2e) run_lines e2e tests/e2e/run.sh "$build/wakewhy" ;;
	storms) run_lines storms env WAKEWHY_STORMS=1 tests/e2e/run.sh "$build/wakewhy" ;;
	lint) run_lint ;;
	valgrind) run_lines valgrind tests/setup/as-user.sh make --no-print-directory "B=$build" check-valgrind ;;
	coverage) run_lines coverage tests/setup/as-user.sh make --no-print-directory "B=$build" coverage ;;
	vm-*) run_lines vm tests/vm/run.sh "$build" "${1#vm-}" 6.1 6.12 ;;
	*)
		echo "tests/run.sh: no suite '$1'" >&2
		exit 2
		;;
	esac
}

for suite; do
	run_suite "$suite"
done

status=0
[ "$failed" = 0 ] && [ "$passed" != 0 ] || status=1
if [ "$failed" != 0 ]; then
	printf '\nWhat failed, once more:\n'
	cat "$logs/failures"
fi
if [ "$skipped" = 0 ]; then
	echo "$passed passed, $failed failed"
else
	echo "$passed passed, $failed failed, $skipped skipped"
fi
exit $status
