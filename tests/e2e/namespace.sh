#!/bin/sh
# Runs a command in a mount namespace of its own, with -p also in a pid namespace with its /proc.
#
#   namespace.sh [-p] COMMAND [ARG...]
#
# As unshare does, and also where unshare cannot: in a chroot whose root is no mount point, nothing
# can be said about the root's propagation. What is mounted below /proc and /sys must not come out.
set -eu

pid=
if [ "$1" = -p ]; then
	pid='-pf --mount-proc'
	shift
fi
# shellcheck disable=SC2086
if unshare -m true 2> /dev/null; then
	exec unshare -m $pid "$@"
fi
# shellcheck disable=SC2016
exec unshare -m --propagation unchanged sh -c '
	pid=$1
	shift
	mount --make-rprivate /proc
	mount --make-rprivate /sys
	[ -z "$pid" ] || exec unshare --propagation unchanged $pid "$@"
	exec "$@"' sh "$pid" "$@"
