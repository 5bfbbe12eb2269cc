/* What the child of a launch does between fork and exec: made here, done in launch_child.c. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/environment.h"
#include "runtime/launch_plan.h"
#include "runtime/program.h"

static size_t strings_bytes(char *const *strings)
{
	size_t bytes = sizeof(char *);

	for (; *strings; strings++)
		bytes += sizeof(char *) + strlen(*strings) + 1;
	return bytes;
}

/* Takes the next bytes of the mapping behind the plan. */
static void *take(char **at, size_t bytes)
{
	char *taken = *at;

	*at += (bytes + 7) & ~(size_t)7;
	return taken;
}

static char *take_string(char **at, const char *text)
{
	size_t bytes = strlen(text) + 1;

	return memcpy(take(at, bytes), text, bytes);
}

/* first NULL: strings alone; else an array that begins with the two given, then strings + 1. */
static char **take_strings(char **at, char *const *strings, char *const first[2])
{
	size_t n = 0, out = 0;
	char **copy;

	while (strings[n])
		n++;
	copy = take(at, (n + 3) * sizeof(char *));
	if (first) {
		copy[out++] = first[0];
		copy[out++] = first[1];
		strings++;
	}
	for (; *strings; strings++)
		copy[out++] = take_string(at, *strings);
	copy[out] = NULL;
	return copy;
}

/* Everything that the child reads, in one mapping that it shares with us. */
static struct launch_plan *plan_create(const struct launch_options *options, const char *path,
				       const struct identity *identity, char *const *environment)
{
	size_t n_strings = 0;
	size_t bytes = sizeof(struct launch_plan) + 2 * strings_bytes(options->argv) +
		       strings_bytes(environment) + strlen(path) +
		       identity->n_groups * sizeof(gid_t) + 256;
	struct launch_plan *plan;
	char *at;

	bytes += options->directory ? strlen(options->directory) : 0;
	for (char *const *in = options->argv; *in; in++)
		n_strings += 2;
	for (char *const *in = environment; *in; in++)
		n_strings++;
	bytes += n_strings * 8; /* each string is rounded up */
	plan = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (plan == MAP_FAILED)
		return NULL;
	plan->bytes = bytes;
	at = (char *)plan;
	take(&at, sizeof(*plan));
	plan->path = take_string(&at, path);
	plan->argv = take_strings(&at, options->argv, NULL);
	plan->shell_argv =
		take_strings(&at, options->argv, (char *[2]){(char *)"sh", (char *)plan->path});
	plan->environment = take_strings(&at, environment, NULL);
	plan->directory = options->directory ? take_string(&at, options->directory) : NULL;
	plan->identity = (struct identity){.uid = identity->uid,
					   .gid = identity->gid,
					   .n_groups = identity->n_groups,
					   .change = identity->change};
	plan->identity.groups = take(&at, identity->n_groups * sizeof(gid_t));
	if (identity->n_groups)
		memcpy(plan->identity.groups, identity->groups, identity->n_groups * sizeof(gid_t));
	return plan;
}

static int fill_cpus(struct launch_plan *plan, const char *cpus, struct diag *diag)
{
	int err = cpus ? cpulist_parse(&plan->cpus, cpus, diag) : 0;

	if (err || !cpus)
		return err;
	if (!cpulist_count(&plan->cpus))
		return diag_set(diag, -EINVAL, "'%s' names no CPU", cpus);
	plan->pin = true;
	return 0;
}

static int plan_fill(struct launch_plan *plan, const struct launch_options *options,
		     struct diag *diag)
{
	struct sigaction hangup;

	plan->stdio[0] = options->stdin_fd;
	plan->stdio[1] = options->stdout_fd;
	plan->stdio[2] = options->stderr_fd;
	plan->parent = getpid();
	plan->own_group = options->own_group;
	plan->file_limit_bytes = options->file_limit_bytes;
	if (!options->own_group && !sigaction(SIGHUP, NULL, &hangup))
		plan->keep_hangup = hangup.sa_handler == SIG_IGN;
	return fill_cpus(plan, options->cpus, diag);
}

/* The file that is executed. A relative path with a slash is taken from the working directory of
 * the program, so that only the child can judge it. */
static int find_path(const struct launch_options *options, char **ret_path, struct diag *diag)
{
	const char *name = options->argv[0];

	if (!name)
		return diag_set(diag, -EINVAL, "no command to run");
	if (options->directory && strchr(name, '/') && *name != '/') {
		*ret_path = mem_strdup(name);
		return 0;
	}
	return program_find(name, ret_path, diag);
}

int launch_plan_make(struct launch_plan **ret_plan, const struct launch_options *options,
		     struct diag *diag)
{
	struct identity identity = {0};
	struct launch_plan *plan = NULL;
	char **environment = NULL;
	char *path = NULL;
	int err = find_path(options, &path, diag);

	if (!err)
		err = identity_resolve(&identity, options->user, diag);
	if (err)
		goto out;
	environment = environment_build(&identity, options->clean_environment, options->mark,
					options->cache);
	plan = plan_create(options, path, &identity, environment);
	if (!plan) {
		err = diag_set(diag, -ENOMEM, "no memory to start '%s'", options->argv[0]);
		goto out;
	}
	err = plan_fill(plan, options, diag);
	if (err) {
		launch_plan_free(plan);
		goto out;
	}
	*ret_plan = plan;
out:
	environment_free(environment);
	identity_free_members(&identity);
	free(path);
	return err;
}

void launch_plan_free(struct launch_plan *plan)
{
	if (plan)
		munmap(plan, plan->bytes);
}
