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
	for (size_t i = 0; i < capture->modules.n; i++) {
		free(capture->modules.items[i].path);
		free(capture->modules.items[i].build_id);
	}
	free(capture->modules.items);
	for (size_t i = 0; i < capture->frames.n; i++)
		free(capture->frames.items[i].name);
	free(capture->frames.items);
	for (size_t i = 0; i < capture->stacks.n; i++)
		free(capture->stacks.items[i].frames.items);
	free(capture->stacks.items);
	free(capture->wake_stacks.items);
	free(capture->samples.items);
	for (size_t i = 0; i < capture->probes.n; i++)
		free(capture->probes.items[i].name);
	free(capture->probes.items);
	free(capture->noise.governor);
	free(capture->disturbed);
	free(capture->conditions);
	free(capture->not_comparable);
	memset(capture, 0, sizeof(*capture));
}

void claim_free_members(struct claim *claim)
{
	free(claim->source);
	free(claim->what);
	free(claim->label);
	free(claim->base);
	free(claim->workload);
	free(claim->variant);
	free(claim->metric);
	free(claim->text);
	memset(claim, 0, sizeof(*claim));
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
	for (size_t i = 0; i < recording->bare.n; i++) {
		free(recording->bare.items[i].label);
		free(recording->bare.items[i].workload);
		free(recording->bare.items[i].variant);
	}
	free(recording->bare.items);
	for (size_t i = 0; i < recording->claims.n; i++)
		claim_free_members(&recording->claims.items[i]);
	free(recording->claims.items);
	for (size_t i = 0; i < recording->remarks.n; i++) {
		free(recording->remarks.items[i].workload);
		free(recording->remarks.items[i].text);
	}
	free(recording->remarks.items);
	for (size_t i = 0; i < recording->failures.n; i++) {
		free(recording->failures.items[i].label);
		free(recording->failures.items[i].workload);
		free(recording->failures.items[i].reason);
	}
	free(recording->failures.items);
	memset(recording, 0, sizeof(*recording));
}

uint64_t span_low_ns(uint32_t bucket)
{
	uint64_t octave_ns = 1ull << (8 + bucket / 2);

	return bucket ? octave_ns + (bucket % 2 ? octave_ns / 2 : 0) : 0;
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
		[WK_LOST_STACKS] = "stacks",
		[WK_LOST_COPIES] = "copies",
	};

	return (size_t)lost < WK_LOST_MAX && names[lost] ? names[lost] : "";
}
