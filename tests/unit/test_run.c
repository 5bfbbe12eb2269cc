/* What a capture means: labels, processes, order, series, totals. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "model/run.h"
#include "sample.h"

static struct capture *new_capture(struct recording *recording)
{
	memset(recording, 0, sizeof(*recording));
	return sample_add_run(recording, "x", "run", NULL, 0);
}

static const char *label_of(const struct run *run, uint32_t tid)
{
	for (size_t i = 0; i < run->threads.n; i++)
		if (run->threads.items[i].seen->t.tid == tid)
			return run->threads.items[i].label;
	return NULL;
}

static void labels_number_threads_of_one_name(void **state)
{
	struct recording recording;
	struct capture *capture = new_capture(&recording);
	struct capture_thread *thread;
	struct run run;

	(void)state;
	/* Ids wrap around, so the order of creation is not that of the ids; the main thread is
	 * first whatever the others' ids say. */
	sample_add_thread(capture, 5000, "bun", 1, 1);
	sample_add_thread(capture, 5001, "Helper", 1, 1);
	thread = sample_add_thread(capture, 300, "bun", 1, 1);
	thread->t.start_ns = capture->start_ns;
	sample_add_thread(capture, SAMPLE_PID, "bun", 1, 1)->t.start_ns = capture->start_ns + 1;
	sample_add_thread(capture, 5002, "Helper", 1, 1);
	sample_add_thread(capture, 5003, "", 1, 1);
	sample_add_thread(capture, 5004, "", 1, 1);
	thread = sample_add_thread(capture, 6000, "bun", 1, 1); /* another process's */
	thread->t.pid = 6000;
	run_init(&run, capture);
	assert_string_equal(label_of(&run, SAMPLE_PID), "bun");
	assert_string_equal(label_of(&run, 5000), "bun#2");
	assert_string_equal(label_of(&run, 300), "bun#3");
	assert_string_equal(label_of(&run, 5001), "Helper");
	assert_string_equal(label_of(&run, 5002), "Helper#2");
	assert_string_equal(label_of(&run, 5003), "(unnamed)");
	assert_string_equal(label_of(&run, 5004), "(unnamed)#2");
	assert_string_equal(label_of(&run, 6000), "bun");
	run_free_members(&run);
	recording_free_members(&recording);
}

static void a_pid_used_twice_is_two_processes(void **state)
{
	struct recording recording;
	struct capture *capture = new_capture(&recording);
	struct capture_thread *thread;
	struct run run;

	(void)state;
	sample_add_image(capture, 50, 1000, 0, "first", NULL, 0);
	sample_add_image(capture, 50, 9000, 0, "second", NULL, 0);
	thread = sample_add_thread(capture, 50, "w", 1, 2);
	thread->t.pid = 50;
	thread->t.start_ns = 1000;
	thread->t.flags |= WK_FLAG_LAST_EXIT;
	thread->t.exit_ns = 5000;
	thread->t.exit_code = 0x300;
	thread = sample_add_thread(capture, 51, "w", 1, 3);
	thread->t.pid = 50;
	thread->t.start_ns = 9000; /* at the very start of the second */
	run_init(&run, capture);
	assert_string_equal(run.threads.items[0].label, "w");
	assert_string_equal(run.threads.items[1].label, "w");
	assert_int_equal(run.processes.n, 2);
	assert_int_equal(run.processes.items[0].exit_ns, 5000);
	assert_int_equal(run.processes.items[0].exit_status, 0x300);
	assert_string_equal(run.processes.items[0].comm, "w");
	assert_int_equal(run.processes.items[1].exit_ns, 0);
	assert_int_equal(run.processes.items[1].exit_status, -1);
	assert_string_equal(run.processes.items[1].comm, "second"); /* main thread not seen */
	run_free_members(&run);
	recording_free_members(&recording);
}

static void only_the_last_image_ends(void **state)
{
	struct recording recording;
	struct capture *capture = new_capture(&recording);
	struct capture_thread *thread;
	struct run run;

	(void)state;
	/* Listed out of order on purpose. */
	sample_add_image(capture, 70, 1000, 3000, "late", NULL, 0);
	sample_add_image(capture, 70, 1000, 2000, "early", NULL, 0);
	sample_add_image(capture, 60, 4000, 4000, "other", NULL, 0);
	/* The leader that an exec from another thread replaced has the same ids. */
	thread = sample_add_thread(capture, 70, "oldleader", 1, 2);
	thread->t.pid = 70;
	thread->t.start_ns = 1000;
	thread = sample_add_thread(capture, 70, "renamed", 1, 2);
	thread->t.pid = 70;
	thread->t.start_ns = 1000;
	thread->t.exec_ns = 3000;
	thread->t.flags |= WK_FLAG_LAST_EXIT;
	thread->t.exit_ns = 8000;
	run_init(&run, capture);
	assert_int_equal(run.processes.n, 3);
	assert_string_equal(run.processes.items[0].comm, "early");
	assert_int_equal(run.processes.items[0].exit_ns, 0);
	assert_string_equal(run.processes.items[1].comm, "renamed");
	assert_int_equal(run.processes.items[1].exit_ns, 8000);
	assert_int_equal(run.processes.items[1].exit_status, 0);
	assert_string_equal(run.processes.items[1].main->comm, "renamed");
	assert_int_equal(run.processes.items[2].image->pid, 60);
	run_free_members(&run);
	recording_free_members(&recording);
}

static void threads_are_ordered_by_cost(void **state)
{
	struct recording recording;
	struct capture *capture = new_capture(&recording);
	struct run run;

	(void)state;
	sample_add_thread(capture, 5, "c", 1, 100);
	sample_add_thread(capture, 4, "b", 2, 100);
	sample_add_thread(capture, 3, "a", 0, 999);
	sample_add_thread(capture, 2, "d", 1, 100);
	run_init(&run, capture);
	assert_int_equal(run.threads.items[0].seen->t.tid, 3);
	assert_int_equal(run.threads.items[1].seen->t.tid, 4);
	assert_int_equal(run.threads.items[2].seen->t.tid, 2);
	assert_int_equal(run.threads.items[3].seen->t.tid, 5);
	run_free_members(&run);
	recording_free_members(&recording);
}

static void totals_are_sums_and_the_longest_wait(void **state)
{
	struct recording recording;
	struct capture *capture = new_capture(&recording);
	struct wk_counters *a, *b;
	struct run run;
	uint64_t n = sizeof(*a) / sizeof(uint64_t);

	(void)state;
	sample_add_thread(capture, 1, "a", 0, 0);
	sample_add_thread(capture, 2, "b", 0, 0);
	a = &capture->threads.items[0].t.count;
	b = &capture->threads.items[1].t.count;
	for (uint64_t i = 0; i < n; i++) {
		((uint64_t *)a)[i] = i + 1;
		((uint64_t *)b)[i] = 1000 * (i + 1);
	}
	run_init(&run, capture);
	/* Each counter by its place, so that a new one cannot be forgotten in the sums. */
	for (uint64_t i = 0; i < n; i++) {
		uint64_t total = ((const uint64_t *)&run.totals)[i];

		if (i == offsetof(struct wk_counters, runq_max_ns) / 8)
			assert_int_equal(total, 1000 * (i + 1));
		else if (i == offsetof(struct wk_counters, active_seconds) / 8)
			assert_int_equal(total, 0); /* of seconds, not of threads: none here */
		else
			assert_int_equal(total, 1001 * (i + 1));
	}
	assert_int_equal(run.window_ns, SAMPLE_WINDOW_NS);
	run_free_members(&run);
	recording_free_members(&recording);
}

static void seconds_add_whole_ones(void **state)
{
	static const struct wk_second seconds[] = {
		{0, 0, 0}, {5, 1, 0}, {100, 0, 2}, {0, 0, 0}, {7, 2, -1}, {0, 3, -1}, {0, 0, 0},
	};
	static const uint64_t oncpu_ns[] = {0, 5, 2000000100, 2000000000, 1000000007, 0, 0};
	struct recording recording;
	struct capture *capture = new_capture(&recording);
	uint64_t ns = 77, wakeups = 77;
	struct run run;

	(void)state;
	for (size_t i = 0; i < 7; i++)
		*vec_push(&capture->seconds) = seconds[i];
	run_init(&run, capture);
	assert_int_equal(run.totals.active_seconds, 4);
	for (size_t i = 0; i < 7; i++) {
		assert_true(run_second(&run, i, &ns, &wakeups));
		assert_int_equal(ns, oncpu_ns[i]);
		assert_int_equal(wakeups, seconds[i].wakeups);
	}
	ns = 77;
	assert_false(run_second(&run, 7, &ns, &wakeups));
	assert_int_equal(ns, 77);
	run_free_members(&run);
	recording_free_members(&recording);
}

/* From a file that somebody made up: no crash, no undefined arithmetic. */
static void any_capture_is_accepted(void **state)
{
	struct recording recording = {};
	struct capture *capture = vec_push(&recording.runs);
	struct run run;

	(void)state;
	run_init(&run, capture);
	assert_int_equal(run.window_ns, 0);
	assert_true(run.trust.ok);
	run_free_members(&run);
	capture->start_ns = 10;
	capture->end_ns = 3;
	capture->noise.cpus_online = UINT32_MAX;
	capture->noise.steal_share = 1e15;
	for (int i = 0; i < 3; i++) {
		memset(&vec_push(&capture->threads)->t, 0xff, sizeof(struct wk_thread));
		*vec_push(&capture->seconds) =
			(struct wk_second){UINT64_MAX, UINT64_MAX, INT64_MAX};
		memset(vec_push(&capture->images), 0x7f, offsetof(struct capture_image, argv));
		capture->images.items[i].comm[WK_COMM_BYTES] = '\0';
	}
	*vec_push(&capture->seconds) = (struct wk_second){0, 0, INT64_MIN};
	for (size_t i = 0; i < WK_LOST_MAX; i++)
		capture->lost[i] = UINT64_MAX;
	run_init(&run, capture);
	assert_int_equal(run.window_ns, 0);
	assert_false(run.trust.ok);
	assert_int_equal(run.threads.n, 3);
	assert_int_equal(strlen(run.threads.items[0].label), WK_COMM_BYTES);
	run_free_members(&run);
	recording_free_members(&recording);
	run_free_members(NULL);
	recording_free_members(NULL);
	capture_free_members(NULL);
}

static void losses_have_names(void **state)
{
	(void)state;
	for (enum wk_lost a = 0; a < WK_LOST_MAX; a++) {
		assert_true(capture_lost_name(a)[0]);
		for (enum wk_lost b = 0; b < a; b++)
			assert_string_not_equal(capture_lost_name(a), capture_lost_name(b));
	}
	assert_string_equal(capture_lost_name(WK_LOST_EVENTS), "events");
	assert_string_equal(capture_lost_name(WK_LOST_MAX), "");
	assert_string_equal(capture_lost_name((enum wk_lost) - 1), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_number_threads_of_one_name),
		cmocka_unit_test(a_pid_used_twice_is_two_processes),
		cmocka_unit_test(only_the_last_image_ends),
		cmocka_unit_test(threads_are_ordered_by_cost),
		cmocka_unit_test(totals_are_sums_and_the_longest_wait),
		cmocka_unit_test(seconds_add_whole_ones),
		cmocka_unit_test(any_capture_is_accepted),
		cmocka_unit_test(losses_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
