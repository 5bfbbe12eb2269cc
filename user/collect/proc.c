/* The collector without probes: a look at /proc at both edges of the window and once a second between them. */
#include "collect/proc.h"

#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Is there what this is made of? */
static int figures_there(struct diag *diag)
{
	struct proc_figures figures;
	char *text = machine_read_file("/proc/self/schedstat", 256);
	int err = text ? proc_parse_schedstat(text, &figures) : -ENOENT;

	free(text);
	if (!err && figures.oncpu_ns)
		return 0;
	return diag_hint(diag,
			 diag_set(diag, -ENOTSUP, "this kernel keeps no figures of threads in "
						  "/proc/PID/schedstat"),
			 "mount /proc, or run a kernel built with CONFIG_SCHED_INFO=y");
}

/* Ticks once a step, from then on. */
static void timer_set(const struct proc_watch *w, uint64_t first_ns)
{
	struct itimerspec time = {
		.it_value = {(time_t)(first_ns / WK_SECOND_NS), (long)(first_ns % WK_SECOND_NS)},
		.it_interval = {(time_t)(PROC_STEP_NS / WK_SECOND_NS), (long)(PROC_STEP_NS % WK_SECOND_NS)},
	};

	timerfd_settime(w->timer_fd, TFD_TIMER_ABSTIME, &time, NULL);
}

/* How far CLOCK_BOOTTIME is ahead. Looked at in this order it is never behind. */
static uint64_t boottime_ahead_ns(void)
{
	uint64_t monotonic_ns = collect_proc_now_ns(CLOCK_MONOTONIC);

	return collect_proc_now_ns(CLOCK_BOOTTIME) - monotonic_ns;
}

int collect_proc_open(struct collector *c, struct diag *diag)
{
	struct proc_watch *w = mem_zalloc(sizeof(*w));
	const struct collect_options *o = &c->options;
	long ticks_per_s = sysconf(_SC_CLK_TCK);
	int err;

	c->proc = w;
	w->window = (struct wk_window){WK_NEVER, WK_NEVER, 0, 0};
	w->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (w->timer_fd < 0)
		return diag_set(diag, -errno, "cannot make a timer: %s", strerror(errno));
	err = figures_there(diag);
	if (err)
		return err;
	if (o->name_glob && (!*o->name_glob || glob_compile(&w->name, o->name_glob)))
		return diag_set(diag, -EINVAL, "bad name '%s'", o->name_glob);
	c->options.syscalls = c->options.timeline = c->options.time_probes = false;
	c->options.max_threads = o->max_threads ? o->max_threads : COLLECT_DEFAULT_THREADS;
	c->cfg.groups = o->groups ? o->groups : 1;
	c->cfg.series_seconds = o->series_seconds ? o->series_seconds : COLLECT_DEFAULT_SECONDS;
	w->tick_ns = WK_SECOND_NS / (uint64_t)(ticks_per_s > 0 ? ticks_per_s : 100);
	w->boottime_ns = boottime_ahead_ns();
	w->no_children = access("/proc/thread-self/children", R_OK) != 0;
	timer_set(w, collect_proc_now_ns(CLOCK_MONOTONIC) + PROC_STEP_NS);
	return 0;
}

static void watch_forget(struct proc_watch *w)
{
	free(w->threads.items);
	free(w->notes.items);
	free(w->processes.items);
	free(w->places.items);
}

void collect_proc_free(struct collector *c)
{
	if (!c->proc)
		return;
	watch_forget(c->proc);
	if (c->proc->timer_fd >= 0)
		close(c->proc->timer_fd);
	free(c->proc);
	c->proc = NULL;
	c->slots = NULL;
}

void collect_proc_reset(struct collector *c)
{
	struct proc_watch *w = c->proc, old = *w;

	*w = (struct proc_watch){
		.window = {WK_NEVER, WK_NEVER, 0, 0},
		.name = old.name,
		.tick_ns = old.tick_ns,
		.boottime_ns = old.boottime_ns,
		.no_children = old.no_children,
		.timer_fd = old.timer_fd,
	};
	watch_forget(&old);
	c->slots = NULL;
}

/* ---- whom -------------------------------------------------------------------------------------- */

static uint32_t flags_of(const struct collector *c)
{
	return c->options.follow ? WK_FLAG_FOLLOW : 0;
}

int collect_proc_seed(struct collector *c, struct diag *diag)
{
	(void)diag;
	c->proc->now_ns = collect_proc_now_ns(CLOCK_MONOTONIC);
	/* One that is not there is told by whoever looks whether all are followed. */
	for (size_t i = 0; i < c->options.n_pids; i++)
		collect_proc_follow(c, c->options.pids[i], 0, flags_of(c), 0);
	collect_proc_look(c);
	return 0;
}

int collect_proc_add(struct collector *c, pid_t pid, uint32_t group, struct diag *diag)
{
	c->proc->now_ns = collect_proc_now_ns(CLOCK_MONOTONIC);
	if (collect_proc_follow(c, pid, group, flags_of(c) | WK_FLAG_FIRST, 0))
		return diag_set(diag, -ESRCH, "process %d is not there to be followed", pid);
	collect_proc_look(c);
	return 0;
}

/* ---- when -------------------------------------------------------------------------------------- */

void collect_proc_open_window(struct collector *c)
{
	struct proc_watch *w = c->proc;

	/* What has been done until now is not counted. */
	collect_proc_look(c);
	w->counting = true;
	w->window.start_ns = w->now_ns;
	timer_set(w, w->now_ns + PROC_STEP_NS);
}

void collect_proc_close_window(struct collector *c)
{
	struct proc_watch *w = c->proc;

	collect_proc_look(c);
	w->counting = false;
	w->window.end_ns = w->now_ns;
}

void collect_proc_service(struct collector *c)
{
	uint64_t ticks;

	/* The tick is taken; how many there were since does not matter. */
	if (read(c->proc->timer_fd, &ticks, sizeof(ticks)) == (ssize_t)sizeof(ticks))
		collect_proc_look(c);
}

void collect_proc_settle(struct collector *c)
{
	const struct proc_watch *w = c->proc;

	for (size_t i = 0; i < w->threads.n; i++) {
		const struct wk_thread *t = &w->threads.items[i];

		if (t->end_ns && t->end_ns <= w->window.start_ns)
			continue;
		vec_push(&c->threads)->t = *t;
	}
	c->settled = true;
}
