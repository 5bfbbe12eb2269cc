/* Did everything that was written to a stream arrive? */
#include "base/stream.h"

#include <errno.h>

int stream_finish(FILE *out)
{
	errno = 0;
	if (!fflush(out) && !ferror(out))
		return 0;
	if (!errno) {
		clearerr(out);
		fputc('\n', out);
		fflush(out);
	}
	return errno ? -errno : -EIO;
}
