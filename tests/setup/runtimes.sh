#!/bin/sh
# Brings the pinned runtimes into runtimes/, by npm, where npm is present: runtimes/LABEL is a
# program. They are data for tests and the demo; nothing of theirs is run by the installation.
#
#   runtimes.sh         installs what is missing; status 1 if npm is there and fails
#   runtimes.sh list    prints LABEL=PATH of each that is there
set -eu

cd "$(dirname "$0")/../.."
folder=$PWD/runtimes
labels='bun-1.3.14:bin/bun bun-1.4.0:bin/bun node-22:bin/node deno-2:deno'

case $(uname -m) in
x86_64) pins=tests/setup/runtimes/x64 ;;
aarch64) pins=tests/setup/runtimes/arm64 ;;
*) pins= ;;
esac

list()
{
	for row in $labels; do
		path=$folder/${row%%:*}
		[ -x "$path" ] && echo "${row%%:*}=$path"
	done
	return 0
}

# The lock file that the folder was filled from is kept there: the same one needs no second run.
is_current()
{
	cmp -s "$pins/package-lock.json" "$folder/installed.json" &&
		[ "$(list | wc -l)" = "$(echo "$labels" | wc -w)" ]
}

install()
{
	mkdir -p "$folder"
	cp "$pins/package.json" "$pins/package-lock.json" tests/setup/runtimes/.npmrc "$folder/"
	(cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier \
		--loglevel=error > npm.log 2>&1) || {
		cat "$folder/npm.log" >&2
		echo "runtimes: npm could not fetch them (see above); those on PATH are used" >&2
		return 1
	}
	for row in $labels; do
		ln -sfn "node_modules/${row%%:*}/${row##*:}" "$folder/${row%%:*}"
		chmod +x "$folder/${row%%:*}"
	done
	cp "$pins/package-lock.json" "$folder/installed.json"
}

if [ "${1:-}" = list ]; then
	list
elif [ -z "$pins" ]; then
	echo "runtimes: none are pinned for $(uname -m)"
elif is_current; then
	:
elif ! command -v npm > /dev/null 2>&1; then
	echo "runtimes: no npm here, so bun, node and deno are not fetched; those on PATH are used"
else
	echo "runtimes: fetching bun 1.3.14, bun 1.4.0, node 22 and deno 2 into runtimes/"
	install
fi
