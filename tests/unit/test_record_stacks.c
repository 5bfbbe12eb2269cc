/* Recordings with stacks: what was written is read again, and nothing that is none gets in. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/decode.h"
#include "record/fields.h"
#include "record/record.h"
#include "sample.h"
#include "sample_stacks.h"

/* What a file of it is read as. */
static void write_and_read(const struct recording *recording, struct recording *ret_again)
{
	char *bytes = NULL;
	size_t n = 0;
	struct diag diag = {};
	FILE *out = open_memstream(&bytes, &n), *in;

	assert_int_equal(record_write(out, recording, &diag), 0);
	fclose(out);
	in = fmemopen(bytes, n, "r");
	if (record_read(in, "x.wkw", ret_again, &diag))
		fail_msg("%s", diag.what);
	fclose(in);
	free(bytes);
}

/* ---- what goes in comes out ------------------------------------------------------------------ */

static void compare_frames(const struct capture *a, const struct capture *b)
{
	assert_int_equal(a->modules.n, b->modules.n);
	for (size_t i = 0; i < a->modules.n; i++) {
		assert_string_equal(a->modules.items[i].path, b->modules.items[i].path);
		assert_string_equal(a->modules.items[i].build_id, b->modules.items[i].build_id);
	}
	assert_int_equal(a->frames.n, b->frames.n);
	for (size_t i = 0; i < a->frames.n; i++) {
		const struct capture_frame *x = &a->frames.items[i], *y = &b->frames.items[i];

		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->module, y->module);
		assert_true(x->offset == y->offset);
		assert_true(x->into == y->into);
		assert_true(x->address == y->address);
		assert_string_equal(x->name, y->name);
	}
}

static void compare_stacks(const struct capture *a, const struct capture *b)
{
	assert_int_equal(a->stacks.n, b->stacks.n);
	for (size_t i = 0; i < a->stacks.n; i++) {
		const struct capture_stack *x = &a->stacks.items[i], *y = &b->stacks.items[i];

		assert_int_equal(x->pid, y->pid);
		assert_int_equal(x->truncated, y->truncated);
		assert_int_equal(x->kernel, y->kernel);
		assert_int_equal(x->frames.n, y->frames.n);
		for (size_t j = 0; j < x->frames.n; j++)
			assert_int_equal(x->frames.items[j], y->frames.items[j]);
	}
}

static void compare_captures(const struct capture *a, const struct capture *b)
{
	assert_int_equal(a->stacks_mode, b->stacks_mode);
	assert_int_equal(a->sample_hz, b->sample_hz);
	assert_true(a->lost[WK_LOST_STACKS] == b->lost[WK_LOST_STACKS]);
	compare_frames(a, b);
	compare_stacks(a, b);
	assert_int_equal(a->wake_stacks.n, b->wake_stacks.n);
	for (size_t i = 0; i < a->wake_stacks.n; i++) {
		const struct capture_wake_stack *x = &a->wake_stacks.items[i];
		const struct capture_wake_stack *y = &b->wake_stacks.items[i];

		assert_int_equal(x->cause, y->cause);
		assert_int_equal(x->sleeper, y->sleeper);
		assert_int_equal(x->waker, y->waker);
		assert_true(x->wakeups == y->wakeups);
		assert_true(x->sleep_ns == y->sleep_ns);
	}
	assert_int_equal(a->samples.n, b->samples.n);
	for (size_t i = 0; i < a->samples.n; i++) {
		assert_int_equal(a->samples.items[i].serial, b->samples.items[i].serial);
		assert_int_equal(a->samples.items[i].stack, b->samples.items[i].stack);
		assert_true(a->samples.items[i].count == b->samples.items[i].count);
	}
}

static void every_value_survives(void **state)
{
	struct recording recording, again;

	(void)state;
	sample_stacks_recording(&recording);
	assert_true(recording.runs.items[0].samples.n && recording.runs.items[0].wake_stacks.n);
	write_and_read(&recording, &again);
	compare_captures(&recording.runs.items[0], &again.runs.items[0]);
	recording_free_members(&again);
	recording_free_members(&recording);
}

static void extreme_values_survive(void **state)
{
	struct recording recording = {}, again;
	struct capture *capture;
	struct capture_frame *frame;
	uint32_t places[1024];

	(void)state;
	sample_tool(&recording);
	capture = sample_add_run(&recording, "a", "run", NULL, 0);
	capture->stacks_mode = capture->sample_hz = UINT32_MAX;
	capture->lost[WK_LOST_STACKS] = UINT64_MAX;
	sample_add_cause(capture, 1, WK_CONTEXT_NONE, 1, 1, 0);
	sample_add_module(capture, "", "");
	sample_add_jit_frame(capture, UINT64_MAX, "\x01\xff\n");
	frame = &capture->frames.items[0];
	frame->module = frame->kind = UINT32_MAX; /* a kind that is not known */
	frame->into = UINT64_MAX;
	memset(places, 0, sizeof(places));
	sample_add_stack(capture, UINT32_MAX, 1024, places, 1024);
	sample_add_stack(capture, 0, 0, NULL, 0);
	*vec_push(&capture->wake_stacks) =
		(struct capture_wake_stack){1, STACK_NONE, 1, 0, UINT64_MAX - 1};
	*vec_push(&capture->wake_stacks) = (struct capture_wake_stack){1, 0, STACK_NONE, UINT64_MAX, 1};
	sample_add_sample(capture, 0, 0, 0);
	sample_add_sample(capture, 1 << 24, STACK_NONE, UINT64_MAX);
	write_and_read(&recording, &again);
	compare_captures(capture, &again.runs.items[0]);
	recording_free_members(&again);
	recording_free_members(&recording);
}

/* A struct member that no row names would be lost silently. */
static void tables_cover_their_structs(void **state)
{
	static const struct {
		const struct field *fields;
		size_t bytes;
		size_t from, until; /* left out: in a list of their own */
		size_t holes;	    /* that the compiler leaves free between members */
	} tables[] = {
		{module_fields, sizeof(struct capture_module), 0, 0, 0},
		{frame_fields, sizeof(struct capture_frame), 0, 0, 0},
		{stack_fields, sizeof(struct capture_stack), offsetof(struct capture_stack, frames),
		 sizeof(struct capture_stack), 3 + 4},
		{wake_stack_fields, sizeof(struct capture_wake_stack), 0, 0, 4},
		{sample_fields, sizeof(struct capture_sample), 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		unsigned char covered[64] = {};
		size_t holes = 0;

		assert_true(tables[i].bytes <= sizeof(covered));
		memset(covered + tables[i].from, 1, tables[i].until - tables[i].from);
		for (const struct field *field = tables[i].fields; field->name; field++)
			memset(covered + field->offset, 1, field->size);
		for (size_t j = 0; j < tables[i].bytes; j++)
			holes += !covered[j];
		assert_int_equal(holes, tables[i].holes);
	}
}

static void without_stacks_nothing_is_written(void **state)
{
	struct recording recording = {}, again;
	struct capture *capture;

	(void)state;
	sample_tool(&recording);
	capture = sample_add_run(&recording, "a", "run", NULL, 0);
	sample_add_kernel_frame(capture, "schedule");
	write_and_read(&recording, &again);
	assert_int_equal(again.runs.items[0].frames.n, 0);
	assert_int_equal(again.runs.items[0].stacks_mode, 0);
	recording_free_members(&again);
	/* Rows of causes that are not written would be refused when they are read. */
	capture->stacks_mode = WK_STACKS_KERNEL;
	sample_add_wake_stack(capture, 1, STACK_NONE, STACK_NONE, 1);
	write_and_read(&recording, &again);
	assert_int_equal(again.runs.items[0].frames.n, 1);
	assert_int_equal(again.runs.items[0].wake_stacks.n, 0);
	recording_free_members(&again);
	recording_free_members(&recording);
}

/* ---- nonsense -------------------------------------------------------------------------------- */

#define RUN(members)                                                                               \
	"{\"tool\":{},\"runs\":[{\"label\":\"l\",\"workload\":\"run\",\"causes\":{\"columns\":["       \
	"\"number\"],\"rows\":[[1],[7]]}" members "}]}"
#define TABLE(name, columns, rows)                                                                 \
	",\"" name "\":{\"columns\":[" columns "],\"rows\":[" rows "]}"
#define MODULES(rows) TABLE("modules", "\"path\",\"build_id\"", rows)
#define FRAMES(rows)  TABLE("frames", "\"kind\",\"module\",\"name\"", rows)
/* Two stacks of the same frame of a file. */
#define STACKS                                                                                     \
	MODULES("[\"/f\",\"00ff\"]")                                                               \
	FRAMES("[1,0,\"f\"]")                                                                      \
	TABLE("stacks", "\"kernel\"", "[0],[1]") ",\"stack_frames\":[[0],[0,0]]"
#define WAKES(rows)                                                                                \
	RUN(STACKS TABLE("wake_stacks",                                                            \
			 "\"cause\",\"sleeper\",\"waker\",\"wakeups\",\"sleep_ns\"", rows))
#define SAMPLES(rows) RUN(STACKS TABLE("samples", "\"serial\",\"stack\",\"count\"", rows))
#define MOST "\"18446744073709551615\""

static int decode(const char *text, struct diag *diag)
{
	struct recording recording;
	int err = recording_decode(text, strlen(text), "x.wkw", &recording, diag);

	if (!err)
		recording_free_members(&recording);
	return err;
}

static void sound_stacks_are_read(void **state)
{
	static const char *const good[] = {
		RUN(STACKS),
		RUN(TABLE("modules", "", "[]")),
		RUN(TABLE("frames", "", "[]")),
		RUN(FRAMES("[7,99,\"\"]")),
		RUN(TABLE("stacks", "", "[]") ",\"stack_frames\":[[]]"),
		WAKES("[1,0,1,1,1],[1,1,4294967295,1,1],[7,4294967295,0,0,0]"),
		WAKES("[1,0,1," MOST ",0],[1,0,1,0," MOST "]"),
		RUN(TABLE("wake_stacks", "\"cause\"", "[1]")),
		SAMPLES("[0,0,1],[0,1,1],[16777216,4294967295," "\"18446744073709551613\"]"),
		RUN(TABLE("samples", "", "[]")),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct diag diag = {};

		if (decode(good[i], &diag))
			fail_msg("%s: %s", diag.what, good[i]);
	}
}

static void nonsense_is_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{RUN(",\"stacks_mode\":-1"), "'stacks_mode' of a run"},
		{RUN(",\"sample_hz\":4294967296"), "'sample_hz' of a run"},
		{RUN(",\"modules\":[]"), "modules are no table"},
		{RUN(MODULES("[7,\"\"]")), "'path' of modules"},
		{RUN(MODULES("[\"a\\u0000b\",\"\"]")), "'path' of modules"},
		{RUN(MODULES("[\"\",\"0g\"]")), "hex digits"},
		{RUN(MODULES("[\"\",\"AB\"]")), "hex digits"},
		{RUN(MODULES("[\"\"]")), "does not have 2 values"},
		{RUN(",\"frames\":7"), "frames are no table"},
		{RUN(FRAMES("[1,0,\"f\"]")), "file 0, which is not there"},
		{RUN(MODULES("[\"\",\"\"]") FRAMES("[1,1,\"\"]")), "file 1, which is not there"},
		{RUN(FRAMES("[-1,0,\"\"]")), "'kind' of frames"},
		{RUN(FRAMES("[0,0,null]")), "'name' of frames"},
		{RUN(FRAMES("[0,0,\"\\u0100\"]")), "'name' of frames"},
		{RUN(TABLE("stacks", "\"truncated\"", "[1]")), "'truncated' of stacks"},
		{RUN(TABLE("stacks", "", "[]")), "not listed for each stack"},
		{RUN(",\"stack_frames\":[[]]"), "not listed for each stack"},
		{RUN(",\"stack_frames\":{}"), "not listed for each stack"},
		{RUN(TABLE("stacks", "", "[]") ",\"stack_frames\":[7]"), "no list of at most 1024"},
		{RUN(TABLE("stacks", "", "[]") ",\"stack_frames\":[[0]]"), "frame that is not there"},
		{RUN(FRAMES("[0,0,\"\"]") TABLE("stacks", "", "[]") ",\"stack_frames\":[[0,1]]"),
		 "frame that is not there"},
		{RUN(FRAMES("[0,0,\"\"]") TABLE("stacks", "", "[]") ",\"stack_frames\":[[-1]]"),
		 "frame that is not there"},
		{RUN(FRAMES("[0,0,\"\"]") TABLE("stacks", "\"kernel\"", "[2]")
			     ",\"stack_frames\":[[0]]"),
		 "2 frames of a stack are the kernel's, it has 1"},
		{WAKES("[2,0,0,1,1]"), "cause 2, which is not there"},
		{WAKES("[0,0,0,1,1]"), "cause 0, which is not there"},
		{WAKES("[7,0,0,1,1],[1,0,0,1,1]"), "not in order"},
		{WAKES("[1,2,0,1,1]"), "a wake has a stack that is not there"},
		{WAKES("[1,0,4294967294,1,1]"), "a wake has a stack that is not there"},
		{WAKES("[1,0,0,-1,1]"), "'wakeups' of wake_stacks"},
		{WAKES("[1,0,0," MOST ",0],[7,0,0,1,0]"), "add up to more than 2^64"},
		{WAKES("[1,0,0,0," MOST "],[7,0,0,0,1]"), "add up to more than 2^64"},
		{RUN(",\"wake_stacks\":[]"), "wake_stacks are no table"},
		{SAMPLES("[16777217,0,1]"), "serials of samples"},
		{SAMPLES("[2,0,1],[1,0,1]"), "serials of samples"},
		{SAMPLES("[1,2,1]"), "a sample has a stack that is not there"},
		{SAMPLES("[1,0," MOST "],[1,1,1]"), "samples add up to more than 2^64"},
		{RUN(",\"samples\":{}"), "samples are no table"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct diag diag = {};

		if (decode(bad[i].text, &diag) != -EINVAL)
			fail_msg("accepted: %s", bad[i].text);
		if (!strstr(diag.what, bad[i].why))
			fail_msg("'%s' does not say '%s': %s", diag.what, bad[i].why, bad[i].text);
	}
}

static void stacks_deeper_than_any_are_refused(void **state)
{
	struct recording recording = {};
	uint32_t places[1025] = {};
	struct capture *capture;
	struct diag diag = {};
	char *bytes = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&bytes, &n), *in;

	(void)state;
	sample_tool(&recording);
	capture = sample_add_run(&recording, "a", "run", NULL, 0);
	capture->stacks_mode = WK_STACKS_KERNEL;
	sample_add_kernel_frame(capture, "schedule");
	sample_add_stack(capture, 1, 0, places, 1025);
	assert_int_equal(record_write(out, &recording, &diag), 0);
	fclose(out);
	recording_free_members(&recording);
	in = fmemopen(bytes, n, "r");
	assert_int_equal(record_read(in, "x.wkw", &recording, &diag), -EINVAL);
	assert_non_null(strstr(diag.what, "no list of at most 1024"));
	fclose(in);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_survives),
		cmocka_unit_test(extreme_values_survive),
		cmocka_unit_test(tables_cover_their_structs),
		cmocka_unit_test(without_stacks_nothing_is_written),
		cmocka_unit_test(sound_stacks_are_read),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(stacks_deeper_than_any_are_refused),
	};

	return cmocka_run_group_tests_name("record stacks", tests, NULL, NULL);
}
