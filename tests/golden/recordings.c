/* Writes the recordings that the golden tests read: tests/golden/recordings DIRECTORY.
 *
 * They are committed. A recording that was written once must be readable for ever, so this runs when
 * a recording is added, not when the format grows: sample.wkw, of the format's first days, is what why.wkw
 * was before there were causes. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "record/record.h"
#include "tests/unit/sample.h"
#include "tests/unit/sample_stacks.h"

static void golden_write(const char *directory, const char *name, struct recording *recording)
{
	char *path = mem_printf("%s/%s.wkw", directory, name);
	FILE *out = fopen(path, "w");
	struct diag diag = {0};

	if (!out || record_write(out, recording, &diag) || fclose(out)) {
		fprintf(stderr, "%s: %s\n", path, *diag.what ? diag.what : "cannot write");
		exit(1);
	}
	free(path);
	recording_free_members(recording);
}

static void golden_seconds(struct capture *capture, uint64_t oncpu_ns, uint64_t wakeups)
{
	for (uint64_t i = 0; i < 20; i++)
		*vec_push(&capture->seconds) = (struct wk_second){oncpu_ns / 20, wakeups / 20, 0};
}

/* Three servers on a quiet machine: the layout that README shows. */
static void golden_idle(struct recording *recording)
{
	static const struct {
		const char *label;
		uint64_t wakeups, oncpu_ns;
	} servers[] = {{"floor", 0, 0}, {"rust", 60, 4880000}, {"zig", 242, 14800000}};

	*recording = (struct recording){0};
	sample_tool(recording);
	for (size_t i = 0; i < sizeof(servers) / sizeof(*servers); i++) {
		struct capture *capture =
			sample_add_run(recording, servers[i].label, "idle", NULL, 0);
		struct capture_thread *thread = sample_add_thread(
			capture, SAMPLE_PID, "server", servers[i].wakeups, servers[i].oncpu_ns);

		if (servers[i].wakeups)
			sample_add_syscall(thread, 202, 3 * servers[i].wakeups);
		if (i)
			capture->settle_ns = 3100000000;
		capture->settled = true;
		golden_seconds(capture, servers[i].oncpu_ns, servers[i].wakeups);
	}
}

/* The whole machine: a row for each process, many of them asleep. */
static void golden_machine(struct recording *recording)
{
	static const char *const argv[] = {"/usr/sbin/daemon", "--with", "an argument"};
	struct capture *capture;

	*recording = (struct recording){0};
	sample_tool(recording);
	capture = sample_add_run(recording, "all processes", "attach", NULL, 0);
	capture->partial = true;
	capture->syscalls_counted = false;
	for (uint32_t i = 0; i < 40; i++) {
		uint64_t wakeups = i < 25 ? 25 * i * i : 0;
		struct capture_thread *thread = sample_add_thread(
			capture, SAMPLE_PID + i, "daemon", wakeups, wakeups * 41000);

		thread->t.pid = SAMPLE_PID + i;
		sample_add_image(capture, SAMPLE_PID + i, 1000 + i, 0, "daemon", argv, 3);
	}
	golden_seconds(capture, 200000000, 6000);
}

/* One server of the sample a version later: its 100 ms timer slower, its helper gone. */
static void golden_later(struct recording *recording)
{
	struct capture *capture;
	struct wk_cause *cause;

	*recording = (struct recording){0};
	sample_tool(recording);
	free(recording->tool.kernel);
	recording->tool.kernel = mem_strdup("6.19.0");
	capture = sample_add_run(recording, "zig", "idle", NULL, 0);
	sample_add_thread(capture, SAMPLE_PID, "bun", 20, 2800000);
	sample_add_thread(capture, SAMPLE_PID + 2, "bun", 40, 2000000);
	golden_seconds(capture, 4800000, 60);
	cause = sample_add_cause(capture, 1, WK_CONTEXT_HRTIMER, 20, 2800000, 0);
	sample_set_timeout(cause, 441, WK_SECOND_NS);
	sample_set_period(capture, 1, 0, WK_SECOND_NS);
	cause = sample_add_cause(capture, 2, WK_CONTEXT_HRTIMER, 40, 2000000, 0);
	sample_set_timeout(cause, 202, 500000000);
	sample_set_period(capture, 2, 61000000, 500100000);
}

int main(int argc, char **argv)
{
	struct recording recording;

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	sample_recording(&recording);
	golden_write(argv[1], "why", &recording);
	golden_idle(&recording);
	golden_write(argv[1], "idle", &recording);
	golden_machine(&recording);
	golden_write(argv[1], "machine", &recording);
	golden_later(&recording);
	golden_write(argv[1], "later", &recording);
	sample_stacks_recording(&recording);
	golden_write(argv[1], "stacks", &recording);
	return 0;
}
