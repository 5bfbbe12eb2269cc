/* Control groups: where they are mounted, and what CPU limit one has. */
#include "collect/cgroup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/machine.h"

#define FILE_BYTES 65536

/* ---- mounts ------------------------------------------------------------------------------------ */

/* Paths are written there with \ooo for space, tab, newline and backslash (proc(5)). */
static void unescape(char *text)
{
	char *out = text;

	for (; *text; out++) {
		unsigned value;

		if (*text == '\\' && sscanf(text + 1, "%3o", &value) == 1 && strlen(text) >= 4) {
			*out = (char)value;
			text += 4;
		} else {
			*out = *text++;
		}
	}
	*out = '\0';
}

/* Is it one of the words of a list with commas, which ends at a space or at the end? */
static bool is_listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (;; list++) {
		if (!strncmp(list, word, n) && (list[n] == ',' || list[n] == '\0'))
			return true;
		list += strcspn(list, ",");
		if (!*list)
			return false;
	}
}

/* "36 35 98:0 /root /mount/point options… - cgroup2 source options": false where it is another mount. */
static bool parse_mount(char *line, const char *controller, char **ret_root, char **ret_point)
{
	char *type = strstr(line, " - "), *save, *root, *point, *options;

	if (!type)
		return false;
	*type = '\0';
	type = strtok_r(type + 3, " ", &save);
	options = strtok_r(NULL, " ", &save) ? strtok_r(NULL, " ", &save) : NULL;
	if (!type || strcmp(type, controller ? "cgroup" : "cgroup2"))
		return false;
	if (controller && (!options || !is_listed(options, controller)))
		return false;
	root = strtok_r(line, " ", &save);
	for (int i = 0; root && i < 3; i++)
		root = strtok_r(NULL, " ", &save);
	point = root ? strtok_r(NULL, " ", &save) : NULL;
	if (!point)
		return false;
	unescape(root);
	unescape(point);
	*ret_root = root;
	*ret_point = point;
	return true;
}

char *cgroup_mount(const char *proc, const char *controller, char **ret_root)
{
	char *path = mem_printf("%s/self/mountinfo", proc), *line = NULL, *mount = NULL;
	FILE *in = fopen(path, "re");
	size_t cap = 0;
	ssize_t n;

	while (in && !mount && (n = getline(&line, &cap, in)) > 0) {
		char *root, *point;

		line[n - (line[n - 1] == '\n')] = '\0';
		if (!parse_mount(line, controller, &root, &point))
			continue;
		mount = mem_strdup(point);
		if (ret_root)
			*ret_root = mem_strdup(root);
	}
	free(line);
	free(path);
	if (in)
		fclose(in);
	return mount;
}

/* ---- limits ------------------------------------------------------------------------------------ */

static char *read_in(const char *dir, const char *name)
{
	char *path = mem_printf("%s/%s", dir, name);
	char *text = machine_read_file(path, FILE_BYTES);

	free(path);
	return text;
}

static double read_number(const char *dir, const char *name)
{
	char *text = read_in(dir, name);
	double number = text ? strtod(text, NULL) : 0;

	free(text);
	return number;
}

/* CPUs that this cgroup by itself may use at most; 0: no limit. */
static double limit_of(const char *dir, bool unified)
{
	double quota = 0, period = 0;

	if (unified) {
		char *text = read_in(dir, "cpu.max");

		/* "max 100000" where there is none. */
		if (!text || sscanf(text, "%lf %lf", &quota, &period) != 2)
			quota = 0;
		free(text);
	} else {
		quota = read_number(dir, "cpu.cfs_quota_us"); /* -1: none */
		period = read_number(dir, "cpu.cfs_period_us");
	}
	/* The kernel takes periods from 1 ms to 1 s, and quotas from 1 ms on. */
	return quota >= 1 && quota < 1e15 && period >= 1 && period < 1e9 ? quota / period : 0;
}

static bool is_known(const struct cgroup_limits *limits, const char *dir)
{
	for (size_t i = 0; i < limits->items.n; i++)
		if (!strcmp(limits->items.items[i].dir, dir))
			return true;
	return false;
}

/* From the directory of a cgroup up to the mount's top, which has a limit where it is a container's. */
static void add_upwards(struct cgroup_limits *limits, char *dir, size_t top, bool unified)
{
	for (;;) {
		size_t n = strlen(dir);
		double cpus;

		while (n > top && dir[n - 1] == '/')
			dir[--n] = '\0';
		cpus = is_known(limits, dir) ? 0 : limit_of(dir, unified);
		if (cpus > 0)
			*vec_push(&limits->items) = (struct cgroup_limit){
				.dir = mem_strdup(dir), .cpus = cpus, .unified = unified};
		if (n <= top)
			return;
		while (n > top && dir[n - 1] != '/')
			dir[--n] = '\0';
	}
}

/* path as /proc/PID/cgroup has it, below a mount whose top is `root`. */
static void add_path(struct cgroup_limits *limits, const char *proc, const char *path, bool unified)
{
	char *root, *mount = cgroup_mount(proc, unified ? NULL : "cpu", &root), *dir;
	size_t n;

	if (!mount)
		return;
	n = strlen(root);
	if (n > 1 && !strncmp(path, root, n) && (path[n] == '/' || !path[n]))
		path += n;
	/* "/../…": outside of what this process's namespace shows. */
	if (strncmp(path, "/..", 3)) {
		dir = mem_printf("%s%s", mount, path);
		add_upwards(limits, dir, strlen(mount), unified);
		free(dir);
	}
	free(root);
	free(mount);
}

/* Lines are "0::/path" for version 2 and "4:cpu,cpuacct:/path" for version 1. */
void cgroup_limits_add(struct cgroup_limits *limits, const char *proc, pid_t pid)
{
	char *name = mem_printf("%s/%d/cgroup", proc, (int)pid), *save;
	char *text = machine_read_file(name, FILE_BYTES);

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *controllers = strchr(line, ':');
		char *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!path || path[1] != '/')
			continue;
		*path++ = '\0';
		if (!strcmp(line, "0:"))
			add_path(limits, proc, path, true);
		else if (is_listed(controllers + 1, "cpu"))
			add_path(limits, proc, path, false);
	}
	free(text);
	free(name);
}

double cgroup_limits_cpus(const struct cgroup_limits *limits)
{
	double least = 0;

	for (size_t i = 0; i < limits->items.n; i++)
		if (!least || limits->items.items[i].cpus < least)
			least = limits->items.items[i].cpus;
	return least;
}

/* A line of cpu.stat: "throttled_usec 1234"; 0 where there is none. */
static uint64_t stat_of(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, n) && line[n] == ' ')
			return strtoull(line + n + 1, NULL, 10);
	}
	return 0;
}

uint64_t cgroup_limits_throttled_ns(const struct cgroup_limits *limits)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < limits->items.n; i++) {
		const struct cgroup_limit *limit = &limits->items.items[i];
		char *text = read_in(limit->dir, "cpu.stat");

		sum_ns += limit->unified ? stat_of(text, "throttled_usec") * 1000
					 : stat_of(text, "throttled_time");
		free(text);
	}
	return sum_ns;
}

void cgroup_limits_free_members(struct cgroup_limits *limits)
{
	for (size_t i = 0; i < limits->items.n; i++)
		free(limits->items.items[i].dir);
	free(limits->items.items);
	*limits = (struct cgroup_limits){0};
}
