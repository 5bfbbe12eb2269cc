/* Ownership of captures and recordings, and the names of losses. */
#include "model/capture.h"

#include <stdlib.h>
#include <string.h>

void capture_free_members(struct capture *capture)
{
	if (!capture)
		return;
	free(capture->label);
	free(capture->workload);
	free(capture->variant);
	free(capture->runtime.family);
	free(capture->runtime.version);
	free(capture->runtime.path);
	for (size_t i = 0; i < capture->threads.n; i++)
		free(capture->threads.items[i].syscalls.items);
	free(capture->threads.items);
	for (size_t i = 0; i < capture->images.n; i++)
		free(capture->images.items[i].argv);
	free(capture->images.items);
	free(capture->seconds.items);
	for (size_t i = 0; i < capture->causes.n; i++)
		free(capture->causes.items[i].intervals.items);
	free(capture->causes.items);
	free(capture->charges.items);
	free(capture->timeline.items);
	for (size_t i = 0; i < capture->probes.n; i++)
		free(capture->probes.items[i].name);
	free(capture->probes.items);
	free(capture->noise.governor);
	memset(capture, 0, sizeof(*capture));
}

void recording_free_members(struct recording *recording)
{
	if (!recording)
		return;
	free(recording->tool.version);
	free(recording->tool.kernel);
	free(recording->tool.arch);
	free(recording->tool.started);
	for (size_t i = 0; i < recording->tool.command.n; i++)
		free(recording->tool.command.items[i]);
	free(recording->tool.command.items);
	for (size_t i = 0; i < recording->runs.n; i++)
		capture_free_members(&recording->runs.items[i]);
	free(recording->runs.items);
	for (size_t i = 0; i < recording->failures.n; i++) {
		free(recording->failures.items[i].label);
		free(recording->failures.items[i].workload);
		free(recording->failures.items[i].reason);
	}
	free(recording->failures.items);
	memset(recording, 0, sizeof(*recording));
}

const char *capture_lost_name(enum wk_lost lost)
{
	/* JSON and recordings spell them: never renamed. */
	static const char *const names[WK_LOST_MAX] = {
		[WK_LOST_THREADS] = "threads",
		[WK_LOST_STORAGE] = "storage",
		[WK_LOST_SYSCALL_TABLES] = "syscall_tables",
		[WK_LOST_SERIES] = "series",
		[WK_LOST_EVENTS] = "events",
		[WK_LOST_CAUSES] = "causes",
	};

	return (size_t)lost < WK_LOST_MAX && names[lost] ? names[lost] : "";
}
