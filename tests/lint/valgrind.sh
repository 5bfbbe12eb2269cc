#!/bin/bash
# The pure rooms under valgrind's memcheck: what the sanitizers do not see is memory that is read before
# anything was written there.
#
#   tests/lint/valgrind.sh BUILD TEST...     BUILD/tests/unit/TEST, then the golden recordings in every format
#
# Prints a line for each, the errors of what failed. Nothing is suppressed.
set -u

cd "$(dirname "$0")/../.." || exit 1
build=$1
shift
scratch=$(mktemp -d)
log=$scratch/log
trap 'rm -rf "$scratch"' EXIT
export TZ=UTC
# Tests that have a process killed, or limit one's memory, say nothing about memory: children are not followed.
memcheck='valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,indirect
	--errors-for-leak-kinds=definite,indirect --child-silent-after-fork=yes'
status=0

# verdict NAME STATUS
verdict()
{
	if [ "$2" = 0 ]; then
		echo "ok - $1"
	else
		echo "not ok - $1 (status $2)"
		tail -n 60 "$log" | sed 's/^/    /'
		status=1
	fi
}

# Masses of inputs: seconds without memcheck, minutes with it. The sanitizers run them in every check.
slow=' test_record test_html test_folded test_markdown test_elf test_unwind test_hostile '

for test; do
	if [[ $slow = *" $test "* ]] && [ "${SLOW:-}" != 1 ]; then
		echo "skip - $test: takes minutes; SLOW=1 runs it"
		continue
	fi
	# It looks at the mappings of its own process, where valgrind's stand among them.
	[ "$test" != test_maps ] || { echo "skip - $test: valgrind maps the stack otherwise"; continue; }
	CMOCKA_MESSAGE_OUTPUT=STDOUT $memcheck "$build/tests/unit/$test" > "$log" 2>&1
	verdict "$test" $?
done

# All formats of a recording in one run: a process under memcheck takes a second to start.
outputs=
for extension in $(sed -n 's/^\t{"[a-z-]*", "\([a-z.]*\)", .*/\1/p' user/render/render.c); do
	outputs="$outputs -o $scratch/out.$extension"
done
[ -n "$outputs" ] || verdict "the formats are found in render.c" 1
for recording in tests/golden/*.wkw; do
	# shellcheck disable=SC2086
	$memcheck "$build/wakewhy" report -v $outputs "$recording" > /dev/null 2> "$log"
	verdict "$(basename "$recording") in all formats" $?
done
$memcheck "$build/wakewhy" diff tests/golden/why.wkw tests/golden/later.wkw > /dev/null 2> "$log"
result=$?
# 5: measured, but not to be trusted, which is what is said of these two.
[ $result = 5 ] && result=0
verdict "a difference" $result
exit $status
