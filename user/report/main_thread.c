/* Where the time of a command's main thread went: on CPU, waiting to run, asleep, and until what.
 */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/explain.h"

#define MAIN_SLEEPS	 3
#define MAIN_SLEEP_SHARE 0.01 /* of the whole: less is not told by name */
#define MAIN_REST_SHARE	 0.02

/* Time asleep until one thing, in all runs. */
struct main_sleep {
	const char *text;
	double ns, wakeups;
};

struct main_time {
	const char *label;
	size_t n_runs;
	double all_ns, oncpu_ns, runq_ns, sleep_ns;
	VEC(struct main_sleep) sleeps;
};

/* The main thread of the command that was started at the gate; NULL: there was none. */
static const struct run_thread *main_thread_of(const struct run *run)
{
	const struct run_thread *first = NULL;

	for (size_t i = 0; i < run->threads.n; i++) {
		const struct wk_thread *t = &run->threads.items[i].seen->t;

		if ((t->flags & WK_FLAG_FIRST) && t->tid == t->pid &&
		    (!first || t->count.oncpu_ns > first->seen->t.count.oncpu_ns))
			first = &run->threads.items[i];
	}
	return first;
}

static void main_time_add_sleep(struct main_time *time, const struct why_cause *cause)
{
	struct main_sleep *sleep = NULL;

	time->sleep_ns += (double)cause->sleep_ns;
	for (size_t i = 0; i < time->sleeps.n && !sleep; i++)
		if (!strcmp(time->sleeps.items[i].text, cause->text))
			sleep = &time->sleeps.items[i];
	if (!sleep) {
		sleep = vec_push(&time->sleeps);
		sleep->text = cause->text;
	}
	sleep->ns += (double)cause->sleep_ns;
	sleep->wakeups += (double)cause->wakeups;
}

static void main_time_add_run(struct main_time *time, const struct run *run, const struct why *why)
{
	const struct capture_startup *startup = &run->capture->startup;
	const struct run_thread *thread = main_thread_of(run);

	if (!thread || !why->known)
		return;
	time->label = time->label ? time->label : thread->label;
	time->n_runs++;
	time->all_ns += (double)(startup->present ? startup->exec_to_exit_ns : run->window_ns);
	time->oncpu_ns += (double)thread->seen->t.count.oncpu_ns;
	time->runq_ns += (double)thread->seen->t.count.runq_ns;
	for (size_t i = 0; i < why->causes.n; i++)
		if (why->causes.items[i].thread == thread && why->causes.items[i].sleep_ns)
			main_time_add_sleep(time, &why->causes.items[i]);
}

static int main_sleep_order(const void *a, const void *b)
{
	const struct main_sleep *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->text, y->text);
}

static char *main_duration(char buf[static UNITS_TEXT_BYTES], const struct main_time *time,
			   double ns)
{
	return units_format_duration(buf, ns / (double)time->n_runs);
}

/* ": 0.40 ms until disk (softirq BLOCK) in a page fault, 0.10 ms until futex wake by JIT" */
static void main_add_sleeps(struct strbuf *text, struct main_time *time)
{
	char duration[UNITS_TEXT_BYTES];

	if (time->sleeps.n)
		qsort(time->sleeps.items, time->sleeps.n, sizeof(*time->sleeps.items),
		      main_sleep_order);
	for (size_t i = 0; i < time->sleeps.n && i < MAIN_SLEEPS; i++) {
		const struct main_sleep *sleep = &time->sleeps.items[i];

		if (sleep->ns < MAIN_SLEEP_SHARE * time->all_ns)
			break;
		strbuf_printf(text, "%s%s until %s", i ? ", " : ": ",
			      main_duration(duration, time, sleep->ns), sleep->text);
	}
}

static void main_time_tell(struct report *report, struct main_time *time)
{
	double rest_ns = time->all_ns - time->oncpu_ns - time->runq_ns - time->sleep_ns;
	char all[UNITS_TEXT_BYTES], cpu[UNITS_TEXT_BYTES], wait[UNITS_TEXT_BYTES];
	char asleep[UNITS_TEXT_BYTES];
	struct strbuf text = {0};

	strbuf_printf(&text,
		      "Of the %s from exec to exit%s the main thread, %s, was %s on CPU, %s "
		      "waiting to run",
		      main_duration(all, time, time->all_ns),
		      time->n_runs > 1 ? ", on average," : "", time->label,
		      main_duration(cpu, time, time->oncpu_ns),
		      main_duration(wait, time, time->runq_ns));
	if (rest_ns > MAIN_REST_SHARE * time->all_ns)
		strbuf_printf(&text, ", %s gone already", main_duration(asleep, time, rest_ns));
	strbuf_printf(&text, " and %s asleep", main_duration(asleep, time, time->sleep_ns));
	main_add_sleeps(&text, time);
	report_add_note(report, NOTE_TEXT, "%s.", strbuf_text(&text));
	strbuf_free_members(&text);
}

void main_thread_build(struct report *report, const struct group *group)
{
	struct main_time time = {0};

	for (size_t i = 0; i < group->runs.n; i++)
		main_time_add_run(&time, group->runs.items[i], group->whys.items[i]);
	if (time.n_runs)
		main_time_tell(report, &time);
	free(time.sleeps.items);
}
