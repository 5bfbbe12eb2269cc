/* Format speedscope: profiles for speedscope.app and whatever else reads its file format
 * (https://www.speedscope.app/file-format-schema.json), three of each group at most: what its threads ran, what
 * their wakeups were of, how long they slept. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "render/formats.h"
#include "render/json.h"
#include "report/part.h"

#define SPEEDSCOPE_SCHEMA "https://www.speedscope.app/file-format-schema.json"

/* Frames in all samples. A stack is listed in full for each cause and waker that it has, so a small recording
 * could ask for any amount; these come to 512 MiB of memory and some 100 MiB of output. */
#define SCOPE_PLACES_MAX ((size_t)16000000)

/* A name that a file's frames refer to by number. */
struct scope_frame {
	const char *name, *file; /* file "": none */
};

struct scope {
	const struct result *result;
	VEC(struct scope_frame) frames; /* by name and file, each once */
	json_t *profiles;
};

/* ---- frames ---------------------------------------------------------------------------------- */

static int frame_order(const void *a, const void *b)
{
	const struct scope_frame *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->file, y->file);
}

static void scope_add_frame(struct scope *scope, const char *name, const char *file)
{
	*vec_push(&scope->frames) = (struct scope_frame){.name = name, .file = file};
}

/* Threads and causes stand among the frames: a thread below all that it did, a cause on top. */
static void scope_collect(struct scope *scope)
{
	size_t kept = 0;

	scope_add_frame(scope, "[no stack]", "");
	scope_add_frame(scope, "[truncated]", "");
	for (size_t r = 0; r < scope->result->stacks.n; r++) {
		const struct stacks *stacks = &scope->result->stacks.items[r];
		const struct run *run = &scope->result->runs.items[r];
		const struct why *why = &scope->result->whys.items[r];

		if (!stacks->known || run->capture->replaced)
			continue;
		for (size_t i = 0; i < stacks->frames.n; i++)
			scope_add_frame(scope, stacks->frames.items[i].text,
					stacks->frames.items[i].file);
		for (size_t i = 0; i < run->threads.n; i++)
			scope_add_frame(scope, run->threads.items[i].label, "");
		for (size_t i = 0; i < why->causes.n; i++)
			scope_add_frame(scope, why->causes.items[i].text, "");
	}
	qsort(scope->frames.items, scope->frames.n, sizeof(*scope->frames.items), frame_order);
	for (size_t i = 0; i < scope->frames.n; i++)
		if (!kept || frame_order(&scope->frames.items[kept - 1], &scope->frames.items[i]))
			scope->frames.items[kept++] = scope->frames.items[i];
	scope->frames.n = kept;
}

static void scope_push(const struct scope *scope, json_t *stack, const char *name, const char *file)
{
	struct scope_frame key = {.name = name, .file = file};
	const struct scope_frame *found = bsearch(&key, scope->frames.items, scope->frames.n,
						  sizeof(key), frame_order);

	json_array_append_new(stack, json_of_u64((uint64_t)(found - scope->frames.items)));
}

static json_t *scope_frames(const struct scope *scope)
{
	json_t *frames = json_array();

	for (size_t i = 0; i < scope->frames.n; i++) {
		const struct scope_frame *from = &scope->frames.items[i];
		json_t *frame = json_object();

		json_set(frame, "name", json_of_text(*from->name ? from->name : "[unknown]"));
		if (*from->file)
			json_set(frame, "file", json_of_text(from->file));
		json_array_append_new(frames, frame);
	}
	return frames;
}

/* ---- profiles -------------------------------------------------------------------------------- */

/* One profile in the making. */
struct profile {
	const struct scope *scope;
	json_t *samples, *weights;
	double sum;
};

/* Outermost first, as the format wants it. cause may be NULL. */
static void profile_add(struct profile *profile, size_t run, const struct run_thread *thread,
			uint32_t at, const char *cause, double weight)
{
	const struct capture *capture = profile->scope->result->runs.items[run].capture;
	const struct stacks *stacks = &profile->scope->result->stacks.items[run];
	json_t *sample = json_array();

	scope_push(profile->scope, sample, thread->label, "");
	if (at >= capture->stacks.n) {
		scope_push(profile->scope, sample, "[no stack]", "");
	} else {
		const struct capture_stack *stack = &capture->stacks.items[at];

		if (stack->truncated)
			scope_push(profile->scope, sample, "[truncated]", "");
		for (size_t i = stack->frames.n; i-- > 0;) {
			const struct stacks_frame *frame =
				&stacks->frames.items[stack->frames.items[i]];

			scope_push(profile->scope, sample, frame->text, frame->file);
		}
	}
	if (cause)
		scope_push(profile->scope, sample, cause, "");
	json_array_append_new(profile->samples, sample);
	json_array_append_new(profile->weights, json_of_real(weight));
	profile->sum += weight;
}

enum profile_of { PROFILE_RAN, PROFILE_WAKEUPS, PROFILE_SLEPT, PROFILES };

static void profile_add_run(struct profile *profile, size_t run, enum profile_of of)
{
	const struct result *result = profile->scope->result;
	const struct stacks *stacks = &result->stacks.items[run];
	double hz = result->runs.items[run].capture->sample_hz;

	for (size_t i = 0; of == PROFILE_RAN && i < stacks->rows.n; i++) {
		const struct stacks_sample *row = &stacks->rows.items[i];

		profile_add(profile, run, row->thread, row->stack, NULL,
			    hz > 0 ? (double)row->count * 1000 / hz : (double)row->count);
	}
	for (size_t i = 0; of != PROFILE_RAN && i < stacks->wakes.n; i++) {
		const struct stacks_wake *wake = &stacks->wakes.items[i];
		const struct why_cause *cause = &result->whys.items[run].causes.items[wake->cause];

		profile_add(profile, run, cause->thread, wake->sleeper, cause->text,
			    of == PROFILE_SLEPT ? (double)wake->sleep_ns / 1e9
						: (double)wake->wakeups);
	}
}

static void profile_finish(const struct profile *profile, const struct capture *capture,
			   enum profile_of of)
{
	static const struct {
		const char *name, *unit;
	} kinds[] = {
		[PROFILE_RAN] = {"on CPU", "milliseconds"},
		[PROFILE_WAKEUPS] = {"wakeups", "none"},
		[PROFILE_SLEPT] = {"asleep", "seconds"},
	};
	char *name = mem_printf("%s %s%s%s: %s", capture->workload ? capture->workload : "",
				capture->label ? capture->label : "", capture->variant ? " " : "",
				capture->variant ? capture->variant : "", kinds[of].name);
	json_t *object = json_object();

	json_set(object, "type", json_string("sampled"));
	json_set(object, "name", json_of_text(name));
	json_set(object, "unit", json_string(kinds[of].unit));
	json_set(object, "startValue", json_integer(0));
	json_set(object, "endValue", json_of_real(profile->sum));
	json_set(object, "samples", json_incref(profile->samples));
	json_set(object, "weights", json_incref(profile->weights));
	json_array_append_new(profile->scope->profiles, object);
	free(name);
}

/* The runs of one group, of which `first` is the first. */
static void scope_add_profile(struct scope *scope, const struct part *part,
			      const struct group *group, enum profile_of of)
{
	struct profile profile = {scope, json_array(), json_array(), 0};
	const struct run *runs = part->result->runs.items;

	for (size_t i = 0; i < group->runs.n; i++)
		if (group->stacks.items[i])
			profile_add_run(&profile, (size_t)(group->runs.items[i] - runs), of);
	if (json_array_size(profile.samples))
		profile_finish(&profile, group->runs.items[0]->capture, of);
	json_decref(profile.samples);
	json_decref(profile.weights);
}

static void scope_add_workload(struct scope *scope, const char *workload)
{
	struct part part;

	part_init(&part, scope->result, workload);
	for (size_t i = 0; i < part.groups.n; i++)
		for (int of = 0; of < PROFILES; of++)
			scope_add_profile(scope, &part, &part.groups.items[i],
					  (enum profile_of)of);
	part_free_members(&part);
}

static const char *scope_workload(const struct result *result, size_t run)
{
	const char *workload = result->runs.items[run].capture->workload;

	return workload ? workload : "";
}

static void scope_add_profiles(struct scope *scope)
{
	const struct result *result = scope->result;

	for (size_t i = 0; i < result->runs.n; i++) {
		size_t first = 0;

		while (strcmp(scope_workload(result, first), scope_workload(result, i)) != 0)
			first++;
		if (first == i)
			scope_add_workload(scope, scope_workload(result, i));
	}
}

/* ---- the whole ------------------------------------------------------------------------------- */

static json_t *scope_document(struct scope *scope)
{
	const struct capture_tool *tool = &scope->result->recording->tool;
	char *exporter = mem_printf("wakewhy@%s", tool->version ? tool->version : "");
	json_t *document = json_object(), *shared = json_object();

	scope->profiles = json_array();
	scope_collect(scope);
	scope_add_profiles(scope);
	json_set(shared, "frames", scope_frames(scope));
	json_set(document, "$schema", json_string(SPEEDSCOPE_SCHEMA));
	json_set(document, "name", json_string("wakewhy"));
	json_set(document, "exporter", json_of_text(exporter));
	json_set(document, "activeProfileIndex", json_integer(0));
	json_set(document, "shared", shared);
	json_set(document, "profiles", scope->profiles);
	free(exporter);
	return document;
}

/* Thread, cause and "[truncated]" stand beside a stack's own frames. */
static size_t scope_places_of(const struct capture *capture, uint32_t stack)
{
	return 3 + (stack < capture->stacks.n ? capture->stacks.items[stack].frames.n : 0);
}

/* At most so many frames are in all samples. */
static size_t scope_places(const struct result *result)
{
	size_t places = 0;

	for (size_t r = 0; r < result->stacks.n; r++) {
		const struct capture *capture = result->runs.items[r].capture;
		const struct stacks *stacks = &result->stacks.items[r];

		for (size_t i = 0; !capture->replaced && i < stacks->rows.n; i++)
			places += scope_places_of(capture, stacks->rows.items[i].stack);
		for (size_t i = 0; !capture->replaced && i < stacks->wakes.n; i++) /* woken, slept */
			places += 2 * scope_places_of(capture, stacks->wakes.items[i].sleeper);
	}
	return places;
}

static int scope_check(const struct result *result, struct diag *diag)
{
	if (scope_places(result) <= SCOPE_PLACES_MAX)
		return 0;
	diag_set(diag, -EFBIG, "the stacks have more than 16,000,000 frames for speedscope");
	return diag_hint(diag, -EFBIG,
			 "report fewer runs at a time, or use -f json, which names each stack once");
}

int speedscope_render(FILE *out, const struct result *result, const struct report *report,
		      const struct render_style *style, struct diag *diag)
{
	struct scope scope = {.result = result};
	json_t *document;
	int err = scope_check(result, diag);

	(void)report;
	(void)style;
	if (err)
		return err;
	document = scope_document(&scope);
	json_write(document, out, JSON_COMPACT);
	json_decref(document);
	free(scope.frames.items);
	return render_finish(out, diag);
}
