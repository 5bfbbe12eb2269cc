/* What the kernel says of mappings, execs, forks and exits of all processes: perf's side-band records, of
 * all CPUs, in the order of time. */
#ifndef WAKEWHY_COLLECT_PERF_RECORDS_H
#define WAKEWHY_COLLECT_PERF_RECORDS_H

#include <stdint.h>

#include "base/diag.h"

enum perf_record_kind {
	PERF_RECORD_IS_MAP,  /* executable */
	PERF_RECORD_IS_EXEC, /* the address space is empty from here on */
	PERF_RECORD_IS_FORK, /* of a process: has a copy of ppid's address space */
	PERF_RECORD_IS_EXIT, /* of the thread that the process is named after */
	PERF_RECORD_IS_LOST, /* records were lost, or may have been, of whatever process */
};

/* Ids are those of our own pid namespace. */
struct perf_record {
	uint64_t time_ns;
	enum perf_record_kind kind;
	uint32_t pid, ppid;
	/* PERF_RECORD_IS_MAP. */
	uint64_t start, end, file_offset;
	uint32_t device_major, device_minor;
	uint64_t inode;
	char *path;	/* "//anon", "[vdso]" …; owned by the reader */
	uint64_t order; /* of arrival, among those of one time */
};

typedef void perf_record_taker(void *context, const struct perf_record *record);

struct perf_records;

/* -errno with diag where the kernel allows none. */
int perf_records_open(struct perf_records **ret_records, struct diag *diag);
void perf_records_free(struct perf_records *records); /* NULL is fine */
/* Readable when a buffer is half full. */
int perf_records_fd(const struct perf_records *records);
/* Hands over what has come, by time. All that happened before the time returned has been handed over. */
uint64_t perf_records_read(struct perf_records *records, perf_record_taker *take, void *context);
/* Records that the kernel had no room for, so far. */
uint64_t perf_records_lost(const struct perf_records *records);

#endif
