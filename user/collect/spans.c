/* The histograms of spans, which each CPU keeps for itself. */
#include <stdlib.h>
#include <string.h>

#include "collect/internal.h"

#include "wakewhy.skel.h"

static void spans_add(struct wk_spans *sum, const struct wk_spans *more)
{
	for (size_t i = 0; i < WK_SPAN_BUCKETS; i++) {
		sum->oncpu[i] += more->oncpu[i];
		sum->runq[i] += more->runq[i];
	}
}

int collect_spans_read(struct collector *c, struct diag *diag)
{
	int fd = bpf_map__fd(c->skel->maps.spans), err = 0, n_cpus = libbpf_num_possible_cpus();
	struct wk_spans *by_cpu;

	if (n_cpus < 0)
		return diag_set(diag, n_cpus, "cannot tell how many CPUs there may be: %s",
				strerror(-n_cpus));
	by_cpu = mem_calloc((size_t)n_cpus, sizeof(*by_cpu));
	for (uint32_t group = 0; group < c->cfg.groups && !err; group++) {
		err = bpf_map_lookup_elem(fd, &group, by_cpu);
		if (err)
			diag_set(diag, err, "cannot read the histograms: %s", strerror(-err));
		for (int cpu = 0; cpu < n_cpus && !err; cpu++)
			spans_add(&c->groups[group].spans, &by_cpu[cpu]);
	}
	free(by_cpu);
	return err;
}

void collect_spans_reset(struct collector *c)
{
	int n_cpus = libbpf_num_possible_cpus();
	struct wk_spans *zero;

	if (n_cpus < 0)
		return;
	zero = mem_calloc((size_t)n_cpus, sizeof(*zero));
	for (uint32_t group = 0; group < c->cfg.groups; group++)
		bpf_map_update_elem(bpf_map__fd(c->skel->maps.spans), &group, zero, BPF_ANY);
	free(zero);
}
