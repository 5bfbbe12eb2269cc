/* Recordings: what was written is read again, and nothing that is not one gets in. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "record/fields.h"
#include "record/pack.h"
#include "record/record.h"
#include "sample.h"

struct file {
	char *bytes;
	size_t n;
};

static struct file write_recording(const struct recording *recording)
{
	struct file file = {};
	struct diag diag;
	FILE *out = open_memstream(&file.bytes, &file.n);

	assert_non_null(out);
	assert_int_equal(record_write(out, recording, &diag), 0);
	assert_int_equal(fclose(out), 0);
	return file;
}

static int read_bytes(const char *bytes, size_t n, struct recording *ret, struct diag *diag)
{
	/* fmemopen refuses a size of 0 on some systems. */
	FILE *in = n ? fmemopen((void *)bytes, n, "rb") : fopen("/dev/null", "rb");
	int err;

	assert_non_null(in);
	*diag = (struct diag){0};
	err = record_read(in, "x.wkw", ret, diag);
	fclose(in);
	return err;
}

/* What is refused says so in one line that names the file, and leaves the caller's struct alone. */
static int refused(const char *bytes, size_t n, struct diag *diag)
{
	struct recording recording, before;
	int err;

	memset(&recording, 0x5a, sizeof(recording));
	before = recording;
	err = read_bytes(bytes, n, &recording, diag);
	if (err) {
		assert_memory_equal(&recording, &before, sizeof(before));
		assert_non_null(strstr(diag->what, "x.wkw"));
		assert_null(strchr(diag->what, '\n'));
	} else {
		recording_free_members(&recording);
	}
	return err;
}

/* A file with any JSON text in a sound envelope. */
static struct file packed(const char *text, size_t n)
{
	struct packer packer;
	struct file file = {};
	FILE *out = open_memstream(&file.bytes, &file.n);

	packer_init(&packer);
	packer_add(&packer, text, n);
	assert_int_equal(packer_write(&packer, out, NULL), 0);
	packer_free_members(&packer);
	fclose(out);
	return file;
}

static struct file small_file(void)
{
	struct recording recording = {};
	struct file file;

	sample_tool(&recording);
	sample_add_syscall(sample_add_thread(sample_add_run(&recording, "a", "run", NULL, 0),
					     SAMPLE_PID, "main", 3, 4000),
			   202, 7);
	file = write_recording(&recording);
	recording_free_members(&recording);
	return file;
}

/* ---- what goes in comes out ------------------------------------------------------------------ */

static void writing_again_gives_the_same_bytes(void **state)
{
	struct recording recording, again;
	struct file first, second;
	struct diag diag;

	(void)state;
	sample_recording(&recording);
	first = write_recording(&recording);
	assert_int_equal(read_bytes(first.bytes, first.n, &again, &diag), 0);
	second = write_recording(&again);
	assert_int_equal(first.n, second.n);
	assert_memory_equal(first.bytes, second.bytes, first.n);
	free(first.bytes);
	free(second.bytes);
	recording_free_members(&again);
	recording_free_members(&recording);
}

static void compare_threads(const struct capture *a, const struct capture *b)
{
	assert_int_equal(a->threads.n, b->threads.n);
	for (size_t i = 0; i < a->threads.n; i++) {
		const struct capture_thread *s = &a->threads.items[i], *t = &b->threads.items[i];

		assert_memory_equal(&s->t, &t->t, sizeof(s->t));
		assert_int_equal(s->syscalls.n, t->syscalls.n);
		for (size_t j = 0; j < s->syscalls.n; j++) {
			assert_int_equal(s->syscalls.items[j].nr, t->syscalls.items[j].nr);
			assert_int_equal(s->syscalls.items[j].count, t->syscalls.items[j].count);
		}
	}
}

static void compare_causes(const struct capture *a, const struct capture *b)
{
	assert_int_equal(a->causes_counted, b->causes_counted);
	assert_true(a->timeline_left_out == b->timeline_left_out);
	assert_int_equal(a->causes.n, b->causes.n);
	for (size_t i = 0; i < a->causes.n; i++) {
		const struct capture_cause *x = &a->causes.items[i], *y = &b->causes.items[i];

		assert_int_equal(x->number, y->number);
		assert_memory_equal(&x->c, &y->c, sizeof(x->c));
		assert_int_equal(x->intervals.n, y->intervals.n);
		for (size_t j = 0; j < x->intervals.n; j++) {
			assert_int_equal(x->intervals.items[j].bucket,
					 y->intervals.items[j].bucket);
			assert_int_equal(x->intervals.items[j].count, y->intervals.items[j].count);
		}
	}
	assert_int_equal(a->charges.n, b->charges.n);
	if (a->charges.n)
		assert_memory_equal(a->charges.items, b->charges.items,
				    a->charges.n * sizeof(*a->charges.items));
	assert_int_equal(a->timeline.n, b->timeline.n);
	for (size_t i = 0; i < a->timeline.n; i++) {
		const struct wk_wake_event *x = &a->timeline.items[i], *y = &b->timeline.items[i];

		assert_true(x->time_ns == y->time_ns);
		assert_int_equal(x->cause, y->cause);
		assert_int_equal(x->root, y->root);
	}
}

static void compare_images(const struct capture *a, const struct capture *b)
{
	assert_int_equal(a->images.n, b->images.n);
	for (size_t i = 0; i < a->images.n; i++) {
		const struct capture_image *x = &a->images.items[i], *y = &b->images.items[i];

		assert_int_equal(x->pid, y->pid);
		assert_int_equal(x->start_ns, y->start_ns);
		assert_int_equal(x->exec_ns, y->exec_ns);
		assert_int_equal(x->argv_cut, y->argv_cut);
		assert_string_equal(x->comm, y->comm);
		assert_int_equal(x->argv_bytes, y->argv_bytes);
		assert_memory_equal(x->argv, y->argv, x->argv_bytes);
	}
}

static void every_value_survives(void **state)
{
	struct recording recording, again;
	struct file file;
	struct diag diag;

	(void)state;
	sample_recording(&recording);
	file = write_recording(&recording);
	assert_int_equal(read_bytes(file.bytes, file.n, &again, &diag), 0);
	assert_int_equal(again.runs.n, recording.runs.n);
	assert_int_equal(again.failures.n, 1);
	assert_string_equal(again.failures.items[0].reason, recording.failures.items[0].reason);
	assert_int_equal(again.tool.command.n, recording.tool.command.n);
	for (size_t i = 0; i < recording.runs.n; i++) {
		const struct capture *a = &recording.runs.items[i], *b = &again.runs.items[i];

		assert_string_equal(a->label, b->label);
		assert_true(!a->variant == !b->variant);
		assert_int_equal(a->start_ns, b->start_ns);
		assert_int_equal(a->exit_status, b->exit_status);
		assert_memory_equal(a->lost, b->lost, sizeof(a->lost));
		assert_memory_equal(&a->startup, &b->startup, sizeof(a->startup));
		assert_true(a->noise.other_cpu_share == b->noise.other_cpu_share);
		assert_int_equal(a->runtime.size_bytes, b->runtime.size_bytes);
		assert_int_equal(a->seconds.n, b->seconds.n);
		if (a->seconds.n)
			assert_memory_equal(a->seconds.items, b->seconds.items,
					    a->seconds.n * sizeof(*a->seconds.items));
		compare_threads(a, b);
		compare_images(a, b);
		compare_causes(a, b);
	}
	free(file.bytes);
	recording_free_members(&again);
	recording_free_members(&recording);
}

#define MEMBER(member) offsetof(struct wk_thread, member), sizeof(((struct wk_thread *)0)->member)

/* What a probe keeps from one event to the next, which says nothing when the window has closed: the
 * causes that it led to are in a table of their own. */
static const struct member {
	size_t offset, size;
} not_recorded[] = {
	{MEMBER(waking)},	{MEMBER(key)},	      {MEMBER(cause)},	     {MEMBER(root)},
	{MEMBER(charge)},	{MEMBER(charge_cause)}, {MEMBER(charge_root)}, {MEMBER(timeout_ns)},
	{MEMBER(run_ns)},	{MEMBER(event_ns)},   {MEMBER(sleep_call)},  {MEMBER(uninterruptible)},
	{MEMBER(reserved3)},	{MEMBER(burst_ns)},   {MEMBER(events)},
	{MEMBER(woke_ns)},	{MEMBER(burst_first)}, {MEMBER(burst_last)},
	{MEMBER(sleep_stack)},	{MEMBER(slot)},	 {MEMBER(stacks_asleep_ns)},
	{MEMBER(stacks_woken_ns)},
};

/* A struct member that no row names would be lost silently. */
static void thread_table_covers_the_struct(void **state)
{
	unsigned char covered[sizeof(struct wk_thread)] = {};

	(void)state;
	for (size_t i = 0; i < sizeof(not_recorded) / sizeof(not_recorded[0]); i++)
		memset(covered + not_recorded[i].offset, 1, not_recorded[i].size);
	for (const struct field *field = thread_fields; field->name; field++) {
		assert_true(field->kind == FIELD_COMM || field->size == 4 || field->size == 8);
		for (size_t i = 0; i < field->size; i++) {
			assert_int_equal(covered[field->offset + i], 0);
			covered[field->offset + i] = 1;
		}
		for (const struct field *other = thread_fields; other != field; other++)
			assert_string_not_equal(other->name, field->name);
	}
	for (size_t i = 0; i < sizeof(covered); i++)
		assert_int_equal(covered[i], 1);
}

/* The same for the tables of causes, charges and wakes: the fields cover bytes from..until - 1. */
static void assert_covers(const struct field *fields, size_t from, size_t until)
{
	unsigned char covered[1024] = {};

	assert_true(until <= sizeof(covered));
	for (const struct field *field = fields; field->name; field++)
		for (size_t i = 0; i < field->size; i++) {
			assert_int_equal(covered[field->offset + i], 0);
			covered[field->offset + i] = 1;
		}
	for (size_t i = from; i < until; i++)
		assert_int_equal(covered[i], 1);
}

static void tables_of_causes_cover_their_structs(void **state)
{
	size_t c = offsetof(struct capture_cause, c);

	(void)state;
	assert_covers(cause_fields, c, c + sizeof(struct wk_cause));
	assert_covers(charge_fields, 0, sizeof(struct wk_charge));
	assert_covers(wake_fields, 0, sizeof(struct wk_wake_event));
}

/* Every byte of a cause at its largest. */
static void extreme_causes_survive(void **state)
{
	struct recording recording = {}, again;
	struct capture *capture;
	struct capture_cause *cause;
	struct file file;
	struct diag diag;

	(void)state;
	sample_tool(&recording);
	capture = sample_add_run(&recording, "a", "run", NULL, 0);
	sample_add_cause(capture, 1, WK_CONTEXT_NONE, 1, 1, 0);
	cause = &capture->causes.items[0];
	memset(&cause->c, 0xff, sizeof(cause->c));
	cause->c.name[WK_NAME_BYTES - 1] = '\0';
	cause->number = 1 << 24;
	*vec_push(&cause->intervals) = (struct capture_interval){WK_HIST_BUCKETS - 1, UINT32_MAX};
	memset(&capture->charges.items[0], 0xff, sizeof(capture->charges.items[0]));
	capture->charges.items[0].cause = 1 << 24;
	*vec_push(&capture->timeline) = (struct wk_wake_event){UINT64_MAX, 1 << 24, UINT32_MAX};
	/* Another CPU wrote first: kept as it came. */
	*vec_push(&capture->timeline) = (struct wk_wake_event){3, 1 << 24, 0};
	capture->timeline_left_out = UINT64_MAX;
	file = write_recording(&recording);
	assert_int_equal(read_bytes(file.bytes, file.n, &again, &diag), 0);
	compare_causes(capture, &again.runs.items[0]);
	free(file.bytes);
	recording_free_members(&again);
	recording_free_members(&recording);
}

/* A recording made before there were causes: they are not known, which is not none. */
static void older_recordings_have_no_causes(void **state)
{
	struct file file = small_file();
	struct recording recording;
	struct diag diag;

	(void)state;
	assert_int_equal(read_bytes(file.bytes, file.n, &recording, &diag), 0);
	assert_false(recording.runs.items[0].causes_counted);
	assert_int_equal(recording.runs.items[0].causes.n, 0);
	recording_free_members(&recording);
	free(file.bytes);
}

/* Every byte of a thread at its largest and smallest. */
static void extreme_values_survive(void **state)
{
	struct recording recording = {}, again;
	struct capture *capture;
	struct wk_thread *t;
	struct file file;
	struct diag diag;

	(void)state;
	sample_tool(&recording);
	capture = sample_add_run(&recording, "\xff\x80\x7f\x01", "run", "\xc3\xa9", UINT32_MAX);
	t = &sample_add_thread(capture, 1, "x", 0, 0)->t;
	memset(t, 0xff, sizeof(*t));
	t->comm[WK_COMM_BYTES - 1] = '\0';
	t->serial = 1 << 24;
	for (size_t i = 0; i < sizeof(not_recorded) / sizeof(not_recorded[0]); i++)
		memset((char *)t + not_recorded[i].offset, 0, not_recorded[i].size);
	capture->noise.steal_share = 0.1 + 0.2;
	capture->noise.irq_share = NAN;
	capture->noise.other_cpu_share = 5e-324;
	capture->end_ns = WK_NEVER;
	*vec_push(&capture->seconds) = (struct wk_second){UINT64_MAX, UINT64_MAX, INT64_MIN};
	file = write_recording(&recording);
	assert_int_equal(read_bytes(file.bytes, file.n, &again, &diag), 0);
	compare_threads(capture, &again.runs.items[0]);
	assert_string_equal(again.runs.items[0].label, "\xff\x80\x7f\x01");
	assert_string_equal(again.runs.items[0].variant, "\xc3\xa9");
	assert_true(again.runs.items[0].noise.steal_share == 0.1 + 0.2);
	assert_true(again.runs.items[0].noise.other_cpu_share == 5e-324);
	assert_true(isnan(again.runs.items[0].noise.irq_share));
	assert_true(again.runs.items[0].end_ns == WK_NEVER);
	assert_true(again.runs.items[0].seconds.items[0].full_delta == INT64_MIN);
	free(file.bytes);
	recording_free_members(&again);
	recording_free_members(&recording);
}

/* ---- streams --------------------------------------------------------------------------------- */

struct pipe_writer {
	int fd;
	int err;
	const struct recording *recording;
};

static void *write_to_pipe(void *arg)
{
	struct pipe_writer *writer = arg;
	FILE *out = fdopen(writer->fd, "wb");

	writer->err = record_write(out, writer->recording, NULL);
	fclose(out);
	return NULL;
}

static void a_pipe_carries_a_recording(void **state)
{
	struct recording recording, again;
	struct pipe_writer writer = {.recording = &recording};
	pthread_t thread;
	struct diag diag;
	int fds[2];
	FILE *in;

	(void)state;
	sample_recording(&recording);
	assert_int_equal(pipe(fds), 0);
	writer.fd = fds[1];
	assert_int_equal(pthread_create(&thread, NULL, write_to_pipe, &writer), 0);
	in = fdopen(fds[0], "rb");
	assert_int_equal(record_read(in, "-", &again, &diag), 0);
	pthread_join(thread, NULL);
	assert_int_equal(writer.err, 0);
	assert_int_equal(again.runs.n, recording.runs.n);
	fclose(in);
	recording_free_members(&again);
	recording_free_members(&recording);
}

/* A stream that notes the header as it was before the writer went back to it. */
struct watched {
	char bytes[1 << 20];
	size_t at, n;
	uint32_t flags_seen[8];
	size_t writes_of_header;
};

static ssize_t watched_write(void *cookie, const char *bytes, size_t n)
{
	struct watched *w = cookie;

	if (w->at + n > sizeof(w->bytes))
		return 0;
	if (w->at == 0 && n >= 16 && w->writes_of_header < 8)
		memcpy(&w->flags_seen[w->writes_of_header++], bytes + 12, 4);
	memcpy(w->bytes + w->at, bytes, n);
	w->at += n;
	w->n = w->at > w->n ? w->at : w->n;
	return (ssize_t)n;
}

static int watched_seek(void *cookie, off64_t *offset, int whence)
{
	struct watched *w = cookie;

	w->at = (size_t)(*offset + (whence == SEEK_CUR	 ? (off64_t)w->at
				    : whence == SEEK_END ? (off64_t)w->n
							 : 0));
	*offset = (off64_t)w->at;
	return 0;
}

static void a_file_is_incomplete_until_it_is_whole(void **state)
{
	struct watched *w = calloc(1, sizeof(*w));
	struct recording recording;
	struct diag diag;
	FILE *out;

	(void)state;
	sample_recording(&recording);
	out = fopencookie(w, "wb",
			  (cookie_io_functions_t){.write = watched_write, .seek = watched_seek});
	assert_int_equal(record_write(out, &recording, &diag), 0);
	assert_int_equal(ftello(out), w->n);
	fclose(out);
	assert_int_equal(w->writes_of_header, 2);
	assert_int_equal(w->flags_seen[0], 1);
	assert_int_equal(w->flags_seen[1], 0);
	assert_int_equal(refused(w->bytes, w->n, &diag), 0);
	/* As it would be after a crash: header with the bit, with its checksum. */
	w->bytes[12] = 1;
	for (int i = 0; i < 4; i++)
		w->bytes[36 + i] = (char)(crc32(0, (unsigned char *)w->bytes, 36) >> (8 * i));
	assert_int_equal(refused(w->bytes, w->n, &diag), -EINVAL);
	assert_non_null(strstr(diag.what, "incomplete"));
	free(w);
	recording_free_members(&recording);
}

static void a_full_disk_is_an_error(void **state)
{
	FILE *out = fopen("/dev/full", "wb");
	struct recording recording;
	struct diag diag;

	(void)state;
	assert_non_null(out);
	sample_recording(&recording);
	assert_int_equal(record_write(out, &recording, &diag), -EIO);
	assert_non_null(strstr(diag.what, "No space left"));
	fclose(out);
	recording_free_members(&recording);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void every_truncation_is_refused(void **state)
{
	struct file file = small_file();
	struct diag diag;

	(void)state;
	assert_int_equal(refused(file.bytes, file.n, &diag), 0);
	for (size_t n = 0; n < file.n; n++) {
		assert_int_equal(refused(file.bytes, n, &diag), -EINVAL);
		if (n >= 40)
			assert_non_null(strstr(diag.what, "cut short"));
	}
	assert_int_equal(refused(file.bytes, 0, &diag), -EINVAL);
	assert_non_null(strstr(diag.what, "empty"));
	file.bytes = realloc(file.bytes, file.n + 1);
	file.bytes[file.n] = 'x';
	assert_int_equal(refused(file.bytes, file.n + 1, &diag), -EINVAL);
	free(file.bytes);
}

static uint32_t next_random(uint32_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random;
}

static int unpack(const struct file *file, struct strbuf *ret_plain)
{
	FILE *in = fmemopen(file->bytes, file->n, "rb");
	int err = pack_read(in, "x", ret_plain, NULL);

	fclose(in);
	return err;
}

/* Deflate has bits that say nothing (padding, lengths of codes that are not used): then what comes
 * out is what went in. */
static void every_flipped_bit_is_refused_or_harmless(void **state)
{
	struct file file = small_file();
	struct strbuf plain, other;
	size_t harmless = 0;
	struct diag diag;

	(void)state;
	assert_int_equal(unpack(&file, &plain), 0);
	for (size_t bit = 0; bit < file.n * 8; bit++) {
		file.bytes[bit / 8] ^= 1 << bit % 8;
		if (refused(file.bytes, file.n, &diag) == 0) {
			assert_true(bit / 8 >= 40); /* every bit of the header says something */
			assert_int_equal(unpack(&file, &other), 0);
			assert_int_equal(other.n, plain.n);
			assert_memory_equal(other.text, plain.text, plain.n);
			strbuf_free_members(&other);
			harmless++;
		}
		file.bytes[bit / 8] ^= 1 << bit % 8;
	}
	assert_true(harmless < file.n * 8 / 100);
	strbuf_free_members(&plain);
	free(file.bytes);
}

/* Checksums would stop nearly all flips at the door: these are made behind it, in the JSON. */
static void flips_behind_the_checksum_never_crash(void **state)
{
	struct file file = small_file();
	struct strbuf plain;
	uint32_t random = 2463534242;
	struct diag diag;
	size_t accepted = 0;

	(void)state;
	assert_int_equal(unpack(&file, &plain), 0);
	free(file.bytes);
	for (int round = 0; round < 20000; round++) {
		char *text = malloc(plain.n);

		memcpy(text, plain.text, plain.n);
		for (uint32_t flips = next_random(&random) % 3 + 1; flips > 0; flips--)
			text[next_random(&random) % plain.n] ^= 1 << next_random(&random) % 8;
		file = packed(text, plain.n);
		accepted += refused(file.bytes, file.n, &diag) == 0;
		free(file.bytes);
		free(text);
	}
	/* A digit turned into another digit is no damage that can be seen; most flips are. */
	assert_true(accepted > 500 && accepted < 15000);
	strbuf_free_members(&plain);
}

static void random_bytes_are_refused(void **state)
{
	uint32_t random = 1;
	char bytes[256];
	struct diag diag;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (char)next_random(&random);
		assert_int_equal(refused(bytes, sizeof(bytes), &diag), -EINVAL);
	}
	assert_int_equal(refused("{\"runs\":[]}", 11, &diag), -EINVAL);
	assert_non_null(strstr(diag.what, "not a recording"));
}

static void set_header(struct file *file, size_t offset, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		file->bytes[offset + i] = (char)(value >> (8 * i));
	value = crc32(0, (unsigned char *)file->bytes, 36);
	for (int i = 0; i < 4; i++)
		file->bytes[36 + i] = (char)(value >> (8 * i));
}

static void headers_that_lie_are_refused(void **state)
{
	struct file file = small_file();
	char good[40];
	struct diag diag;

	(void)state;
	memcpy(good, file.bytes, sizeof(good));
	set_header(&file, 8, 2, 4);
	assert_int_equal(refused(file.bytes, file.n, &diag), -ENOTSUP);
	assert_true(diag.hint[0]);
	memcpy(file.bytes, good, sizeof(good));
	set_header(&file, 12, 4, 4); /* a flag that is not known */
	assert_int_equal(refused(file.bytes, file.n, &diag), -ENOTSUP);
	memcpy(file.bytes, good, sizeof(good));
	set_header(&file, 16, UINT64_MAX, 8);
	assert_int_equal(refused(file.bytes, file.n, &diag), -EINVAL);
	memcpy(file.bytes, good, sizeof(good));
	set_header(&file, 24, UINT64_MAX, 8);
	assert_int_equal(refused(file.bytes, file.n, &diag), -EINVAL);
	assert_non_null(strstr(diag.what, "1 GiB"));
	memcpy(file.bytes, good, sizeof(good));
	set_header(&file, 24, 10, 8); /* says less than it inflates to */
	assert_int_equal(refused(file.bytes, file.n, &diag), -EINVAL);
	memcpy(file.bytes, good, sizeof(good));
	set_header(&file, 24, 1 << 30, 8);
	assert_int_equal(refused(file.bytes, file.n, &diag), -EINVAL);
	memcpy(file.bytes, good, sizeof(good));
	set_header(&file, 32, 0, 4);
	assert_int_equal(refused(file.bytes, file.n, &diag), -EINVAL);
	memcpy(file.bytes, good, sizeof(good));
	assert_int_equal(refused(file.bytes, file.n, &diag), 0);
	free(file.bytes);
}

/* A few kilobytes that would inflate to gigabytes stop at what the header promised. */
static void a_deflate_bomb_is_stopped(void **state)
{
	static char zeros[1 << 20];
	struct packer packer;
	struct file file = {};
	struct diag diag;
	FILE *out = open_memstream(&file.bytes, &file.n);

	(void)state;
	packer_init(&packer);
	for (int i = 0; i < 64; i++)
		packer_add(&packer, zeros, sizeof(zeros));
	assert_int_equal(packer_write(&packer, out, NULL), 0);
	packer_free_members(&packer);
	fclose(out);
	assert_true(file.n < 100000);
	set_header(&file, 24, 1000, 8);
	assert_int_equal(refused(file.bytes, file.n, &diag), -EINVAL);
	assert_non_null(strstr(diag.what, "more than it says"));
	free(file.bytes);
}

/* ---- a sound envelope with nonsense in it ---------------------------------------------------- */

#define TOOL		      "\"tool\":{\"version\":\"1\",\"command\":[\"x\"]}"
#define RUN(members)	      "{" TOOL ",\"runs\":[{\"label\":\"l\",\"workload\":\"run\"" members "}]}"
#define THREADS(columns, row) RUN(",\"threads\":{\"columns\":[" columns "],\"rows\":[[" row "]]}")

/* rows: "[1],[2]"; further members may follow. */
#define CAUSES(columns, rows, ...)                                                                 \
	RUN(",\"causes\":{\"columns\":[" columns "],\"rows\":[" rows "]}" __VA_ARGS__)

static void nonsense_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"null",
		"[]",
		"{}",
		"{\"runs\":[]}",
		"{" TOOL "}",
		"{" TOOL ",\"runs\":{}}",
		"{" TOOL ",\"runs\":[]",
		"{" TOOL ",\"runs\":[]}x",
		"{" TOOL ",\"runs\":[],\"runs\":[]}",
		"{" TOOL ",\"runs\":[7]}",
		"{" TOOL ",\"runs\":[{}]}",
		"{" TOOL ",\"runs\":[{\"label\":\"\",\"workload\":\"run\"}]}",
		"{" TOOL ",\"runs\":[{\"label\":\"l\",\"workload\":7}]}",
		"{\"tool\":{\"command\":[\"a\\u0000b\"]},\"runs\":[]}",
		"{\"tool\":{\"command\":\"a\"},\"runs\":[]}",
		"{\"tool\":7,\"runs\":[]}",
		"{" TOOL ",\"runs\":[],\"failures\":7}",
		"{" TOOL ",\"runs\":[],\"failures\":[7]}",
		RUN(",\"variant\":\"\\u0100\""), /* no byte */
		RUN(",\"repeat\":-1"),
		RUN(",\"repeat\":4294967296"),
		RUN(",\"repeat\":1.5"),
		RUN(",\"start_ns\":-1"),
		RUN(",\"start_ns\":99999999999999999999"),
		RUN(",\"start_ns\":\"99999999999999999999\""),
		RUN(",\"start_ns\":\"\""),
		RUN(",\"start_ns\":\"-1\""),
		RUN(",\"start_ns\":\"1 \""),
		RUN(",\"exit_status\":2147483648"),
		RUN(",\"settled\":1"),
		RUN(",\"noise\":{\"steal_share\":\"x\"}"),
		RUN(",\"noise\":{\"steal_share\":1e300}"),
		RUN(",\"noise\":7"),
		RUN(",\"runtime\":[]"),
		RUN(",\"lost\":{\"gremlins\":1}"),
		RUN(",\"lost\":{\"threads\":-1}"),
		RUN(",\"lost\":7"),
		RUN(",\"probes\":{}"),
		RUN(",\"images\":{}"),
		RUN(",\"images\":[{\"argv\":\"no end\"}]"),
		RUN(",\"images\":[{\"argv\":7}]"),
		RUN(",\"images\":[{\"comm\":\"0123456789abcdef\"}]"),
		RUN(",\"threads\":[]"),
		RUN(",\"threads\":{\"columns\":[\"pid\"]}"),
		RUN(",\"threads\":{\"rows\":[[1]]}"),
		THREADS("\"pid\"", "1,2"),
		THREADS("\"pid\"", ""),
		THREADS("\"pid\",\"pid\"", "1,1"),
		THREADS("7", "1"),
		THREADS("\"pid\"", "-1"),
		THREADS("\"pid\"", "4294967296"),
		THREADS("\"pid\"", "null"),
		THREADS("\"exit_code\"", "2147483648"),
		THREADS("\"comm\"", "\"0123456789abcdef\""),
		THREADS("\"comm\"", "\"a\\u0000\""),
		THREADS("\"comm\"", "7"),
		RUN(",\"threads\":{\"columns\":[\"pid\"],\"rows\":[7]}"),
		RUN(",\"syscalls\":[[1,1]]"), /* no such thread */
		RUN(",\"threads\":{\"columns\":[\"pid\"],\"rows\":[[1]]},\"syscalls\":[]"),
		RUN(",\"threads\":{\"columns\":[\"pid\"],\"rows\":[[1]]},\"syscalls\":[[1]]"),
		RUN(",\"threads\":{\"columns\":[\"pid\"],\"rows\":[[1]]},\"syscalls\":[[1,0]]"),
		RUN(",\"threads\":{\"columns\":[\"pid\"],\"rows\":[[1]]},\"syscalls\":[[2,1,1,1]]"),
		RUN(",\"threads\":{\"columns\":[\"pid\"],\"rows\":[[1]]},\"syscalls\":[7]"),
		RUN(",\"seconds\":{\"columns\":[\"full_delta\"],\"rows\":[[\"1\"]]}"),
		THREADS("\"serial\"", "16777217"),
		RUN(",\"causes_counted\":1"),
		RUN(",\"causes\":[]"),
		CAUSES("\"number\"", "[0]"),
		CAUSES("\"number\"", "[1],[1]"),
		CAUSES("\"number\"", "[2],[1]"),
		CAUSES("\"number\"", "[16777217]"),
		CAUSES("\"wakeups\"", "[1]"), /* no number */
		CAUSES("\"number\",\"context\"", "[1,256]"),
		CAUSES("\"number\",\"sleep_call\"", "[1,65536]"),
		CAUSES("\"number\",\"name\"", "[1,\"0123456789012345678901234567890123456789\"]"),
		CAUSES("\"number\",\"name\"", "[1,\"a\\u0000\"]"),
		CAUSES("\"number\"", "[1]", ",\"intervals\":[]"),
		CAUSES("\"number\"", "[1]", ",\"intervals\":[[0]]"),
		CAUSES("\"number\"", "[1]", ",\"intervals\":[[0,0]]"),
		CAUSES("\"number\"", "[1]", ",\"intervals\":[[448,1]]"),
		CAUSES("\"number\"", "[1]", ",\"intervals\":[[0,4294967296]]"),
		CAUSES("\"number\"", "[1]", ",\"intervals\":[[2,1,2,1]]"),
		RUN(",\"intervals\":[[1,1]]"), /* no such cause */
		RUN(",\"charges\":{\"columns\":[\"cause\"],\"rows\":[[1]]}"),
		RUN(",\"timeline\":{\"columns\":[\"cause\"],\"rows\":[[1]]}"),
		CAUSES("\"number\"", "[1]", ",\"charges\":{\"columns\":[\"root\"],\"rows\":[[1]]}"),
		CAUSES("\"number\"", "[1]", ",\"timeline\":{\"columns\":[\"cause\"],\"rows\":[[2]]}"),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct file file = packed(bad[i], strlen(bad[i]));
		struct diag diag;

		if (refused(file.bytes, file.n, &diag) != -EINVAL)
			fail_msg("accepted: %s", bad[i]);
		free(file.bytes);
	}
}

/* What a newer wakewhy adds is skipped, what an older one lacked is 0. */
static void unknown_and_missing_members_are_fine(void **state)
{
	static const char text[] = THREADS("\"tid\",\"aura\",\"count.wakeups\"",
					   "7,[\"any\"],\"18446744073709551615\"");
	struct file file = packed(text, sizeof(text) - 1);
	struct recording recording;
	struct diag diag;
	const struct wk_thread *t;

	(void)state;
	assert_int_equal(read_bytes(file.bytes, file.n, &recording, &diag), 0);
	assert_int_equal(recording.runs.n, 1);
	t = &recording.runs.items[0].threads.items[0].t;
	assert_int_equal(t->tid, 7);
	assert_int_equal(t->pid, 0);
	assert_true(t->count.wakeups == UINT64_MAX);
	assert_string_equal(t->comm, "");
	assert_null(recording.runs.items[0].variant);
	assert_string_equal(recording.runs.items[0].noise.governor, "");
	assert_string_equal(recording.tool.arch, "");
	recording_free_members(&recording);
	free(file.bytes);
}

static void deep_and_wide_texts_are_refused(void **state)
{
	size_t n = 70 << 20;
	char *text = malloc(n);
	uint32_t digit = 1; /* not all the same: what deflates to nothing is refused for that */
	struct file file;
	struct diag diag;

	(void)state;
	memset(text, '[', 100000);
	file = packed(text, 100000);
	assert_int_equal(refused(file.bytes, file.n, &diag), -EINVAL);
	assert_non_null(strstr(diag.what, "nested deeper"));
	free(file.bytes);
	for (size_t i = 0; i < n; i += 2) {
		digit = digit * 1664525 + 1013904223;
		text[i] = i ? '0' + (digit >> 16) % 10 : '[';
		text[i + 1] = i ? ',' : ' ';
	}
	file = packed(text, n);
	assert_int_equal(refused(file.bytes, file.n, &diag), -EINVAL);
	assert_non_null(strstr(diag.what, "more than"));
	free(file.bytes);
	free(text);
}

/* Runs of as many labels as asked for; reads them back. */
static int labels_survive(size_t n, struct diag *diag)
{
	struct recording recording = {}, back = {};
	char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size), *in;
	int err;

	sample_tool(&recording);
	for (size_t i = 0; i < n; i++) {
		char *label = mem_printf("l%zu", i);

		sample_add_run(&recording, label, "idle", NULL, 0);
		free(label);
	}
	assert_int_equal(record_write(out, &recording, diag), 0);
	fclose(out);
	in = fmemopen(bytes, size, "r");
	err = record_read(in, "labels.wkw", &back, diag);
	fclose(in);
	free(bytes);
	if (!err)
		recording_free_members(&back);
	recording_free_members(&recording);
	return err;
}

/* Labels are compared with one another in many places. */
static void more_labels_than_anybody_measures_are_refused(void **state)
{
	struct diag diag = {};

	(void)state;
	assert_int_equal(labels_survive(2048, &diag), 0);
	assert_int_equal(labels_survive(2049, &diag), -EINVAL);
	assert_non_null(strstr(diag.what, "its runs have 2049 labels"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writing_again_gives_the_same_bytes),
		cmocka_unit_test(every_value_survives),
		cmocka_unit_test(thread_table_covers_the_struct),
		cmocka_unit_test(extreme_values_survive),
		cmocka_unit_test(tables_of_causes_cover_their_structs),
		cmocka_unit_test(extreme_causes_survive),
		cmocka_unit_test(older_recordings_have_no_causes),
		cmocka_unit_test(a_pipe_carries_a_recording),
		cmocka_unit_test(a_file_is_incomplete_until_it_is_whole),
		cmocka_unit_test(a_full_disk_is_an_error),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(every_flipped_bit_is_refused_or_harmless),
		cmocka_unit_test(flips_behind_the_checksum_never_crash),
		cmocka_unit_test(random_bytes_are_refused),
		cmocka_unit_test(headers_that_lie_are_refused),
		cmocka_unit_test(a_deflate_bomb_is_stopped),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(unknown_and_missing_members_are_fine),
		cmocka_unit_test(deep_and_wide_texts_are_refused),
		cmocka_unit_test(more_labels_than_anybody_measures_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
