#!/bin/sh
# Makes the trimmed header of one architecture from a kernel's type information.
#
#   gen.sh x86|arm64 [KERNEL]    KERNEL: BTF, vmlinux or vmlinuz; the running kernel's when left out
#
# KERNEL must be of that architecture and have every field that bpf/ names without a flavour
# (6.12 or later today). Run it after bpf/ starts to use another type or field. The header is
# replaced only when the program built with it asks the kernel for the same types and fields as the
# one built with all types. Needs clang, bpftool and python3.
set -eu

arch=${1:-}
kernel=${2:-/sys/kernel/btf/vmlinux}
case $arch in
x86 | arm64) ;;
*)
	sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
[ -r "$kernel" ] || {
	echo "gen.sh: cannot read $kernel" >&2
	exit 1
}

cd "$(dirname "$0")/.."
: "${CLANG:=clang}" "${BPFTOOL:=bpftool}"
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/full" "$work/trimmed" "$work/empty"

# build FOLDER OBJECT: the program with FOLDER/vmlinux.h.
flags=$(make --no-print-directory -s ARCH="$arch" bpf-cflags)
build()
{
	# shellcheck disable=SC2086
	$CLANG -I"$1" $flags -c -o "$2" bpf/wakewhy.bpf.c
}

# asks OBJECT: the types and fields that it relocates against, as text.
asks()
{
	"$BPFTOOL" gen min_core_btf "$work/btf" "$work/asked" "$1"
	"$BPFTOOL" btf dump file "$work/asked" format "${2:-raw}"
}

python3 vmlinux/extract.py "$kernel" "$work/btf"
"$BPFTOOL" btf dump file "$work/btf" format c > "$work/full/vmlinux.h"
build "$work/full" "$work/full.o"
asks "$work/full.o" c > "$work/minimal.h"
asks "$work/full.o" > "$work/full.txt"

echo '#define __VMLINUX_H__' > "$work/empty/vmlinux.h"
# shellcheck disable=SC2086
$CLANG -I"$work/empty" $flags -E -P -o "$work/source.i" bpf/wakewhy.bpf.c
python3 vmlinux/trim.py "$work/full/vmlinux.h" "$work/minimal.h" "$work/source.i" > "$work/body"
{
	cat <<END
/* Kernel types and fields that bpf/ uses, on $arch. Made by vmlinux/gen.sh: do not edit.
 *
 * Run that again when a type or field is missing here. Structs are cut down and fields have moved:
 * the loader puts the offsets of the running kernel in. */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

END
	cat "$work/body"
	cat <<END

#pragma clang attribute pop

#endif
END
} > "$work/trimmed/vmlinux.h"

build "$work/trimmed" "$work/trimmed.o"
asks "$work/trimmed.o" > "$work/trimmed.txt"
diff "$work/full.txt" "$work/trimmed.txt" > "$work/diff" || {
	echo "gen.sh: the trimmed header asks for other types or fields than the whole one:" >&2
	cat "$work/diff" >&2
	exit 1
}
mkdir -p "vmlinux/$arch"
cp "$work/trimmed/vmlinux.h" "vmlinux/$arch/vmlinux.h"
echo "vmlinux/$arch/vmlinux.h: $(grep -c '' "$work/trimmed/vmlinux.h") lines of" \
	"$(grep -c '' "$work/full/vmlinux.h")"
