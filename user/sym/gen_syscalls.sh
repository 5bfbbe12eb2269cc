#!/bin/sh
# Writes the table of one architecture's system calls: number and name, one row each.
#
#   gen_syscalls.sh /usr/include/x86_64-linux-gnu/asm/unistd_64.h x86 > syscalls_x86_64.inc
#   gen_syscalls.sh /usr/aarch64-linux-gnu/include/asm/unistd.h arm64 > syscalls_arm64.inc
#
# Debian 12's headers end at 450. From 424 on, x86-64 and arm64 share their numbers; those that came
# after the headers, up to Linux 6.18, are listed here once for both.
set -eu
header=$1
arch=$2
include=$(dirname "$(dirname "$header")")
cpp="${CC:-cc} -E -nostdinc -undef -D__${arch}__ -I$include"

newer='451 cachestat
452 fchmodat2
453 map_shadow_stack
454 futex_wake
455 futex_wait
456 futex_requeue
457 statmount
458 listmount
459 lsm_get_self_attr
460 lsm_set_self_attr
461 lsm_list_modules
462 mseal
463 setxattrat
464 getxattrat
465 listxattrat
466 removexattrat
467 open_tree_attr
468 file_getattr
469 file_setattr'
if [ "$arch" = x86 ]; then
	newer="335 uretprobe
336 uprobe
$newer"
fi

echo "/* Made by gen_syscalls.sh; not edited by hand. */"
{
	$cpp -dM "$header" | awk '/^#define __NR_/ {
		name = substr($2, 6)
		if (name != "syscalls" && name != "arch_specific_syscall")
			print "__NUMBER__ __NR_" name " \"" name "\""
	}' | { cat "$header"; cat; } | $cpp - | awk '$1 == "__NUMBER__" {
		gsub(/"/, "", $3); print $2, $3 }'
	echo "$newer"
} | sort -n -u -k1,1 | awk '{ printf "[%d] = \"%s\",\n", $1, $2 }'
