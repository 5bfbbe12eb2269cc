/* Perf's side-band records of all CPUs, in the order of time. */
#include "collect/perf_records.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

/* With its header page within what an unprivileged user may lock for each CPU
 * (kernel.perf_event_mlock_kb: 516). */
#define DATA_BYTES (512U << 10)
/* Nothing that is written is longer: a path has 4,096 bytes at most. */
#define RECORD_BYTES 8192

struct buffer {
	int fd;
	uint8_t *memory; /* a page of struct perf_event_mmap_page, then the data */
};

struct perf_records {
	VEC(struct buffer) buffers; /* of each CPU that is online */
	VEC(struct perf_record) pending;
	int epoll_fd;
	struct epoll_event *ready; /* as many as buffers */
	size_t page_bytes;
	uint64_t lost;
	uint64_t order;
	uint8_t record[UINT16_MAX + 1]; /* the one that is looked at, whole */
};

/* ---- opening ----------------------------------------------------------------------------------- */

static int open_event(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = DATA_BYTES / 2,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int buffer_open(struct perf_records *records, int cpu)
{
	struct epoll_event event = {.events = EPOLLIN};
	size_t bytes = records->page_bytes + DATA_BYTES;
	int fd = open_event(cpu), err;
	struct buffer *buffer;
	void *memory;

	if (fd < 0)
		return fd;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED || epoll_ctl(records->epoll_fd, EPOLL_CTL_ADD, fd, &event)) {
		err = -errno;
		if (memory != MAP_FAILED)
			munmap(memory, bytes);
		close(fd);
		return err;
	}
	buffer = vec_push(&records->buffers);
	buffer->fd = fd;
	buffer->memory = memory;
	return 0;
}

static int open_buffers(struct perf_records *records)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int err;

	records->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (records->epoll_fd < 0)
		return -errno;
	for (int cpu = 0; cpu < cpus; cpu++) {
		err = buffer_open(records, cpu);
		if (err && err != -ENODEV) /* that one is offline */
			return err;
	}
	records->ready = mem_calloc(records->buffers.n, sizeof(*records->ready));
	return records->buffers.n ? 0 : -ENODEV;
}

int perf_records_open(struct perf_records **ret_records, struct diag *diag)
{
	struct perf_records *records = mem_zalloc(sizeof(*records));
	int err;

	records->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	err = open_buffers(records);
	if (err) {
		perf_records_free(records);
		diag_set(diag, err, "cannot follow what processes map: perf_event_open: %s",
			 strerror(-err));
		return diag_hint(diag, err, "run as root, or with CAP_PERFMON");
	}
	*ret_records = records;
	return 0;
}

static void forget_pending(struct perf_records *records, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(records->pending.items[i].path);
	records->pending.n -= n;
	if (records->pending.n)
		memmove(records->pending.items, records->pending.items + n,
			records->pending.n * sizeof(*records->pending.items));
}

void perf_records_free(struct perf_records *records)
{
	if (!records)
		return;
	for (size_t i = 0; i < records->buffers.n; i++) {
		munmap(records->buffers.items[i].memory, records->page_bytes + DATA_BYTES);
		close(records->buffers.items[i].fd);
	}
	free(records->buffers.items);
	free(records->ready);
	forget_pending(records, records->pending.n);
	free(records->pending.items);
	if (records->epoll_fd >= 0)
		close(records->epoll_fd);
	free(records);
}

int perf_records_fd(const struct perf_records *records)
{
	return records->epoll_fd;
}

uint64_t perf_records_lost(const struct perf_records *records)
{
	return records->lost;
}

/* ---- reading: the layouts are those of perf_event_open(2) ---------------------------------------- */

struct body_ids {
	uint32_t pid, ppid, tid, ptid;
};

struct body_map {
	uint32_t pid, tid;
	uint64_t start, bytes, file_offset;
	uint32_t device_major, device_minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
};

static struct perf_record *push(struct perf_records *records, enum perf_record_kind kind,
				uint32_t pid)
{
	struct perf_record *record = vec_push(&records->pending);

	record->kind = kind;
	record->pid = pid;
	record->order = records->order++;
	return record;
}

/* Only executable ones come; those whose end runs over are nobody's. */
static struct perf_record *push_map(struct perf_records *records, const uint8_t *body, size_t n)
{
	struct perf_record *record;
	struct body_map map;

	if (n <= sizeof(map))
		return NULL;
	memcpy(&map, body, sizeof(map));
	if (!map.bytes || map.start + map.bytes < map.start)
		return NULL;
	record = push(records, PERF_RECORD_IS_MAP, map.pid);
	record->start = map.start;
	record->end = map.start + map.bytes;
	record->file_offset = map.file_offset;
	record->device_major = map.device_major;
	record->device_minor = map.device_minor;
	record->inode = map.inode;
	record->path = mem_strndup((const char *)body + sizeof(map), n - sizeof(map));
	return record;
}

static struct perf_record *push_task(struct perf_records *records, uint32_t type,
				     const struct body_ids *ids)
{
	struct perf_record *record = NULL;

	/* Threads come too. */
	if (type == PERF_RECORD_FORK && ids->pid != ids->ppid)
		record = push(records, PERF_RECORD_IS_FORK, ids->pid);
	else if (type == PERF_RECORD_EXIT && ids->pid == ids->tid)
		record = push(records, PERF_RECORD_IS_EXIT, ids->pid);
	if (record)
		record->ppid = ids->ppid;
	return record;
}

static struct perf_record *push_lost(struct perf_records *records, const uint8_t *body, size_t n)
{
	uint64_t lost[2]; /* id, how many */

	if (n < sizeof(lost))
		return NULL;
	memcpy(lost, body, sizeof(lost));
	records->lost += lost[1];
	return push(records, PERF_RECORD_IS_LOST, 0);
}

/* The whole record lies in records->record; its time is the last word (sample_id_all). */
static void note(struct perf_records *records, const struct perf_event_header *header)
{
	const uint8_t *body = records->record + sizeof(*header);
	struct perf_record *record = NULL;
	struct body_ids ids = {0};
	size_t n;

	if (header->size < sizeof(*header) + sizeof(uint64_t))
		return;
	n = header->size - sizeof(*header) - sizeof(uint64_t);
	memcpy(&ids, body, n < sizeof(ids) ? n : sizeof(ids));
	if (header->type == PERF_RECORD_MMAP2)
		record = push_map(records, body, n);
	else if (header->type == PERF_RECORD_COMM && header->misc & PERF_RECORD_MISC_COMM_EXEC)
		record = push(records, PERF_RECORD_IS_EXEC, ids.pid);
	else if (header->type == PERF_RECORD_FORK || header->type == PERF_RECORD_EXIT)
		record = push_task(records, header->type, &ids);
	else if (header->type == PERF_RECORD_LOST)
		record = push_lost(records, body, n);
	if (record)
		memcpy(&record->time_ns, body + n, sizeof(record->time_ns));
}

static void copy_out(const struct perf_records *records, const struct buffer *buffer, uint64_t at,
		     void *out, size_t n)
{
	const uint8_t *data = buffer->memory + records->page_bytes;
	size_t offset = at % DATA_BYTES, first = DATA_BYTES - offset;

	if (first > n)
		first = n;
	memcpy(out, data + offset, first);
	memcpy((uint8_t *)out + first, data, n - first);
}

/* The kernel says that records were lost with the next one that finds room: of a full buffer, it may have
 * to say so yet. */
static void push_full(struct perf_records *records, uint64_t now_ns)
{
	push(records, PERF_RECORD_IS_LOST, 0)->time_ns = now_ns;
}

static void read_buffer(struct perf_records *records, const struct buffer *buffer, uint64_t now_ns)
{
	struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)(void *)buffer->memory;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = page->data_tail;
	struct perf_event_header header;

	if (head - at > DATA_BYTES - RECORD_BYTES)
		push_full(records, now_ns);
	while (head - at >= sizeof(header)) {
		copy_out(records, buffer, at, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - at)
			break; /* the kernel writes none such */
		copy_out(records, buffer, at, records->record, header.size);
		note(records, &header);
		at += header.size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

static int by_time(const void *a, const void *b)
{
	const struct perf_record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The clock is read before the first buffer, and what is younger waits for the next reading: what is
 * handed over then has all that led to it before it, on whatever CPU that was. */
uint64_t perf_records_read(struct perf_records *records, perf_record_taker *take, void *context)
{
	struct timespec now;
	uint64_t horizon_ns;
	size_t n = 0;

	/* A buffer says once that it is half full: whoever waits is not to be woken for what is read now. */
	epoll_wait(records->epoll_fd, records->ready, (int)records->buffers.n, 0);
	clock_gettime(CLOCK_MONOTONIC, &now);
	horizon_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	for (size_t i = 0; i < records->buffers.n; i++)
		read_buffer(records, &records->buffers.items[i], horizon_ns);
	if (!records->pending.n)
		return horizon_ns;
	qsort(records->pending.items, records->pending.n, sizeof(*records->pending.items), by_time);
	while (n < records->pending.n && records->pending.items[n].time_ns <= horizon_ns)
		take(context, &records->pending.items[n++]);
	forget_pending(records, n);
	return horizon_ns;
}
