/* Mangled names as people write them, by libiberty.
 *
 * A short name can stand for a text without end: each part may name two earlier ones. libiberty bounds
 * how deep it goes (unless DMGL_NO_RECURSE_LIMIT is asked for) but not how much it writes, so its
 * callback leaves by longjmp when there is too much. */
#include "sym/elf.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/mem.h"
#include "base/strbuf.h"

#define MANGLED_BYTES_MAX   4096
#define DEMANGLED_BYTES_MAX 16384

struct written {
	struct strbuf text;
	jmp_buf too_long;
};

typedef int demangler(const char *mangled, int options, demangle_callbackref callback, void *opaque);

static void take_text(const char *text, size_t n, void *opaque)
{
	struct written *written = opaque;

	if (written->text.n + n > DEMANGLED_BYTES_MAX)
		longjmp(written->too_long, 1);
	strbuf_add_bytes(&written->text, text, n);
}

/* NULL: not of this mangling, or too long. */
static char *demangle_by(demangler *demangle, const char *name, int options)
{
	struct written *written = mem_zalloc(sizeof(*written));
	char *text = NULL;

	if (!setjmp(written->too_long) && demangle(name, options, take_text, written) &&
	    written->text.n)
		text = strbuf_take(&written->text);
	strbuf_free_members(&written->text);
	free(written);
	return text;
}

/* Bytes of the name without its version, as linkers write it into .symtab: "name@@GLIBC_2.34". */
static size_t without_version(const char *name)
{
	size_t n = strlen(name);
	const char *at = strchr(name, '@'), *version;

	if (!at || at == name)
		return n;
	version = at + (at[1] == '@' ? 2 : 1);
	if (!isupper((unsigned char)*version))
		return n;
	for (const char *c = version; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("_.", *c))
			return n;
	return (size_t)(at - name);
}

char *symbol_demangle(const char *name)
{
	size_t n = strnlen(name, MANGLED_BYTES_MAX + 1);
	char *plain, *text = NULL;

	if (n > MANGLED_BYTES_MAX)
		return mem_strdup(name);
	plain = mem_strndup(name, without_version(name));
	if (!strncmp(plain, "_R", 2) || !strncmp(plain, "_ZN", 3))
		text = demangle_by(rust_demangle_callback, plain, 0);
	if (!text && !strncmp(plain, "_Z", 2))
		text = demangle_by(cplus_demangle_v3_callback, plain, DMGL_PARAMS | DMGL_ANSI);
	if (!text)
		return plain;
	free(plain);
	return text;
}
