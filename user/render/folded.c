/* Formats folded, folded-wakeups and folded-oncpu: a line for each distinct stack, its frames set apart by
 * semicolons, then a space and a whole number, as flamegraph.pl and its kin read them.
 *
 *	idle zig;bun#2;__clone3;start_thread;bun+0x5c7bc86;…;[its own 100 ms futex timeout] 19900000
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "render/formats.h"

/* Of all lines, before equal ones are one. A stack is written in full for each cause and waker that it has, so a
 * small recording could ask for any amount. */
#define FOLDED_BYTES_MAX (UINT64_C(256) << 20)

struct folded_line {
	char *text;
	uint64_t value;
};

struct folded {
	VEC(struct folded_line) lines;
	const struct capture *capture; /* of the run that is being written, */
	const struct stacks *stacks;   /* with its stacks */
	uint64_t bytes;		       /* of the lines so far */
};

/* What splits frames and lines must not stand in a name; spaces may. */
static void folded_add_name(struct strbuf *line, const char *name)
{
	char *safe = text_safe(name);

	for (char *p = safe; *p; p++)
		*p = *p == ';' ? ':' : *p;
	strbuf_add(line, *safe ? safe : "[unknown]");
	free(safe);
}

/* Kernel and run-time frames end as in perf's own scripts, so that colours tell them. */
static void folded_add_frame(struct strbuf *line, const struct folded *folded, uint32_t frame)
{
	strbuf_add(line, ";");
	folded_add_name(line, folded->stacks->frames.items[frame].text);
	if (folded->capture->frames.items[frame].kind == FRAME_KERNEL)
		strbuf_add(line, "_[k]");
	else if (folded->capture->frames.items[frame].kind == FRAME_JIT)
		strbuf_add(line, "_[j]");
}

/* From the outermost frame to the innermost, as a stack is read. */
static void folded_add_stack(struct strbuf *line, const struct folded *folded, uint32_t at)
{
	const struct capture_stack *stack;

	if (at >= folded->capture->stacks.n) {
		strbuf_add(line, ";[no stack]");
		return;
	}
	stack = &folded->capture->stacks.items[at];
	if (stack->truncated)
		strbuf_add(line, ";[truncated]");
	for (size_t i = stack->frames.n; i-- > 0;)
		folded_add_frame(line, folded, stack->frames.items[i]);
}

/* The other way round: who woke stands on top of who slept. */
static void folded_add_waker(struct strbuf *line, const struct folded *folded, uint32_t at,
			     const struct run_thread *waker)
{
	const struct capture_stack *stack;

	if (at >= folded->capture->stacks.n)
		return;
	stack = &folded->capture->stacks.items[at];
	strbuf_add(line, ";--");
	for (size_t i = 0; i < stack->frames.n; i++)
		folded_add_frame(line, folded, stack->frames.items[i]);
	if (stack->truncated)
		strbuf_add(line, ";[truncated]");
	if (waker) {
		strbuf_add(line, ";");
		folded_add_name(line, waker->label);
	}
}

/* "idle zig", "hash node webcrypto", then the thread. */
static void folded_begin(struct strbuf *line, const struct folded *folded,
			 const struct run_thread *thread)
{
	const struct capture *capture = folded->capture;
	char *name = mem_printf("%s %s%s%s", capture->workload ? capture->workload : "",
				capture->label ? capture->label : "", capture->variant ? " " : "",
				capture->variant ? capture->variant : "");

	folded_add_name(line, name);
	strbuf_add(line, ";");
	folded_add_name(line, thread->label);
	free(name);
}

static void folded_end(struct folded *folded, struct strbuf *line, uint64_t value)
{
	struct folded_line *to = vec_push(&folded->lines);

	folded->bytes += line->n;
	to->text = strbuf_take(line);
	to->value = value;
}

/* ---- what is in a line ----------------------------------------------------------------------- */

static bool folded_has_room(const struct folded *folded)
{
	return folded->bytes <= FOLDED_BYTES_MAX;
}

static void folded_add_wakes(struct folded *folded, const struct why *why, bool chains)
{
	for (size_t i = 0; i < folded->stacks->wakes.n && folded_has_room(folded); i++) {
		const struct stacks_wake *wake = &folded->stacks->wakes.items[i];
		const struct why_cause *cause = &why->causes.items[wake->cause];
		struct strbuf line = {0};

		folded_begin(&line, folded, cause->thread);
		folded_add_stack(&line, folded, wake->sleeper);
		strbuf_add(&line, ";[");
		folded_add_name(&line, cause->text);
		strbuf_add(&line, "]");
		if (chains)
			folded_add_waker(&line, folded, wake->waker, cause->waker);
		folded_end(folded, &line, chains ? wake->sleep_ns : wake->wakeups);
	}
}

static void folded_add_samples(struct folded *folded)
{
	for (size_t i = 0; i < folded->stacks->rows.n && folded_has_room(folded); i++) {
		const struct stacks_sample *sample = &folded->stacks->rows.items[i];
		struct strbuf line = {0};

		folded_begin(&line, folded, sample->thread);
		folded_add_stack(&line, folded, sample->stack);
		folded_end(folded, &line, sample->count);
	}
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int line_order(const void *a, const void *b)
{
	return strcmp(((const struct folded_line *)a)->text,
		      ((const struct folded_line *)b)->text);
}

/* Equal lines are one; the values are divided by `per` only then. */
static void folded_write(struct folded *folded, FILE *out, uint64_t per)
{
	struct folded_line *lines = folded->lines.items;
	size_t n = folded->lines.n;

	if (n)
		qsort(lines, n, sizeof(*lines), line_order);
	for (size_t i = 0; i < n; i++) {
		if (i + 1 < n && !strcmp(lines[i].text, lines[i + 1].text)) {
			if (__builtin_add_overflow(lines[i].value, lines[i + 1].value,
						   &lines[i + 1].value))
				lines[i + 1].value = UINT64_MAX;
		} else {
			fprintf(out, "%s %" PRIu64 "\n", lines[i].text, lines[i].value / per);
		}
	}
}

static void folded_free_members(struct folded *folded)
{
	for (size_t i = 0; i < folded->lines.n; i++)
		free(folded->lines.items[i].text);
	free(folded->lines.items);
}

static int folded_refuse(struct diag *diag)
{
	diag_set(diag, -EFBIG, "the stacks need more than %" PRIu64 " MiB as folded lines",
		 FOLDED_BYTES_MAX >> 20);
	return diag_hint(diag, -EFBIG,
			 "report fewer runs at a time, or use -f json, which names each stack once");
}

enum folded_of { FOLDED_CHAINS, FOLDED_WAKEUPS, FOLDED_SAMPLES };

static int folded_render_of(FILE *out, const struct result *result, enum folded_of of,
			    struct diag *diag)
{
	struct folded folded = {0};
	int err;

	for (size_t i = 0; i < result->stacks.n; i++) {
		folded.capture = result->runs.items[i].capture;
		folded.stacks = &result->stacks.items[i];
		if (folded.capture->replaced)
			continue;
		if (of == FOLDED_SAMPLES)
			folded_add_samples(&folded);
		else
			folded_add_wakes(&folded, &result->whys.items[i], of == FOLDED_CHAINS);
	}
	if (folded_has_room(&folded)) {
		folded_write(&folded, out, of == FOLDED_CHAINS ? 1000 : 1);
		err = render_finish(out, diag);
	} else {
		err = folded_refuse(diag);
	}
	folded_free_members(&folded);
	return err;
}

int folded_render(FILE *out, const struct result *result, const struct report *report,
		  const struct render_style *style, struct diag *diag)
{
	(void)report;
	(void)style;
	return folded_render_of(out, result, FOLDED_CHAINS, diag);
}

int folded_wakeups_render(FILE *out, const struct result *result, const struct report *report,
			  const struct render_style *style, struct diag *diag)
{
	(void)report;
	(void)style;
	return folded_render_of(out, result, FOLDED_WAKEUPS, diag);
}

int folded_oncpu_render(FILE *out, const struct result *result, const struct report *report,
			const struct render_style *style, struct diag *diag)
{
	(void)report;
	(void)style;
	return folded_render_of(out, result, FOLDED_SAMPLES, diag);
}
