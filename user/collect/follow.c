/* Whom to follow: live processes by pid, name or cgroup, and the one that waits at the gate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/internal.h"
#include "collect/proc.h"

#include "wakewhy.skel.h"

int collect_pass(struct collector *c, const struct wk_seed *seed, collect_reader *reader,
		 uint32_t *ret_followed, struct diag *diag)
{
	struct wk_task task;
	size_t have = 0;
	ssize_t n;
	int fd;

	c->skel->bss->seed = *seed;
	fd = bpf_iter_create(bpf_link__fd(c->skel->links.seed_tasks));
	if (fd < 0)
		return diag_set(diag, -errno, "cannot go through the tasks: %s", strerror(errno));
	for (;;) {
		n = read(fd, (char *)&task + have, sizeof(task) - have);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			break;
		have += n;
		if (have == sizeof(task)) {
			if (reader)
				reader(c, &task);
			have = 0;
		}
	}
	if (n < 0)
		n = diag_set(diag, -errno, "cannot go through the tasks: %s", strerror(errno));
	close(fd);
	if (ret_followed)
		*ret_followed = c->skel->bss->seed.followed;
	return n;
}

void collect_image_read_argv(struct capture_image *image)
{
	char path[64];
	char *text = mem_zalloc(WK_ARGV_BYTES);
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/cmdline", image->pid);
	file = fopen(path, "re");
	if (file) {
		image->argv_bytes = fread(text, 1, WK_ARGV_BYTES, file);
		image->argv_cut = image->argv_bytes == WK_ARGV_BYTES && fgetc(file) != EOF;
		fclose(file);
		/* Cut short, or written over by the process itself: still a list of arguments. */
		if (image->argv_bytes)
			text[image->argv_bytes - 1] = '\0';
	}
	if (image->argv_bytes)
		image->argv = text;
	else
		free(text);
}

static void live_images(struct collector *c)
{
	uint32_t used = collect_slots_used(c);

	for (uint32_t i = 0; i < used; i++) {
		const struct wk_thread *t = &c->slots[i];
		struct capture_image *image;

		if (t->state == WK_STATE_NONE || !(t->flags & WK_FLAG_LEADER) ||
		    !(t->flags & WK_FLAG_SEEDED) || t->exec_ns)
			continue;
		image = vec_push(&c->images);
		image->pid = t->pid;
		image->ppid = t->ppid;
		image->start_ns = t->start_ns;
		image->group = t->group;
		memcpy(image->comm, t->comm, WK_COMM_BYTES);
		collect_image_read_argv(image);
	}
}

static bool is_followed(const struct collector *c, uint32_t pid)
{
	uint32_t used = collect_slots_used(c);

	for (uint32_t i = 0; i < used; i++)
		if (c->slots[i].state != WK_STATE_NONE && c->slots[i].pid == pid)
			return true;
	return false;
}

static int check_pids(const struct collector *c, struct diag *diag)
{
	for (size_t i = 0; i < c->options.n_pids; i++) {
		char path[64];
		int pid = c->options.pids[i];

		if (is_followed(c, pid))
			continue;
		snprintf(path, sizeof(path), "/proc/%d", pid);
		if (access(path, F_OK))
			return diag_hint(diag, diag_set(diag, -ESRCH, "no process %d", pid),
					 "'ps -e' lists the processes; -n takes a name");
		return diag_hint(diag,
				 diag_set(diag, -ESRCH, "%d has no live thread to follow", pid),
				 "it is a zombie, or the id of a thread: give the process's id");
	}
	return 0;
}

int collector_seed(struct collector *c, struct diag *diag)
{
	struct wk_seed seed = {.mode = WK_SEED_MATCH};
	uint32_t followed;
	int err;

	if (c->proc)
		return collect_proc_seed(c, diag) ?: check_pids(c, diag);
	for (size_t i = 0; i < c->options.n_pids; i++) {
		__u32 pid = c->options.pids[i], group = 0;

		err = bpf_map_update_elem(bpf_map__fd(c->skel->maps.targets), &pid, &group, BPF_ANY);
		if (err)
			return diag_set(diag, err, "too many processes to follow (%zu)",
					c->options.n_pids);
	}
	/* Again until nobody is new: a thread that is not followed yet may create another one behind
	 * the pass. At least twice: see seed.bpf.c. */
	for (int pass = 0; pass < 10; pass++) {
		err = collect_pass(c, &seed, NULL, &followed, diag);
		if (err)
			return err;
		if (pass && !followed)
			break;
	}
	live_images(c);
	collect_stacks_seed_all(c);
	return check_pids(c, diag);
}

int collector_add_gated(struct collector *c, pid_t pid, uint32_t group, struct diag *diag)
{
	struct wk_seed seed = {.mode = WK_SEED_GATED, .pid = pid, .group = group};
	uint32_t followed;
	int err;

	if (c->proc) {
		err = collect_proc_add(c, pid, group, diag);
		if (!err && c->options.open_at_exec)
			collector_open_window(c, 0); /* at the gate, for nobody tells of the exec */
		return err;
	}
	err = collect_pass(c, &seed, NULL, &followed, diag);
	if (err)
		return err;
	if (followed != 1)
		return diag_set(diag, -ESRCH, "process %d is not there to be followed", pid);
	err = collect_pass(c, &seed, NULL, NULL, diag);
	collect_stacks_seed(c, pid);
	if (!err && c->options.open_at_exec) {
		collect_noise_begin(c);
		collect_edge_read(c, &c->before);
		collect_samples_enable(c, true);
	}
	return err;
}

uint32_t collector_alive(const struct collector *c)
{
	if (c->proc)
		return c->proc->alive;
	return __atomic_load_n(&c->skel->bss->alive, __ATOMIC_RELAXED);
}

uint64_t collector_schedstat_ns(const struct collector *c)
{
	uint32_t used = collect_slots_used(c);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < used; i++) {
		const struct wk_thread *t = &c->slots[i];
		char path[96], *text;

		if (t->state == WK_STATE_NONE || t->state == WK_STATE_DEAD)
			continue;
		snprintf(path, sizeof(path), "/proc/%u/task/%u/schedstat", t->pid, t->tid);
		text = machine_read_file(path, 256);
		if (text)
			sum += strtoull(text, NULL, 10);
		free(text);
	}
	return sum;
}
