#!/bin/bash
# The commands of the documents, run as they stand, and the man page against --help.
#
#   tests/docs/commands.sh BINARY
#
# Runs each block marked ```sh of README.md and docs/*.md that has a wakewhy command in it, in a folder
# of its own where runtimes/ is the checkout's. `wakewhy` and `build/wakewhy` are BINARY, `sudo` is
# left out. A block with `<!-- test: skip WHY -->` on the line above it is skipped. Prints a line for
# each wakewhy command: "ok - …", "not ok - …" or "skip - …: why", and "N passed, N failed" at the end.
set -u

binary=$(realpath "$1") || exit 2
cd "$(dirname "$0")/../.." || exit 2
checkout=$PWD
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export binary
: > "$scratch/verdicts"
BLOCK_TIMEOUT_S=120

# blocks FILE: each sh block of it into $scratch/blocks/LINE, why it is skipped into LINE.skip.
blocks()
{
	rm -rf "$scratch/blocks"
	mkdir "$scratch/blocks"
	awk -v folder="$scratch/blocks" '
		inside && /^```/ { inside = 0; close(file); next }
		inside { print > file; next }
		/^```sh$/ {
			inside = 1
			file = sprintf("%s/%04d", folder, NR)
			printf "" > file
			if (why != "") {
				print why > (file ".skip")
				close(file ".skip")
			}
			why = ""
			next
		}
		{ why = "" }
		/^<!-- test: skip .* -->$/ {
			why = $0
			sub(/^<!-- test: skip /, "", why)
			sub(/ -->$/, "", why)
		}
	' "$1"
}

# Prepended to each block. A command that says "measured, but not to be trusted" (5) did what the
# document promises: whether this machine is quiet enough is not what is tested here.
cat > "$scratch/prelude" << 'PRELUDE'
wakewhy()
{
	"$binary" "$@"
	local status=$?
	case $status in
	0) echo "ok - $where: wakewhy $*" ;;
	5) echo "ok - $where: wakewhy $* (not to be trusted on this machine now)" ;;
	*) echo "not ok - $where: wakewhy $* (exit status $status)" ;;
	esac >> "$verdicts"
	return $status
}
sudo() { "$@"; }
make() { :; }
trap 'jobs -p | xargs -r kill 2> /dev/null' EXIT
PRELUDE

# why_not BLOCK: prints why it cannot be run here; nothing when it can.
why_not()
{
	local missing
	if [ -e "$1.skip" ]; then
		cat "$1.skip"
		return
	fi
	for missing in $(grep -o 'runtimes/[A-Za-z0-9._-]*' "$1" | sort -u); do
		if [ ! -x "$checkout/$missing" ]; then
			echo "$missing is not here"
			return
		fi
	done
	if [ "$(id -u)" != 0 ] && grep -q '\<sudo\>' "$1"; then
		echo "measuring needs root"
	fi
}

run_block()
{
	local file=$1 block=$2 where why before commands made
	where=$file:$((10#$(basename "$block")))
	commands=$(sed 's/#.*//' "$block" | grep -oE '(^|[[:space:]/])wakewhy([[:space:]]|$)' | wc -l)
	[ "$commands" != 0 ] || return
	why=$(why_not "$block")
	if [ -n "$why" ]; then
		echo "skip - $where: $why" | tee -a "$scratch/verdicts"
		return
	fi
	mkdir -p "$scratch/work"
	ln -sfn "$checkout/runtimes" "$scratch/work/runtimes"
	{
		cat "$scratch/prelude"
		sed -E 's@(^|[[:space:]])build/wakewhy([[:space:]]|$)@\1wakewhy\2@g' "$block"
	} > "$scratch/block"
	before=$(wc -l < "$scratch/verdicts")
	(cd "$scratch/work" && where=$where verdicts=$scratch/verdicts \
		timeout -k 5 "$BLOCK_TIMEOUT_S" bash "$scratch/block") > "$scratch/log" 2>&1
	made=$(($(wc -l < "$scratch/verdicts") - before))
	if [ "$made" != "$commands" ]; then
		echo "not ok - $where: $made of $commands commands were run" >> "$scratch/verdicts"
	fi
	tail -n +$((before + 1)) "$scratch/verdicts"
	if tail -n +$((before + 1)) "$scratch/verdicts" | grep -q '^not ok'; then
		sed 's/^/# /' "$scratch/log"
	else
		sed -n 's/^not trusted/# &/p' "$scratch/log"
	fi
}

# Every option that a command takes is on the man page, and the page names none that no command takes.
check_man_page()
{
	local command page=docs/wakewhy.1
	"$binary" --help | sed -nE 's/^  ([a-z]+) .*/\1/p' > "$scratch/commands"
	: > "$scratch/taken"
	while read -r command; do
		"$binary" "$command" --help | sed -nE 's/^ +(-[a-zA-Z], )?--([a-z-]+)[][ =].*/\2/p' |
			sort -u > "$scratch/options"
		cat "$scratch/options" >> "$scratch/taken"
		sed -nE 's/^\.It (Fl [a-zA-Z] , )?Fl -([a-z-]+).*/\2/p' "$page" | sort -u > "$scratch/told"
		man_verdict "$command: options" "$(comm -23 "$scratch/options" "$scratch/told")"
		grep -q "^\.It Cm $command\$" "$page"
		man_verdict "$command: meaning" "$([ $? = 0 ] || echo "no entry")"
	done < "$scratch/commands"
	sort -u "$scratch/taken" -o "$scratch/taken"
	man_verdict "no option that is not there" "$(comm -13 "$scratch/taken" "$scratch/told")"
	[ -s "$scratch/commands" ] && [ -s "$scratch/taken" ]
	man_verdict "--help was understood" "$([ $? = 0 ] || echo nothing)"
	if command -v mandoc > /dev/null; then
		man_verdict "form" "$(mandoc -Tlint -Wstyle "$page" 2> /dev/null)"
	fi
}

# man_verdict NAME WHAT_IS_WRONG
man_verdict()
{
	if [ -z "$2" ]; then
		echo "ok - wakewhy.1: $1"
	else
		echo "not ok - wakewhy.1: $1 ($(echo "$2" | tr '\n' ' '))"
	fi | tee -a "$scratch/verdicts"
}

for file in README.md docs/*.md; do
	blocks "$file"
	for block in "$scratch"/blocks/*; do
		case $block in
		*'*' | *.skip) ;;
		*) run_block "$file" "$block" ;;
		esac
	done
done
check_man_page

passed=$(grep -c '^ok - ' "$scratch/verdicts")
failed=$(grep -c '^not ok - ' "$scratch/verdicts")
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
