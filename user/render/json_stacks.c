/* Where in the code threads slept, were woken from and ran, as JSON. */
#include <inttypes.h>
#include <stdlib.h>

#include "render/json.h"

/* "" stands for none. */
static json_t *json_of_name(const char *name)
{
	return name && *name ? json_of_text(name) : json_null();
}

/* Places count from 0; what is not among n is none. */
static json_t *json_of_place(uint32_t place, size_t n)
{
	return place < n ? json_of_u64(place) : json_null();
}

static json_t *json_of_mode(uint32_t mode)
{
	static const char *const names[] = {"kernel", "user", "copy"};
	json_t *list = json_array();

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (mode & 1u << i)
			json_array_append_new(list, json_string(names[i]));
	return list;
}

_Static_assert(WK_STACKS_KERNEL == 1 && WK_STACKS_USER == 2 && WK_STACKS_COPY == 4,
	       "names by bit");

/* In digits of base 16: addresses of the kernel are beyond the largest integer of many readers. */
static json_t *json_of_offset(uint64_t offset)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, offset);
	return json_string(text);
}

static const char *kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[FRAME_KERNEL] = "kernel",
		[FRAME_FILE] = "file",
		[FRAME_JIT] = "jit",
	};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "unknown";
}

static json_t *json_of_module(const struct capture_module *module)
{
	json_t *object = json_object();

	json_set(object, "path", json_of_text(module->path));
	json_set(object, "build_id", json_of_name(module->build_id));
	return object;
}

static json_t *json_of_frame(const struct capture *capture, const struct capture_frame *frame,
			     const struct stacks_frame *shown)
{
	size_t n_modules = frame->kind == FRAME_FILE ? capture->modules.n : 0;
	bool named = frame->name && *frame->name;
	json_t *object = json_object();

	json_set(object, "kind", json_string(kind_name(frame->kind)));
	json_set(object, "module", json_of_place(frame->module, n_modules));
	json_set(object, "offset", json_of_offset(frame->offset));
	json_set(object, "address",
		 frame->address ? json_of_offset(frame->address) : json_null());
	json_set(object, "name", json_of_name(frame->name));
	json_set(object, "into", named ? json_of_u64(frame->into) : json_null());
	json_set(object, "plumbing", json_boolean(shown->plumbing));
	json_set(object, "text", json_of_text(shown->text));
	return object;
}

static json_t *json_of_stack(const struct capture *capture, const struct capture_stack *stack)
{
	json_t *object = json_object(), *frames = json_array();

	for (size_t i = 0; i < stack->frames.n; i++)
		if (stack->frames.items[i] < capture->frames.n)
			json_array_append_new(frames, json_of_u64(stack->frames.items[i]));
	json_set(object, "pid", json_of_u64_or_null(stack->pid));
	json_set(object, "truncated", json_boolean(stack->truncated));
	json_set(object, "frames", frames);
	return object;
}

static void json_add_thread(json_t *object, const struct run_thread *thread)
{
	json_set(object, "pid", json_of_u64(thread->seen->t.pid));
	json_set(object, "tid", json_of_u64(thread->seen->t.tid));
	json_set(object, "comm", json_of_comm(thread->seen->t.comm));
}

static json_t *json_of_wake(const struct stacks_wake *wake, const struct why *why,
			    const struct capture *capture)
{
	json_t *object = json_object();

	json_add_thread(object, why->causes.items[wake->cause].thread);
	json_set(object, "cause", json_of_u64(wake->cause));
	json_set(object, "sleeper", json_of_place(wake->sleeper, capture->stacks.n));
	json_set(object, "waker", json_of_place(wake->waker, capture->stacks.n));
	json_set(object, "wakeups", json_of_u64(wake->wakeups));
	json_set(object, "sleep_ns", json_of_u64(wake->sleep_ns));
	return object;
}

static json_t *json_of_sample(const struct stacks_sample *sample, const struct capture *capture)
{
	json_t *object = json_object();

	json_add_thread(object, sample->thread);
	json_set(object, "stack", json_of_place(sample->stack, capture->stacks.n));
	json_set(object, "count", json_of_u64(sample->count));
	return object;
}

static void put_tables(struct json_out *to, const struct stacks *stacks, const struct capture *capture)
{
	json_open(to, "modules", '[');
	for (size_t i = 0; i < capture->modules.n; i++)
		json_put(to, NULL, json_of_module(&capture->modules.items[i]));
	json_close(to, ']');
	json_open(to, "frames", '[');
	for (size_t i = 0; i < capture->frames.n; i++)
		json_put(to, NULL, json_of_frame(capture, &capture->frames.items[i], &stacks->frames.items[i]));
	json_close(to, ']');
	json_open(to, "stacks", '[');
	for (size_t i = 0; i < capture->stacks.n; i++)
		json_put(to, NULL, json_of_stack(capture, &capture->stacks.items[i]));
	json_close(to, ']');
}

void json_put_stacks(struct json_out *to, const struct stacks *stacks, const struct why *why,
		     const struct capture *capture)
{
	if (!stacks->known) {
		json_put(to, "stacks", json_null());
		return;
	}
	json_open(to, "stacks", '{');
	json_put(to, "mode", json_of_mode(capture->stacks_mode));
	json_put(to, "wakeups", json_of_u64(stacks->wakeups));
	json_put(to, "wakeups_with", json_of_u64(stacks->wakeups_with));
	json_put(to, "sample_hz", json_of_u64_or_null(capture->sample_hz));
	put_tables(to, stacks, capture);
	json_open(to, "wakes", '[');
	for (size_t i = 0; i < stacks->wakes.n; i++)
		json_put(to, NULL, json_of_wake(&stacks->wakes.items[i], why, capture));
	json_close(to, ']');
	json_open(to, "samples", '[');
	for (size_t i = 0; i < stacks->rows.n; i++)
		json_put(to, NULL, json_of_sample(&stacks->rows.items[i], capture));
	json_close(to, ']');
	json_close(to, '}');
}

json_t *json_of_begin(const struct stacks *stacks, size_t thread)
{
	return thread < stacks->begins.n ? json_of_name(stacks->begins.items[thread]) : json_null();
}
