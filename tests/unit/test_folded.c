/* Formats folded, folded-wakeups, folded-oncpu and speedscope: the stacks of a recording for other viewers. */
#include "unit.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rendered.h"
#include "sample.h"
#include "sample_stacks.h"

static char *written(const char *format)
{
	struct recording recording;
	char *text;

	sample_stacks_recording(&recording);
	text = rendered_recording(format, &recording, 0, 0);
	recording_free_members(&recording);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

/* Each line: frames, a space, a whole number; lines in the order of their bytes, none twice. Returns the sum. */
static uint64_t assert_folded(const char *text)
{
	char *copy = mem_strdup(text), *save, *line, *before = NULL;
	uint64_t sum = 0;

	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *space = strrchr(line, ' '), *end;

		assert_non_null(space);
		sum += strtoull(space + 1, &end, 10);
		assert_true(end > space + 1 && !*end);
		*space = '\0';
		for (const char *p = line; *p; p++)
			assert_in_range((unsigned char)*p, 0x20, 0xff);
		assert_null(strstr(line, ";;"));
		assert_true(!before || strcmp(before, line) < 0);
		before = line;
	}
	free(copy);
	return sum;
}

static void chains_tell_who_woke(void **state)
{
	char *text = written("folded");

	(void)state;
	assert_int_equal(assert_folded(text), 260 * 99000);
	assert_has(text, "\nidle server;server#2;__clone3;start_thread;server+0x4788c15;"
			 "pthread_cond_timedwait;libc.so.6+0x8f0a1;entry_SYSCALL_64_after_hwframe_[k];"
			 "__x64_sys_futex_[k];schedule_[k];[futex wake by server];--;"
			 "__x64_sys_futex_[k];entry_SYSCALL_64_after_hwframe_[k];"
			 "JS:*tick file:///srv/app.mjs:7:1_[j];"
			 "server::Loop::run(std::chrono::duration<long>);main;__libc_start_main;"
			 "server+0x1025;server 3663000\n");
	assert_has(text, "\nidle server;server#2;[truncated];libc.so.6+0x8f0a1;[futex wake by server];--;");
	assert_has(text, "\nidle server;server#2;[no stack];[futex wake by server] 99000\n");
	free(text);
}

static void wakeups_add_up(void **state)
{
	char *text = written("folded-wakeups");

	(void)state;
	assert_int_equal(assert_folded(text), 260);
	assert_has(text, "epoll_wait;entry_SYSCALL_64_after_hwframe_[k];__x64_sys_epoll_wait_[k];"
			 "schedule_[k];[its own 100 ms epoll timeout] 184\n");
	/* The hostile names: neither a control byte nor a semicolon of theirs. */
	assert_has(text, ";<script>alert(1):\\x1b[2J\\xff+0x11;"
			 "<script>\\x1b]0:x\\x07\\xc3(\\u{202e}:\\x0a\"a b\";"
			 "</title>\\x1b[31m:\\xff&amp:_[j];[jit] 0x7f5430_[j];");
	free(text);
}

static void samples_add_up(void **state)
{
	char *text = written("folded-oncpu");

	(void)state;
	assert_int_equal(assert_folded(text), 10);
	assert_has(text, "main;server::Loop::run(std::chrono::duration<long>);"
			 "JS:*tick file:///srv/app.mjs:7:1_[j] 7\n");
	assert_has(text, "idle server;server#2;[no stack] 1\n");
	free(text);
}

/* Repeats of a group are one, and a run that was measured again does not count. */
static void repeats_are_one(void **state)
{
	struct recording recording, again;
	char *text;

	(void)state;
	sample_stacks_recording(&recording);
	for (int i = 0; i < 2; i++) {
		sample_stacks_recording(&again);
		again.runs.items[0].repeat = (uint32_t)i + 1;
		again.runs.items[0].replaced = i;
		*vec_push(&recording.runs) = again.runs.items[0];
		again.runs.n = 0;
		recording_free_members(&again);
	}
	text = rendered_recording("folded-wakeups", &recording, 0, 0);
	assert_int_equal(assert_folded(text), 520);
	assert_has(text, "[its own 100 ms epoll timeout] 368\n");
	free(text);
	recording_free_members(&recording);
}

static void without_stacks_files_are_empty(void **state)
{
	struct recording recording;
	json_t *document;
	char *text;

	(void)state;
	sample_recording(&recording);
	text = rendered_recording("folded", &recording, 0, 0);
	assert_string_equal(text, "");
	free(text);
	text = rendered_recording("speedscope", &recording, 0, 0);
	document = json_loads(text, 0, NULL);
	assert_non_null(document);
	assert_int_equal(json_array_size(json_object_get(document, "profiles")), 0);
	json_decref(document);
	free(text);
	recording_free_members(&recording);
}

/* ---- speedscope ------------------------------------------------------------------------------ */

/* Every number is a frame's, every sample has its weight, and they add up to the end. */
static double assert_profile(const json_t *profile, size_t n_frames)
{
	const json_t *samples = json_object_get(profile, "samples");
	const json_t *weights = json_object_get(profile, "weights"), *sample, *frame;
	double sum = 0, end = json_number_value(json_object_get(profile, "endValue"));
	size_t i, j;

	assert_string_equal(json_string_value(json_object_get(profile, "type")), "sampled");
	assert_int_equal(json_array_size(samples), json_array_size(weights));
	json_array_foreach(samples, i, sample)
	{
		assert_true(json_array_size(sample) >= 2);
		json_array_foreach(sample, j, frame)
			assert_in_range(json_integer_value(frame), 0, n_frames - 1);
		sum += json_number_value(json_array_get(weights, i));
	}
	assert_true(fabs(sum - end) < 1e-9 * end);
	return sum;
}

static void speedscope_adds_up(void **state)
{
	static const struct {
		const char *name, *unit;
		double sum;
	} profiles[] = {{"idle server: on CPU", "milliseconds", 10 * 1000.0 / 999},
			{"idle server: wakeups", "none", 260},
			{"idle server: asleep", "seconds", 260 * 0.099}};
	char *text = written("speedscope");
	json_t *document = json_loads(text, 0, NULL);
	const json_t *frames = json_object_get(json_object_get(document, "shared"), "frames"), *frame;
	size_t i;

	(void)state;
	assert_string_equal(json_string_value(json_object_get(document, "$schema")),
			    "https://www.speedscope.app/file-format-schema.json");
	json_array_foreach(frames, i, frame)
		assert_true(*json_string_value(json_object_get(frame, "name")));
	assert_int_equal(json_array_size(json_object_get(document, "profiles")), 3);
	for (i = 0; i < 3; i++) {
		const json_t *profile = json_array_get(json_object_get(document, "profiles"), i);
		double sum = assert_profile(profile, json_array_size(frames));

		assert_string_equal(json_string_value(json_object_get(profile, "name")),
				    profiles[i].name);
		assert_string_equal(json_string_value(json_object_get(profile, "unit")),
				    profiles[i].unit);
		assert_true(fabs(sum - profiles[i].sum) < 1e-9 * sum);
	}
	json_decref(document);
	free(text);
}

static const char *frame_name(const json_t *document, const json_t *sample, size_t at)
{
	const json_t *frames = json_object_get(json_object_get(document, "shared"), "frames");
	size_t frame = (size_t)json_integer_value(json_array_get(sample, at));

	return json_string_value(json_object_get(json_array_get(frames, frame), "name"));
}

static void speedscope_begins_with_the_thread(void **state)
{
	static const char *const names[] = {"server", "server+0x1025", "__libc_start_main", "main",
					    "server::Loop::run(std::chrono::duration<long>)",
					    "JS:*tick file:///srv/app.mjs:7:1"};
	char *text = written("speedscope");
	json_t *document = json_loads(text, 0, NULL);
	const json_t *profile = json_array_get(json_object_get(document, "profiles"), 0);
	const json_t *sample = json_array_get(json_object_get(profile, "samples"), 0);

	(void)state;
	assert_int_equal(json_array_size(sample), 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(frame_name(document, sample, i), names[i]);
	json_decref(document);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_tell_who_woke),
		cmocka_unit_test(wakeups_add_up),
		cmocka_unit_test(samples_add_up),
		cmocka_unit_test(repeats_are_one),
		cmocka_unit_test(without_stacks_files_are_empty),
		cmocka_unit_test(speedscope_adds_up),
		cmocka_unit_test(speedscope_begins_with_the_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
