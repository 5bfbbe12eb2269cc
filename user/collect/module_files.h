/* The files that processes map, and what is in them: opened while they can still be reached, their
 * symbols read once for all processes. */
#ifndef WAKEWHY_COLLECT_MODULE_FILES_H
#define WAKEWHY_COLLECT_MODULE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct module_files;

#define MODULE_ANONYMOUS UINT32_MAX /* memory of no file: code made at run time */

struct module_key {
	uint32_t device_major, device_minor;
	uint64_t inode;
	const char *path; /* as the process saw it; " (deleted)" is taken off */
};

/* A mapping of the file, of a process that may be gone. */
struct module_view {
	pid_t pid;
	uint64_t start, end; /* of the mapping */
	uint64_t mapped_ns;  /* 0: not known */
	uint64_t time_ns;    /* the process had this id then */
	bool current;	     /* it has not executed another program since, as far as is known */
};

struct module_files *module_files_new(void);
void module_files_free(struct module_files *files); /* NULL is fine */

/* The number of a mapped file, or MODULE_ANONYMOUS: where the mapping is of no file, or where there is
 * no room for another one (counted). bytes and low tell a vdso apart that is not our own: its size, and
 * whether it lies below 4 GB, as those of 32-bit programs do. */
uint32_t module_files_note(struct module_files *files, const struct module_key *key, uint64_t bytes,
			   bool low);
uint64_t module_files_left_out(const struct module_files *files);

/* Tries to open it, unless it is open, or has been tried for this process. */
void module_files_open(struct module_files *files, uint32_t file, const struct module_view *view);
/* -1: it could not be opened. Stays with files. */
int module_files_fd(const struct module_files *files, uint32_t file);
/* It is open, and holds no program: code made at run time, put into a file without a name. */
bool module_files_is_data(const struct module_files *files, uint32_t file);

const char *module_files_path(const struct module_files *files, uint32_t file);
/* Hex digits, or "". */
const char *module_files_build_id(struct module_files *files, uint32_t file);
/* What the file itself calls that byte of it (objdump, addr2line); 0: not known. */
uint64_t module_files_address(struct module_files *files, uint32_t file, uint64_t offset);
/* As the file spells it, or NULL; valid as long as files. */
const char *module_files_symbol(struct module_files *files, uint32_t file, uint64_t offset,
				uint64_t *ret_into);

#endif
