/* What is run on each runtime, and the workshop: scripts and floor programs in their private
 * directory. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "runtime/embed.h"
#include "runtime/workshop.h"

static const struct {
	const char *name;
	const char *meaning;
	const char *floor_program; /* the file in the workshop that is floor's */
} workloads[WORKLOAD_MAX] = {
	[WORKLOAD_STARTUP] = {"startup", "a one-line program prints and ends, many times", "floor"},
	[WORKLOAD_IDLE] = {"idle", "an HTTP server waits, and nobody talks to it", "floor"},
	[WORKLOAD_HASH] = {"hash", "SHA-256 of a short string to hex, over and over", "floor-hash"},
	[WORKLOAD_SERVE] = {"serve", "the same HTTP server under a load generator", "floor"},
};

const char *workload_name(enum workload workload)
{
	return workloads[workload].name;
}

const char *workload_meaning(enum workload workload)
{
	return workloads[workload].meaning;
}

struct workshop {
	struct private_dir *dir;
	char *cache;	      /* a directory in it */
	unsigned directories; /* made so far */
};

static char *script_name(const struct family *family, enum workload workload)
{
	if (family->builtin)
		return mem_strdup(workloads[workload].floor_program);
	return mem_printf("%s-%s.%s", family->name, workloads[workload].name, family->extension);
}

static int write_scripts(struct workshop *shop, const struct family *family, struct diag *diag)
{
	int err = 0;

	for (int i = 0; !err && !family->builtin && i < WORKLOAD_MAX; i++) {
		char *name = script_name(family, (enum workload)i);

		err = private_dir_write(shop->dir, name, family->scripts[i].text,
					family->scripts[i].bytes, false, diag);
		free(name);
	}
	return err;
}

static int write_floor(struct workshop *shop, struct diag *diag)
{
	int err = private_dir_write(shop->dir, "floor", embed_floor_static,
				    EMBED_BYTES(embed_floor_static), true, diag);

	if (err)
		return err;
	return private_dir_write(shop->dir, "floor-hash", embed_floor_hash,
				 EMBED_BYTES(embed_floor_hash), true, diag);
}

int workshop_create(struct workshop **ret_shop, const char *user, struct diag *diag)
{
	struct workshop *shop = mem_zalloc(sizeof(*shop));
	int err = private_dir_create(&shop->dir, user, diag);

	for (const struct family *family = families; !err && family->name; family++)
		err = write_scripts(shop, family, diag);
	if (!err)
		err = write_floor(shop, diag);
	if (!err)
		err = private_dir_make_directory(shop->dir, "cache", diag);
	if (err) {
		workshop_remove(shop);
		return err;
	}
	shop->cache = mem_printf("%s/cache", private_dir_path(shop->dir));
	*ret_shop = shop;
	return 0;
}

void workshop_remove(struct workshop *shop)
{
	if (!shop)
		return;
	private_dir_remove(shop->dir);
	free(shop->cache);
	free(shop);
}

char *workshop_script(const struct workshop *shop, const struct family *family,
		      enum workload workload)
{
	char *name = script_name(family, workload);
	char *path = mem_printf("%s/%s", private_dir_path(shop->dir), name);

	free(name);
	return path;
}

int workshop_make_directory(struct workshop *shop, char **ret_path, struct diag *diag)
{
	char *name = mem_printf("job-%u", shop->directories++);
	int err = private_dir_make_directory(shop->dir, name, diag);

	if (!err)
		*ret_path = mem_printf("%s/%s", private_dir_path(shop->dir), name);
	free(name);
	return err;
}

const char *workshop_cache(const struct workshop *shop)
{
	return shop->cache;
}

void workshop_guard(struct workshop *shop, pid_t group)
{
	private_dir_guard(shop->dir, group);
}
