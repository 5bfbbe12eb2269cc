/* Stacks and samples on this side: the ring `stacks` goes into the book, `stack_counts` is read when the
 * books are closed, and the clocks that take samples are kept. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "collect/internal.h"

#include "wakewhy.skel.h"

#define RING_BYTES	(1U << 20)
#define COPY_RING_BYTES (16U << 20)

static bool stacks_wanted(const struct collector *c)
{
	return c->options.stacks || c->options.sample_hz;
}

int collect_stacks_prepare(struct collector *c, struct diag *diag)
{
	bool wanted = stacks_wanted(c);
	uint64_t *keys = (uint64_t *)c->skel->rodata->stack_keys;
	int err = 0;

	bpf_program__set_autoload(c->skel->progs.stack_sample, c->options.sample_hz);
	/* What no program can reach needs not be there. */
	err = err ?: bpf_map__set_autocreate(c->skel->maps.stack_ids, wanted);
	err = err ?: bpf_map__set_autocreate(c->skel->maps.stack_counts, wanted);
	err = err ?: bpf_map__set_autocreate(c->skel->maps.stacks, wanted);
	err = err ?: bpf_map__set_autocreate(c->skel->maps.stack_buffers, wanted);
	err = err ?: bpf_map__set_autocreate(c->skel->maps.stack_shapes, wanted);
	err = err ?: bpf_map__set_max_entries(c->skel->maps.stacks,
					      c->options.stacks & WK_STACKS_COPY ? COPY_RING_BYTES :
										  RING_BYTES);
	if (err)
		return diag_set(diag, err, "cannot prepare for stacks: %s", strerror(-err));
	if (wanted && getrandom(keys, sizeof(c->skel->rodata->stack_keys), 0) !=
			      (ssize_t)sizeof(c->skel->rodata->stack_keys))
		return diag_set(diag, -EIO, "no random numbers to be had");
	return 0;
}

static bool same_row(const void *array, uint32_t place, const void *wanted)
{
	return !memcmp(&((const struct stack_counted *)array)[place].key, wanted,
		       sizeof(struct wk_stack_key));
}

/* One wake or sample, whose stacks have come before it. */
static void row_add(struct collector *c, const struct wk_stack_row *row)
{
	struct wk_stack_key key = {.what = row->key.what,
				   .sleeper = stackbook_keep(c->book, row->key.sleeper),
				   .waker = stackbook_keep(c->book, row->key.waker)};
	uint64_t hash = place_hash(&c->copy_places, &key, sizeof(key));
	uint32_t place = place_index_find(&c->copy_places, hash, same_row, c->copy_counts.items, &key);
	struct stack_counted *counted;

	if (place == PLACE_NONE) {
		place = (uint32_t)c->copy_counts.n;
		*vec_push(&c->copy_counts) = (struct stack_counted){.key = key};
		place_index_add(&c->copy_places, hash, place);
	}
	counted = &c->copy_counts.items[place];
	counted->count.count++;
	counted->count.sleep_ns += row->sleep_ns;
}

/* A record of the ring. Its lengths are ours, but cost nothing to check. */
static int stack_record(void *collector, void *data, size_t bytes)
{
	struct collector *c = collector;
	const struct wk_stack *stack = data;
	const uint64_t *words = (const uint64_t *)(stack + 1);
	struct stack_taken taken;
	size_t need;

	_Static_assert(sizeof(*stack) == sizeof(struct wk_stack_row), "one check does for both");
	if (bytes < sizeof(*stack))
		return 0;
	if (!stack->id) {
		row_add(c, data);
		return 0;
	}
	need = (stack->kernel_frames + (size_t)stack->user_frames) * sizeof(*words);
	if (stack->copied_bytes)
		need += WK_STACK_REGS * sizeof(*words) + stack->copied_bytes;
	if (bytes - sizeof(*stack) < need)
		return 0;
	taken = (struct stack_taken){
		.id = stack->id,
		.pid = stack->pid,
		.time_ns = stack->time_ns,
		.kernel = words,
		.n_kernel = stack->kernel_frames,
		.user = words + stack->kernel_frames,
		.n_user = stack->user_frames,
	};
	if (stack->copied_bytes) {
		taken.regs = taken.user + taken.n_user;
		taken.memory = (const uint8_t *)(taken.regs + WK_STACK_REGS);
		taken.memory_bytes = stack->copied_bytes;
	}
	stackbook_add(c->book, &taken);
	return 0;
}

/* Whoever waits for the events is woken by the book too. */
static int book_watch(struct collector *c, struct diag *diag)
{
	struct epoll_event event = {.events = EPOLLIN};
	int fd = stackbook_fd(c->book);

	if (fd >= 0 && epoll_ctl(ring_buffer__epoll_fd(c->events), EPOLL_CTL_ADD, fd, &event))
		return diag_set(diag, -errno, "cannot wait for mappings: %s", strerror(errno));
	return 0;
}

/* A clock of the CPU that runs whether or not somebody is there to be looked at. 0 where the CPU is not
 * online. */
static int sample_open(struct collector *c, int cpu, struct diag *diag)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = WK_SECOND_NS / c->options.sample_hz,
		.disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link;

	if (fd < 0 && errno == ENODEV)
		return 0;
	if (fd < 0)
		return diag_set(diag, -errno, "cannot take samples on CPU %d: %s", cpu,
				strerror(errno));
	link = bpf_program__attach_perf_event(c->skel->progs.stack_sample, fd);
	if (!link) {
		int err = -errno;

		close(fd);
		return diag_set(diag, err, "cannot take samples on CPU %d: %s", cpu, strerror(-err));
	}
	*vec_push(&c->samplers) = (struct collect_sampler){.link = link, .fd = fd};
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0; /* attaching has enabled it */
}

void collect_samples_enable(const struct collector *c, bool on)
{
	for (size_t i = 0; i < c->samplers.n; i++)
		ioctl(c->samplers.items[i].fd,
		      on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

int collect_stacks_open(struct collector *c, struct diag *diag)
{
	int err, n_cpus = libbpf_num_possible_cpus();

	if (!stacks_wanted(c))
		return 0;
	err = stackbook_open(&c->book, diag);
	if (!c->book)
		return err ? err : -ENOMEM;
	if (err) /* it does without the mappings that come and go */
		log_warn("%s", diag->what);
	err = ring_buffer__add(c->events, bpf_map__fd(c->skel->maps.stacks), stack_record, c);
	if (err)
		return diag_set(diag, err, "cannot open the ring of stacks: %s", strerror(-err));
	err = book_watch(c, diag);
	for (int cpu = 0; !err && c->options.sample_hz && cpu < n_cpus; cpu++)
		err = sample_open(c, cpu, diag);
	return err;
}

void collect_stacks_free(struct collector *c)
{
	for (size_t i = 0; i < c->samplers.n; i++)
		bpf_link__destroy(c->samplers.items[i].link);
	free(c->samplers.items);
	stackbook_free(c->book);
}

void collect_stacks_service(struct collector *c)
{
	if (c->book)
		stackbook_service(c->book);
}

void collect_stacks_seed(struct collector *c, pid_t pid)
{
	if (c->book)
		stackbook_seed(c->book, pid);
}

void collect_stacks_seed_all(struct collector *c)
{
	uint32_t used = collect_slots_used(c);

	for (uint32_t i = 0; c->book && i < used; i++) {
		const struct wk_thread *t = &c->slots[i];

		if (t->state != WK_STATE_NONE && t->state != WK_STATE_DEAD && t->pid &&
		    t->flags & WK_FLAG_LEADER && t->flags & WK_FLAG_SEEDED)
			collect_stacks_seed(c, t->pid);
	}
}

static void counts_read(struct collector *c, const void *keys, const void *values, uint32_t n)
{
	const struct wk_stack_key *key = keys;
	const struct wk_stack_count *count = values;

	for (uint32_t i = 0; i < n; i++)
		*vec_push(&c->stack_counts) = (struct stack_counted){.key = key[i], .count = count[i]};
}

/* The kernel side counts wakes that have a stack; the others are what its causes have besides. */
static void rest_add(struct collector *c)
{
	struct wk_stack_count *with = mem_calloc(c->causes.n + 1, sizeof(*with));
	struct wk_stack_count *all = mem_calloc(c->causes.n + 1, sizeof(*all));

	for (size_t i = 0; i < c->stack_counts.n; i++) {
		const struct stack_counted *counted = &c->stack_counts.items[i];

		if (counted->key.what > c->causes.n)
			continue; /* a sample */
		with[counted->key.what].count += counted->count.count;
		with[counted->key.what].sleep_ns += counted->count.sleep_ns;
	}
	for (size_t i = 1; i < c->charges.n; i++)
		if (c->charges.items[i].cause <= c->causes.n)
			all[c->charges.items[i].cause].sleep_ns += c->charges.items[i].sleep_ns;
	for (size_t i = 0; i < c->causes.n; i++) {
		const struct capture_cause *cause = &c->causes.items[i];
		const struct wk_stack_count *w = &with[cause->number], *a = &all[cause->number];
		struct stack_counted *rest;

		if (cause->c.wakeups <= w->count)
			continue;
		rest = vec_push(&c->stack_counts);
		rest->key.what = cause->number;
		rest->count.count = cause->c.wakeups - w->count;
		rest->count.sleep_ns = a->sleep_ns > w->sleep_ns ? a->sleep_ns - w->sleep_ns : 0;
	}
	free(with);
	free(all);
}

int collect_stacks_read(struct collector *c, struct diag *diag)
{
	int err;

	if (!c->book)
		return 0;
	err = collect_hash_read(c, c->skel->maps.stack_counts, counts_read);
	if (err)
		return diag_set(diag, err, "cannot read the counts of stacks: %s", strerror(-err));
	for (size_t i = 0; i < c->copy_counts.n; i++)
		*vec_push(&c->stack_counts) = c->copy_counts.items[i];
	for (size_t i = 0; i < c->stack_counts.n; i++) {
		uint32_t *what = &c->stack_counts.items[i].key.what;

		if (!(*what & WK_STACK_SAMPLE))
			*what = collect_cause_renumbered(c, *what);
	}
	if (c->options.stacks)
		rest_add(c);
	return 0;
}

void collect_stacks_take(struct collector *c, struct capture *capture)
{
	capture->stacks_mode = c->options.stacks;
	capture->sample_hz = c->options.sample_hz;
	if (c->book)
		stackbook_take(c->book, c->stack_counts.items, c->stack_counts.n, capture);
}

void collect_stacks_forget(struct collector *c)
{
	free(c->stack_counts.items);
	memset(&c->stack_counts, 0, sizeof(c->stack_counts));
	free(c->copy_counts.items);
	memset(&c->copy_counts, 0, sizeof(c->copy_counts));
	place_index_clear(&c->copy_places);
}

void collect_stacks_reset(struct collector *c)
{
	if (!c->book)
		return;
	collect_hash_empty(c->skel->maps.stack_ids);
	collect_hash_empty(c->skel->maps.stack_counts);
	c->skel->data->next_stack = 1;
	c->skel->data->stack_numbering++;
	stackbook_reset(c->book);
}
