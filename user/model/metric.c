/* The table of metrics and the table of counters. */
#include "model/metric.h"

#include <string.h>

/* ---- counters -------------------------------------------------------------------------------- */

#define COUNTER(name, counter_unit, text)                                                          \
	{                                                                                          \
#name, counter_unit, offsetof(struct wk_counters, name), text                      \
	}

const struct counter_field counter_fields[] = {
	COUNTER(wakeups, "1", "completed sleeps: it left the CPU blocked and later ran again"),
	COUNTER(cancelled_sleeps, "1",
		"wakings that reached the thread before it had left the CPU"),
	COUNTER(starts, "1", "first time that a new thread ran"),
	COUNTER(oncpu_ns, "ns", "time on a CPU"),
	COUNTER(runq_ns, "ns", "time waiting to run, from waking or preemption to switch-in"),
	COUNTER(runq_waits, "1", "waits that runq_ns is the sum of"),
	COUNTER(runq_max_ns, "ns", "longest of these waits"),
	COUNTER(switches_voluntary, "1", "times it left the CPU blocked"),
	COUNTER(switches_preempted, "1", "times it left the CPU runnable, yields included"),
	COUNTER(idle_exits, "1", "switch-ins that took a CPU out of idle"),
	COUNTER(migrations, "1", "switch-ins on another CPU than the last"),
	COUNTER(syscalls, "1", "system calls entered"),
	COUNTER(syscalls_compat, "1", "of these, 32-bit calls"),
	COUNTER(syscalls_invalid, "1", "of these, with a number that no call has"),
	COUNTER(active_seconds, "1", "one-second slots of the window with time on a CPU"),
	{NULL},
};

uint64_t counter_get(const struct wk_counters *counters, const struct counter_field *field)
{
	uint64_t value;

	memcpy(&value, (const char *)counters + field->offset, sizeof(value));
	return value;
}

/* What /proc tells of a thread. */
#define COUNTERS_OF_PROC "wakeups oncpu_ns runq_ns runq_waits switches_voluntary switches_preempted active_seconds"

/* Whether a word stands in a list of words. */
static bool metric_listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	if (n == 0)
		return false;
	for (const char *p = list; *p; p += strcspn(p, " ")) {
		p += strspn(p, " ");
		if (strcspn(p, " ") == n && strncmp(p, word, n) == 0)
			return true;
	}
	return false;
}

bool counter_is_known(const struct counter_field *field, const struct capture *capture)
{
	if (!strncmp(field->id, "syscalls", 8))
		return capture->syscalls_counted;
	return !capture->step_ns || metric_listed(COUNTERS_OF_PROC, field->id);
}

/* ---- getters --------------------------------------------------------------------------------- */

/* amount for each second of the window; none without a window. */
static bool per_second(const struct run *run, double amount, double *ret_value)
{
	if (!run->window_ns)
		return false;
	*ret_value = amount / ((double)run->window_ns / 1e9);
	return true;
}

/* amount for each operation that the workload did; none when it did not say. */
static bool per_operation(const struct run *run, double amount, double *ret_value)
{
	if (!run->capture->has_result || !run->capture->operations)
		return false;
	*ret_value = amount / (double)run->capture->operations;
	return true;
}

static double switches(const struct run *run)
{
	return (double)run->totals.switches_voluntary + (double)run->totals.switches_preempted;
}

/* Rates, totals and costs of an operation differ only in the last step. */
#define RATE(name, amount)                                                                         \
	static bool get_##name(const struct run *run, double *ret_value)                           \
	{                                                                                          \
		return per_second(run, (amount), ret_value);                                       \
	}
#define PER_OP(name, amount)                                                                       \
	static bool get_##name(const struct run *run, double *ret_value)                           \
	{                                                                                          \
		return per_operation(run, (amount), ret_value);                                    \
	}
/* A value that is there on a condition. */
#define VALUE(name, condition, amount)                                                             \
	static bool get_##name(const struct run *run, double *ret_value)                           \
	{                                                                                          \
		if (!(condition))                                                                  \
			return false;                                                              \
		*ret_value = (amount);                                                             \
		return true;                                                                       \
	}

RATE(wakeups_per_s, (double)run->totals.wakeups)
RATE(cpu_ms_per_s, (double)run->totals.oncpu_ns / 1e6)
RATE(runq_ms_per_s, (double)run->totals.runq_ns / 1e6)
RATE(switches_per_s, switches(run))

/* What only probes see. */
#define PROBED_RATE(name, amount)                                                                  \
	static bool get_##name(const struct run *run, double *ret_value)                           \
	{                                                                                          \
		return !run->capture->step_ns && per_second(run, (amount), ret_value);             \
	}

PROBED_RATE(cancelled_sleeps_per_s, (double)run->totals.cancelled_sleeps)
PROBED_RATE(idle_exits_per_s, (double)run->totals.idle_exits)
PROBED_RATE(migrations_per_s, (double)run->totals.migrations)

static bool get_syscalls_per_s(const struct run *run, double *ret_value)
{
	return run->capture->syscalls_counted &&
	       per_second(run, (double)run->totals.syscalls, ret_value);
}

VALUE(runq_mean_ns, run->totals.runq_waits,
      (double)run->totals.runq_ns / (double)run->totals.runq_waits)
VALUE(runq_max_ns, run->totals.runq_waits && !run->capture->step_ns, (double)run->totals.runq_max_ns)
VALUE(active_seconds, run->series.n, (double)run->totals.active_seconds)

VALUE(wakeups, true, (double)run->totals.wakeups)
VALUE(oncpu_ns, true, (double)run->totals.oncpu_ns)
VALUE(runq_ns, true, (double)run->totals.runq_ns)
VALUE(switches, true, switches(run))
VALUE(syscalls, run->capture->syscalls_counted, (double)run->totals.syscalls)

VALUE(exec_to_first_output_ns,
      run->capture->startup.present && run->capture->startup.exec_to_first_output_ns,
      (double)run->capture->startup.exec_to_first_output_ns)
VALUE(exec_to_exit_ns, run->capture->startup.present && run->capture->startup.exec_to_exit_ns,
      (double)run->capture->startup.exec_to_exit_ns)
VALUE(minor_faults, run->capture->startup.present, (double)run->capture->startup.minor_faults)
VALUE(major_faults, run->capture->startup.present, (double)run->capture->startup.major_faults)
VALUE(max_rss_bytes, run->capture->startup.present && run->capture->startup.max_rss_bytes,
      (double)run->capture->startup.max_rss_bytes)

static bool get_operations_per_s(const struct run *run, double *ret_value)
{
	return run->capture->has_result &&
	       per_second(run, (double)run->capture->operations, ret_value);
}

PER_OP(cpu_ns_per_op, (double)run->totals.oncpu_ns)
PER_OP(wakeups_per_op, (double)run->totals.wakeups)
PER_OP(switches_per_op, switches(run))

static bool get_syscalls_per_op(const struct run *run, double *ret_value)
{
	return run->capture->syscalls_counted &&
	       per_operation(run, (double)run->totals.syscalls, ret_value);
}

VALUE(errors, run->capture->has_result, (double)run->capture->errors)

VALUE(rss_start_bytes, run->capture->has_memory && run->capture->rss_start_bytes,
      (double)run->capture->rss_start_bytes)
VALUE(pss_start_bytes, run->capture->has_memory && run->capture->pss_start_bytes,
      (double)run->capture->pss_start_bytes)
VALUE(rss_bytes, run->capture->has_memory, (double)run->capture->rss_bytes)
VALUE(pss_bytes, run->capture->has_memory, (double)run->capture->pss_bytes)
VALUE(size_bytes, run->capture->runtime.present && run->capture->runtime.size_bytes,
      (double)run->capture->runtime.size_bytes)

/* ---- metrics --------------------------------------------------------------------------------- */

#define METRIC(name, title, unit, meaning, better, workloads)                                      \
	{                                                                                          \
#name, title, unit, meaning, better, workloads, get_##name                         \
	}
#define WATCHED	     "run attach idle"
#define TOTALS	     "run startup"
#define DONE	     "hash serve"
#define ALL_RUNTIMES "startup idle hash serve"

const struct metric metrics[] = {
	METRIC(exec_to_first_output_ns, "first output", "ns",
	       "from exec to the first write to standard output", METRIC_LOWER, "startup"),
	METRIC(exec_to_exit_ns, "exec to exit", "ns", "from exec to exit", METRIC_LOWER, "startup"),
	METRIC(operations_per_s, "operations/s", "1/s", "operations of the workload a second",
	       METRIC_HIGHER, DONE),
	METRIC(cpu_ns_per_op, "CPU/op", "ns", "time on a CPU for each operation, all threads",
	       METRIC_LOWER, DONE),
	METRIC(wakeups_per_op, "wakeups/op", "1", "wakeups for each operation, all threads",
	       METRIC_LOWER, DONE),
	METRIC(switches_per_op, "switches/op", "1", "context switches for each operation",
	       METRIC_LOWER, DONE),
	METRIC(syscalls_per_op, "syscalls/op", "1", "system calls for each operation", METRIC_LOWER,
	       DONE),
	METRIC(errors, "errors", "1",
	       "requests that failed, or were answered after more than two seconds", METRIC_LOWER,
	       "serve"),
	METRIC(wakeups_per_s, "wakeups/s", "1/s", "completed sleeps a second", METRIC_LOWER,
	       WATCHED),
	METRIC(cpu_ms_per_s, "CPU ms/s", "ms/s", "time on a CPU in each second, all threads",
	       METRIC_LOWER, WATCHED),
	METRIC(syscalls_per_s, "syscalls/s", "1/s", "system calls a second", METRIC_LOWER, WATCHED),
	METRIC(idle_exits_per_s, "idle exits/s", "1/s",
	       "times a second that it took a CPU out of idle", METRIC_LOWER, WATCHED),
	METRIC(active_seconds, "active seconds", "1",
	       "one-second slots of the window with time on a CPU", METRIC_LOWER, WATCHED),
	METRIC(switches_per_s, "switches/s", "1/s", "context switches a second", METRIC_LOWER,
	       WATCHED),
	METRIC(cancelled_sleeps_per_s, "cancelled/s", "1/s",
	       "sleeps a second that a waking ended before the thread had left the CPU",
	       METRIC_NEITHER, WATCHED),
	METRIC(migrations_per_s, "migrations/s", "1/s",
	       "switch-ins a second on another CPU than the last", METRIC_NEITHER, WATCHED),
	METRIC(runq_ms_per_s, "run queue ms/s", "ms/s",
	       "time waiting to run in each second, all threads", METRIC_LOWER, WATCHED),
	METRIC(runq_mean_ns, "run queue mean", "ns",
	       "mean wait from waking or preemption to running", METRIC_LOWER, WATCHED " startup"),
	METRIC(runq_max_ns, "run queue max", "ns",
	       "longest wait from waking or preemption to running", METRIC_LOWER,
	       WATCHED " startup"),
	METRIC(wakeups, "wakeups", "1", "completed sleeps", METRIC_LOWER, TOTALS),
	METRIC(oncpu_ns, "CPU", "ns", "time on a CPU, all threads", METRIC_LOWER, TOTALS),
	METRIC(runq_ns, "run queue", "ns", "time waiting to run, all threads", METRIC_LOWER,
	       TOTALS),
	METRIC(switches, "switches", "1", "context switches", METRIC_LOWER, TOTALS),
	METRIC(syscalls, "syscalls", "1", "system calls", METRIC_LOWER, TOTALS),
	METRIC(minor_faults, "minor faults", "1", "page faults served without input or output",
	       METRIC_LOWER, "startup"),
	METRIC(major_faults, "major faults", "1", "page faults that waited for storage",
	       METRIC_LOWER, "startup"),
	METRIC(max_rss_bytes, "peak memory", "bytes", "largest resident memory of the process",
	       METRIC_LOWER, "startup"),
	METRIC(rss_start_bytes, "RSS at start", "bytes",
	       "resident memory when the server had started up", METRIC_LOWER, "idle serve"),
	METRIC(pss_start_bytes, "PSS at start", "bytes",
	       "the same, shared pages divided among those who share them", METRIC_LOWER,
	       "idle serve"),
	METRIC(rss_bytes, "RSS", "bytes", "resident memory at the end of the window", METRIC_LOWER,
	       "idle hash serve"),
	METRIC(pss_bytes, "PSS", "bytes",
	       "the same, shared pages divided among those who share them", METRIC_LOWER,
	       "idle hash serve"),
	METRIC(size_bytes, "size", "bytes", "size of the runtime's program file", METRIC_LOWER,
	       ALL_RUNTIMES),
	{NULL},
};

const struct metric *metric_find(const char *id)
{
	for (const struct metric *metric = metrics; metric->id; metric++)
		if (strcmp(metric->id, id) == 0)
			return metric;
	return NULL;
}

bool metric_applies(const struct metric *metric, const char *workload)
{
	return metric_listed(metric->workloads, workload);
}

bool metric_is_main(const struct metric *metric, const char *workload)
{
	static const struct {
		const char *workload, *ids;
	} mains[] = {
		{"startup", "exec_to_exit_ns"},
		{"idle", "wakeups_per_s cpu_ms_per_s"},
		{"attach", "wakeups_per_s cpu_ms_per_s"},
		{"hash", "operations_per_s"},
		{"serve", "operations_per_s"},
		{"run", "wakeups oncpu_ns"},
	};

	for (size_t i = 0; i < sizeof(mains) / sizeof(*mains); i++)
		if (!strcmp(mains[i].workload, workload))
			return metric_listed(mains[i].ids, metric->id);
	return false;
}
