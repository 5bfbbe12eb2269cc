#!/bin/sh
# What a build and the tests need from the system: see what is missing, install it, or say its name.
#
#   deps.sh need USE...      one line that names what is missing, status 1; silent when all is there
#   deps.sh install USE...   installs it by apt; elsewhere prints the package names, status 1
#
# USE is build, run, check, bench, fuzz, lint, valgrind, vm, vm-amd64 or vm-arm64 (tests/setup/packages). CC, CLANG and
# BPFTOOL choose the tools; a CC of another architecture (aarch64-linux-gnu-gcc) asks for that compiler and that
# architecture's libraries.
set -eu

table=$(dirname "$0")/packages
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
: "${CC:=gcc}" "${CLANG:=clang}" "${BPFTOOL:=bpftool}"
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# compiles TEXT with FLAGS...: links it too, so that a header without its library is seen.
compiles()
{
	printf '%s\n' "$1" > "$scratch/probe.c"
	shift
	$CC -o "$scratch/probe" "$scratch/probe.c" "$@" > /dev/null 2>&1
}

# probe NAME: is it there?
probe()
{
	case $1 in
	cc) compiles 'int main(void) { return 0; }' ;;
	bpf-clang) $CLANG -target bpf -x c -c -o "$scratch/probe.o" /dev/null 2> /dev/null ;;
	fuzzer)
		echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' \
			> "$scratch/fuzz.c"
		$CLANG -fsanitize=fuzzer,address,undefined -o "$scratch/fuzz" "$scratch/fuzz.c" 2> /dev/null
		;;
	bpftool) "$BPFTOOL" version > /dev/null 2>&1 ;;
	lib:*)
		header=${1#lib:}
		header=${header%:*}
		compiles "#include <stdio.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdint.h>
#include <setjmp.h>
#include <$header>
int main(void) { return 0; }" "-l${1##*:}"
		;;
	py:*) python3 -c "import ${1#py:}" > /dev/null 2>&1 ;;
	cmd:*) command -v "${1#cmd:}" > /dev/null 2>&1 ;;
	*)
		echo "deps.sh: unknown probe '$1' in $table" >&2
		exit 1
		;;
	esac
}

# rows USE: the rows of the table for one use, comments left out.
rows()
{
	awk -v use="$1" '$1 == use' "$table"
}

# column MANAGER: its number in the table.
column()
{
	case $1 in
	apt) echo 3 ;; dnf) echo 4 ;; pacman) echo 5 ;; apk) echo 6 ;; zypper) echo 7 ;;
	esac
}

# missing MANAGER USE...: package names of the rows whose probe fails, separated by spaces.
missing()
{
	number=$(column "$1")
	shift
	names=
	for use; do
		rows "$use" > "$scratch/rows"
		while read -r row; do
			# shellcheck disable=SC2086
			set -- $row
			probe "$2" < /dev/null && continue
			shift $((number - 1))
			names="$names $(echo "$1" | tr + ' ')"
		done < "$scratch/rows"
	done
	# shellcheck disable=SC2086
	echo $names
}

# manager: the first package manager that this system has.
manager()
{
	for name in apt-get:apt dnf:dnf pacman:pacman apk:apk zypper:zypper; do
		if command -v "${name%:*}" > /dev/null 2>&1; then
			echo "${name#*:}"
			return
		fi
	done
	echo none
}

# Package names of a library for another architecture carry it on Debian, and its compiler has a name of its own.
# One that is not there yet is known by its name.
foreign()
{
	triple=$($CC -dumpmachine 2> /dev/null || basename "$CC")
	case $triple:$(uname -m) in
	aarch64*:x86_64) other=arm64 compiler=gcc-aarch64-linux-gnu ;;
	x86_64*:aarch64) other=amd64 compiler=gcc-x86-64-linux-gnu ;;
	*)
		cat
		return
		;;
	esac
	sed "s/\\(lib[^ ]*-dev\\|zlib1g-dev\\)/\\1:$other/g; s/\\(^\\| \\)gcc\\( \\|\$\\)/\\1$compiler\\2/"
}

# Packages of another architecture need apt to know it. It stays known: so do the packages.
apt_know()
{
	for name in $1; do
		other=${name##*:}
		case $name in *:*) ;; *) continue ;; esac
		dpkg --print-foreign-architectures | grep -qx "$other" || dpkg --add-architecture "$other"
	done
}

apt_install()
{
	if [ "$(id -u)" != 0 ]; then
		echo "missing: $1; as root: apt-get install $1" >&2
		exit 1
	fi
	echo "installing by apt: $1"
	export DEBIAN_FRONTEND=noninteractive
	apt_know "$1"
	# Old lists may still do when the mirror is away for a moment: install decides.
	apt-get -qq update || echo "apt-get update failed: going on with the lists at hand" >&2
	# shellcheck disable=SC2086
	apt-get -qq -y --no-install-recommends install $1 > "$scratch/apt.log" 2>&1 || {
		cat "$scratch/apt.log" >&2
		echo "apt-get could not install: $1" >&2
		exit 1
	}
}

# On a system without apt: what to install, by each manager's names.
print_names()
{
	echo "missing here; install these, then try again:" >&2
	shift
	for name in dnf:'dnf install' pacman:'pacman -S' apk:'apk add' zypper:'zypper install'; do
		echo "  ${name#*:} $(missing "${name%:*}" "$@")" >&2
	done
}

action=$1
shift
found=$(manager)
[ "$found" != none ] && by=$found || by=apt
names=$(missing "$by" "$@" | foreign)
[ -n "$names" ] || exit 0

case $action:$found in
need:apt)
	echo "missing: $names; install with: sudo make deps (or apt-get install $names)" >&2
	exit 1
	;;
need:*)
	echo "missing: $names; 'make deps' prints the names for other distributions" >&2
	exit 1
	;;
install:apt)
	apt_install "$names"
	names=$(missing apt "$@" | foreign)
	[ -z "$names" ] || {
		echo "installed, but still not usable: $names" >&2
		exit 1
	}
	;;
install:*)
	print_names "$found" "$@"
	exit 1
	;;
*)
	echo "usage: deps.sh need|install USE..." >&2
	exit 2
	;;
esac
