/* Taking the probes off the kernel for a while, and putting them back without loading them again. */
#include <stdlib.h>
#include <string.h>

#include "collect/internal.h"

#include "wakewhy.skel.h"

int collector_pause(struct collector *c, struct diag *diag)
{
	struct bpf_object_skeleton *skeleton;
	int err;

	if (c->paused)
		return 0;
	/* What is still followed would die unseen. */
	err = collector_reset(c, diag);
	if (err || c->proc)
		return err;
	skeleton = c->skel->skeleton;
	/* From the last: entries of interrupts before their exits, as in context.bpf.c. The iterator is
	 * no probe: it runs when it is read. */
	for (int i = skeleton->prog_cnt - 1; i >= 0; i--) {
		struct bpf_link **link = skeleton->progs[i].link;

		if (link == &c->skel->links.seed_tasks)
			continue;
		bpf_link__destroy(*link);
		*link = NULL;
	}
	c->paused = true;
	return 0;
}

/* An interrupt that was being served when its exit probe went would be on its CPU's stack for ever. */
static int contexts_clear(struct collector *c)
{
	const struct bpf_map *map = c->skel->maps.contexts;
	int cpus = libbpf_num_possible_cpus();
	__u32 zero = 0;
	void *empty;
	int err;

	if (cpus < 0)
		return cpus;
	empty = mem_calloc((size_t)cpus, (bpf_map__value_size(map) + 7) / 8 * 8);
	err = bpf_map_update_elem(bpf_map__fd(map), &zero, empty, BPF_ANY);
	free(empty);
	return err;
}

int collector_resume(struct collector *c, struct diag *diag)
{
	int err;

	if (!c->paused)
		return 0;
	err = contexts_clear(c);
	if (!err)
		err = wakewhy_bpf__attach(c->skel);
	if (err)
		return diag_set(diag, err, "cannot attach the probes again: %s", strerror(-err));
	c->paused = false;
	return 0;
}
