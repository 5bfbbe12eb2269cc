/* Opening the collector: configuration, loading, attaching, and what to say when it fails. */
#include <stdarg.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "base/log.h"
#include "collect/internal.h"
#include "collect/kernel.h"
#include "collect/proc.h"
#include "collect/shapes.h"

#include "wakewhy.skel.h"

/* What libbpf says has many lines where it quotes the verifier, whose reason stands at the end. */
#define PRINT_LINES 40

static const char *last_lines(const char *text)
{
	const char *at = text + strlen(text);
	int lines = 0;

	for (; at > text; at--)
		if (at[-1] == '\n' && at[0] && ++lines == PRINT_LINES)
			break;
	return at;
}

static int quiet_print(enum libbpf_print_level level, const char *fmt, va_list args)
{
	char *text, *line, *rest;

	(void)level;
	if (log_get_level() < LOG_LEVEL_VERBOSE || vasprintf(&text, fmt, args) < 0)
		return 0;
	rest = (char *)last_lines(text);
	while ((line = strsep(&rest, "\n")))
		if (*line)
			log_debug("libbpf: %s", line);
	free(text);
	return 0;
}

static int config_from_options(struct wk_config *cfg, const struct collect_options *o,
			       struct diag *diag)
{
	uint32_t max = o->max_threads ? o->max_threads : COLLECT_DEFAULT_THREADS;

	/* Half as many slots again as threads alive: dead ones wait there to be read. */
	cfg->slots = max + max / 2;
	cfg->recycle_at = max / 8 ? max / 8 : 1;
	/* Threads alike have three each: their birth, what they wait for, and who releases them. */
	cfg->causes = 3 * (max < 16384 ? 16384 : max);
	while (cfg->cause_mask < cfg->causes - 1)
		cfg->cause_mask = cfg->cause_mask * 2 + 1;
	cfg->futile_ns = 20000;
	cfg->timeline = o->timeline;
	cfg->stacks = o->stacks;
	cfg->stacks_per_s = o->stacks_per_s;
	cfg->sample_hz = o->sample_hz;
	cfg->stack_copy_bytes = WK_STACK_COPY_BYTES;
	cfg->series_seconds = o->series_seconds ? o->series_seconds : COLLECT_DEFAULT_SECONDS;
	cfg->groups = o->groups ? o->groups : 1;
	cfg->page_bytes = sysconf(_SC_PAGESIZE);
	cfg->all = o->all;
	cfg->kernel_threads = o->kernel_threads;
	cfg->follow = o->follow;
	cfg->count_syscalls = o->syscalls;
	cfg->stamp_output = o->stamp_output;
	cfg->open_at_exec = o->open_at_exec;
	cfg->cgroup_id = o->cgroup_id;
	cfg->nr_execve = SYS_execve;
	cfg->nr_execveat = SYS_execveat;
	cfg->nr_write = SYS_write;
	cfg->nr_writev = SYS_writev;
	cfg->by_name = o->name_glob != NULL;
	if (o->name_glob && (!o->name_glob[0] || glob_compile(&cfg->name, o->name_glob)))
		return diag_hint(diag,
				 diag_set(diag, -EINVAL, "bad name '%s': %s", o->name_glob,
					  o->name_glob[0] ? "too long" : "empty"),
				 "a process's name has at most 15 bytes; use '*' for the rest");
	return 0;
}

static int refuse_without_btf(struct diag *diag)
{
	return diag_hint(diag,
			 diag_set(diag, -ENOTSUP,
				  "this kernel gives no type information (BTF), "
				  "which the probes need"),
			 "run a kernel built with CONFIG_DEBUG_INFO_BTF=y");
}

/* Adapts cfg to the shapes of this kernel's tracepoints. The shapes of new kernels are tried without asking,
 * because reading all type information twice would double the time to start; this runs when they
 * did not load. -ENOTSUP with diag for a shape that cannot be used. */
static int config_from_btf(struct wk_config *cfg, struct diag *diag)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int err;

	if (!btf)
		return refuse_without_btf(diag);
	err = shapes_config(cfg, btf, diag);
	btf__free(btf);
	return err;
}

/* Says in a sentence why the kernel refused; err is what loading gave. */
static int explain_refusal(int err, struct diag *diag)
{
	uint64_t held = kernel_capabilities();
	bool bpf = kernel_holds(held, CAP_BPF), perfmon = kernel_holds(held, CAP_PERFMON);

	if (!kernel_capabilities_suffice(held))
		return diag_hint(diag,
				 diag_set(diag, -EPERM, "not permitted to load BPF programs: %s missing",
					  bpf	    ? "CAP_PERFMON is"
					  : perfmon ? "CAP_BPF is"
						    : "CAP_BPF and CAP_PERFMON are"),
				 "run it with sudo, or give it these capabilities");
	if (kernel_lockdown() == KERNEL_LOCKDOWN_CONFIDENTIALITY)
		return diag_hint(diag,
				 diag_set(diag, -EPERM,
					  "kernel lockdown (confidentiality) forbids reading the kernel"),
				 "boot with lockdown=integrity or none");
	if (kernel_btf_bytes() < 0)
		return refuse_without_btf(diag);
	return diag_hint(diag,
			 diag_set(diag, err == -EPERM ? -EPERM : -ENOTSUP,
				  "the kernel refused the probes: %s", strerror(-err)),
			 "'wakewhy doctor' says what is missing; -v shows what the kernel said");
}

static int skel_size_maps(struct wakewhy_bpf *skel, const struct wk_config *cfg)
{
	int err = 0;

	err = err ?: bpf_map__set_max_entries(skel->maps.threads, cfg->slots);
	err = err ?: bpf_map__set_max_entries(skel->maps.free_slots, cfg->slots);
	err = err ?: bpf_map__set_max_entries(skel->maps.dead_syscalls, cfg->slots);
	err = err ?: bpf_map__set_max_entries(skel->maps.seconds,
					      cfg->groups * cfg->series_seconds);
	err = err ?: bpf_map__set_max_entries(skel->maps.spans, cfg->groups);
	if (!cfg->timeline)
		err = err ?: bpf_map__set_max_entries(skel->maps.timeline, cfg->page_bytes);
	err = err ?: bpf_map__set_max_entries(skel->maps.causes, cfg->causes);
	err = err ?: bpf_map__set_max_entries(skel->maps.cause_numbers, cfg->causes);
	err = err ?: bpf_map__set_max_entries(skel->maps.free_causes, cfg->causes);
	err = err ?: bpf_map__set_max_entries(skel->maps.hists, cfg->causes);
	err = err ?: bpf_map__set_max_entries(skel->maps.charges, 2 * cfg->causes);
	err = err ?: bpf_map__set_max_entries(skel->maps.charge_numbers, 2 * cfg->causes);
	err = err ?: bpf_map__set_max_entries(skel->maps.free_charges, 2 * cfg->causes);
	return err;
}

/* Loading copies the kernel's type information, 5 MB and more, about in fresh memory. */
#define LOAD_BYTES ((size_t)16 << 20)

/* To find a type that this kernel does not have, libbpf before 1.2 looks through the modules too, and fails
 * where it may not list them. It asks the kernel alone when it is told where its types are, at the price of
 * reading them twice. */
static const char *btf_path(void)
{
	bool lists_or_skips = kernel_holds(kernel_capabilities(), CAP_SYS_ADMIN) ||
			      libbpf_major_version() > 1 || libbpf_minor_version() >= 2;

	return lists_or_skips || kernel_btf_bytes() < 0 ? NULL : KERNEL_BTF_PATH;
}

static int skel_load(struct collector *c, struct diag *diag)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = btf_path());
	int err;

	c->skel = wakewhy_bpf__open_opts(&options);
	if (!c->skel)
		return explain_refusal(-errno, diag);
	*(struct wk_config *)&c->skel->rodata->cfg = c->cfg;
	collect_calls_fill((struct wk_call *)c->skel->rodata->cfg_calls);
	err = skel_size_maps(c->skel, &c->cfg);
	if (err)
		return explain_refusal(err, diag);
	err = collect_stacks_prepare(c, diag);
	if (err)
		return err;
	bpf_program__set_autoload(c->skel->progs.sys_enter, c->options.syscalls);
	bpf_program__set_autoload(c->skel->progs.cgroup_attach_task, c->cfg.cgroup_id != 0);
	err = wakewhy_bpf__load(c->skel);
	if (err) {
		wakewhy_bpf__destroy(c->skel);
		c->skel = NULL;
	}
	return err;
}

static int load_adapting(struct collector *c, struct diag *diag)
{
	struct wk_config before = c->cfg;
	int err = skel_load(c, diag);

	if (!err || !kernel_capabilities_suffice(kernel_capabilities()))
		return err ? explain_refusal(err, diag) : 0;
	if (kernel_lockdown() == KERNEL_LOCKDOWN_CONFIDENTIALITY || kernel_btf_bytes() < 0)
		return explain_refusal(err, diag);
	if (config_from_btf(&c->cfg, diag))
		return -ENOTSUP;
	/* Both are copies of one: bytes between the members that differ would cost one more attempt.
	 * NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	if (memcmp(&before, &c->cfg, sizeof(before)))
		err = skel_load(c, diag);
	return err ? explain_refusal(err, diag) : 0;
}

static void *map_memory(const struct bpf_map *map, size_t bytes, struct diag *diag)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (p == MAP_FAILED) {
		diag_set(diag, -errno, "cannot map the counters (%s): %s", bpf_map__name(map),
			 strerror(errno));
		return NULL;
	}
	return p;
}

static size_t whole_pages(size_t bytes)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

static size_t slots_bytes(const struct collector *c)
{
	return whole_pages(c->cfg.slots * sizeof(struct wk_thread));
}

/* Maps the first `slots` of the threads map over the addresses kept for it. */
static bool slots_map(const struct collector *c, uint32_t slots)
{
	size_t want = whole_pages(slots * sizeof(struct wk_thread));
	void *p;

	if (want <= *c->slots_mapped)
		return true;
	p = mmap(c->slots, want, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 bpf_map__fd(c->skel->maps.threads), 0);
	if (p == MAP_FAILED)
		return false;
	*c->slots_mapped = want;
	return true;
}

uint32_t collect_slots_used(const struct collector *c)
{
	uint32_t next, used;

	if (c->proc)
		return (uint32_t)c->proc->threads.n;
	next = __atomic_load_n(&c->skel->bss->next_slot, __ATOMIC_ACQUIRE);
	used = next < c->cfg.slots ? next : c->cfg.slots;
	/* What cannot be mapped is out of memory for good: it is as if it had not been used. */
	if (slots_map(c, used))
		return used;
	return (uint32_t)(*c->slots_mapped / sizeof(struct wk_thread));
}

static int collector_start(struct collector *c, struct diag *diag)
{
	int err = config_from_options(&c->cfg, &c->options, diag);

	if (err)
		return err;
	mem_expect(LOAD_BYTES);
	err = load_adapting(c, diag);
	mem_give_back();
	if (err || !c->skel)
		return diag_error(err);
	/* Addresses for all slots; collect_slots_used() maps them as they come into use. */
	c->slots = mmap(NULL, slots_bytes(c), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			-1, 0);
	if (c->slots == MAP_FAILED) {
		c->slots = NULL;
		return diag_set(diag, -errno, "no room for the counters: %s", strerror(errno));
	}
	c->settled_slots = mem_calloc(c->cfg.slots, sizeof(bool));
	c->seconds_bytes = whole_pages((size_t)c->cfg.groups * c->cfg.series_seconds *
				       sizeof(struct wk_second));
	c->seconds = map_memory(c->skel->maps.seconds, c->seconds_bytes, diag);
	if (!c->seconds)
		return -ENOMEM;
	c->events = ring_buffer__new(bpf_map__fd(c->skel->maps.events), collect_event, c, NULL);
	if (!c->events)
		return diag_set(diag, -errno, "cannot open the event ring: %s", strerror(errno));
	if (c->options.timeline) {
		c->timeline_ring = ring_buffer__new(bpf_map__fd(c->skel->maps.timeline),
						    collect_wake_event, c, NULL);
		if (!c->timeline_ring)
			return diag_set(diag, -errno, "cannot open the timeline: %s",
					strerror(errno));
	}
	err = collect_stacks_open(c, diag);
	if (err)
		return err;
	if (c->options.time_probes)
		c->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	err = wakewhy_bpf__attach(c->skel);
	return err ? explain_refusal(err, diag) : 0;
}

int collector_open(struct collector **ret_collector, const struct collect_options *options,
		   struct diag *diag)
{
	struct collector *c = mem_zalloc(sizeof(*c));
	int err;

	c->options = *options;
	c->stats_fd = -1;
	c->slots_mapped = mem_zalloc(sizeof(*c->slots_mapped));
	c->groups = mem_calloc(options->groups ? options->groups : 1, sizeof(*c->groups));
	libbpf_set_print(quiet_print);
	err = options->backend == COLLECT_PROC ? collect_proc_open(c, diag) : collector_start(c, diag);
	if (err) {
		collector_free(c);
		return err;
	}
	collect_priority_raise();
	*ret_collector = c;
	return 0;
}

void collector_free(struct collector *c)
{
	if (!c)
		return;
	collect_forget(c);
	collect_stacks_free(c);
	collect_edge_free_members(&c->before);
	collect_edge_free_members(&c->after);
	ring_buffer__free(c->events);
	ring_buffer__free(c->timeline_ring);
	collect_proc_free(c);
	if (c->slots)
		munmap(c->slots, slots_bytes(c));
	if (c->seconds)
		munmap(c->seconds, c->seconds_bytes);
	wakewhy_bpf__destroy(c->skel);
	if (c->stats_fd >= 0)
		close(c->stats_fd);
	free(c->groups);
	free(c->settled_slots);
	free(c->slots_mapped);
	free(c);
}
