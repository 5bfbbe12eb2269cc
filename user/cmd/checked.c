/* A stream that remembers why it could not write. */
#include "cmd/checked.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

struct checked {
	int fd;
	int *error;
};

static ssize_t checked_write(void *cookie, const char *bytes, size_t n)
{
	struct checked *checked = cookie;
	size_t done = 0;

	while (done < n && !*checked->error) {
		ssize_t wrote = write(checked->fd, bytes + done, n - done);

		if (wrote > 0)
			done += (size_t)wrote;
		else if (wrote == 0 || errno != EINTR)
			*checked->error = wrote ? errno : EIO;
	}
	if (!*checked->error)
		return (ssize_t)n;
	errno = *checked->error;
	return 0; /* how a cookie says that it failed */
}

static int checked_close(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *checked_open(int fd, int *error)
{
	struct checked *checked = mem_zalloc(sizeof(*checked));
	cookie_io_functions_t functions = {.write = checked_write, .close = checked_close};
	FILE *stream;

	*checked = (struct checked){.fd = fd, .error = error};
	*error = 0;
	stream = fopencookie(checked, "w", functions);
	if (!stream)
		free(checked);
	return stream;
}
