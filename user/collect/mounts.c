/* Mounts as /proc/PID/mountinfo shows them. */
#include "collect/mounts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAGS] - TYPE SOURCE SUPER_OPTIONS", proc(5) */
enum { FIELD_ID = 0, FIELD_POINT = 4 };

/* Blanks and the like are \ooo. */
static char *unescape(const char *text)
{
	char *plain = mem_strdup(text), *to = plain;

	for (const char *at = plain; *at; at++) {
		bool escaped = at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' &&
			       at[3] >= '0' && at[3] <= '7';

		*to++ = escaped ? (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + at[3] - '0') : *at;
		at += escaped ? 3 : 0;
	}
	*to = '\0';
	return plain;
}

/* The part of the line behind " - ". */
static bool is_foreign(char *super, uid_t us)
{
	char *type = strsep(&super, " "), *option;
	unsigned long user;

	if (!type || strncmp(type, "fuse", 4) || !super)
		return false;
	strsep(&super, " ");
	while ((option = strsep(&super, ",")))
		if (sscanf(option, "user_id=%lu", &user) == 1)
			return user != 0 && user != us;
	return false;
}

static void parse_line(struct mounts *mounts, char *line, uid_t us)
{
	char *super = strstr(line, " - "), *point = NULL, *field;
	uint64_t id = 0;

	if (!super)
		return;
	*super = '\0';
	for (int i = 0; i <= FIELD_POINT && (field = strsep(&line, " ")); i++) {
		if (i == FIELD_ID)
			id = strtoull(field, NULL, 10);
		if (i == FIELD_POINT)
			point = field;
	}
	if (point)
		*vec_push(&mounts->items) =
			(struct mount){.id = id, .point = unescape(point), .foreign = is_foreign(super + 3, us)};
}

void mounts_parse(struct mounts *ret_mounts, FILE *in, uid_t us)
{
	char *line = NULL;
	size_t room = 0;

	*ret_mounts = (struct mounts){};
	while (getline(&line, &room, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		parse_line(ret_mounts, line, us);
	}
	free(line);
}

void mounts_read(struct mounts *ret_mounts, int process_fd, uid_t us)
{
	int fd = process_fd < 0 ? open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
				: openat(process_fd, "mountinfo", O_RDONLY | O_CLOEXEC);
	FILE *in = fd >= 0 ? fdopen(fd, "re") : NULL;

	*ret_mounts = (struct mounts){};
	if (in) {
		mounts_parse(ret_mounts, in, us);
		fclose(in);
	} else if (fd >= 0) {
		close(fd);
	}
}

const struct mount *mounts_find(const struct mounts *mounts, uint64_t id)
{
	for (size_t i = 0; i < mounts->items.n; i++)
		if (mounts->items.items[i].id == id)
			return &mounts->items.items[i];
	return NULL;
}

bool mounts_any_foreign(const struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->items.n; i++)
		if (mounts->items.items[i].foreign)
			return true;
	return false;
}

bool mounts_lead_into_foreign(const struct mounts *mounts, const char *path)
{
	for (size_t i = 0; i < mounts->items.n; i++) {
		const struct mount *mount = &mounts->items.items[i];
		size_t n = strcmp(mount->point, "/") ? strlen(mount->point) : 0;

		if (mount->foreign && !strncmp(path, mount->point, n) && (path[n] == '/' || !path[n]))
			return true;
	}
	/* Nobody names a file so who means no harm. */
	return strstr(path, "/..") && mounts_any_foreign(mounts);
}

void mounts_free_members(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->items.n; i++)
		free(mounts->items.items[i].point);
	free(mounts->items.items);
	*mounts = (struct mounts){};
}
