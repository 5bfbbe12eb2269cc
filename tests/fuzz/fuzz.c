/* Input as text, stream or files, for all fuzz targets. */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"

#define SEPARATOR 0x1e
#define ROOT_BYTE 0x1a

_Noreturn void fuzz_fail(const char *file, int line, const char *what)
{
	dprintf(STDERR_FILENO, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

void fuzz_be_quiet(void)
{
	FILE *nowhere;

	if (fileno(stdout) != STDOUT_FILENO)
		return;
	nowhere = fopen("/dev/null", "w");
	FUZZ_CHECK(nowhere);
	/* The streams, not the descriptors: whoever reports a failure writes to those. */
	stdout = nowhere;
	stderr = nowhere;
}

char *fuzz_text(const uint8_t *bytes, size_t n)
{
	char *text = malloc(n + 1);

	FUZZ_CHECK(text);
	if (n)
		memcpy(text, bytes, n);
	text[n] = '\0';
	return text;
}

FILE *fuzz_stream(const uint8_t *bytes, size_t n)
{
	/* fmemopen takes no empty buffer everywhere. */
	FILE *in = n ? fmemopen((void *)bytes, n, "rb") : fopen("/dev/null", "re");

	FUZZ_CHECK(in);
	return in;
}

void fuzz_put(const char *path, const uint8_t *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

/* ---- a folder ---------------------------------------------------------------------------------- */

/* In memory, and one for a process: atexit hands nothing to whoever removes it. */
static char root[] = "/dev/shm/wakewhy-fuzz-XXXXXX";

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_root(void)
{
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_root(const char *const *names, size_t n_names)
{
	FUZZ_CHECK(mkdtemp(root));
	atexit(remove_root);
	for (size_t i = 0; i < n_names; i++) {
		char *path = mem_printf("%s/%s", root, names[i]);

		for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
			*at = '\0';
			FUZZ_CHECK(!mkdir(path, 0700) || errno == EEXIST);
		}
		free(path);
	}
}

static void put_piece(const char *name, const uint8_t *bytes, size_t n)
{
	char *path = mem_printf("%s/%s", root, name);
	struct strbuf text = {};

	for (size_t i = 0; i < n; i++) {
		if (bytes[i] == ROOT_BYTE)
			strbuf_add(&text, root);
		else
			strbuf_add_char(&text, (char)bytes[i]);
	}
	if (n)
		fuzz_put(path, (const uint8_t *)text.text, text.n);
	else
		FUZZ_CHECK(!unlink(path) || errno == ENOENT);
	strbuf_free_members(&text);
	free(path);
}

const char *fuzz_folder(const char *const *names, size_t n_names, const uint8_t *bytes, size_t n)
{
	if (!strcmp(root + strlen(root) - 6, "XXXXXX"))
		make_root(names, n_names);
	for (size_t i = 0; i < n_names; i++) {
		const uint8_t *end = n ? memchr(bytes, SEPARATOR, n) : NULL;
		size_t piece = end ? (size_t)(end - bytes) : n;

		put_piece(names[i], bytes, piece);
		bytes += piece + (end != NULL);
		n -= piece + (end != NULL);
	}
	return root;
}

/* ---- properties -------------------------------------------------------------------------------- */

bool fuzz_is_safe(const char *text, size_t n)
{
	bool same = true;

	while (n && same) {
		const char *newline = memchr(text, '\n', n);
		size_t line = newline ? (size_t)(newline - text) : n;
		char *safe = text_safe_bytes(text, line);

		same = strlen(safe) == line && !memcmp(safe, text, line);
		free(safe);
		text += line + (newline != NULL);
		n -= line + (newline != NULL);
	}
	return same;
}
