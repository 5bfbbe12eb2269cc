/* One look at /proc: every thread of every followed process, their children, and who is to be followed. */
#include "collect/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STAT_BYTES 1024
#define STATUS_BYTES 8192
#define CHILDREN_BYTES (1 << 16)

uint64_t collect_proc_now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * WK_SECOND_NS + (uint64_t)now.tv_nsec;
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* Reads /proc/PID/task/TID/NAME as text. 0, or -errno. */
static int read_text(pid_t pid, pid_t tid, const char *name, char *text, size_t bytes)
{
	char path[64];
	ssize_t n;
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, bytes - 1);
	err = n < 0 ? -errno : n ? 0 : -ESRCH;
	close(fd);
	if (!err)
		text[n] = '\0';
	return err;
}

static int read_stat(pid_t pid, pid_t tid, struct proc_stat *ret_stat)
{
	char text[STAT_BYTES];
	int err = read_text(pid, tid, "stat", text, sizeof(text));

	return err ? err : proc_parse_stat(text, ret_stat);
}

static int read_schedstat(pid_t pid, pid_t tid, struct proc_figures *figures)
{
	char text[128];
	int err = read_text(pid, tid, "schedstat", text, sizeof(text));

	return err ? err : proc_parse_schedstat(text, figures);
}

static int read_status(pid_t pid, pid_t tid, struct proc_figures *figures)
{
	char text[STATUS_BYTES];
	int err = read_text(pid, tid, "status", text, sizeof(text));

	return err ? err : proc_parse_status(text, figures);
}

/* ---- who is known ------------------------------------------------------------------------------ */

static int place_order(const void *a, const void *b)
{
	const struct proc_place *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* Of the threads that the look before found. */
static void places_make(struct proc_watch *w)
{
	w->places.n = 0;
	for (size_t i = 0; i < w->threads.n; i++)
		if (w->notes.items[i].seen + 1 == w->look)
			*vec_push(&w->places) =
				(struct proc_place){(pid_t)w->threads.items[i].tid, i};
	if (w->places.n)
		qsort(w->places.items, w->places.n, sizeof(struct proc_place), place_order);
	w->placed = w->processes.n;
}

/* Place in threads; SIZE_MAX: it was not there. */
static size_t place_of(const struct proc_watch *w, pid_t tid)
{
	struct proc_place key = {.tid = tid};
	const struct proc_place *found = NULL;

	if (w->places.n)
		found = bsearch(&key, w->places.items, w->places.n, sizeof(key), place_order);
	return found ? found->i : SIZE_MAX;
}

/* A process that is followed, of those that live. */
static const struct proc_process *process_of(const struct proc_watch *w, pid_t pid)
{
	for (size_t i = 0; i < w->processes.n; i++)
		if (w->processes.items[i].pid == pid && w->processes.items[i].alive)
			return &w->processes.items[i];
	return NULL;
}

/* Is there, in this look, a thread or process of that id? */
static bool is_known(const struct proc_watch *w, pid_t pid)
{
	if (place_of(w, pid) != SIZE_MAX)
		return true;
	for (size_t i = w->placed; i < w->processes.n; i++)
		if (w->processes.items[i].pid == pid)
			return true;
	return false;
}

/* Of CLOCK_MONOTONIC; right to a tick, rounded down. */
static uint64_t start_ns(const struct proc_watch *w, uint64_t ticks)
{
	uint64_t ns;

	if (__builtin_mul_overflow(ticks, w->tick_ns, &ns) || ns < w->boottime_ns)
		return 0;
	return ns - w->boottime_ns;
}

static bool started_since(const struct proc_watch *w, uint64_t ticks, uint64_t since_ns)
{
	return start_ns(w, ticks) + w->tick_ns > since_ns;
}

/* ---- figures ----------------------------------------------------------------------------------- */

/* Adds to a second of the window: on a CPU for so long, so many wakeups. */
static void second_add(struct collector *c, struct wk_thread *t, uint64_t slot, uint64_t oncpu_ns,
		       uint64_t wakeups)
{
	struct collect_group *group = &c->groups[t->group];

	if (slot >= c->cfg.series_seconds) {
		c->lost[WK_LOST_SERIES] = slot - c->cfg.series_seconds + 1;
		return;
	}
	while (group->carried.n <= slot)
		vec_push(&group->carried);
	group->carried.items[slot].oncpu_ns += oncpu_ns;
	group->carried.items[slot].wakeups += wakeups;
	if (oncpu_ns && t->second <= slot) {
		t->count.active_seconds++;
		t->second = (uint32_t)slot + 1;
	}
}

/* What was used since the look before goes to the second that began then; after a look that came late it is
 * spread evenly over those that it covers. */
static void seconds_add(struct collector *c, struct wk_thread *t, uint64_t oncpu_ns, uint64_t wakeups)
{
	const struct proc_watch *w = c->proc;
	uint64_t from_ns = w->looked_ns > w->window.start_ns ? w->looked_ns : w->window.start_ns;
	uint64_t first = (from_ns - w->window.start_ns) / PROC_STEP_NS;
	uint64_t n = (w->now_ns - from_ns + PROC_STEP_NS / 2) / PROC_STEP_NS;

	n = n ? n : 1;
	for (uint64_t i = 0; i < n; i++)
		second_add(c, t, first + i, oncpu_ns / n + (i < oncpu_ns % n),
			   wakeups / n + (i < wakeups % n));
}

static uint64_t grown(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static void figures_add(struct collector *c, size_t i, const struct proc_figures *now)
{
	struct wk_thread *t = &c->proc->threads.items[i];
	struct proc_figures *last = &c->proc->notes.items[i].last;

	if (c->proc->counting) {
		uint64_t oncpu_ns = grown(last->oncpu_ns, now->oncpu_ns);
		uint64_t voluntary = grown(last->voluntary, now->voluntary);

		t->count.oncpu_ns += oncpu_ns;
		t->count.runq_ns += grown(last->runq_ns, now->runq_ns);
		t->count.runq_waits += grown(last->runs, now->runs);
		t->count.switches_voluntary += voluntary;
		t->count.switches_preempted += grown(last->preempted, now->preempted);
		t->count.wakeups += voluntary;
		if (oncpu_ns || voluntary)
			seconds_add(c, t, oncpu_ns, voluntary);
	}
	*last = *now;
}

static uint32_t state_of(char letter)
{
	if (letter == 'Z' || letter == 'X' || letter == 'x')
		return WK_STATE_DEAD;
	return letter == 'R' ? WK_STATE_READY : WK_STATE_BLOCKED;
}

static void thread_died(struct proc_watch *w, struct wk_thread *t)
{
	if (t->state == WK_STATE_DEAD)
		return;
	t->state = WK_STATE_DEAD;
	t->exit_ns = t->end_ns = w->now_ns;
	w->alive--;
}

/* ---- images ------------------------------------------------------------------------------------ */

static void image_add(struct collector *c, const struct proc_process *process,
		      const struct proc_stat *stat)
{
	struct capture_image *image = vec_push(&c->images);

	image->pid = (uint32_t)process->pid;
	image->ppid = (uint32_t)stat->ppid;
	image->start_ns = start_ns(c->proc, process->start_ticks);
	image->group = process->group;
	memcpy(image->comm, stat->comm, WK_COMM_BYTES);
	collect_image_read_argv(image);
}

/* A process has another name: most likely it has executed something else. */
static void image_renew(struct collector *c, const struct wk_thread *t)
{
	for (size_t i = c->images.n; i-- > 0;) {
		struct capture_image *image = &c->images.items[i];

		if (image->pid != t->pid || image->start_ns != t->start_ns)
			continue;
		memcpy(image->comm, t->comm, WK_COMM_BYTES);
		free(image->argv);
		image->argv = NULL;
		image->argv_bytes = image->argv_cut = 0;
		collect_image_read_argv(image);
		return;
	}
}

/* ---- threads ----------------------------------------------------------------------------------- */

/* Makes a slot. SIZE_MAX: there are as many as may be. */
static size_t thread_new(struct collector *c, const struct proc_process *process, pid_t tid,
			 const struct proc_stat *stat, const struct proc_figures *figures)
{
	struct proc_watch *w = c->proc;
	bool born = w->counting && started_since(w, stat->start_ticks, w->window.start_ns);
	struct wk_thread *t;
	struct proc_note *note;

	if (w->alive >= c->options.max_threads) {
		w->refused++;
		return SIZE_MAX;
	}
	t = vec_push(&w->threads);
	note = vec_push(&w->notes);
	c->slots = w->threads.items;
	*t = (struct wk_thread){
		.pid = (uint32_t)process->pid,
		.tid = (uint32_t)tid,
		.host_tid = (uint32_t)tid,
		.group = process->group,
		.state = WK_STATE_BLOCKED,
		.cpu = WK_CPU_NONE,
		.flags = process->flags | (tid == process->pid ? WK_FLAG_LEADER : 0) |
			 (stat->kernel_thread ? WK_FLAG_KTHREAD : 0),
		.start_ns = start_ns(w, stat->start_ticks),
		.seed_ns = born ? 0 : w->now_ns,
		.serial = (uint32_t)w->threads.n,
	};
	/* All that one has done that was born in the window was done in it. */
	note->start_ticks = stat->start_ticks;
	if (!born)
		note->last = *figures;
	w->alive++;
	return w->threads.n - 1;
}

static void thread_update(struct collector *c, size_t i, const struct proc_stat *stat,
			  const struct proc_figures *figures)
{
	struct proc_watch *w = c->proc;
	struct wk_thread *t = &w->threads.items[i];
	bool renamed = *t->comm && memcmp(t->comm, stat->comm, WK_COMM_BYTES) != 0;

	figures_add(c, i, figures);
	memcpy(t->comm, stat->comm, WK_COMM_BYTES);
	t->ppid = (uint32_t)stat->ppid;
	t->minor_faults = stat->minor_faults;
	t->major_faults = stat->major_faults;
	if (state_of(stat->state) == WK_STATE_DEAD)
		thread_died(w, t);
	else if (t->state != WK_STATE_DEAD)
		t->state = state_of(stat->state);
	if (renamed && t->flags & WK_FLAG_LEADER && t->state != WK_STATE_DEAD)
		image_renew(c, t);
}

static void children_look(struct collector *c, const struct proc_process *process, pid_t tid)
{
	char *text = mem_realloc(NULL, CHILDREN_BYTES, 1);
	const char *next = text;
	pid_t child;

	if (read_text(process->pid, tid, "children", text, CHILDREN_BYTES) != 0)
		*text = '\0';
	while ((next = proc_next_id(next, &child)))
		if (!is_known(c->proc, child))
			collect_proc_follow(c, child, process->group,
					    process->flags & WK_FLAG_FOLLOW, process->since_ns);
	free(text);
}

/* -ESRCH: the process of that id is not the one that was followed, or has gone. */
static int thread_look(struct collector *c, const struct proc_process *process, pid_t tid)
{
	struct proc_watch *w = c->proc;
	size_t i = place_of(w, tid);
	struct proc_figures figures = {};
	struct proc_stat stat;

	if (read_schedstat(process->pid, tid, &figures))
		return 0;
	/* Who has not run has done nothing. One that has ended has no other figures either. */
	if (i != SIZE_MAX && figures.runs && w->threads.items[i].pid == (uint32_t)process->pid &&
	    figures.runs == w->notes.items[i].last.runs &&
	    figures.oncpu_ns == w->notes.items[i].last.oncpu_ns) {
		w->notes.items[i].seen = w->look;
		return 0;
	}
	if (read_stat(process->pid, tid, &stat) || read_status(process->pid, tid, &figures))
		return 0;
	if (tid == process->pid && stat.start_ticks != process->start_ticks)
		return -ESRCH;
	if (i != SIZE_MAX && w->notes.items[i].start_ticks != stat.start_ticks)
		i = SIZE_MAX;
	if (i == SIZE_MAX)
		i = thread_new(c, process, tid, &stat, &figures);
	if (i == SIZE_MAX)
		return 0;
	w->notes.items[i].seen = w->look;
	thread_update(c, i, &stat, &figures);
	if (process->flags & WK_FLAG_FOLLOW && !w->no_children)
		children_look(c, process, tid);
	return 0;
}

/* ---- processes --------------------------------------------------------------------------------- */

int collect_proc_follow(struct collector *c, pid_t pid, uint32_t group, uint32_t flags,
			uint64_t since_ns)
{
	struct proc_watch *w = c->proc;
	struct proc_process *process;
	struct proc_stat stat;

	if (read_stat(pid, pid, &stat))
		return -ESRCH;
	/* A child that is older than that is none of the later ones. */
	if (!started_since(w, stat.start_ticks, since_ns))
		return 0;
	process = vec_push(&w->processes);
	*process = (struct proc_process){
		.pid = pid,
		.start_ticks = stat.start_ticks,
		.since_ns = since_ns ? start_ns(w, stat.start_ticks) : w->now_ns,
		.group = group,
		.flags = flags,
		.alive = true,
	};
	image_add(c, process, &stat);
	return 0;
}

/* `at` and not a pointer: children may be added meanwhile, and move them all. */
static void process_look(struct collector *c, size_t at)
{
	struct proc_process process = c->proc->processes.items[at];
	char path[64];
	DIR *folder;
	struct dirent *entry;
	int err = -ESRCH;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)process.pid);
	folder = opendir(path);
	if (folder)
		err = 0;
	while (!err && (entry = readdir(folder))) {
		pid_t tid = proc_id_of_name(entry->d_name);

		if (tid)
			err = thread_look(c, &process, tid);
	}
	if (folder)
		closedir(folder);
	if (err)
		c->proc->processes.items[at].alive = false;
}

/* Is a process that is not followed yet to be followed, as one of those that options name, or, where the
 * kernel does not list children, as a child? */
static void stranger_look(struct collector *c, pid_t pid)
{
	struct proc_watch *w = c->proc;
	const struct proc_process *parent = NULL;
	struct proc_stat stat;

	if (pid == getpid() || read_stat(pid, pid, &stat))
		return;
	if (stat.kernel_thread ? c->options.all && c->options.kernel_threads
			       : c->options.all || (c->options.name_glob && glob_match(&w->name, stat.comm))) {
		collect_proc_follow(c, pid, 0, c->options.follow ? WK_FLAG_FOLLOW : 0, 0);
		return;
	}
	if (w->no_children)
		parent = process_of(w, stat.ppid);
	if (parent && parent->flags & WK_FLAG_FOLLOW)
		collect_proc_follow(c, pid, parent->group, WK_FLAG_FOLLOW, parent->since_ns);
}

static void strangers_look(struct collector *c)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		pid_t pid = proc_id_of_name(entry->d_name);

		if (pid && !is_known(c->proc, pid))
			stranger_look(c, pid);
	}
	if (folder)
		closedir(folder);
}

/* ---- all of it --------------------------------------------------------------------------------- */

static void gone_look(struct proc_watch *w)
{
	for (size_t i = 0; i < w->places.n; i++) {
		struct wk_thread *t = &w->threads.items[w->places.items[i].i];

		if (w->notes.items[w->places.items[i].i].seen == w->look || t->state == WK_STATE_DEAD)
			continue;
		w->unseen_ends += w->counting;
		thread_died(w, t);
	}
}

void collect_proc_look(struct collector *c)
{
	struct proc_watch *w = c->proc;

	w->look++;
	w->now_ns = collect_proc_now_ns(CLOCK_MONOTONIC);
	w->refused = 0;
	places_make(w);
	if (c->options.all || c->options.name_glob || w->no_children)
		strangers_look(c);
	for (size_t i = 0; i < w->processes.n; i++)
		if (w->processes.items[i].alive)
			process_look(c, i);
	gone_look(w);
	if (w->refused > c->lost[WK_LOST_THREADS])
		c->lost[WK_LOST_THREADS] = w->refused;
	w->looked_ns = w->now_ns;
}
