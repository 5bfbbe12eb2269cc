/* Why threads woke, as JSON: causes and the roots they are charged to, and what they make together.
 */
#include <math.h>

#include "render/json.h"

/* "" stands for none. */
static json_t *json_of_name(const char *name)
{
	return *name ? json_of_text(name) : json_null();
}

static void json_add_thread(json_t *object, const struct run_thread *thread)
{
	json_set(object, "pid", json_of_u64(thread->seen->t.pid));
	json_set(object, "tid", json_of_u64(thread->seen->t.tid));
	json_set(object, "comm", json_of_comm(thread->seen->t.comm));
}

static json_t *json_of_thread_or_null(const struct run_thread *thread)
{
	json_t *object;

	if (!thread)
		return json_null();
	object = json_object();
	json_add_thread(object, thread);
	return object;
}

static json_t *json_of_phase(const struct why_phase *phase)
{
	json_t *object;

	if (!phase->known)
		return json_null();
	object = json_object();
	json_set(object, "at_ns", json_of_u64(phase->at_ns));
	json_set(object, "before_per_s", json_of_real(phase->before_per_s));
	json_set(object, "after_per_s", json_of_real(phase->after_per_s));
	return object;
}

static json_t *json_of_cause(const struct why_cause *cause)
{
	const struct why_period *period = &cause->period;
	json_t *object = json_object();

	json_add_thread(object, cause->thread);
	json_set(object, "label", json_of_text(cause->thread->label));
	json_set(object, "cause", json_of_text(cause->rule->id));
	json_set(object, "mechanism", json_of_name(cause->mechanism));
	json_set(object, "wakeups", json_of_u64(cause->wakeups));
	json_set(object, "chained_wakeups", json_of_u64(cause->chained_wakeups));
	json_set(object, "root_wakeups", json_of_u64(cause->root_wakeups));
	json_set(object, "oncpu_ns", json_of_u64(cause->oncpu_ns));
	json_set(object, "root_oncpu_ns", json_of_u64(cause->root_oncpu_ns));
	json_set(object, "runq_ns", json_of_u64(cause->runq_ns));
	json_set(object, "sleep_ns", json_of_u64(cause->sleep_ns));
	json_set(object, "period_ns", json_of_real(period->known ? period->period_ns : NAN));
	json_set(object, "jitter_ns", json_of_real(period->known ? period->jitter_ns : NAN));
	json_set(object, "requested_timeout_ns", json_of_u64_or_null(cause->timeout_ns));
	json_set(object, "futile", json_of_u64(cause->futile));
	json_set(object, "phase", json_of_phase(&cause->phase));
	json_set(object, "waker", json_of_thread_or_null(cause->waker));
	json_set(object, "text", json_of_text(cause->text));
	return object;
}

static json_t *json_of_charge(const struct why_charge *charge)
{
	json_t *object = json_object();

	json_set(object, "root",
		 charge->root == SIZE_MAX ? json_null() : json_of_u64(charge->root));
	json_set(object, "cause", json_of_u64(charge->cause));
	json_set(object, "wakeups", json_of_u64(charge->wakeups));
	json_set(object, "oncpu_ns", json_of_u64(charge->oncpu_ns));
	json_set(object, "futile", json_of_u64(charge->futile));
	return object;
}

static json_t *json_of_edge(const struct why_edge *edge)
{
	json_t *object = json_object();

	json_set(object, "from_tid", json_of_u64(edge->from->seen->t.tid));
	json_set(object, "to_tid", json_of_u64(edge->to->seen->t.tid));
	json_set(object, "wakeups", json_of_u64(edge->wakeups));
	json_set(object, "mechanism", json_of_name(edge->mechanism));
	return object;
}

static json_t *json_of_loop(const struct why_loop *loop, bool syscalls_counted)
{
	json_t *object = json_object(), *threads = json_array();

	for (size_t i = 0; i < loop->threads.n; i++)
		json_array_append_new(threads, json_of_thread_or_null(loop->threads.items[i]));
	json_set(object, "threads", threads);
	json_set(object, "rounds", json_of_u64(loop->rounds));
	json_set(object, "rounds_per_s", json_of_real(loop->rounds_per_s));
	json_set(object, "wakeups_per_round", json_of_real(loop->wakeups));
	json_set(object, "oncpu_ns_per_round", json_of_real(loop->oncpu_ns));
	json_set(object, "runq_ns_per_round", json_of_real(loop->runq_ns));
	json_set(object, "syscalls_per_round",
		 json_of_real(syscalls_counted ? loop->syscalls : NAN));
	return object;
}

static json_t *json_of_herd(const struct why_herd *herd)
{
	json_t *object = json_object();

	json_set(object, "waker", json_of_thread_or_null(herd->waker));
	json_set(object, "herds", json_of_u64(herd->herds));
	json_set(object, "threads_mean", json_of_real(herd->threads));
	json_set(object, "threads_most", json_of_u64(herd->most));
	return object;
}

static json_t *json_of_spin(const struct why_spin *spin)
{
	json_t *object = json_object();

	json_add_thread(object, spin->thread);
	json_set(object, "call", json_of_name(spin->call));
	json_set(object, "calls_per_s", json_of_real(spin->calls_per_s));
	json_set(object, "call_share", json_of_real(spin->share));
	json_set(object, "oncpu_share", json_of_real(spin->oncpu_share));
	return object;
}

/* What is not explained; null where nothing was looked at. */
static json_t *json_of_unknown(const struct why *why)
{
	json_t *object;

	if (!why->known)
		return json_null();
	object = json_object();
	json_set(object, "wakeups", json_of_u64(why->unknown_wakeups));
	json_set(object, "oncpu_ns", json_of_u64(why->unknown_oncpu_ns));
	return object;
}

void json_put_why(struct json_out *to, const struct why *why, const struct capture *capture)
{
	json_put(to, "causes_counted", json_boolean(why->known));
	json_open(to, "causes", '[');
	for (size_t i = 0; i < why->causes.n; i++)
		json_put(to, NULL, json_of_cause(&why->causes.items[i]));
	json_close(to, ']');
	json_open(to, "roots", '[');
	for (size_t i = 0; i < why->charges.n; i++)
		json_put(to, NULL, json_of_charge(&why->charges.items[i]));
	json_close(to, ']');
	json_open(to, "edges", '[');
	for (size_t i = 0; i < why->edges.n; i++)
		json_put(to, NULL, json_of_edge(&why->edges.items[i]));
	json_close(to, ']');
	json_open(to, "loops", '[');
	for (size_t i = 0; i < why->loops.n; i++)
		json_put(to, NULL, json_of_loop(&why->loops.items[i], capture->syscalls_counted));
	json_close(to, ']');
	json_open(to, "herds", '[');
	for (size_t i = 0; i < why->herds.n; i++)
		json_put(to, NULL, json_of_herd(&why->herds.items[i]));
	json_close(to, ']');
	json_open(to, "spins", '[');
	for (size_t i = 0; i < why->spins.n; i++)
		json_put(to, NULL, json_of_spin(&why->spins.items[i]));
	json_close(to, ']');
	json_put(to, "unexplained", json_of_unknown(why));
	json_put(to, "timeline_whole", json_boolean(why->timeline_whole));
}
