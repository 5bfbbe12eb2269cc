/* The tables of what a recording holds, and how single values are written and read. */
#include "record/fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "model/capture.h"

#define STRING_BYTES_MAX (1 << 20)
#define REAL_MAX	 1e15 /* shares; and no text of 300 digits for whoever shows one */

/* ---- tables ---------------------------------------------------------------------------------- */

#define THREAD(member)	      FIELD(struct wk_thread, #member, member, FIELD_UNSIGNED)
#define THREAD_SIGNED(member) FIELD(struct wk_thread, #member, member, FIELD_SIGNED)

const struct field thread_fields[] = {
	THREAD(pid),
	THREAD(tid),
	THREAD(ppid),
	THREAD(group),
	THREAD(host_tid),
	FIELD(struct wk_thread, "comm", comm, FIELD_COMM),
	THREAD(state),
	THREAD(flags),
	THREAD(cpu),
	THREAD_SIGNED(exit_code),
	THREAD(start_ns),
	THREAD(exec_call_ns),
	THREAD(exec_ns),
	THREAD(output_ns),
	THREAD(exit_ns),
	THREAD(end_ns),
	THREAD(seed_ns),
	THREAD(minor_faults),
	THREAD(major_faults),
	THREAD(max_rss_bytes),
	THREAD(count.wakeups),
	THREAD(count.cancelled_sleeps),
	THREAD(count.starts),
	THREAD(count.oncpu_ns),
	THREAD(count.runq_ns),
	THREAD(count.runq_waits),
	THREAD(count.runq_max_ns),
	THREAD(count.switches_voluntary),
	THREAD(count.switches_preempted),
	THREAD(count.idle_exits),
	THREAD(count.migrations),
	THREAD(count.syscalls),
	THREAD(count.syscalls_compat),
	THREAD(count.syscalls_invalid),
	THREAD(count.active_seconds),
	THREAD(edge_ns),
	THREAD(last.oncpu_ns),
	THREAD(last.voluntary),
	THREAD(last.preempted),
	THREAD(base.oncpu_ns),
	THREAD(base.voluntary),
	THREAD(base.preempted),
	THREAD(own_base.oncpu_ns),
	THREAD(own_base.voluntary),
	THREAD(own_base.preempted),
	/* The probes' own state at the end: evidence when a figure is in doubt. */
	THREAD(since_ns),
	THREAD(wake_ns),
	THREAD(wakings),
	THREAD(second),
	THREAD(second_end_ns),
	THREAD(second_oncpu_ns),
	THREAD(second_wakeups),
	THREAD(serial),
	THREAD(herds),
	THREAD(herd_woken),
	THREAD(herd_max),
	THREAD(burst),
	{NULL},
};

#define CAUSE(name, member) FIELD(struct capture_cause, name, member, FIELD_UNSIGNED)

const struct field cause_fields[] = {
	CAUSE("number", number),
	CAUSE("serial", c.key.serial),
	CAUSE("context", c.key.context),
	CAUSE("waker", c.key.waker),
	CAUSE("sleep_call", c.key.sleep_call),
	CAUSE("wake_call", c.key.wake_call),
	CAUSE("uninterruptible", c.key.uninterruptible),
	CAUSE("timeout_class", c.key.timeout_class),
	CAUSE("function", c.key.function),
	CAUSE("object", c.key.object),
	CAUSE("wakeups", c.wakeups),
	CAUSE("first_ns", c.first_ns),
	CAUSE("last_ns", c.last_ns),
	CAUSE("interval_ns", c.interval_ns),
	CAUSE("interval_square", c.interval_square),
	CAUSE("timeouts", c.timeouts),
	CAUSE("timeout_sum_ns", c.timeout_sum_ns),
	FIELD(struct capture_cause, "name", c.name, FIELD_NAME),
	{NULL},
};

#define CHARGE(member) FIELD(struct wk_charge, #member, member, FIELD_UNSIGNED)

const struct field charge_fields[] = {
	CHARGE(cause),	 CHARGE(root),	 CHARGE(wakeups),  CHARGE(oncpu_ns),
	CHARGE(runq_ns), CHARGE(futile), CHARGE(sleep_ns), {NULL},
};

#define WAKE(member) FIELD(struct wk_wake_event, #member, member, FIELD_UNSIGNED)

const struct field wake_fields[] = {
	WAKE(time_ns),
	WAKE(cause),
	WAKE(root),
	{NULL},
};

#define MODULE(member) FIELD(struct capture_module, #member, member, FIELD_STRING)

const struct field module_fields[] = {
	MODULE(path),
	MODULE(build_id),
	{NULL},
};

#define FRAME(member, kind) FIELD(struct capture_frame, #member, member, kind)

const struct field frame_fields[] = {
	FRAME(kind, FIELD_UNSIGNED), FRAME(module, FIELD_UNSIGNED), FRAME(offset, FIELD_UNSIGNED),
	FRAME(name, FIELD_STRING),   FRAME(into, FIELD_UNSIGNED),   FRAME(address, FIELD_UNSIGNED),
	{NULL},
};

#define STACK(member, kind) FIELD(struct capture_stack, #member, member, kind)

const struct field stack_fields[] = {
	STACK(pid, FIELD_UNSIGNED),
	STACK(truncated, FIELD_BOOL),
	STACK(kernel, FIELD_UNSIGNED),
	{NULL},
};

#define WAKE_STACK(member) FIELD(struct capture_wake_stack, #member, member, FIELD_UNSIGNED)

const struct field wake_stack_fields[] = {
	WAKE_STACK(cause),   WAKE_STACK(sleeper),  WAKE_STACK(waker),
	WAKE_STACK(wakeups), WAKE_STACK(sleep_ns), {NULL},
};

#define SAMPLE(member) FIELD(struct capture_sample, #member, member, FIELD_UNSIGNED)

const struct field sample_fields[] = {
	SAMPLE(serial),
	SAMPLE(stack),
	SAMPLE(count),
	{NULL},
};

const struct field second_fields[] = {
	FIELD(struct wk_second, "oncpu_ns", oncpu_ns, FIELD_UNSIGNED),
	FIELD(struct wk_second, "wakeups", wakeups, FIELD_UNSIGNED),
	FIELD(struct wk_second, "full_delta", full_delta, FIELD_SIGNED),
	{NULL},
};

#define CAPTURE(member, kind) FIELD(struct capture, #member, member, kind)

const struct field capture_fields[] = {
	CAPTURE(label, FIELD_STRING),
	CAPTURE(workload, FIELD_STRING),
	CAPTURE(variant, FIELD_OPTIONAL),
	CAPTURE(repeat, FIELD_UNSIGNED),
	CAPTURE(start_ns, FIELD_UNSIGNED),
	CAPTURE(end_ns, FIELD_UNSIGNED),
	CAPTURE(settle_ns, FIELD_UNSIGNED),
	CAPTURE(settled, FIELD_BOOL),
	CAPTURE(partial, FIELD_BOOL),
	CAPTURE(exit_status, FIELD_SIGNED),
	CAPTURE(syscalls_counted, FIELD_BOOL),
	CAPTURE(probes_timed, FIELD_BOOL),
	CAPTURE(has_result, FIELD_BOOL),
	CAPTURE(operations, FIELD_UNSIGNED),
	CAPTURE(has_memory, FIELD_BOOL),
	CAPTURE(rss_bytes, FIELD_UNSIGNED),
	CAPTURE(pss_bytes, FIELD_UNSIGNED),
	CAPTURE(inferred_switches, FIELD_UNSIGNED),
	CAPTURE(observer_wakeups, FIELD_UNSIGNED),
	CAPTURE(observer_oncpu_ns, FIELD_UNSIGNED),
	CAPTURE(rusage_oncpu_ns, FIELD_UNSIGNED),
	CAPTURE(causes_counted, FIELD_BOOL),
	CAPTURE(timeline_left_out, FIELD_UNSIGNED),
	CAPTURE(outer_ns, FIELD_UNSIGNED),
	CAPTURE(disturbed, FIELD_OPTIONAL),
	CAPTURE(replaced, FIELD_BOOL),
	CAPTURE(conditions, FIELD_OPTIONAL),
	CAPTURE(not_comparable, FIELD_OPTIONAL),
	CAPTURE(errors, FIELD_UNSIGNED),
	CAPTURE(rss_start_bytes, FIELD_UNSIGNED),
	CAPTURE(pss_start_bytes, FIELD_UNSIGNED),
	CAPTURE(has_spans, FIELD_BOOL),
	CAPTURE(step_ns, FIELD_UNSIGNED),
	CAPTURE(unseen_ends, FIELD_UNSIGNED),
	CAPTURE(stacks_mode, FIELD_UNSIGNED),
	CAPTURE(sample_hz, FIELD_UNSIGNED),
	{NULL},
};

#define RUNTIME(member, kind) FIELD(struct capture_runtime, #member, member, kind)

const struct field runtime_fields[] = {
	RUNTIME(family, FIELD_STRING),
	RUNTIME(version, FIELD_STRING),
	RUNTIME(path, FIELD_STRING),
	RUNTIME(size_bytes, FIELD_UNSIGNED),
	{NULL},
};

#define STARTUP(member) FIELD(struct capture_startup, #member, member, FIELD_UNSIGNED)

const struct field startup_fields[] = {
	STARTUP(exec_to_first_output_ns),
	STARTUP(exec_to_exit_ns),
	STARTUP(minor_faults),
	STARTUP(major_faults),
	STARTUP(max_rss_bytes),
	{NULL},
};

#define IMAGE(member, kind) FIELD(struct capture_image, #member, member, kind)

const struct field image_fields[] = {
	IMAGE(pid, FIELD_UNSIGNED),	 IMAGE(ppid, FIELD_UNSIGNED),
	IMAGE(start_ns, FIELD_UNSIGNED), IMAGE(exec_ns, FIELD_UNSIGNED),
	IMAGE(group, FIELD_UNSIGNED),	 IMAGE(comm, FIELD_COMM),
	IMAGE(argv_cut, FIELD_UNSIGNED), {NULL},
};

#define PROBE(member, kind) FIELD(struct capture_probe, #member, member, kind)

const struct field probe_fields[] = {
	PROBE(name, FIELD_STRING),
	PROBE(runs, FIELD_UNSIGNED),
	PROBE(ns, FIELD_UNSIGNED),
	PROBE(misses, FIELD_UNSIGNED),
	{NULL},
};

#define NOISE(member, kind) FIELD(struct capture_noise, #member, member, kind)

const struct field noise_fields[] = {
	NOISE(other_cpu_share, FIELD_REAL),
	NOISE(used_other_share, FIELD_REAL),
	NOISE(steal_share, FIELD_REAL),
	NOISE(irq_share, FIELD_REAL),
	NOISE(cpus_online, FIELD_UNSIGNED),
	NOISE(cpus_used, FIELD_UNSIGNED),
	NOISE(cores_used, FIELD_UNSIGNED),
	NOISE(siblings_shared, FIELD_UNSIGNED),
	NOISE(isolated_used, FIELD_UNSIGNED),
	NOISE(numa_nodes, FIELD_UNSIGNED),
	NOISE(hypervisor, FIELD_BOOL),
	NOISE(turbo, FIELD_SIGNED),
	NOISE(quota_cpus, FIELD_REAL),
	NOISE(throttled_ns, FIELD_UNSIGNED),
	NOISE(suspended_ns, FIELD_UNSIGNED),
	NOISE(governor, FIELD_STRING),
	{NULL},
};

#define TOOL(member, kind) FIELD(struct capture_tool, #member, member, kind)

const struct field tool_fields[] = {
	TOOL(version, FIELD_STRING), TOOL(kernel, FIELD_STRING), TOOL(arch, FIELD_STRING),
	TOOL(started, FIELD_STRING), TOOL(cpus, FIELD_UNSIGNED), {NULL},
};

#define FAILURE(member) FIELD(struct capture_failure, #member, member, FIELD_STRING)

const struct field failure_fields[] = {
	FAILURE(label),
	FAILURE(workload),
	FAILURE(reason),
	{NULL},
};

#define REMARK(member) FIELD(struct capture_remark, #member, member, FIELD_STRING)

const struct field remark_fields[] = {
	REMARK(workload),
	REMARK(text),
	{NULL},
};

#define BARE(member, kind) FIELD(struct capture_bare, #member, member, kind)

const struct field bare_fields[] = {
	BARE(label, FIELD_STRING),    BARE(workload, FIELD_STRING),
	BARE(variant, FIELD_OPTIONAL), BARE(repeat, FIELD_UNSIGNED),
	BARE(outer_ns, FIELD_UNSIGNED), BARE(operations, FIELD_UNSIGNED),
	{NULL},
};

#define CLAIM(member, kind) FIELD(struct claim, #member, member, kind)

const struct field claim_fields[] = {
	CLAIM(source, FIELD_STRING),
	CLAIM(what, FIELD_STRING),
	CLAIM(label, FIELD_STRING),
	CLAIM(base, FIELD_OPTIONAL),
	CLAIM(workload, FIELD_STRING),
	CLAIM(variant, FIELD_OPTIONAL),
	CLAIM(metric, FIELD_STRING),
	CLAIM(value, FIELD_REAL),
	CLAIM(low, FIELD_REAL),
	CLAIM(high, FIELD_REAL),
	CLAIM(window_ns, FIELD_UNSIGNED),
	CLAIM(text, FIELD_STRING),
	{NULL},
};

/* ---- single values --------------------------------------------------------------------------- */

int field_refuse(const struct field_reader *reader, const char *fmt, ...)
{
	struct strbuf text = {};
	va_list args;

	va_start(args, fmt);
	strbuf_vprintf(&text, fmt, args);
	va_end(args);
	diag_set(reader->diag, -EINVAL, "%s is not a valid %s: %s", reader->file,
		 reader->kind ? reader->kind : "recording", strbuf_text(&text));
	strbuf_free_members(&text);
	return -EINVAL;
}

static json_t *made(json_t *json)
{
	if (!json)
		mem_out();
	return json;
}

json_t *number_encode(uint64_t value)
{
	char digits[24];

	if (value <= INT64_MAX)
		return made(json_integer((json_int_t)value));
	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	return made(json_string_nocheck(digits));
}

static bool number_from_digits(const char *digits, size_t n, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		if (digits[i] < '0' || digits[i] > '9' ||
		    __builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, digits[i] - '0', &value))
			return false;
	*ret_value = value;
	return n > 0;
}

bool number_decode(const json_t *json, uint64_t max, uint64_t *ret_value)
{
	uint64_t value;

	if (json_is_integer(json)) {
		if (json_integer_value(json) < 0)
			return false;
		value = (uint64_t)json_integer_value(json);
	} else if (!json_is_string(json) ||
		   !number_from_digits(json_string_value(json), json_string_length(json), &value)) {
		return false;
	}
	if (value > max)
		return false;
	*ret_value = value;
	return true;
}

json_t *bytes_encode(const char *bytes, size_t n)
{
	struct strbuf text = {};
	json_t *json;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];

		if (c >= 0x80)
			strbuf_add_char(&text, (char)(0xc0 | c >> 6));
		strbuf_add_char(&text, (char)(c < 0x80 ? c : 0x80 | (c & 0x3f)));
	}
	json = made(json_stringn_nocheck(strbuf_text(&text), text.n));
	strbuf_free_members(&text);
	return json;
}

char *bytes_decode(const json_t *json, size_t *ret_n)
{
	const char *text = json_string_value(json);
	size_t length = json_string_length(json), n = 0;
	char *bytes;

	if (!text)
		return NULL;
	bytes = mem_zalloc(length + 1);
	for (size_t i = 0; i < length;) {
		uint32_t code;
		size_t used = text_decode(text + i, length - i, &code);

		if (!used || code > 0xff) {
			free(bytes);
			return NULL;
		}
		bytes[n++] = (char)code;
		i += used;
	}
	*ret_n = n;
	return bytes;
}

/* ---- members --------------------------------------------------------------------------------- */

/* Members of 4 and of 8 bytes, through memcpy: the tables know sizes, not types. */
/* Members of 1, 2, 4 or 8 bytes; signed ones have 4 or 8. */
static uint64_t load(const void *at, const struct field *field)
{
	uint64_t whole;
	uint32_t half;
	uint16_t quarter;

	switch (field->size) {
	case 1:
		return *(const uint8_t *)at;
	case 2:
		memcpy(&quarter, at, sizeof(quarter));
		return quarter;
	case 4:
		memcpy(&half, at, sizeof(half));
		return field->kind == FIELD_SIGNED ? (uint64_t)(int32_t)half : half;
	}
	memcpy(&whole, at, sizeof(whole));
	return whole;
}

static void store(void *at, const struct field *field, uint64_t value)
{
	uint32_t half = (uint32_t)value;
	uint16_t quarter = (uint16_t)value;

	switch (field->size) {
	case 1:
		*(uint8_t *)at = (uint8_t)value;
		break;
	case 2:
		memcpy(at, &quarter, sizeof(quarter));
		break;
	case 4:
		memcpy(at, &half, sizeof(half));
		break;
	default:
		memcpy(at, &value, sizeof(value));
	}
}

/* Most bytes of text that a char array takes, its NUL aside. */
static size_t text_room(const struct field *field)
{
	if (field->kind == FIELD_COMM)
		return WK_COMM_BYTES - 1;
	return field->kind == FIELD_NAME ? field->size - 1 : STRING_BYTES_MAX;
}

json_t *field_encode(const struct field *field, const void *from)
{
	const char *at = (const char *)from + field->offset;
	const char *text;
	double real;
	bool is_set;

	switch (field->kind) {
	case FIELD_UNSIGNED:
		return number_encode(load(at, field));
	case FIELD_SIGNED:
		return made(json_integer((json_int_t)load(at, field)));
	case FIELD_BOOL:
		memcpy(&is_set, at, sizeof(is_set));
		return json_boolean(is_set);
	case FIELD_REAL:
		memcpy(&real, at, sizeof(real));
		return isfinite(real) ? made(json_real(real)) : json_null();
	case FIELD_COMM:
	case FIELD_NAME:
		return bytes_encode(at, strnlen(at, text_room(field)));
	case FIELD_STRING:
	case FIELD_OPTIONAL:
		break;
	}
	memcpy(&text, at, sizeof(text));
	if (!text && field->kind == FIELD_OPTIONAL)
		return json_null();
	return bytes_encode(text ? text : "", text ? strlen(text) : 0);
}

static bool decode_number(const struct field *field, const json_t *from, void *at)
{
	uint64_t max = UINT64_MAX >> (64 - 8 * field->size), value;
	int64_t number = json_integer_value(from);

	if (field->kind == FIELD_SIGNED) {
		if (!json_is_integer(from) ||
		    (field->size == 4 && (number < INT32_MIN || number > INT32_MAX)))
			return false;
		value = (uint64_t)number;
	} else if (!number_decode(from, max, &value)) {
		return false;
	}
	store(at, field, value);
	return true;
}

/* A C string: no NUL in it. */
static bool decode_text(const struct field *field, const json_t *from, void *at)
{
	size_t n;
	char *text;

	if (json_is_null(from) && field->kind == FIELD_OPTIONAL)
		return true;
	text = bytes_decode(from, &n);
	if (!text || n > text_room(field) || memchr(text, '\0', n)) {
		free(text);
		return false;
	}
	if (field->kind == FIELD_COMM || field->kind == FIELD_NAME) {
		memcpy(at, text, n + 1);
		free(text);
	} else {
		memcpy(at, &text, sizeof(text));
	}
	return true;
}

static bool decode_real(const json_t *from, void *at)
{
	double value = json_is_null(from) ? NAN : json_number_value(from);

	if (!json_is_null(from) && (!json_is_number(from) || fabs(value) > REAL_MAX))
		return false;
	memcpy(at, &value, sizeof(value));
	return true;
}

static bool decode_bool(const json_t *from, void *at)
{
	bool value = json_is_true(from);

	memcpy(at, &value, sizeof(value));
	return json_is_boolean(from);
}

int field_decode(const struct field_reader *reader, const struct field *field, const json_t *from,
		 const char *what, void *to)
{
	char *at = (char *)to + field->offset;
	bool good = false;

	switch (field->kind) {
	case FIELD_UNSIGNED:
	case FIELD_SIGNED:
		good = decode_number(field, from, at);
		break;
	case FIELD_BOOL:
		good = decode_bool(from, at);
		break;
	case FIELD_REAL:
		good = decode_real(from, at);
		break;
	case FIELD_STRING:
	case FIELD_OPTIONAL:
	case FIELD_COMM:
	case FIELD_NAME:
		good = decode_text(field, from, at);
		break;
	}
	return good ? 0 : field_refuse(reader, "'%s' of %s is out of its range", field->name, what);
}

json_t *fields_encode(const struct field *fields, const void *from)
{
	json_t *object = made(json_object());

	for (const struct field *field = fields; field->name; field++)
		if (json_object_set_new_nocheck(object, field->name, field_encode(field, from)))
			mem_out();
	return object;
}

int fields_decode(const struct field_reader *reader, const struct field *fields, const json_t *from,
		  const char *what, void *to)
{
	if (!json_is_object(from))
		return field_refuse(reader, "%s is not an object", what);
	for (const struct field *field = fields; field->name; field++) {
		const json_t *value = json_object_get(from, field->name);
		int err;

		if (value) {
			err = field_decode(reader, field, value, what, to);
			if (err)
				return err;
		} else if (field->kind == FIELD_STRING) {
			char *empty = mem_strdup("");

			memcpy((char *)to + field->offset, &empty, sizeof(empty));
		}
	}
	return 0;
}
