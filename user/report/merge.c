/* Several recordings as one, to be reported together. */
#include "report/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

static const char *merge_text(const char *text)
{
	return text ? text : "";
}

static bool merge_same(const struct capture *a, const struct capture *b)
{
	return !strcmp(merge_text(a->label), merge_text(b->label)) &&
	       !strcmp(merge_text(a->workload), merge_text(b->workload)) &&
	       !strcmp(merge_text(a->variant), merge_text(b->variant)) &&
	       !a->variant == !b->variant;
}

static bool merge_same_bare(const struct capture_bare *a, const struct capture_bare *b)
{
	return !strcmp(merge_text(a->label), merge_text(b->label)) &&
	       !strcmp(merge_text(a->workload), merge_text(b->workload)) &&
	       !strcmp(merge_text(a->variant), merge_text(b->variant)) &&
	       !a->variant == !b->variant;
}

/* The next of `repeat`; the last number stands for all beyond it. */
static uint32_t merge_after(uint32_t repeat)
{
	return repeat == UINT32_MAX ? UINT32_MAX : repeat + 1;
}

static void merge_bare(struct recording *into, struct recording *more)
{
	size_t n = into->bare.n;

	for (size_t i = 0; i < more->bare.n; i++) {
		struct capture_bare *bare = vec_push(&into->bare);
		uint32_t repeats = 0;

		*bare = more->bare.items[i];
		for (size_t j = 0; j < n; j++) {
			const struct capture_bare *before = &into->bare.items[j];

			if (merge_same_bare(before, bare) && before->repeat >= repeats)
				repeats = merge_after(before->repeat);
		}
		if (__builtin_add_overflow(bare->repeat, repeats, &bare->repeat))
			bare->repeat = UINT32_MAX;
	}
	more->bare.n = 0;
}

/* Repeats of the same thing among the first n runs. */
static uint32_t merge_repeats(const struct recording *recording, size_t n,
			      const struct capture *capture)
{
	uint32_t repeats = 0;

	for (size_t i = 0; i < n; i++) {
		const struct capture *before = &recording->runs.items[i];

		if (merge_same(before, capture) && before->repeat >= repeats)
			repeats = merge_after(before->repeat);
	}
	return repeats;
}

static void merge_runs(struct recording *into, struct recording *more)
{
	size_t n = into->runs.n;

	for (size_t i = 0; i < more->runs.n; i++) {
		struct capture *capture = vec_push(&into->runs);
		uint32_t repeats;

		*capture = more->runs.items[i];
		repeats = merge_repeats(into, n, capture);
		if (__builtin_add_overflow(capture->repeat, repeats, &capture->repeat))
			capture->repeat = UINT32_MAX;
	}
	more->runs.n = 0;
	for (size_t i = 0; i < more->failures.n; i++)
		*vec_push(&into->failures) = more->failures.items[i];
	more->failures.n = 0;
	for (size_t i = 0; i < more->remarks.n; i++)
		*vec_push(&into->remarks) = more->remarks.items[i];
	more->remarks.n = 0;
}

/* True when one of the names in list, which are set apart by " + ", is name. */
static bool merge_lists(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at++) {
		bool begins = at == list || (at - list >= 3 && !strncmp(at - 3, " + ", 3));
		bool ends = !at[n] || !strncmp(at + n, " + ", 3);

		if (begins && ends)
			return true;
		if (!*at)
			break;
	}
	return false;
}

static void merge_name(char **into, const char *more)
{
	char *both;

	if (!*merge_text(more) || (*into && merge_lists(*into, more)))
		return;
	both = *merge_text(*into) ? mem_printf("%s + %s", *into, more) : mem_strdup(more);
	free(*into);
	*into = both;
}

static void merge_tool(struct capture_tool *into, struct capture_tool *more)
{
	merge_name(&into->version, more->version);
	merge_name(&into->kernel, more->kernel);
	if (more->cpus > into->cpus)
		into->cpus = more->cpus;
	/* RFC 3339 in UTC: the order of text is the order of time. */
	if (more->started && (!into->started || strcmp(more->started, into->started) < 0)) {
		free(into->started);
		into->started = mem_strdup(more->started);
	}
	/* As a shell would write the commands one after the other. */
	if (into->command.n && more->command.n)
		*vec_push(&into->command) = mem_strdup(";");
	for (size_t i = 0; i < more->command.n; i++)
		*vec_push(&into->command) = more->command.items[i];
	more->command.n = 0;
}

static bool merge_same_real(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool merge_same_claim(const struct claim *a, const struct claim *b)
{
	return !strcmp(merge_text(a->source), merge_text(b->source)) &&
	       !strcmp(merge_text(a->what), merge_text(b->what)) &&
	       !strcmp(merge_text(a->label), merge_text(b->label)) &&
	       !strcmp(merge_text(a->base), merge_text(b->base)) &&
	       !strcmp(merge_text(a->workload), merge_text(b->workload)) &&
	       !strcmp(merge_text(a->variant), merge_text(b->variant)) &&
	       !strcmp(merge_text(a->metric), merge_text(b->metric)) &&
	       !strcmp(merge_text(a->text), merge_text(b->text)) &&
	       merge_same_real(a->value, b->value) && merge_same_real(a->low, b->low) &&
	       merge_same_real(a->high, b->high) && a->window_ns == b->window_ns;
}

/* Both may come from one file of claims: each stands once. What is not taken over stays in `more`. */
static void merge_claims(struct recording *into, struct recording *more)
{
	size_t n = into->claims.n, kept = 0;

	for (size_t i = 0; i < more->claims.n; i++) {
		struct claim claim = more->claims.items[i];
		bool known = false;

		for (size_t j = 0; j < n && !known; j++)
			known = merge_same_claim(&into->claims.items[j], &claim);
		if (known)
			more->claims.items[kept++] = claim;
		else
			*vec_push(&into->claims) = claim;
	}
	more->claims.n = kept;
}

int recording_merge(struct recording *into, struct recording *more, struct diag *diag)
{
	const char *arch = merge_text(into->tool.arch), *other = merge_text(more->tool.arch);

	if (strcmp(arch, other))
		return diag_set(diag, -EINVAL, "it was measured on %s, the ones before on %s",
				other, arch);
	merge_tool(&into->tool, &more->tool);
	merge_runs(into, more);
	merge_bare(into, more);
	merge_claims(into, more);
	/* Two orders that were drawn apart have no seed in common. */
	if (into->seed != more->seed)
		into->seed = 0;
	return 0;
}
