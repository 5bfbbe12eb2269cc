/* What is read once when the window opens and once when it closes: our own cost, the machine's CPU
 * time, the probes' runs. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "collect/clock.h"
#include "collect/internal.h"

#include "wakewhy.skel.h"

static void probes_read(const struct collector *c, struct collect_edge *edge)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, c->skel->obj)
	{
		struct bpf_prog_info info = {0};
		struct capture_probe *probe;
		__u32 bytes = sizeof(info);
		int fd = bpf_program__fd(program);

		if (fd < 0 || bpf_program__type(program) != BPF_PROG_TYPE_TRACING ||
		    program == c->skel->progs.seed_tasks)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &bytes))
			continue;
		probe = vec_push(&edge->probes);
		probe->name = mem_strdup(bpf_program__name(program));
		probe->runs = info.run_cnt;
		probe->ns = info.run_time_ns;
		probe->misses = info.recursion_misses;
	}
}

/* CLOCK_REALTIME less CLOCK_MONOTONIC now, right to a microsecond: absolute timeouts of the one are
 * told apart from now by the other. */
static uint64_t realtime_offset_ns(void)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC);
	uint64_t realtime = clock_ns(CLOCK_REALTIME);

	return realtime - before - (clock_ns(CLOCK_MONOTONIC) - before) / 2;
}

/* CLOCK_BOOTTIME less CLOCK_MONOTONIC, which stands still while the machine sleeps. Looked at between two
 * looks at the other clock, until these are close: nobody has kept us from the CPU then. */
static uint64_t suspended_ns(void)
{
	uint64_t best_ns = WK_NEVER, suspended = 0;

	for (int i = 0; i < 8 && best_ns > 10000; i++) {
		uint64_t before = clock_ns(CLOCK_MONOTONIC);
		uint64_t boottime = clock_ns(CLOCK_BOOTTIME);
		uint64_t apart = clock_ns(CLOCK_MONOTONIC) - before;

		if (apart >= best_ns)
			continue;
		best_ns = apart;
		suspended = boottime - before - apart / 2;
	}
	return suspended < WK_NEVER / 2 ? suspended : 0;
}

void collect_edge_read(struct collector *c, struct collect_edge *ret_edge)
{
	struct rusage usage;
	char *text = machine_read_file("/proc/self/schedstat", 256);

	collect_edge_free_members(ret_edge);
	if (c->skel)
		c->skel->bss->realtime_ns = realtime_offset_ns();
	if (text)
		ret_edge->oncpu_ns = strtoull(text, NULL, 10);
	free(text);
	getrusage(RUSAGE_SELF, &usage);
	ret_edge->wakeups = usage.ru_nvcsw;
	ret_edge->stat = machine_read_stat();
	ret_edge->throttled_ns = cgroup_limits_throttled_ns(&c->limits);
	ret_edge->suspended_ns = suspended_ns();
	if (c->skel)
		probes_read(c, ret_edge);
}

void collect_edge_free_members(struct collect_edge *edge)
{
	for (size_t i = 0; i < edge->probes.n; i++)
		free(edge->probes.items[i].name);
	free(edge->probes.items);
	free(edge->stat);
	memset(edge, 0, sizeof(*edge));
}
