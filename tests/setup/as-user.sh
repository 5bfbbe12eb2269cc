#!/bin/sh
# Runs a command as the user who called sudo, where the checkout is that user's: what it writes
# there must not end up root's. Without sudo, or in somebody else's checkout, runs it as it is.
#
#   as-user.sh COMMAND [ARG...]
set -eu

uid=${SUDO_UID:-0}
if [ "$(id -u)" != 0 ] || [ "$uid" = 0 ] || [ "$(stat -c %u .)" != "$uid" ]; then
	exec "$@"
fi

# An earlier build as root would be in the way.
for folder in build build-* runtimes; do
	if [ -d "$folder" ] && [ ! -L "$folder" ]; then
		find "$folder" ! -uid "$uid" -exec chown -h "$uid:${SUDO_GID:-$uid}" {} +
	fi
done
home=$(getent passwd "$uid" | cut -d: -f6)
exec env HOME="${home:-/}" USER="${SUDO_USER:-}" LOGNAME="${SUDO_USER:-}" \
	setpriv --reuid="$uid" --regid="${SUDO_GID:-$uid}" --init-groups -- "$@"
