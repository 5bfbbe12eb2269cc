#!/bin/bash
# Runs fuzz targets, which are named as the folders of tests/fuzz/corpus are.
#
#   run.sh replay FOLDER               each on its corpus, once: a line for each, status 1 if one failed
#   run.sh fuzz FOLDER SECONDS NAME... each for so long, at low priority; what is new is kept in
#                                      FOLDER/NAME.found, an input that fails in FOLDER/NAME.failed
#
# FOLDER holds the targets: with replay.c as main for the first, with libFuzzer for the second.
set -u

cd "$(dirname "$0")/../.." || exit 1
what=$1
folder=$2
corpus=tests/fuzz/corpus
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export UBSAN_OPTIONS=print_stacktrace=1
# What costs most of the time otherwise: large blocks that are kept unused after free, and filled.
export ASAN_OPTIONS=quarantine_size_mb=8:max_malloc_fill_size=0:malloc_context_size=8
status=0

replay()
{
	local name=$1 inputs

	mapfile -t inputs < <(find "$corpus/$name" -type f | sort)
	if [ "${#inputs[@]}" = 0 ]; then
		echo "not ok - $name: no input in $corpus/$name"
		status=1
	elif "$folder/$name" "${inputs[@]}" > "$log" 2>&1; then
		echo "ok - $name: ${#inputs[@]} inputs"
	else
		echo "not ok - $name"
		tail -n 60 "$log" | sed 's/^/    /'
		status=1
	fi
}

fuzz()
{
	local name=$1 seconds=$2 max=4096

	case $name in
	recording_json | json_result) max=100000 ;;
	render | diff) max=40000 ;;
	elf | study) max=20000 ;;
	esac
	mkdir -p "$folder/$name.found"
	nice -n 19 "$folder/$name" -max_total_time="$seconds" -max_len=$max -timeout=20 -rss_limit_mb=1024 \
		-print_final_stats=1 -verbosity=1 -artifact_prefix="$folder/$name.failed-" \
		"$folder/$name.found" "$corpus/$name" > "$log" 2>&1 || {
		echo "not ok - $name: see $folder/$name.failed-*"
		grep -vE '^#[0-9]+.*(NEW|REDUCE|pulse|RELOAD)' "$log" | tail -n 80 | sed 's/^/    /'
		status=1
		return
	}
	echo "ok - $name: $(awk '/number_of_executed_units/ { print $2 }' "$log") executions"
}

if [ "$what" = replay ]; then
	for source in tests/fuzz/target_*.c; do
		name=$(basename "$source" .c)
		replay "${name#target_}"
	done
else
	seconds=$3
	shift 3
	for name; do
		fuzz "$name" "$seconds"
	done
fi
exit $status
