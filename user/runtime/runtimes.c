/* What can be measured: a row for each family of runtimes, and the runtimes a user names. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "runtime/embed.h"
#include "runtime/probe.h"
#include "runtime/program.h"
#include "runtime/runtimes.h"
#include "runtime_scripts.h"

#define LABEL_MAX_BYTES 64

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SCRIPT(name)                                                                               \
	{                                                                                          \
		(const char *)script_##name, sizeof(script_##name)                                 \
	}
#define SCRIPTS(extension)                                                                         \
	{                                                                                          \
		[WORKLOAD_STARTUP] = SCRIPT(startup_##extension),                                  \
		[WORKLOAD_IDLE] = SCRIPT(idle_##extension),                                        \
		[WORKLOAD_HASH] = SCRIPT(hash_##extension),                                        \
		[WORKLOAD_SERVE] = SCRIPT(idle_##extension),                                       \
	}

/* Extensions: above a .js, node looks for a package.json, which somebody may have put into /tmp, and not
 * above a .cjs; deno takes only .mjs for a module without one. --no-config is the same for
 * deno.json. */
const struct family families[] = {
	{
		.name = "bun",
		.bases = LIST("bun"),
		.extension = "cjs",
		.version_argv = LIST("--version"),
		.run_argv = LIST(NULL),
		.variants = LIST("sync", "oneshot", "webcrypto"),
		.scripts = SCRIPTS(js),
	},
	{
		.name = "node",
		.bases = LIST("node", "nodejs"),
		.extension = "cjs",
		.version_argv = LIST("--version"),
		.run_argv = LIST(NULL),
		.variants = LIST("sync", "oneshot", "webcrypto"),
		.scripts = SCRIPTS(js),
	},
	{
		.name = "deno",
		.bases = LIST("deno"),
		.extension = "mjs",
		.version_argv = LIST("--version"),
		.run_argv = LIST("run", "-A", "--no-config"),
		.variants = LIST("sync", "oneshot", "webcrypto"),
		.scripts = SCRIPTS(js),
	},
	{
		.name = "python",
		.bases = LIST("python3", "python"),
		.extension = "py",
		.version_argv = LIST("--version"),
		.run_argv = LIST(NULL),
		.variants = LIST("sync"),
		.scripts = SCRIPTS(py),
	},
	{
		.name = "perl",
		.bases = LIST("perl"),
		.extension = "pl",
		.version_argv = LIST("-e", "print $^V"),
		.run_argv = LIST(NULL),
		.variants = LIST("sync", "oneshot"),
		.scripts = SCRIPTS(pl),
	},
	{
		.name = "ruby",
		.bases = LIST("ruby"),
		.extension = "rb",
		.version_argv = LIST("--version"),
		.run_argv = LIST(NULL),
		.variants = LIST("sync", "oneshot"),
		.scripts = SCRIPTS(rb),
	},
	{
		.name = "php",
		.bases = LIST("php"),
		.extension = "php",
		.version_argv = LIST("--version"),
		.run_argv = LIST(NULL),
		.variants = LIST("sync", "oneshot"),
		.scripts = SCRIPTS(php),
	},
	{
		.name = "floor",
		.bases = LIST("floor"),
		.extension = "",
		.version_argv = LIST(NULL),
		.run_argv = LIST(NULL),
		.variants = LIST("sync", "oneshot"),
		.builtin = true,
	},
	{0},
};

/* ---- recognition ------------------------------------------------------------------------------ */

/* What may follow a base name: "", "3.11", "-1.3.14", "@22", "_8.2rc1", "-v22.1.0". */
static bool is_version_suffix(const char *text)
{
	if (!*text)
		return true;
	if (strchr("-_@.", *text))
		text++;
	if (*text == 'v')
		text++;
	if (!isdigit((unsigned char)*text))
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr(".-_+~", *text))
			return false;
	return true;
}

static const struct family *family_of_name(const char *name, size_t n)
{
	for (const struct family *family = families; family->name; family++)
		if (strlen(family->name) == n && !strncmp(family->name, name, n))
			return family;
	return NULL;
}

static const struct family *family_of_base(const char *base)
{
	for (const struct family *family = families; family->name; family++)
		for (const char *const *at = family->bases; *at; at++)
			if (!strncmp(base, *at, strlen(*at)) &&
			    is_version_suffix(base + strlen(*at)))
				return family;
	return NULL;
}

static int unknown(const char *what, const char *text, struct diag *diag)
{
	struct strbuf known = {0};

	for (const struct family *family = families; family->name; family++)
		strbuf_printf(&known, "%s%s", family == families ? "" : ", ", family->name);
	diag_set(diag, -EINVAL, "%s '%s' is of no known family", what, text);
	diag_hint(diag, -EINVAL, "families: %s; LABEL=FAMILY:PATH names one", strbuf_text(&known));
	strbuf_free_members(&known);
	return -EINVAL;
}

/* ---- one argument ----------------------------------------------------------------------------- */

/* A label is shown in tables and becomes part of names of files: one short line. */
static int check_label(const char *label, size_t n, struct diag *diag)
{
	if (!n || n > LABEL_MAX_BYTES)
		return diag_set(diag, -EINVAL, "a label has 1 to %d bytes: '%.*s'", LABEL_MAX_BYTES,
				(int)(n < 200 ? n : 200), label);
	for (size_t i = 0; i < n; i++)
		if (iscntrl((unsigned char)label[i]))
			return diag_set(diag, -EINVAL, "a label has no control characters: '%.*s'",
					(int)n, label);
	return 0;
}

static int resolve_name(struct runtime *runtime, const char *name, struct diag *diag)
{
	struct diag other = {0};
	int err;

	if (!runtime->family)
		runtime->family = family_of_base(name);
	if (!runtime->family)
		return unknown("runtime", name, diag);
	if (runtime->family->builtin)
		return 0;
	err = program_find(name, &runtime->path, diag);
	/* "python" is also found as python3, "node" as nodejs. */
	for (const char *const *base = runtime->family->bases; err == -ENOENT && *base; base++)
		if (!strcmp(name, runtime->family->name) &&
		    !program_find(*base, &runtime->path, &other))
			err = 0;
	return err;
}

static int resolve_path(struct runtime *runtime, const char *path, struct diag *diag)
{
	const char *base = strrchr(path, '/') + 1;

	if (!runtime->family)
		runtime->family = family_of_base(base);
	if (!runtime->family)
		return unknown("program", path, diag);
	if (runtime->family->builtin)
		return diag_set(diag, -EINVAL, "'%s' is built in and has no path",
				runtime->family->name);
	return program_find(path, &runtime->path, diag);
}

/* Jobs run in another directory. A link stays one: a program may ask by which name it was called. */
static int make_absolute(char **path, struct diag *diag)
{
	char *directory, *absolute;

	if (!*path || **path == '/')
		return 0;
	directory = getcwd(NULL, 0);
	if (!directory)
		return diag_set(diag, -errno, "cannot tell the working directory: %s",
				strerror(errno));
	absolute = mem_printf("%s/%s", directory, *path);
	free(directory);
	free(*path);
	*path = absolute;
	return 0;
}

/* LABEL= before a text, when there is one; a '/' before '=' makes it part of a path. */
static const char *find_label_end(const char *text)
{
	const char *equals = strchr(text, '=');

	return equals && !memchr(text, '/', (size_t)(equals - text)) ? equals : NULL;
}

static int resolve(struct runtime *runtime, const char *what, struct diag *diag)
{
	const char *colon = strchr(what, ':');
	const char *slash = strchr(what, '/');

	if (runtime->label && colon && slash && colon < slash) {
		runtime->family = family_of_name(what, (size_t)(colon - what));
		if (!runtime->family)
			return unknown("family of", what, diag);
		what = colon + 1;
	}
	return slash ? resolve_path(runtime, what, diag) : resolve_name(runtime, what, diag);
}

int runtime_parse(struct runtime *ret_runtime, const char *text, struct diag *diag)
{
	const char *equals = find_label_end(text);
	const char *what = equals ? equals + 1 : text;
	struct runtime runtime = {0};
	int err = 0;

	if (equals) {
		err = check_label(text, (size_t)(equals - text), diag);
		runtime.label = mem_strndup(text, (size_t)(equals - text));
	}
	if (!err && !*what) {
		err = diag_set(diag, -EINVAL, "'%s' names no runtime", text);
		diag_hint(diag, err, "NAME, PATH, LABEL=NAME, LABEL=PATH or LABEL=FAMILY:PATH");
	}
	if (!err)
		err = resolve(&runtime, what, diag);
	if (!err)
		err = make_absolute(&runtime.path, diag);
	if (!err && !equals) {
		const char *slash = strrchr(what, '/');

		runtime.label = mem_strdup(slash ? slash + 1 : what);
		err = check_label(runtime.label, strlen(runtime.label), diag);
	}
	if (err) {
		runtime_free_members(&runtime);
		return err;
	}
	runtime.version = mem_strdup("");
	*ret_runtime = runtime;
	return 0;
}

int runtime_parse_command(struct runtime *ret_runtime, const char *text, struct diag *diag)
{
	const char *equals = strchr(text, '=');
	const char *command = equals ? equals + 1 + strspn(equals + 1, " \t") : "";
	int err;

	if (!equals || !*command) {
		diag_set(diag, -EINVAL, "'%s' names no command", text);
		return diag_hint(diag, -EINVAL, "--cmd 'LABEL=COMMAND LINE'");
	}
	err = check_label(text, (size_t)(equals - text), diag);
	if (err)
		return err;
	*ret_runtime = (struct runtime){
		.label = mem_strndup(text, (size_t)(equals - text)),
		.path = mem_strdup("/bin/sh"),
		.command = mem_strdup(command),
		.version = mem_strdup(""),
	};
	return 0;
}

/* ---- what it is ------------------------------------------------------------------------------- */

static int probe_size(struct runtime *runtime, struct diag *diag)
{
	struct stat st;

	if (stat(runtime->path, &st))
		return diag_set(diag, -errno, "cannot look at '%s': %s", runtime->path,
				strerror(errno));
	runtime->size_bytes = (uint64_t)st.st_size;
	return 0;
}

int runtime_probe(struct runtime *runtime, const char *user, struct diag *diag)
{
	char *version;
	int err;

	if (!runtime->family)
		return 0;
	if (runtime->family->builtin) {
		free(runtime->version);
		runtime->version = mem_strdup(WAKEWHY_VERSION);
		runtime->size_bytes = EMBED_BYTES(embed_floor_static);
		return 0;
	}
	err = probe_size(runtime, diag);
	if (!err)
		err = probe_version(&version, runtime->path, runtime->family->version_argv, user,
				    diag);
	if (err)
		return err;
	free(runtime->version);
	runtime->version = version;
	return 0;
}

void runtime_free_members(struct runtime *runtime)
{
	free(runtime->label);
	free(runtime->path);
	free(runtime->command);
	free(runtime->version);
	*runtime = (struct runtime){0};
}
