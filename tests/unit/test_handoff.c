/* Who wakes whom: edges, hand-off loops and what a round costs, herds. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/why.h"
#include "rendered.h"
#include "sample.h"

enum { WRITE = 1, FUTEX = 202 }; /* x86-64 */

struct made {
	struct recording recording;
	struct capture *capture;
	struct run run;
	struct why why;
};

/* Threads "a", "b", "c" … with serials 1, 2, 3 … */
static void make(struct made *made, uint32_t threads)
{
	memset(made, 0, sizeof(*made));
	made->capture = sample_add_run(&made->recording, "x", "run", NULL, 0);
	made->capture->causes_counted = true;
	for (uint32_t i = 0; i < threads; i++)
		sample_add_thread(made->capture, SAMPLE_PID + i, (const char[]){'a' + (char)i, 0},
				  0, 0);
}

/* Thread `to` is woken so often by `from` (0: by a timer), 1000 ns on CPU and 10 calls each time.
 */
static void wake(struct made *made, uint32_t from, uint32_t to, uint16_t call, uint64_t n)
{
	struct capture_thread *thread = &made->capture->threads.items[to - 1];
	struct wk_cause *cause;

	thread->t.count.wakeups += n;
	thread->t.count.oncpu_ns += n * 1000;
	thread->t.count.syscalls += n * 10;
	cause = sample_add_cause(made->capture, to, from ? WK_CONTEXT_THREAD : WK_CONTEXT_HRTIMER,
				 n, n * 1000, 0);
	if (from)
		sample_set_waker(cause, from, call, FUTEX);
	else
		sample_set_timeout(cause, FUTEX, 1000000);
}

static const struct why *explain(struct made *made)
{
	run_init(&made->run, made->capture);
	why_init(&made->why, &made->run, "x86-64");
	return &made->why;
}

static void unmake(struct made *made)
{
	why_free_members(&made->why);
	run_free_members(&made->run);
	recording_free_members(&made->recording);
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

static bool loop_has(const struct why_loop *loop, char name)
{
	for (size_t i = 0; i < loop->threads.n; i++)
		if (loop->threads.items[i]->label[0] == name)
			return true;
	return false;
}

/* ---- edges ----------------------------------------------------------------------------------- */

static void edges_add_up_by_threads_and_mechanism(void **state)
{
	const struct why *why;
	struct made made;
	uint64_t futex = 0, write = 0;

	(void)state;
	make(&made, 2);
	wake(&made, 0, 1, 0, 50);
	wake(&made, 1, 2, FUTEX, 30);
	/* The same waker and call, from another call: another cause, the same edge. */
	wake(&made, 1, 2, FUTEX, 7);
	made.capture->causes.items[2].c.key.sleep_call = 232;
	wake(&made, 1, 2, WRITE, 5);
	wake(&made, 1, 2, WRITE, 0);
	why = explain(&made);
	assert_int_equal(why->edges.n, 2);
	for (size_t i = 0; i < why->edges.n; i++) {
		const struct why_edge *edge = &why->edges.items[i];

		assert_string_equal(edge->from->label, "a");
		assert_string_equal(edge->to->label, "b");
		futex += !strcmp(edge->mechanism, "futex") ? edge->wakeups : 0;
		write += !strcmp(edge->mechanism, "write") ? edge->wakeups : 0;
	}
	assert_int_equal(futex, 37);
	assert_int_equal(write, 5);
	unmake(&made);
}

/* ---- loops ----------------------------------------------------------------------------------- */

static void two_that_wake_each_other_are_a_loop(void **state)
{
	const struct why_loop *loop;
	const struct why *why;
	struct made made;

	(void)state;
	make(&made, 3);
	wake(&made, 1, 2, WRITE, 20000);
	wake(&made, 2, 1, WRITE, 19999);
	wake(&made, 0, 1, 0, 1);
	wake(&made, 0, 3, 0, 50);
	why = explain(&made);
	assert_int_equal(why->loops.n, 1);
	loop = &why->loops.items[0];
	assert_int_equal(loop->threads.n, 2);
	assert_string_equal(loop->threads.items[0]->label, "b"); /* woken most */
	assert_string_equal(loop->threads.items[1]->label, "a");
	assert_int_equal(loop->rounds, 20000);
	assert_true(near(loop->rounds_per_s, 1000)); /* in 20 s */
	assert_true(near(loop->wakeups, 39999 / 20000.0));
	assert_true(near(loop->oncpu_ns, 39999 * 1000 / 20000.0));
	assert_true(near(loop->runq_ns, 39999 * 4100 / 20000.0));
	assert_true(near(loop->syscalls, 40000 * 10 / 20000.0));
	unmake(&made);
}

static void a_ring_and_a_hub_with_workers_are_loops(void **state)
{
	const struct why *why;
	struct made made;

	(void)state;
	make(&made, 8);
	wake(&made, 1, 2, FUTEX, 1000); /* a → b → c → a */
	wake(&made, 2, 3, FUTEX, 1000);
	wake(&made, 3, 1, FUTEX, 1000);
	for (uint32_t worker = 5; worker <= 8; worker++) { /* d ⇄ e f g h */
		wake(&made, 4, worker, FUTEX, 500);
		wake(&made, worker, 4, WRITE, 500);
	}
	why = explain(&made);
	assert_int_equal(why->loops.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct why_loop *loop = &why->loops.items[i];

		if (loop_has(loop, 'a')) {
			assert_int_equal(loop->threads.n, 3);
			assert_true(loop_has(loop, 'b') && loop_has(loop, 'c'));
			assert_int_equal(loop->rounds, 1000);
			assert_true(near(loop->wakeups, 3));
		} else {
			assert_int_equal(loop->threads.n, 5);
			assert_string_equal(loop->threads.items[0]->label, "d");
			assert_int_equal(loop->rounds, 2000);
			assert_true(near(loop->wakeups, 2));
		}
	}
	unmake(&made);
}

/* Sixteen rounds, and ten hand-offs for each wake from outside. */
static size_t loops_of(uint64_t rounds, uint64_t outside)
{
	struct made made;
	size_t n;

	make(&made, 2);
	wake(&made, 1, 2, FUTEX, rounds);
	wake(&made, 2, 1, FUTEX, rounds);
	if (outside)
		wake(&made, 0, 1, 0, outside);
	n = explain(&made)->loops.n;
	unmake(&made);
	return n;
}

static void a_loop_goes_on_by_itself(void **state)
{
	(void)state;
	assert_int_equal(loops_of(16, 0), 1);
	assert_int_equal(loops_of(15, 0), 0);
	assert_int_equal(loops_of(1000, 200), 1);
	assert_int_equal(loops_of(1000, 201), 0);
	/* A timer's tick each time: a chain with an answer, not a loop. */
	assert_int_equal(loops_of(1000, 1000), 0);
}

static void a_seldom_wake_joins_nobody_to_a_loop(void **state)
{
	const struct why *why;
	struct made made;

	(void)state;
	make(&made, 3);
	wake(&made, 1, 2, FUTEX, 1000);
	wake(&made, 2, 1, FUTEX, 1000);
	wake(&made, 1, 3, FUTEX, 40); /* of a thousand: 4 % of what wakes it */
	wake(&made, 0, 3, 0, 960);
	wake(&made, 3, 1, FUTEX, 100);
	why = explain(&made);
	assert_int_equal(why->loops.n, 1);
	assert_int_equal(why->loops.items[0].threads.n, 2);
	assert_false(loop_has(&why->loops.items[0], 'c'));
	unmake(&made);
}

static void waking_without_being_woken_is_no_loop(void **state)
{
	const struct why *why;
	struct made made;

	(void)state;
	make(&made, 3);
	wake(&made, 1, 2, FUTEX, 1000);
	wake(&made, 2, 3, FUTEX, 1000);
	wake(&made, 3, 3, FUTEX, 1000); /* itself, by a signal */
	why = explain(&made);
	assert_int_equal(why->loops.n, 0);
	assert_int_equal(why->edges.n, 3);
	unmake(&made);
}

static void waking_itself_is_no_round(void **state)
{
	const struct why *why;
	struct made made;

	(void)state;
	make(&made, 2);
	wake(&made, 1, 2, FUTEX, 1000);
	wake(&made, 2, 1, FUTEX, 1000);
	wake(&made, 1, 1, FUTEX, 60); /* by a signal */
	why = explain(&made);
	assert_int_equal(why->loops.n, 1);
	assert_int_equal(why->loops.items[0].rounds, 1000);
	unmake(&made);
}

/* ---- herds ----------------------------------------------------------------------------------- */

static void herds_are_told_with_their_size(void **state)
{
	const struct why *why;
	struct made made;
	struct wk_thread *t;

	(void)state;
	make(&made, 2);
	wake(&made, 1, 2, FUTEX, 100);
	t = &made.capture->threads.items[0].t;
	t->herds = 9;
	t->herd_woken = 72;
	t->herd_max = 8;
	t->burst = 4; /* still open when the window closed */
	why = explain(&made);
	assert_int_equal(why->herds.n, 1);
	assert_string_equal(why->herds.items[0].waker->label, "a");
	assert_int_equal(why->herds.items[0].herds, 10);
	assert_true(near(why->herds.items[0].threads, 7.6));
	assert_int_equal(why->herds.items[0].most, 8);
	unmake(&made);
}

/* Herds so often, of three, among a hundred threads that it woke. */
static size_t herds_of(uint64_t herds, uint32_t burst)
{
	struct made made;
	size_t n;

	make(&made, 2);
	wake(&made, 1, 2, FUTEX, 100);
	made.capture->threads.items[0].t.herds = herds;
	made.capture->threads.items[0].t.herd_woken = 3 * herds;
	made.capture->threads.items[0].t.herd_max = 3;
	made.capture->threads.items[0].t.burst = burst;
	n = explain(&made)->herds.n;
	unmake(&made);
	return n;
}

static void one_herd_is_chance_and_so_are_a_few_of_many_wakes(void **state)
{
	(void)state;
	assert_int_equal(herds_of(0, 0), 0);
	assert_int_equal(herds_of(0, 50), 0);
	assert_int_equal(herds_of(1, 2), 0);
	assert_int_equal(herds_of(6, 0), 0);
	assert_int_equal(herds_of(7, 0), 1); /* 21 of 100 */
	assert_int_equal(herds_of(6, 3), 1); /* and so with the last one */
	assert_int_equal(herds_of(6, 2), 0); /* two are none */
}

/* ---- many ------------------------------------------------------------------------------------- */

enum { GRAPH_MOST = 9, GRAPH_WAKES = 100 };

/* reaches[i][j]: thread j is woken because of thread i, over others or not (S. Warshall). */
static void closure(bool reaches[GRAPH_MOST][GRAPH_MOST], uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				reaches[i][j] |= reaches[i][k] && reaches[k][j];
}

/* One graph, in which each thread wakes each other one with the chance 1 in `seldom`. All wakes that do not
 * come from a thread's own component would keep it from being a loop: only threads of one are woken twice. */
static void one_graph(uint32_t n, uint32_t seldom)
{
	bool edge[GRAPH_MOST][GRAPH_MOST] = {}, reaches[GRAPH_MOST][GRAPH_MOST];
	bool told[GRAPH_MOST][GRAPH_MOST] = {};
	const struct why *why;
	struct made made;

	make(&made, n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			edge[i][j] = i != j && !((uint32_t)random() % seldom);
	memcpy(reaches, edge, sizeof(reaches));
	closure(reaches, n);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			if (edge[i][j])
				wake(&made, i + 1, j + 1, WRITE,
				     reaches[j][i] ? 100 * GRAPH_WAKES : GRAPH_WAKES);
	why = explain(&made);
	for (size_t l = 0; l < why->loops.n; l++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				told[i][j] |= loop_has(&why->loops.items[l], 'a' + (char)i) &&
					      loop_has(&why->loops.items[l], 'a' + (char)j);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			assert_int_equal(told[i][j], reaches[i][j] && reaches[j][i]);
	unmake(&made);
}

static void loops_are_the_threads_that_reach_each_other(void **state)
{
	(void)state;
	srandom(1);
	for (uint32_t i = 0; i < 3000; i++)
		one_graph(2 + i % (GRAPH_MOST - 1), 2 + i % 7);
}

/* A ring of n threads, each with a cause of its own, and as many that stand in a chain behind it. */
static void make_ring_and_chain(struct made *made, uint32_t n)
{
	memset(made, 0, sizeof(*made));
	made->capture = sample_add_run(&made->recording, "x", "run", NULL, 0);
	made->capture->causes_counted = true;
	for (uint32_t i = 0; i < 2 * n; i++) {
		char name[WK_COMM_BYTES];

		snprintf(name, sizeof(name), "t%u", i);
		sample_add_thread(made->capture, SAMPLE_PID + i, i % 3 ? "same" : name, 0, 0);
	}
	for (uint32_t i = 0; i < n; i++)
		wake(made, i ? i : n, i + 1, WRITE, 1000);
	for (uint32_t i = n; i < 2 * n; i++)
		wake(made, i, i + 1, WRITE, 20);
}

static double cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* From a recording to its text, for 2 n threads; the best of some. */
static double cost_of(uint32_t n)
{
	double best = INFINITY;

	for (int i = 0; i < 3; i++) {
		struct made made;
		double begun;

		make_ring_and_chain(&made, n);
		begun = cpu_s();
		assert_int_equal(explain(&made)->loops.n, 1);
		assert_int_equal(made.why.loops.items[0].threads.n, n);
		assert_int_equal(made.why.edges.n, 2 * n);
		free(rendered_recording("text", &made.recording, 20, 100));
		best = fmin(best, cpu_s() - begun);
		unmake(&made);
	}
	return best;
}

/* Eight times the threads: n log n is 11 times the work, the square 64. */
static void the_cost_does_not_grow_with_the_square(void **state)
{
	double few = cost_of(1000), many = cost_of(8000);

	(void)state;
	if (many > 24 * few)
		fail_msg("%f s for 2,000 threads and %f s for 16,000", few, many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_add_up_by_threads_and_mechanism),
		cmocka_unit_test(two_that_wake_each_other_are_a_loop),
		cmocka_unit_test(a_ring_and_a_hub_with_workers_are_loops),
		cmocka_unit_test(a_loop_goes_on_by_itself),
		cmocka_unit_test(a_seldom_wake_joins_nobody_to_a_loop),
		cmocka_unit_test(waking_without_being_woken_is_no_loop),
		cmocka_unit_test(waking_itself_is_no_round),
		cmocka_unit_test(herds_are_told_with_their_size),
		cmocka_unit_test(one_herd_is_chance_and_so_are_a_few_of_many_wakes),
		cmocka_unit_test(loops_are_the_threads_that_reach_each_other),
		cmocka_unit_test(the_cost_does_not_grow_with_the_square),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
