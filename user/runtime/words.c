/* What a program printed, kept where it wakes nobody: files in memory. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "runtime/words.h"

#define TAIL_BYTES 4096
#define LINE_BYTES 200

int words_create(struct diag *diag)
{
	int fd = memfd_create("wakewhy-words", MFD_CLOEXEC);

	return fd < 0 ? diag_set(diag, -errno, "cannot make a file in memory: %s", strerror(errno))
		      : fd;
}

static char *read_at(int fd, off_t offset, size_t max, size_t *ret_bytes)
{
	char *bytes = mem_zalloc(max + 1);
	size_t n = 0;

	while (n < max) {
		ssize_t got = pread(fd, bytes + n, max - n, offset + (off_t)n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	*ret_bytes = n;
	return bytes;
}

char *words_head(int fd, size_t max, size_t *ret_bytes)
{
	return read_at(fd, 0, max, ret_bytes);
}

/* Takes the last line that is not blank off the end of bytes; NULL when there is none. */
static char *take_line(const char *bytes, size_t *n)
{
	size_t end, start, line_end;

	while (*n && strchr(" \t\r\n", bytes[*n - 1])) /* NUL too */
		--*n;
	end = line_end = *n;
	if (!end)
		return NULL;
	for (start = end; start && bytes[start - 1] != '\n'; start--)
		;
	*n = start;
	if (line_end - start > LINE_BYTES)
		line_end = start + LINE_BYTES;
	return text_safe_bytes(bytes + start, line_end - start);
}

char *words_last_of(const char *bytes, size_t n)
{
	char *last = take_line(bytes, &n);
	char *before = last ? take_line(bytes, &n) : NULL;
	char *both;

	if (!last)
		return mem_strdup("");
	if (!before)
		return last;
	both = mem_printf("%s | %s", before, last);
	free(before);
	free(last);
	return both;
}

char *words_last(int fd)
{
	struct stat st;
	size_t n;
	char *bytes, *words;

	if (fd < 0 || fstat(fd, &st))
		return mem_strdup("");
	bytes = read_at(fd, st.st_size > TAIL_BYTES ? st.st_size - TAIL_BYTES : 0, TAIL_BYTES, &n);
	words = words_last_of(bytes, n);
	free(bytes);
	return words;
}

char *words_ending(int wait_status)
{
	int signal = WTERMSIG(wait_status);

	if (WIFEXITED(wait_status))
		return mem_printf("ended with status %d", WEXITSTATUS(wait_status));
	return mem_printf("was killed by signal %d (%s)", signal, strsignal(signal));
}
