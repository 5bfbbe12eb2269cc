/* Why the threads of a run woke, out of a result in JSON. */
#include "record/json_result_why.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define LIST_MAX (16u << 20)
/* Threads of one run that had the same ids one after the other; more are taken for the first. */
#define NAMESAKES_MAX 64

/* Mechanisms that are kept once; there are some dozens. More are somebody's invention, who must not
 * have each compared with all. */
#define NAMES_SHARED_MAX 128

/* The threads of a run by their ids. */
struct thread_index {
	const struct run_thread **by_id;
	size_t n;
};

struct why_reader {
	const struct field_reader *fields;
	struct json_result *result;
	struct thread_index index;
	struct why *why;
};

void comm_from_text(char comm[WK_COMM_BYTES], const char *text)
{
	size_t bytes = strlen(text), at = 0, n = 0;

	while (at < bytes) {
		uint32_t code = 0;
		size_t step = text_decode(text + at, bytes - at, &code);
		size_t room = code == 0xfffd ? 1 : step;

		if (!step || n + room >= WK_COMM_BYTES)
			break;
		memcpy(comm + n, code == 0xfffd ? "\xff" : text + at, room);
		n += room;
		at += step;
	}
	memset(comm + n, 0, WK_COMM_BYTES - n);
}

/* ---- threads --------------------------------------------------------------------------------- */

static int compare_ids(const struct wk_thread *s, const struct wk_thread *t)
{
	if (s->pid != t->pid)
		return s->pid < t->pid ? -1 : 1;
	return s->tid < t->tid ? -1 : s->tid > t->tid;
}

static int index_order(const void *a, const void *b)
{
	const struct run_thread *x = *(const struct run_thread *const *)a;
	const struct run_thread *y = *(const struct run_thread *const *)b;
	int order = compare_ids(&x->seen->t, &y->seen->t);

	return order ? order : x < y ? -1 : x > y;
}

static struct thread_index index_of(const struct run *run)
{
	struct thread_index index = {.n = run->threads.n};

	index.by_id = mem_calloc(index.n + 1, sizeof(*index.by_id));
	for (size_t i = 0; i < index.n; i++)
		index.by_id[i] = &run->threads.items[i];
	qsort(index.by_id, index.n, sizeof(*index.by_id), index_order);
	return index;
}

/* By ids and name; of several that had both, the one with this label (or any where it is NULL). */
static const struct run_thread *index_find(const struct thread_index *index,
					   const struct wk_thread *like, const char *label)
{
	const struct run_thread *found = NULL;
	size_t low = 0, high = index->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_ids(&index->by_id[middle]->seen->t, like) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i < index->n && i < low + NAMESAKES_MAX; i++) {
		const struct run_thread *thread = index->by_id[i];

		if (compare_ids(&thread->seen->t, like))
			break;
		if (strncmp(thread->seen->t.comm, like->comm, WK_COMM_BYTES) != 0)
			continue;
		if (!label || !strcmp(thread->label, label))
			return thread;
		found = found ? found : thread;
	}
	return found;
}

/* The thread that an object with pid, tid and comm names. It must be one of the run's. */
static int read_named(const struct why_reader *r, const json_t *json, const char *label,
		      const struct run_thread **ret_thread)
{
	struct wk_thread like = {};
	char *comm = NULL;
	int err = take_whole32(r->fields, json, "pid", &like.pid);

	if (!err)
		err = take_whole32(r->fields, json, "tid", &like.tid);
	if (!err)
		err = need_text(r->fields, json, "comm", &comm);
	if (err)
		return err;
	comm_from_text(like.comm, comm);
	free(comm);
	*ret_thread = index_find(&r->index, &like, label);
	if (*ret_thread)
		return 0;
	return field_refuse(r->fields, "thread %u of process %u is not among its threads", like.tid,
			    like.pid);
}

/* ---- causes ---------------------------------------------------------------------------------- */

/* One from a newer wakewhy is unknown here, in its own words all the same. */
static const struct cause_rule *rule_of(const char *id)
{
	const struct cause_rule *rule = cause_rules;

	while (rule[1].id && strcmp(rule->id, id) != 0)
		rule++;
	return rule;
}

/* Texts that whys borrow are few, and each is kept once. */
static const char *keep_name(struct json_result *result, char *name)
{
	for (size_t i = 0; i < result->names.n && i < NAMES_SHARED_MAX; i++) {
		if (strcmp(result->names.items[i], name) != 0)
			continue;
		free(name);
		return result->names.items[i];
	}
	*vec_push(&result->names) = name;
	return name;
}

static int read_words(const struct why_reader *r, const json_t *json, struct why_cause *cause)
{
	char *id = NULL, *label = NULL, *mechanism = NULL;
	int err = need_text(r->fields, json, "cause", &id);

	if (!err)
		err = need_text(r->fields, json, "text", &cause->text);
	if (!err)
		err = take_text(r->fields, json, "mechanism", &mechanism);
	if (!err)
		err = need_text(r->fields, json, "label", &label);
	if (!err)
		err = read_named(r, json, label, &cause->thread);
	if (!err) {
		cause->rule = rule_of(id);
		cause->mechanism = mechanism ? keep_name(r->result, mechanism) : "";
	} else {
		free(mechanism);
	}
	free(id);
	free(label);
	return err;
}

static int read_phase(const struct why_reader *r, const json_t *json, struct why_phase *phase)
{
	const json_t *object;
	int err = take_object(r->fields, json, "phase", &object);

	phase->known = object;
	if (!err)
		err = take_whole(r->fields, object, "at_ns", UINT64_MAX, &phase->at_ns);
	if (!err)
		err = take_real(r->fields, object, "before_per_s", &phase->before_per_s);
	if (!err)
		err = take_real(r->fields, object, "after_per_s", &phase->after_per_s);
	return err;
}

static int read_cause(const struct why_reader *r, const json_t *json, struct why_cause *cause)
{
	const struct {
		const char *name;
		uint64_t *to;
	} counts[] = {
		{"wakeups", &cause->wakeups},
		{"chained_wakeups", &cause->chained_wakeups},
		{"root_wakeups", &cause->root_wakeups},
		{"oncpu_ns", &cause->oncpu_ns},
		{"root_oncpu_ns", &cause->root_oncpu_ns},
		{"runq_ns", &cause->runq_ns},
		{"sleep_ns", &cause->sleep_ns},
		{"requested_timeout_ns", &cause->timeout_ns},
		{"futile", &cause->futile},
	};
	struct why_period *period = &cause->period;
	const json_t *waker;
	int err = read_words(r, json, cause);

	for (size_t i = 0; !err && i < sizeof(counts) / sizeof(*counts); i++)
		err = take_whole(r->fields, json, counts[i].name, UINT64_MAX, counts[i].to);
	if (!err)
		err = take_real(r->fields, json, "period_ns", &period->period_ns);
	if (!err)
		err = take_real(r->fields, json, "jitter_ns", &period->jitter_ns);
	period->known = period->period_ns > 0;
	if (!err)
		err = read_phase(r, json, &cause->phase);
	if (!err)
		err = take_object(r->fields, json, "waker", &waker);
	if (!err && waker)
		err = read_named(r, waker, NULL, &cause->waker);
	return err;
}

static int read_charge(const struct why_reader *r, const json_t *json, struct why_charge *charge)
{
	uint64_t root = UINT64_MAX, cause = UINT64_MAX;
	int err = take_whole(r->fields, json, "root", UINT64_MAX, &root);

	if (!err)
		err = take_whole(r->fields, json, "cause", UINT64_MAX, &cause);
	if (!err)
		err = take_whole(r->fields, json, "wakeups", UINT64_MAX, &charge->wakeups);
	if (!err)
		err = take_whole(r->fields, json, "oncpu_ns", UINT64_MAX, &charge->oncpu_ns);
	if (!err)
		err = take_whole(r->fields, json, "futile", UINT64_MAX, &charge->futile);
	if (!err && (cause >= r->why->causes.n ||
		     (root != UINT64_MAX && root >= r->why->causes.n)))
		err = field_refuse(r->fields, "a root or its cause is not among its causes");
	charge->root = root == UINT64_MAX ? SIZE_MAX : (size_t)root;
	charge->cause = (size_t)cause;
	return err;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static int read_loop(const struct why_reader *r, const json_t *json, struct why_loop *loop)
{
	const struct {
		const char *name;
		double *to;
	} figures[] = {
		{"rounds_per_s", &loop->rounds_per_s},
		{"wakeups_per_round", &loop->wakeups},
		{"oncpu_ns_per_round", &loop->oncpu_ns},
		{"runq_ns_per_round", &loop->runq_ns},
		{"syscalls_per_round", &loop->syscalls},
	};
	const json_t *threads;
	int err = take_list(r->fields, json, "threads", LIST_MAX, &threads);

	if (!err && json_array_size(threads) < 2)
		err = field_refuse(r->fields, "a loop has fewer than two threads");
	for (size_t i = 0; !err && i < json_array_size(threads); i++)
		err = read_named(r, json_array_get(threads, i), NULL, vec_push(&loop->threads));
	if (!err)
		err = take_whole(r->fields, json, "rounds", UINT64_MAX, &loop->rounds);
	for (size_t i = 0; !err && i < sizeof(figures) / sizeof(*figures); i++)
		err = take_real(r->fields, json, figures[i].name, figures[i].to);
	return err;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int read_lists(const struct why_reader *r, const json_t *json)
{
	const json_t *causes, *roots = NULL, *loops = NULL;
	int err = take_list(r->fields, json, "causes", LIST_MAX, &causes);

	for (size_t i = 0; !err && i < json_array_size(causes); i++)
		err = read_cause(r, json_array_get(causes, i), vec_push(&r->why->causes));
	if (!err)
		err = take_list(r->fields, json, "roots", LIST_MAX, &roots);
	for (size_t i = 0; !err && i < json_array_size(roots); i++)
		err = read_charge(r, json_array_get(roots, i), vec_push(&r->why->charges));
	if (!err)
		err = take_list(r->fields, json, "loops", LIST_MAX, &loops);
	for (size_t i = 0; !err && i < json_array_size(loops); i++)
		err = read_loop(r, json_array_get(loops, i), vec_push(&r->why->loops));
	return err;
}

int json_result_why(const struct field_reader *reader, const json_t *json,
		    struct json_result *result, const struct run *run, struct why *why)
{
	struct why_reader r = {.fields = reader, .result = result, .why = why};
	const json_t *unexplained;
	int err;

	why->known = run->capture->causes_counted;
	r.index = index_of(run);
	err = read_lists(&r, json);
	if (!err)
		err = take_bool(reader, json, "timeline_whole", &why->timeline_whole);
	if (!err)
		err = take_object(reader, json, "unexplained", &unexplained);
	if (!err)
		err = take_whole(reader, unexplained, "wakeups", UINT64_MAX, &why->unknown_wakeups);
	if (!err)
		err = take_whole(reader, unexplained, "oncpu_ns", UINT64_MAX,
				 &why->unknown_oncpu_ns);
	free(r.index.by_id);
	return err;
}
