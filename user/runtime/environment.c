/* The environment that a workload gets. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/environment.h"

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct variables {
	VEC(char *) list;
};

static void set(struct variables *variables, const char *name, const char *value)
{
	if (value)
		*vec_push(&variables->list) = mem_printf("%s=%s", name, value);
}

static void set_user(struct variables *variables, const struct identity *identity)
{
	set(variables, "HOME", identity->home);
	set(variables, "USER", identity->name);
	set(variables, "LOGNAME", identity->name);
	set(variables, "SHELL", identity->shell);
}

/* The variables that set_user gives a changed user. */
static bool is_user_variable(const char *text)
{
	static const char *const names[] = {"HOME=", "USER=", "LOGNAME=", "SHELL="};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(text, names[i], strlen(names[i])))
			return true;
	return false;
}

static const char *get_or(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

static void build_clean(struct variables *variables, const struct identity *identity,
			const char *mark, const char *cache)
{
	struct identity ours = *identity;

	set(variables, ENVIRONMENT_MARK, mark);
	set(variables, "XDG_CACHE_HOME", cache);
	set(variables, "PATH", get_or("PATH", DEFAULT_PATH));
	if (!identity->change) {
		ours.home = (char *)get_or("HOME", ours.home);
		ours.name = (char *)get_or("USER", ours.name);
		ours.shell = (char *)get_or("SHELL", ours.shell);
		/* Another user could not write to our TMPDIR. */
		set(variables, "TMPDIR", get_or("TMPDIR", NULL));
	}
	set_user(variables, &ours);
	set(variables, "LANG", get_or("LANG", NULL));
}

char **environment_build(const struct identity *identity, bool clean, const char *mark,
			 const char *cache)
{
	struct variables variables = {0};

	if (clean) {
		build_clean(&variables, identity, mark, cache);
	} else {
		for (char **at = environ; at && *at; at++)
			if (!identity->change || !is_user_variable(*at))
				*vec_push(&variables.list) = mem_strdup(*at);
		if (identity->change)
			set_user(&variables, identity);
	}
	vec_push(&variables.list); /* the NULL at the end */
	return variables.list.items;
}

void environment_free(char **environment)
{
	for (char **at = environment; at && *at; at++)
		free(*at);
	free(environment);
}
