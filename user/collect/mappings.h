/* What every process of the machine has mapped, over time: from perf's records, and from /proc for those
 * that lived before. */
#ifndef WAKEWHY_COLLECT_MAPPINGS_H
#define WAKEWHY_COLLECT_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "collect/address_space.h"
#include "collect/module_files.h"
#include "collect/process_look.h"

/* A process between two execs. */
struct image {
	uint32_t pid;
	uint32_t serial;   /* no other image has it */
	uint64_t since_ns; /* 0: it was there when it was looked for */
	uint64_t asked;	   /* /proc has been read, or need not be: see mappings.c */
	uint64_t asked_ns; /* when, where records do not come */
	bool looked;	   /* `who` is of this image */
	struct process_look who;
	struct address_space *space;
	struct image *older;
};

struct mappings;

/* files outlives mappings. */
struct mappings *mappings_new(struct module_files *files);
void mappings_free(struct mappings *mappings); /* NULL is fine */
/* Asks the kernel for records; -errno with diag where it gives none. */
int mappings_watch(struct mappings *mappings, struct diag *diag);
/* -1: nothing to wait for. */
int mappings_fd(const struct mappings *mappings);
/* Takes in all that happened until then; costs nothing where that has been done. UINT64_MAX: until now. */
void mappings_service(struct mappings *mappings, uint64_t until_ns);
/* Reads what a live process has mapped, and whose it is. */
void mappings_seed(struct mappings *mappings, uint32_t pid);
/* The image that the process had then, from /proc where nothing is known of it and it still lives. NULL: not
 * known. Valid until the next service or seed. */
struct image *mappings_image(struct mappings *mappings, uint32_t pid, uint64_t time_ns);
/* No exec has followed it, as far as the records go. */
bool mappings_is_current(const struct mappings *mappings, const struct image *image);
/* What the image had mapped there at that time; NULL: nothing. Where records do not come, /proc is asked
 * again, at most once a second. */
const struct mapping *mappings_find(struct mappings *mappings, struct image *image,
				    uint64_t address, uint64_t time_ns);
/* Records that the kernel dropped, and mappings that there was no room for. */
uint64_t mappings_lost(const struct mappings *mappings);
/* Frees unwinders, those first that have not been used for the longest time, until all hold at
 * most so many files open; the one of `keep` stays. */
void mappings_trim_unwinders(struct mappings *mappings, size_t max_files,
			     const struct address_space *keep);

#endif
