/* Sentences after a table of causes: what costs most, and what the table cannot show. */
#include "report/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/cause_words.h"
#include "report/number.h"

/* No more than is needed: so many sentences of a kind, and none about less than this share. */
#define EXPLAIN_ROOTS	   3
#define EXPLAIN_ROOT_SHARE 0.1
#define EXPLAIN_FOLLOWERS  3
#define EXPLAIN_HERDS	   2
#define EXPLAIN_HERD_SHARE 0.05
#define EXPLAIN_SPINS	   3
#define EXPLAIN_PHASES	   2
#define EXPLAIN_WINDOWS	   2
/* Intervals that a period needs: a window must be as many times as long. */
#define EXPLAIN_PERIODS 3

struct explain {
	struct report *report;
	const struct part *part;
	const struct group *group;
	const struct cause_sums *sums;
	const struct cause_tree *tree;
	struct cause_unit unit;
	bool lives; /* wakeups are what costs an idle program; a command's cost is its CPU time */
};

static const struct cause_sum *explain_cause(const struct explain *e, const struct tree_row *row)
{
	return &e->sums->causes.items[row->cause];
}

/* Ends the sentence, adds it and empties text. */
static void explain_add(const struct explain *e, struct strbuf *text)
{
	report_add_note(e->report, NOTE_TEXT, "%s.", strbuf_text(text));
	strbuf_free_members(text);
}

static double explain_share(double part, uint64_t whole)
{
	return whole ? part / (double)whole : 0;
}

/* ---- what began it --------------------------------------------------------------------------- */

/* Wakes of threads of one name below a root. */
struct follower {
	size_t family;
	const struct cause_sum
		*cause; /* the one that most of these threads share: it has the label */
	double wakeups, futile;
};

static int follower_order(const void *a, const void *b)
{
	const struct follower *x = a, *y = b;

	if (x->wakeups != y->wakeups)
		return x->wakeups > y->wakeups ? -1 : 1;
	return (x->family > y->family) - (x->family < y->family);
}

struct followers {
	VEC(struct follower) all;
};

static void followers_add(struct followers *followers, const struct cause_sum *cause,
			  const struct tree_row *row)
{
	struct follower *follower = NULL;

	for (size_t i = 0; i < followers->all.n && !follower; i++)
		if (followers->all.items[i].family == cause->family)
			follower = &followers->all.items[i];
	if (!follower) {
		follower = vec_push(&followers->all);
		follower->family = cause->family;
		follower->cause = cause;
	}
	if (cause->threads > follower->cause->threads)
		follower->cause = cause;
	follower->wakeups += row->wakeups;
	follower->futile += row->futile;
}

/* "; it leads to HeapHelper (1.05 wakeups a second, futile 95 %) and 2 more": the chain below row
 * i, the most woken first. */
static void explain_add_chain(const struct explain *e, struct strbuf *text, size_t i)
{
	struct followers followers = {0};
	size_t shown;

	for (size_t j = i + 1; j < e->tree->rows.n && e->tree->rows.items[j].depth; j++) {
		const struct tree_row *row = &e->tree->rows.items[j];

		if (row->kind == TREE_CAUSE && row->wakeups > 0)
			followers_add(&followers, explain_cause(e, row), row);
	}
	if (followers.all.n)
		qsort(followers.all.items, followers.all.n, sizeof(*followers.all.items),
		      follower_order);
	shown = followers.all.n < EXPLAIN_FOLLOWERS ? followers.all.n : EXPLAIN_FOLLOWERS;
	for (size_t j = 0; j < shown; j++) {
		const struct follower *follower = &followers.all.items[j];
		bool is_last = j && j + 1 == followers.all.n;

		strbuf_printf(text, "%s%s (",
			      !j	? "; it leads to "
			      : is_last ? " and "
					: ", ",
			      follower->cause->label);
		words_add_wakeups(text, &e->unit, follower->wakeups);
		words_add_futile(text, follower->futile, follower->wakeups);
		strbuf_add(text, ")");
	}
	if (followers.all.n > shown)
		strbuf_printf(text, " and %zu more", followers.all.n - shown);
	free(followers.all.items);
}

static void explain_add_cost(const struct explain *e, struct strbuf *text,
			     const struct tree_row *row)
{
	char share[NUMBER_BYTES];

	strbuf_printf(text, "%s of the CPU time, ",
		      number_share(share, explain_share(row->all_oncpu_ns, e->sums->oncpu_ns)));
	words_add_cpu(text, &e->unit, row->all_oncpu_ns);
}

static void explain_root(const struct explain *e, size_t i)
{
	const struct tree_row *row = &e->tree->rows.items[i];
	const struct cause_sum *cause = explain_cause(e, row);
	struct strbuf text = {0};

	explain_add_cost(e, &text, row);
	strbuf_printf(&text, ", begins with %s: %s", cause->label, cause->text);
	if (row->wakeups > 0) {
		strbuf_add(&text, " (");
		words_add_wakeups(&text, &e->unit, row->wakeups);
		strbuf_add(&text, ")");
	}
	explain_add_chain(e, &text, i);
	explain_add(e, &text);
}

/* What one round takes, over all its threads. */
static void explain_add_round(struct strbuf *text, const struct loop_sum *loop)
{
	char cpu[UNITS_TEXT_BYTES], wait[UNITS_TEXT_BYTES];

	strbuf_printf(text, "a round takes %s of CPU, %s of waiting to run",
		      units_format_duration(cpu, loop->oncpu_ns / loop->rounds),
		      units_format_duration(wait, loop->runq_ns / loop->rounds));
	strbuf_add(text, loop->syscalls_counted ? ", " : " and ");
	words_add_number(text, loop->wakeups / loop->rounds, 2);
	strbuf_add(text, " wakeups");
	if (!loop->syscalls_counted)
		return;
	strbuf_add(text, " and ");
	words_add_number(text, loop->syscalls / loop->rounds, 2);
	strbuf_add(text, " system calls");
}

static void explain_loop(const struct explain *e, const struct tree_row *row)
{
	const struct loop_sum *loop = &e->sums->loops.items[row->loop];
	struct strbuf text = {0};

	if (!(loop->rounds > 0))
		return;
	explain_add_cost(e, &text, row);
	strbuf_printf(&text, ", is a hand-off loop of %s, ", loop->label);
	words_add_number(&text, loop->rounds / (e->sums->window_ns / 1e9), 2);
	strbuf_add(&text, " rounds a second");
	if (part_counts_operations(e->part) && e->sums->operations > 0) {
		strbuf_add(&text, " (");
		words_add_number(&text, loop->rounds / e->sums->operations, 3);
		strbuf_printf(&text, "%s)", e->unit.each);
	}
	strbuf_add(&text, ": ");
	explain_add_round(&text, loop);
	explain_add(e, &text);
}

static void explain_roots(const struct explain *e)
{
	size_t told = 0;

	for (size_t i = 0; i < e->tree->rows.n; i++) {
		const struct tree_row *row = &e->tree->rows.items[i];
		double cpu = explain_share(row->all_oncpu_ns, e->sums->oncpu_ns);
		double wakeups = explain_share(row->all_wakeups, e->sums->wakeups);

		if (row->kind == TREE_LOOP)
			explain_loop(e, row);
		if (row->kind != TREE_CAUSE || row->depth || told == EXPLAIN_ROOTS ||
		    (cpu < EXPLAIN_ROOT_SHARE && !(e->lives && wakeups >= EXPLAIN_ROOT_SHARE)))
			continue;
		explain_root(e, i);
		told++;
	}
}

/* ---- herds ----------------------------------------------------------------------------------- */

/* The herds of one waker, in all runs. */
struct herd_sum {
	const char *label;
	const struct run_thread *waker; /* in the first run */
	double herds, woken;
	uint32_t most;
};

static int herd_order(const void *a, const void *b)
{
	const struct herd_sum *x = a, *y = b;

	if (x->woken != y->woken)
		return x->woken > y->woken ? -1 : 1;
	return strcmp(x->label, y->label);
}

/* "; 95 % of whom it wakes find nothing to do" */
static void explain_add_in_vain(const struct explain *e, struct strbuf *text, const char *comm)
{
	double wakeups = 0, futile = 0;
	char share[NUMBER_BYTES];

	for (size_t i = 0; i < e->sums->causes.n; i++) {
		const struct cause_sum *cause = &e->sums->causes.items[i];

		if (cause->waker_family == SIZE_MAX ||
		    strncmp(e->sums->families.items[cause->waker_family].comm, comm, WK_COMM_BYTES))
			continue;
		wakeups += (double)cause->wakeups;
		futile += (double)cause->futile;
	}
	if (wakeups > 0 && futile >= 0.005 * wakeups)
		strbuf_printf(text, "; %s of its wakes are futile",
			      number_share(share, futile / wakeups));
}

static void explain_herd(const struct explain *e, const struct herd_sum *herd)
{
	struct strbuf text = {0};
	bool operations = part_counts_operations(e->part);
	double per = operations ? e->sums->window_ns / 1e9 : e->unit.divisor;
	const char *each = operations ? " a second" : e->unit.each;

	strbuf_printf(&text, "%s rouses ", herd->label);
	words_add_number(&text, herd->woken / herd->herds, 1);
	strbuf_printf(&text, " threads at once (at most %u), ", herd->most);
	words_add_number(&text, per > 0 ? herd->herds / per : 0, 2);
	strbuf_printf(&text, " times%s", each);
	explain_add_in_vain(e, &text, herd->waker->seen->t.comm);
	explain_add(e, &text);
}

static void explain_herds(const struct explain *e)
{
	VEC(struct herd_sum) sums = {0};

	for (size_t r = 0; r < e->group->whys.n; r++) {
		const struct why *why = e->group->whys.items[r];

		for (size_t i = 0; i < why->herds.n; i++) {
			const struct why_herd *herd = &why->herds.items[i];
			struct herd_sum *sum = NULL;

			for (size_t j = 0; j < sums.n && !sum; j++)
				if (!strcmp(sums.items[j].label, herd->waker->label))
					sum = &sums.items[j];
			if (!sum) {
				sum = vec_push(&sums);
				sum->label = herd->waker->label;
				sum->waker = herd->waker;
			}
			sum->herds += (double)herd->herds;
			sum->woken += herd->threads * (double)herd->herds;
			sum->most = herd->most > sum->most ? herd->most : sum->most;
		}
	}
	if (sums.n)
		qsort(sums.items, sums.n, sizeof(*sums.items), herd_order);
	for (size_t i = 0; i < sums.n && i < EXPLAIN_HERDS; i++)
		if (sums.items[i].herds > 0 &&
		    sums.items[i].woken >= EXPLAIN_HERD_SHARE * (double)e->sums->wakeups)
			explain_herd(e, &sums.items[i]);
	free(sums.items);
}

/* ---- busy without sleeping, rates that change, windows that are too short -----------------------
 */

/* Of the first run: a thread that spins does so in each. */
static void explain_spins(const struct explain *e)
{
	const struct why *why = e->group->whys.items[0];

	for (size_t i = 0; i < why->spins.n && i < EXPLAIN_SPINS; i++) {
		const struct why_spin *spin = &why->spins.items[i];
		struct strbuf text = {0};
		char share[NUMBER_BYTES];

		strbuf_printf(&text,
			      "%s is busy without sleeping: on CPU %s of the time, it calls "
			      "%s ",
			      spin->thread->label, number_share(share, spin->oncpu_share),
			      spin->call);
		words_add_number(&text, spin->calls_per_s, 2);
		strbuf_printf(&text, " times a second, %s of its system calls",
			      number_share(share, spin->share));
		explain_add(e, &text);
	}
}

static void explain_phases(const struct explain *e)
{
	size_t told = 0;

	for (size_t i = 0; i < e->tree->rows.n && told < EXPLAIN_PHASES; i++) {
		const struct tree_row *row = &e->tree->rows.items[i];
		const struct cause_sum *cause;
		struct strbuf text = {0};
		char at[UNITS_TEXT_BYTES];

		if (row->kind != TREE_CAUSE || row->depth || !explain_cause(e, row)->phase.known)
			continue;
		cause = explain_cause(e, row);
		strbuf_printf(&text, "%s changed for good %s into the window, from ", cause->label,
			      units_format_duration(at, (double)cause->phase.at_ns));
		words_add_number(&text, cause->phase.before_per_s, 3);
		strbuf_add(&text, " to ");
		words_add_number(&text, cause->phase.after_per_s, 3);
		strbuf_printf(&text, " wakeups a second (%s): the rates above are means over both",
			      cause->text);
		explain_add(e, &text);
		told++;
	}
}

/* A timeout that came so rarely that nobody can say whether it repeats. */
static bool explain_is_rare(const struct explain *e, const struct cause_sum *cause)
{
	double runs = (double)e->sums->n_runs;

	return !strcmp(cause->rule->id, "timeout") && cause->wakeups &&
	       (double)cause->wakeups <= EXPLAIN_PERIODS * runs && !cause->period.known &&
	       cause->timeout_ns * EXPLAIN_PERIODS > e->sums->window_ns / runs;
}

static void explain_windows(const struct explain *e)
{
	size_t told = 0;

	for (size_t i = 0; i < e->sums->causes.n && told < EXPLAIN_WINDOWS; i++) {
		const struct cause_sum *cause = &e->sums->causes.items[i];
		char window[UNITS_TEXT_BYTES];

		if (!explain_is_rare(e, cause))
			continue;
		report_add_note(
			e->report, NOTE_TEXT,
			"%s: %s came too rarely to tell a period; a window of %s would "
			"show whether it repeats.",
			cause->label, cause->text,
			units_format_duration_plain(window, EXPLAIN_PERIODS * cause->timeout_ns));
		told++;
	}
}

/* ---- what is left ---------------------------------------------------------------------------- */

static void explain_timeline(const struct explain *e)
{
	uint64_t left_out = 0;
	struct strbuf text = {0};

	for (size_t i = 0; i < e->group->runs.n; i++)
		if (!e->group->whys.items[i]->timeline_whole)
			left_out += e->group->runs.items[i]->capture->timeline_left_out;
	if (!left_out)
		return;
	strbuf_add(&text, "The timeline lacks ");
	words_add_number(&text, (double)left_out, 0);
	strbuf_add(&text, " wakeups that came too fast: counts are exact, changes of rate are not "
			  "looked for");
	explain_add(e, &text);
}

static void explain_unknown(const struct explain *e)
{
	double unknown = (double)e->sums->unknown_wakeups;
	struct strbuf text = {0};
	char share[NUMBER_BYTES];

	strbuf_add(&text, "Not explained: ");
	words_add_number(&text, unknown, 0);
	strbuf_add(&text, " of ");
	words_add_number(&text, (double)e->sums->wakeups, 0);
	strbuf_add(&text, " wakeups");
	if (unknown > 0)
		strbuf_printf(&text, ", %s",
			      number_share(share, explain_share(unknown, e->sums->wakeups)));
	explain_add(e, &text);
}

/* Programs that live on are idle when they sleep; commands, hash and serve are busy by design, but a
 * command may be busy with nothing. */
static bool explain_may_spin(const struct part *part)
{
	return part_is(part, "idle") || part_is(part, "attach") || part_is(part, "run");
}

void explain_silence(struct report *report, const struct part *part, const struct group *group)
{
	struct explain e = {.report = report, .part = part, .group = group};

	if (part_is(part, "startup") || part_is(part, "run"))
		main_thread_build(report, group);
	if (explain_may_spin(part))
		explain_spins(&e);
}

void explain_build(struct report *report, const struct part *part, const struct group *group,
		   const struct cause_sums *sums, const struct cause_tree *tree)
{
	struct explain e = {
		.report = report,
		.part = part,
		.group = group,
		.sums = sums,
		.tree = tree,
		.unit = cause_unit_of(part->workload, sums),
		.lives = part_is(part, "idle") || part_is(part, "attach"),
	};

	if (part_is(part, "startup") || part_is(part, "run"))
		main_thread_build(report, group);
	explain_roots(&e);
	explain_herds(&e);
	if (explain_may_spin(part))
		explain_spins(&e);
	if (explain_may_spin(part) && sums->n_runs == 1)
		explain_phases(&e);
	if (e.lives)
		explain_windows(&e);
	if (e.lives || part_is(part, "run"))
		explain_timeline(&e);
	explain_unknown(&e);
}
