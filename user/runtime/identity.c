/* Whom a workload runs as: the user, his groups and his home. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/identity.h"

/* Decimal digits only, and not the -1 that the set*id calls take for "leave it". */
static bool parse_id(const char *text, uint32_t *ret_id)
{
	uint64_t id = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		id = id * 10 + (uint64_t)(*text - '0');
		if (id >= UINT32_MAX)
			return false;
	}
	*ret_id = (uint32_t)id;
	return true;
}

/* One entry of the user database, by name or (name NULL) by uid. 0, -ENOENT or what the database
 * says; the strings of *ret live in *ret_buffer, which the caller frees. */
static int find_entry(const char *name, uid_t uid, struct passwd *ret, char **ret_buffer)
{
	size_t bytes = 4096;
	char *buffer = mem_zalloc(bytes);
	struct passwd *found = NULL;
	int err;

	for (;;) {
		err = name ? getpwnam_r(name, ret, buffer, bytes, &found)
			   : getpwuid_r(uid, ret, buffer, bytes, &found);
		if (err != ERANGE || bytes > (1U << 20))
			break;
		bytes *= 2;
		buffer = mem_realloc(buffer, bytes, 1);
	}
	if (!found) {
		free(buffer);
		/* getpwnam(3): these too may mean "no such entry". */
		return err && err != ESRCH && err != EBADF && err != EPERM ? -err : -ENOENT;
	}
	*ret_buffer = buffer;
	return 0;
}

static void fill_groups(struct identity *identity)
{
	int n = 64;

	for (;;) {
		int room = n;

		identity->groups = mem_realloc(identity->groups, (size_t)n, sizeof(gid_t));
		if (getgrouplist(identity->name, identity->gid, identity->groups, &n) >= 0)
			break;
		if (n <= room || n > 65536) { /* no progress: keep what the kernel would take */
			n = room;
			break;
		}
	}
	identity->n_groups = (size_t)n;
}

static void fill_from_entry(struct identity *identity, const struct passwd *entry)
{
	identity->uid = entry->pw_uid;
	identity->gid = entry->pw_gid;
	identity->name = mem_strdup(entry->pw_name);
	identity->home = mem_strdup(entry->pw_dir && *entry->pw_dir ? entry->pw_dir : "/");
	identity->shell =
		mem_strdup(entry->pw_shell && *entry->pw_shell ? entry->pw_shell : "/bin/sh");
}

/* A uid that may have no entry: containers run as such. gid holds where there is none. */
static int fill_from_uid(struct identity *identity, uid_t uid, gid_t gid, struct diag *diag)
{
	struct passwd entry;
	char *buffer = NULL;
	int err = find_entry(NULL, uid, &entry, &buffer);

	if (err && err != -ENOENT)
		return diag_set(diag, err, "cannot look up user %u: %s", uid, strerror(-err));
	if (!err) {
		fill_from_entry(identity, &entry);
		free(buffer);
	} else {
		identity->uid = uid;
		identity->name = mem_printf("%u", uid);
		identity->home = mem_strdup("/");
		identity->shell = mem_strdup("/bin/sh");
	}
	identity->gid = gid;
	return 0;
}

static int fill_named(struct identity *identity, const char *user, struct diag *diag)
{
	struct passwd entry;
	char *buffer = NULL;
	uint32_t uid;
	int err = find_entry(user, 0, &entry, &buffer);

	if (err == -ENOENT && parse_id(user, &uid)) {
		err = find_entry(NULL, uid, &entry, &buffer);
		if (err == -ENOENT)
			return fill_from_uid(identity, uid, uid, diag);
	}
	if (err == -ENOENT) {
		diag_set(diag, err, "no user is called '%s'", user);
		return diag_hint(diag, err, "getent passwd lists the users");
	}
	if (err)
		return diag_set(diag, err, "cannot look up user '%s': %s", user, strerror(-err));
	fill_from_entry(identity, &entry);
	free(buffer);
	return 0;
}

/* The user who typed sudo; ourselves when nobody did. */
static int fill_default(struct identity *identity, struct diag *diag)
{
	const char *sudo_uid = geteuid() == 0 ? getenv("SUDO_UID") : NULL;
	const char *sudo_gid = getenv("SUDO_GID");
	uint32_t uid, gid;

	if (!sudo_uid)
		return fill_from_uid(identity, geteuid(), getegid(), diag);
	if (!parse_id(sudo_uid, &uid) || (sudo_gid && !parse_id(sudo_gid, &gid))) {
		diag_set(diag, -EINVAL, "SUDO_UID='%s' SUDO_GID='%s' name no user", sudo_uid,
			 sudo_gid ? sudo_gid : "");
		return diag_hint(diag, -EINVAL, "say who runs the workload: --user NAME");
	}
	return fill_from_uid(identity, uid, sudo_gid ? gid : uid, diag);
}

int identity_resolve(struct identity *ret_identity, const char *user, struct diag *diag)
{
	struct identity identity = {0};
	int err = user ? fill_named(&identity, user, diag) : fill_default(&identity, diag);

	if (err)
		goto out;
	identity.change = identity.uid != geteuid() || identity.uid != getuid() ||
			  (geteuid() == 0 && identity.gid != getegid());
	if (identity.change && geteuid() != 0) {
		err = diag_set(diag, -EPERM,
			       "cannot run as user '%s': only root can change the user",
			       identity.name);
		diag_hint(diag, err, "run it with sudo, or leave --user out");
		goto out;
	}
	if (identity.change)
		fill_groups(&identity);
	*ret_identity = identity;
	return 0;
out:
	identity_free_members(&identity);
	return err;
}

int identity_assume(const struct identity *identity)
{
	uid_t ruid, euid, suid;
	gid_t rgid, egid, sgid;

	if (!identity->change)
		return 0;
	if (setgroups(identity->n_groups, identity->groups) ||
	    setresgid(identity->gid, identity->gid, identity->gid) ||
	    setresuid(identity->uid, identity->uid, identity->uid))
		return -errno;
	if (getresuid(&ruid, &euid, &suid) || getresgid(&rgid, &egid, &sgid))
		return -errno;
	if (ruid != identity->uid || euid != identity->uid || suid != identity->uid ||
	    rgid != identity->gid || egid != identity->gid || sgid != identity->gid)
		return -EPERM;
	/* A kernel or a security module that kept a capability would let this succeed. */
	if (identity->uid != 0 && !setuid(0))
		return -EPERM;
	return 0;
}

void identity_free_members(struct identity *identity)
{
	free(identity->groups);
	free(identity->name);
	free(identity->home);
	free(identity->shell);
	*identity = (struct identity){0};
}
