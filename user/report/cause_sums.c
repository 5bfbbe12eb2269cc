/* The causes of a group's runs added up. */
#include "report/cause_sums.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/place_index.h"

/* Timeouts and periods that lie this close are the same one. */
#define SUMS_TIME_WITHIN 0.15
/* Part of a sum's wakes that must be periodic for the sum to have a period. */
#define SUMS_PERIODIC_SHARE 0.75

/* A thread that is in a sum. */
struct sums_member {
	size_t sum;
	const struct run_thread *thread;
};

/* Finds families and causes among ten thousands: by what must be equal. */
struct sums_index {
	struct cause_sums *sums;
	struct place_index families, causes;
};

/* What is known of one run while its causes are added. */
struct sums_run {
	struct cause_sums *sums;
	struct sums_index *index;
	const struct run *run;
	const struct why *why;
	size_t *sum_of;	 /* of each cause in why; SIZE_MAX: it did nothing in the window */
	size_t *loop_of; /* of each cause: the loop that it keeps going; SIZE_MAX: none */
	VEC(struct sums_member) members;
};

/* ---- threads by name ------------------------------------------------------------------------- */

static bool thread_is_main(const struct run_thread *thread)
{
	return thread->seen->t.tid == thread->seen->t.pid;
}

static bool family_equal(const void *sums, uint32_t place, const void *wanted)
{
	const struct thread_family *x = &((const struct cause_sums *)sums)->families.items[place];
	const struct thread_family *y = wanted;

	return x->is_main == y->is_main && !strcmp(x->comm, y->comm);
}

static size_t sums_family(struct sums_index *index, const struct run_thread *thread)
{
	struct cause_sums *sums = index->sums;
	struct thread_family family = {.is_main = thread_is_main(thread)};
	uint64_t hash;
	uint32_t at;

	memcpy(family.comm, thread->seen->t.comm, WK_COMM_BYTES);
	hash = place_hash(&index->families, family.comm, strlen(family.comm)) + family.is_main;
	at = place_index_find(&index->families, hash, family_equal, sums, &family);
	if (at != PLACE_NONE)
		return at;
	*vec_push(&sums->families) = family;
	place_index_add(&index->families, hash, (uint32_t)(sums->families.n - 1));
	return sums->families.n - 1;
}

/* "libuv-worker#3" is one of the libuv-workers; "bun#2" is not the main thread "bun". */
static bool label_is_numbered(const struct run *run, const struct run_thread *thread)
{
	return !thread_is_main(thread) && !run_thread_named_as_main(run, thread);
}

/* The words with the number of the waker among its like left out. The caller frees. */
static char *text_of_family(const struct run *run, const struct why_cause *cause)
{
	const char *label = cause->waker ? cause->waker->label : "", *at = cause->text;
	const char *number = strrchr(label, '#');
	size_t n = strlen(label);

	if (!number || number == label || !label_is_numbered(run, cause->waker))
		return mem_strdup(cause->text);
	while ((at = strstr(at, label)) && (at == cause->text || at[-1] != ' ' || isdigit(at[n])))
		at++;
	if (!at)
		return mem_strdup(cause->text);
	return mem_printf("%.*s%.*s%s", (int)(at - cause->text), cause->text, (int)(number - label),
			  label, at + n);
}

/* Of the labels of like threads the first: the shortest, then the lowest. */
static bool label_is_before(const char *a, const char *b)
{
	size_t m = strlen(a), n = strlen(b);

	return m != n ? m < n : strcmp(a, b) < 0;
}

/* ---- sameness -------------------------------------------------------------------------------- */

/* Compares words without what stands for a process id: "(812)". */
static bool text_same(const char *a, const char *b)
{
	for (;;) {
		size_t m = *a == '(' ? strspn(a + 1, "0123456789") : 0;
		size_t n = *b == '(' ? strspn(b + 1, "0123456789") : 0;

		if (m && n && a[m + 1] == ')' && b[n + 1] == ')') {
			a += m + 2;
			b += n + 2;
		} else if (*a != *b) {
			return false;
		} else if (!*a) {
			return true;
		} else {
			a++;
			b++;
		}
	}
}

static bool time_same(double a, double b)
{
	return fabs(a - b) <= SUMS_TIME_WITHIN * fmax(a, b);
}

static bool rule_is_timeout(const struct cause_rule *rule)
{
	return !strcmp(rule->id, "timeout");
}

/* Periods tell two timers apart; a timeout is told by what was asked for. */
static bool times_same(const struct cause_sum *x, const struct cause_sum *y)
{
	if (rule_is_timeout(x->rule))
		return !x->timeout_ns == !y->timeout_ns && time_same(x->timeout_ns, y->timeout_ns);
	if (strcmp(x->rule->id, "timer") != 0 || !x->period.known || !y->period.known)
		return true;
	return time_same(x->period.period_ns, y->period.period_ns);
}

static bool family_same(const struct cause_sums *a, size_t x, const struct cause_sums *b, size_t y,
			enum cause_likeness likeness)
{
	const struct thread_family *f, *g;

	if (x == SIZE_MAX || y == SIZE_MAX)
		return x == y;
	f = &a->families.items[x];
	g = &b->families.items[y];
	if (f->is_main != g->is_main)
		return false;
	return (likeness != CAUSE_SAME && f->is_main) || !strcmp(f->comm, g->comm);
}

/* The words of a timeout hold its figure, which differs a little each time; those of a wake name
 * the waker, which has been compared by then. */
static bool words_same(const struct cause_sum *x, const struct cause_sum *y,
		       enum cause_likeness likeness)
{
	return rule_is_timeout(x->rule) || text_same(x->text, y->text) ||
	       (likeness != CAUSE_SAME && x->waker_family != SIZE_MAX);
}

static bool rule_is_timed(const struct cause_rule *rule)
{
	return rule_is_timeout(rule) || !strcmp(rule->id, "timer");
}

bool cause_sum_like(const struct cause_sums *a, const struct cause_sum *x,
		    const struct cause_sums *b, const struct cause_sum *y,
		    enum cause_likeness likeness)
{
	if (!family_same(a, x->family, b, y->family, likeness) ||
	    !family_same(a, x->waker_family, b, y->waker_family, likeness) ||
	    strcmp(x->mechanism, y->mechanism) != 0)
		return false;
	if (!strcmp(x->rule->id, y->rule->id) && times_same(x, y) && words_same(x, y, likeness))
		return true;
	return likeness == CAUSE_TIMED && rule_is_timed(x->rule) && rule_is_timed(y->rule) &&
	       x->period.known && y->period.known &&
	       time_same(x->period.period_ns, y->period.period_ns);
}

/* ---- causes ---------------------------------------------------------------------------------- */

static bool cause_did_anything(const struct why_cause *cause)
{
	return cause->wakeups || cause->oncpu_ns;
}

/* What ran when the window opened has its row in the table of causes. */
static const struct cause_rule *rule_before(void)
{
	const struct cause_rule *rule = cause_rules;

	while (rule[1].id && strcmp(rule->id, "before") != 0)
		rule++;
	return rule;
}

/* The cause as a sum with nothing in it yet. One that woke nobody in the window, but ran, ran
 * already when it opened. */
static struct cause_sum sum_of_cause(struct sums_run *r, const struct why_cause *cause)
{
	bool is_before = !cause->wakeups && cause->rule->is_wake;
	const struct cause_rule *rule = is_before ? rule_before() : cause->rule;

	return (struct cause_sum){
		.rule = rule,
		.mechanism = is_before ? "" : cause->mechanism,
		.family = sums_family(r->index, cause->thread),
		.waker_family =
			is_before || !cause->waker ? SIZE_MAX : sums_family(r->index, cause->waker),
		.label = mem_strdup(cause->thread->label),
		.text = is_before ? mem_strdup(rule->example) : text_of_family(r->run, cause),
		.timeout_ns = is_before ? 0 : (double)cause->timeout_ns,
		.period = cause->period,
	};
}

/* Of what two causes have in common that are CAUSE_SAME: all but how near their times are. */
static uint64_t sum_hash(struct place_index *index, const struct cause_sum *sum)
{
	char *words = mem_strdup(rule_is_timeout(sum->rule) ? "" : sum->text), *to = words;
	uint64_t parts[4] = {sum->family, sum->waker_family, (uintptr_t)sum->rule};

	for (const char *at = words; *at;) {
		size_t digits = *at == '(' ? strspn(at + 1, "0123456789") : 0;

		*to++ = *at++;
		if (digits && at[digits] == ')')
			at += digits;
	}
	parts[3] = place_hash(index, words, (size_t)(to - words)) +
		   place_hash(index, sum->mechanism, strlen(sum->mechanism));
	free(words);
	return place_hash(index, parts, sizeof(parts));
}

/* Within one run another process id is another process. */
static bool sum_takes(const void *array, uint32_t place, const void *wanted)
{
	const struct cause_sums *sums = array;
	const struct cause_sum *sum = &sums->causes.items[place], *like = wanted;

	return cause_sum_like(sums, sum, sums, like, CAUSE_SAME) &&
	       (sums->n_runs > 1 || rule_is_timeout(like->rule) || !strcmp(sum->text, like->text));
}

static size_t sums_find(struct sums_run *r, const struct cause_sum *like)
{
	struct place_index *causes = &r->index->causes;
	uint64_t hash = sum_hash(causes, like);
	uint32_t at = place_index_find(causes, hash, sum_takes, r->sums, like);

	if (at != PLACE_NONE)
		return at;
	at = (uint32_t)r->sums->causes.n;
	*vec_push(&r->sums->causes) = *like;
	place_index_add(causes, hash, at);
	return at;
}

static double mean_of(double a, double a_weight, double b, double b_weight)
{
	return a_weight + b_weight > 0 ? (a * a_weight + b * b_weight) / (a_weight + b_weight) : 0;
}

/* Means by the number of wakes; known only where most of the wakes that were added are periodic. */
static void sum_add_times(struct cause_sum *sum, const struct why_cause *cause)
{
	double had = (double)sum->wakeups, more = (double)cause->wakeups;

	sum->timeout_ns = mean_of(sum->timeout_ns, had, (double)cause->timeout_ns, more);
	if (!had) {
		sum->period = cause->period;
		sum->phase = cause->phase;
		return;
	}
	if (sum->period.known && cause->period.known &&
	    time_same(sum->period.period_ns, cause->period.period_ns)) {
		sum->period.period_ns =
			mean_of(sum->period.period_ns, had, cause->period.period_ns, more);
		sum->period.jitter_ns =
			mean_of(sum->period.jitter_ns, had, cause->period.jitter_ns, more);
	} else if (cause->period.known && had < (1 - SUMS_PERIODIC_SHARE) * (had + more)) {
		sum->period = cause->period;
	} else if (sum->period.known && had < SUMS_PERIODIC_SHARE * (had + more)) {
		sum->period.known = false;
	}
	if (cause->phase.known && !sum->phase.known && more > had)
		sum->phase = cause->phase;
}

static void sum_add(struct cause_sum *sum, const struct why_cause *cause)
{
	sum_add_times(sum, cause);
	sum->wakeups += cause->wakeups;
	sum->oncpu_ns += cause->oncpu_ns;
	sum->runq_ns += cause->runq_ns;
	sum->sleep_ns += cause->sleep_ns;
	sum->futile += cause->futile;
	if (!label_is_before(cause->thread->label, sum->label))
		return;
	free(sum->label);
	sum->label = mem_strdup(cause->thread->label);
}

static void sums_add_causes(struct sums_run *r)
{
	for (size_t i = 0; i < r->why->causes.n; i++) {
		const struct why_cause *cause = &r->why->causes.items[i];
		struct cause_sum sum;
		size_t n = r->sums->causes.n;

		r->sum_of[i] = SIZE_MAX;
		if (!cause_did_anything(cause))
			continue;
		sum = sum_of_cause(r, cause);
		r->sum_of[i] = sums_find(r, &sum);
		if (r->sums->causes.n == n) {
			free(sum.label);
			free(sum.text);
		}
		sum_add(&r->sums->causes.items[r->sum_of[i]], cause);
		*vec_push(&r->members) = (struct sums_member){r->sum_of[i], cause->thread};
	}
}

static int member_order(const void *a, const void *b)
{
	const struct sums_member *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum < y->sum ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static void sums_count_threads(struct sums_run *r)
{
	size_t n = 0;

	if (r->members.n)
		qsort(r->members.items, r->members.n, sizeof(*r->members.items), member_order);
	for (size_t i = 0; i < r->members.n; i++) {
		const struct sums_member *member = &r->members.items[i];
		struct cause_sum *sum = &r->sums->causes.items[member->sum];

		n = i && member[-1].sum == member->sum ? n + (member[-1].thread != member->thread)
						       : 1;
		sum->threads = n > sum->threads ? n : sum->threads;
	}
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* A thread of a loop, and its name. */
struct loop_member {
	size_t family;
	size_t at; /* in the loop */
	const char *label;
};

static int loop_member_order(const void *a, const void *b)
{
	const struct loop_member *x = a, *y = b;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static int loop_name_order(const void *a, const void *b)
{
	const struct loop_member *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* "node and libuv-worker ×4": the hub, then the others by name, as they come first. The caller frees. */
static char *loop_label(struct sums_index *index, const struct why_loop *loop)
{
	struct strbuf text = {0};
	size_t n = loop->threads.n - 1, names = 0;
	struct loop_member *members = mem_calloc(n + 1, sizeof(*members));

	for (size_t i = 0; i < n; i++)
		members[i] = (struct loop_member){sums_family(index, loop->threads.items[i + 1]), i,
						  loop->threads.items[i + 1]->label};
	qsort(members, n, sizeof(*members), loop_member_order);
	for (size_t i = 0, end; i < n; i = end) {
		struct loop_member name = members[i];

		for (end = i + 1; end < n && members[end].family == name.family; end++)
			if (label_is_before(members[end].label, name.label))
				name.label = members[end].label;
		name.family = end - i; /* from here on: how many */
		members[names++] = name;
	}
	qsort(members, names, sizeof(*members), loop_name_order);
	strbuf_add(&text, loop->threads.items[0]->label);
	for (size_t i = 0; i < names; i++) {
		strbuf_printf(&text, " and %s", members[i].label);
		if (members[i].family > 1)
			strbuf_printf(&text, " ×%zu", members[i].family);
	}
	free(members);
	return strbuf_take(&text);
}

static size_t sums_add_loop(struct sums_run *r, const struct why_loop *loop)
{
	struct cause_sums *sums = r->sums;
	size_t hub = sums_family(r->index, loop->threads.items[0]), at = 0;
	double rounds = (double)loop->rounds;
	struct loop_sum *sum;

	while (at < sums->loops.n && sums->loops.items[at].hub != hub)
		at++;
	if (at == sums->loops.n) {
		sum = vec_push(&sums->loops);
		sum->label = loop_label(r->index, loop);
		sum->hub = hub;
	}
	sum = &sums->loops.items[at];
	sum->rounds += rounds;
	sum->oncpu_ns += loop->oncpu_ns * rounds;
	sum->runq_ns += loop->runq_ns * rounds;
	sum->wakeups += loop->wakeups * rounds;
	sum->syscalls += loop->syscalls * rounds;
	sum->syscalls_counted = r->run->capture->syscalls_counted;
	return at;
}

/* A wake by a thread of the loop is the loop's, whomever it rouses. */
static void sums_add_loops(struct sums_run *r)
{
	const struct run_thread *threads = r->run->threads.items;
	size_t *sum_of = mem_calloc(r->run->threads.n + 1, sizeof(*sum_of)); /* by thread; 0: none */

	for (size_t l = 0; l < r->why->loops.n; l++) {
		const struct why_loop *loop = &r->why->loops.items[l];
		size_t sum = sums_add_loop(r, loop);

		for (size_t i = 0; i < loop->threads.n; i++)
			sum_of[loop->threads.items[i] - threads] = sum + 1;
	}
	for (size_t i = 0; i < r->why->causes.n; i++) {
		const struct why_cause *cause = &r->why->causes.items[i];
		size_t sum = cause->waker && cause->wakeups ? sum_of[cause->waker - threads] : 0;

		r->loop_of[i] = sum ? sum - 1 : SIZE_MAX;
	}
	free(sum_of);
}

/* ---- charges --------------------------------------------------------------------------------- */

static void sums_add_charges(struct sums_run *r)
{
	for (size_t i = 0; i < r->why->charges.n; i++) {
		const struct why_charge *charge = &r->why->charges.items[i];
		struct charge_sum sum = {
			.kind = ROOT_EARLIER,
			.cause = r->sum_of[charge->cause],
			.wakeups = charge->wakeups,
			.oncpu_ns = charge->oncpu_ns,
			.futile = charge->futile,
		};

		if (sum.cause == SIZE_MAX)
			continue;
		if (r->loop_of[charge->cause] != SIZE_MAX) {
			sum.kind = ROOT_LOOP;
			sum.root = r->loop_of[charge->cause];
		} else if (charge->root != SIZE_MAX && r->sum_of[charge->root] != SIZE_MAX) {
			sum.kind = ROOT_CAUSE;
			sum.root = r->sum_of[charge->root];
		}
		*vec_push(&r->sums->charges) = sum;
	}
}

static int charge_order(const void *a, const void *b)
{
	const struct charge_sum *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	return (x->cause > y->cause) - (x->cause < y->cause);
}

static void charges_join(struct cause_sums *sums)
{
	size_t n = 0;

	if (sums->charges.n)
		qsort(sums->charges.items, sums->charges.n, sizeof(*sums->charges.items),
		      charge_order);
	for (size_t i = 0; i < sums->charges.n; i++) {
		struct charge_sum *from = &sums->charges.items[i];
		struct charge_sum *to = n ? &sums->charges.items[n - 1] : NULL;

		if (!to || charge_order(to, from)) {
			sums->charges.items[n++] = *from;
			continue;
		}
		to->wakeups += from->wakeups;
		to->oncpu_ns += from->oncpu_ns;
		to->futile += from->futile;
	}
	sums->charges.n = n;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void sums_add_run(struct sums_index *index, const struct run *run, const struct why *why)
{
	struct cause_sums *sums = index->sums;
	struct sums_run r = {.sums = sums, .index = index, .run = run, .why = why};

	r.sum_of = mem_calloc(why->causes.n + 1, sizeof(*r.sum_of));
	r.loop_of = mem_calloc(why->causes.n + 1, sizeof(*r.loop_of));
	sums_add_causes(&r);
	sums_count_threads(&r);
	sums_add_loops(&r);
	sums_add_charges(&r);
	sums->window_ns += (double)run->window_ns;
	sums->wakeups += run->totals.wakeups;
	sums->oncpu_ns += run->totals.oncpu_ns;
	sums->unknown_wakeups += why->unknown_wakeups;
	if (run->capture->has_result)
		sums->operations += (double)run->capture->operations;
	*vec_push(&sums->sum_of) = r.sum_of;
	free(r.loop_of);
	free(r.members.items);
}

static void sums_name(struct cause_sums *sums)
{
	for (size_t i = 0; i < sums->causes.n; i++) {
		struct cause_sum *sum = &sums->causes.items[i];
		char *label = sum->label;

		if (sum->threads < 2)
			continue;
		sum->label = mem_printf("%s ×%zu", label, sum->threads);
		free(label);
	}
}

void cause_sums_init(struct cause_sums *ret_sums, const struct group *group)
{
	struct cause_sums sums = {0};
	struct sums_index index = {.sums = &sums};

	for (size_t i = 0; i < group->runs.n; i++)
		sums.n_runs += group->whys.items[i]->known;
	sums.known = sums.n_runs;
	for (size_t i = 0; i < group->runs.n; i++)
		if (group->whys.items[i]->known)
			sums_add_run(&index, group->runs.items[i], group->whys.items[i]);
		else
			*vec_push(&sums.sum_of) = NULL;
	charges_join(&sums);
	sums_name(&sums);
	place_index_clear(&index.families);
	place_index_clear(&index.causes);
	*ret_sums = sums;
}

void cause_sums_free_members(struct cause_sums *sums)
{
	if (!sums)
		return;
	for (size_t i = 0; i < sums->causes.n; i++) {
		free(sums->causes.items[i].label);
		free(sums->causes.items[i].text);
	}
	for (size_t i = 0; i < sums->loops.n; i++)
		free(sums->loops.items[i].label);
	for (size_t i = 0; i < sums->sum_of.n; i++)
		free(sums->sum_of.items[i]);
	free(sums->sum_of.items);
	free(sums->families.items);
	free(sums->causes.items);
	free(sums->charges.items);
	free(sums->loops.items);
	*sums = (struct cause_sums){0};
}
