/* Format json: everything that was measured, by the contract "wakewhy/1" (docs/json.md). */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/formats.h"
#include "render/json.h"
#include "model/trust.h"
#include "report/excess.h"
#include "sym/syscall_names.h"

#define JSON_SCHEMA_NAME "wakewhy/1"

/* Exit status as a shell shows it: the status, or 128 + signal. */
static json_t *json_of_status(int status)
{
	if (status < 0)
		return json_null();
	return json_integer(status & 0x7f ? 128 + (status & 0x7f) : status >> 8 & 0xff);
}

/* ---- parts of a run ----------------------------------------------------------------------------
 */

/* Counters by the table. Those that the capture does not tell are null: a 0 would be a figure. */
static void json_add_counters(json_t *object, const struct wk_counters *counters,
			      const struct capture *capture)
{
	for (const struct counter_field *field = counter_fields; field->id; field++) {
		bool known = counter_is_known(field, capture);

		json_set(object, field->id,
			 known ? json_of_u64(counter_get(counters, field)) : json_null());
	}
}

static json_t *json_of_syscalls(const struct capture_thread *thread, const char *arch)
{
	json_t *counts = json_object();

	for (size_t i = 0; i < thread->syscalls.n; i++) {
		const struct capture_syscall *call = &thread->syscalls.items[i];
		const char *name = syscall_name(arch, call->nr);
		char number[16];

		snprintf(number, sizeof(number), "%u", call->nr);
		json_set(counts, name ? name : number, json_of_u64(call->count));
	}
	return counts;
}

static json_t *json_of_thread(const struct run_thread *thread, const struct capture *capture,
			      const char *arch)
{
	const struct wk_thread *t = &thread->seen->t;
	json_t *object = json_object();

	json_set(object, "pid", json_of_u64(t->pid));
	json_set(object, "tid", json_of_u64(t->tid));
	json_set(object, "comm", json_of_comm(t->comm));
	json_set(object, "label", json_of_text(thread->label));
	json_set(object, "kernel_thread", json_boolean(t->flags & WK_FLAG_KTHREAD));
	json_set(object, "start_ns", json_of_u64_or_null(t->start_ns));
	json_set(object, "exit_ns", json_of_u64_or_null(t->exit_ns));
	json_add_counters(object, &t->count, capture);
	json_set(object, "syscall_counts",
		 capture->syscalls_counted ? json_of_syscalls(thread->seen, arch) : json_null());
	return object;
}

static json_t *json_of_argv(const struct capture_image *image)
{
	json_t *argv = json_array();
	size_t at = 0;

	if (!image->argv) {
		json_decref(argv);
		return json_null();
	}
	while (at < image->argv_bytes) {
		size_t n = strnlen(image->argv + at, image->argv_bytes - at);

		json_array_append_new(argv, json_of_bytes(image->argv + at, n));
		at += n + 1;
	}
	return argv;
}

static json_t *json_of_process(const struct run_process *process)
{
	const struct capture_image *image = process->image;
	json_t *object = json_object();

	json_set(object, "pid", json_of_u64(image->pid));
	json_set(object, "ppid", json_of_u64(image->ppid));
	json_set(object, "comm", json_of_text(process->comm));
	json_set(object, "argv", json_of_argv(image));
	json_set(object, "argv_cut_bytes", json_of_u64(image->argv_cut));
	json_set(object, "start_ns", json_of_u64_or_null(image->start_ns));
	json_set(object, "exec_ns", json_of_u64_or_null(image->exec_ns));
	json_set(object, "exit_ns", json_of_u64_or_null(process->exit_ns));
	json_set(object, "exit_status", json_of_status(process->exit_status));
	return object;
}

static json_t *json_of_series(const struct run *run)
{
	json_t *object = json_object();
	json_t *oncpu_ns = json_array(), *wakeups = json_array();
	uint64_t ns, count;

	for (size_t i = 0; run_second(run, i, &ns, &count); i++) {
		json_array_append_new(oncpu_ns, json_of_u64(ns));
		json_array_append_new(wakeups, json_of_u64(count));
	}
	json_set(object, "interval_ns", json_of_u64(WK_SECOND_NS));
	json_set(object, "oncpu_ns", oncpu_ns);
	json_set(object, "wakeups", wakeups);
	return object;
}

static json_t *json_of_runtime(const struct capture_runtime *runtime)
{
	json_t *object;

	if (!runtime->present)
		return json_null();
	object = json_object();
	json_set(object, "family", json_of_text(runtime->family));
	json_set(object, "version", json_of_text(runtime->version));
	json_set(object, "path", json_of_text(runtime->path));
	json_set(object, "size_bytes", json_of_u64(runtime->size_bytes));
	return object;
}

static json_t *json_of_startup(const struct capture_startup *startup)
{
	json_t *object;

	if (!startup->present)
		return json_null();
	object = json_object();
	json_set(object, "exec_to_first_output_ns",
		 json_of_u64_or_null(startup->exec_to_first_output_ns));
	json_set(object, "exec_to_exit_ns", json_of_u64(startup->exec_to_exit_ns));
	json_set(object, "minor_faults", json_of_u64(startup->minor_faults));
	json_set(object, "major_faults", json_of_u64(startup->major_faults));
	json_set(object, "max_rss_bytes", json_of_u64(startup->max_rss_bytes));
	return object;
}

static json_t *json_of_workload_result(const struct run *run)
{
	const struct capture *capture = run->capture;
	double window_s = (double)run->window_ns / 1e9;
	json_t *object;

	if (!capture->has_result)
		return json_null();
	object = json_object();
	json_set(object, "operations", json_of_u64(capture->operations));
	json_set(object, "errors", json_of_u64(capture->errors));
	json_set(object, "operations_per_s",
		 json_of_real(run->window_ns ? (double)capture->operations / window_s : NAN));
	return object;
}

static json_t *json_of_memory(const struct capture *capture)
{
	json_t *object;

	if (!capture->has_memory)
		return json_null();
	object = json_object();
	json_set(object, "rss_bytes", json_of_u64(capture->rss_bytes));
	json_set(object, "pss_bytes", json_of_u64(capture->pss_bytes));
	json_set(object, "rss_start_bytes", json_of_u64_or_null(capture->rss_start_bytes));
	json_set(object, "pss_start_bytes", json_of_u64_or_null(capture->pss_start_bytes));
	return object;
}

/* [LOW_NS, COUNT] of each bucket that is not empty. */
static json_t *json_of_buckets(const __u64 *counts)
{
	json_t *buckets = json_array();

	for (uint32_t i = 0; i < WK_SPAN_BUCKETS; i++) {
		json_t *pair;

		if (!counts[i])
			continue;
		pair = json_array();
		json_array_append_new(pair, json_of_u64(span_low_ns(i)));
		json_array_append_new(pair, json_of_u64(counts[i]));
		json_array_append_new(buckets, pair);
	}
	return buckets;
}

static json_t *json_of_spans(const struct capture *capture)
{
	json_t *object;

	if (!capture->has_spans)
		return json_null();
	object = json_object();
	json_set(object, "oncpu", json_of_buckets(capture->spans.oncpu));
	json_set(object, "runq", json_of_buckets(capture->spans.runq));
	return object;
}

/* ---- trust
 * --------------------------------------------------------------------------------------- */

static json_t *json_of_lost(const struct capture *capture)
{
	json_t *object = json_object();

	for (size_t i = 0; i < WK_LOST_MAX; i++)
		json_set(object, capture_lost_name(i), json_of_u64(capture->lost[i]));
	return object;
}

static json_t *json_of_probes(const struct capture *capture)
{
	json_t *probes = json_array();

	for (size_t i = 0; i < capture->probes.n; i++) {
		const struct capture_probe *probe = &capture->probes.items[i];
		json_t *object = json_object();

		json_set(object, "name", json_of_text(probe->name));
		json_set(object, "runs",
			 capture->probes_timed ? json_of_u64(probe->runs) : json_null());
		json_set(object, "ns",
			 capture->probes_timed ? json_of_u64(probe->ns) : json_null());
		json_set(object, "misses", json_of_u64(probe->misses));
		json_array_append_new(probes, object);
	}
	return probes;
}

static json_t *json_of_noise(const struct capture_noise *noise)
{
	json_t *object = json_object();

	json_set(object, "other_cpu_share", json_of_real(noise->other_cpu_share));
	json_set(object, "used_other_share", json_of_real(noise->used_other_share));
	json_set(object, "steal_share", json_of_real(noise->steal_share));
	json_set(object, "irq_share", json_of_real(noise->irq_share));
	json_set(object, "cpus_online", json_of_u64(noise->cpus_online));
	json_set(object, "cpus_used", json_of_u64(noise->cpus_used));
	json_set(object, "cores_used", json_of_u64_or_null(noise->cores_used));
	json_set(object, "siblings_shared", json_of_u64(noise->siblings_shared));
	json_set(object, "isolated_used", json_of_u64(noise->isolated_used));
	json_set(object, "numa_nodes", json_of_u64_or_null(noise->numa_nodes));
	json_set(object, "hypervisor", json_boolean(noise->hypervisor));
	json_set(object, "turbo", noise->turbo ? json_boolean(noise->turbo > 0) : json_null());
	json_set(object, "quota_cpus",
		 noise->quota_cpus > 0 ? json_of_real(noise->quota_cpus) : json_null());
	json_set(object, "throttled_ns", json_of_u64(noise->throttled_ns));
	json_set(object, "suspended_ns", json_of_u64(noise->suspended_ns));
	json_set(object, "governor",
		 noise->governor && *noise->governor ? json_of_text(noise->governor) : json_null());
	return object;
}

static json_t *json_of_reasons(const struct run_trust *trust)
{
	json_t *reasons = json_array();

	for (size_t i = 0; i < trust->reasons.n; i++)
		json_array_append_new(reasons, json_of_text(trust->reasons.items[i]));
	return reasons;
}

static json_t *json_of_trust(const struct run *run)
{
	const struct capture *capture = run->capture;
	const struct run_trust *trust = &run->trust;
	json_t *object = json_object(), *observer = json_object();

	json_set(object, "ok", json_boolean(trust->ok));
	json_set(object, "reasons", json_of_reasons(trust));
	json_set(object, "cannot_see", json_of_text(trust_cannot_see(capture)));
	json_set(object, "threads_compared", json_of_u64(trust->threads_compared));
	json_set(object, "oncpu_ns_kernel", json_of_u64(trust->oncpu_ns_kernel));
	json_set(object, "oncpu_ns_own", json_of_u64(trust->oncpu_ns_own));
	json_set(object, "switches_kernel", json_of_u64(trust->switches_kernel));
	json_set(object, "switches_own", json_of_u64(trust->switches_own));
	json_set(object, "rusage_oncpu_ns", json_of_u64_or_null(capture->rusage_oncpu_ns));
	json_set(object, "inferred_switches", json_of_u64(capture->inferred_switches));
	json_set(object, "lost", json_of_lost(capture));
	json_set(object, "probes", json_of_probes(capture));
	json_set(observer, "wakeups", json_of_u64(capture->observer_wakeups));
	json_set(observer, "oncpu_ns", json_of_u64(capture->observer_oncpu_ns));
	json_set(object, "observer", observer);
	json_set(object, "noise", json_of_noise(&capture->noise));
	return object;
}

/* ---- a run
 * --------------------------------------------------------------------------------------- */

static void put_identity(struct json_out *to, const struct run *run)
{
	const struct capture *capture = run->capture;

	json_put(to, "label", json_of_text(capture->label));
	json_put(to, "workload", json_of_text(capture->workload));
	json_put(to, "variant", json_of_text(capture->variant));
	json_put(to, "repeat", json_of_u64(capture->repeat));
	json_put(to, "runtime", json_of_runtime(&capture->runtime));
	json_put(to, "start_ns", json_of_u64(capture->start_ns));
	json_put(to, "window_ns", json_of_u64(run->window_ns));
	json_put(to, "wall_ns",
		 json_of_u64(capture->startup.present ? capture->startup.exec_to_exit_ns
						      : run->window_ns));
	json_put(to, "outer_ns", json_of_u64_or_null(capture->outer_ns));
	json_put(to, "disturbed", json_of_text(capture->disturbed));
	json_put(to, "replaced", json_boolean(capture->replaced));
	json_put(to, "conditions", json_of_text(capture->conditions));
	json_put(to, "not_comparable", json_of_text(capture->not_comparable));
	json_put(to, "settle_ns", json_of_u64_or_null(capture->settle_ns));
	json_put(to, "settled", json_boolean(capture->settled));
	json_put(to, "partial", json_boolean(capture->partial));
	json_put(to, "exit_status", json_of_status(capture->exit_status));
	json_put(to, "backend", json_string(capture->step_ns ? "proc" : "bpf"));
	json_put(to, "step_ns", json_of_u64_or_null(capture->step_ns));
	json_put(to, "unseen_ends", capture->step_ns ? json_of_u64(capture->unseen_ends) : json_null());
	json_put(to, "syscalls_counted", json_boolean(capture->syscalls_counted));
}

static void put_threads(struct json_out *to, const struct run *run, const struct stacks *stacks,
			const char *arch)
{
	json_open(to, "threads", '[');
	for (size_t i = 0; i < run->threads.n; i++) {
		json_t *thread = json_of_thread(&run->threads.items[i], run->capture, arch);

		json_set(thread, "begins", json_of_begin(stacks, i));
		json_put(to, NULL, thread);
	}
	json_close(to, ']');
}

static void put_run(struct json_out *to, const struct run *run, const struct why *why,
		    const struct stacks *stacks, const char *arch)
{
	const struct capture *capture = run->capture;
	json_t *totals = json_object();

	json_open(to, NULL, '{');
	put_identity(to, run);
	json_add_counters(totals, &run->totals, capture);
	json_put(to, "totals", totals);
	json_open(to, "processes", '[');
	for (size_t i = 0; i < run->processes.n; i++)
		json_put(to, NULL, json_of_process(&run->processes.items[i]));
	json_close(to, ']');
	put_threads(to, run, stacks, arch);
	json_put_why(to, why, capture);
	json_put_stacks(to, stacks, why, capture);
	json_put(to, "series", json_of_series(run));
	json_put(to, "spans", json_of_spans(capture));
	json_put(to, "startup", json_of_startup(&capture->startup));
	json_put(to, "result", json_of_workload_result(run));
	json_put(to, "memory", json_of_memory(capture));
	json_put(to, "trust", json_of_trust(run));
	json_close(to, '}');
}

/* ---- the result
 * ------------------------------------------------------------------------------------ */

static json_t *json_of_tool(const struct capture_tool *tool)
{
	json_t *object = json_object(), *command = json_array();

	for (size_t i = 0; i < tool->command.n; i++)
		json_array_append_new(command, json_of_text(tool->command.items[i]));
	json_set(object, "version", json_of_text(tool->version));
	json_set(object, "kernel", json_of_text(tool->kernel));
	json_set(object, "arch", json_of_text(tool->arch));
	json_set(object, "cpus", json_of_u64(tool->cpus));
	json_set(object, "command", command);
	json_set(object, "started", json_of_text(tool->started));
	return object;
}

static json_t *json_of_summary(const struct result_summary *summary)
{
	json_t *object = json_object();

	json_set(object, "label", json_of_text(summary->label));
	json_set(object, "workload", json_of_text(summary->workload));
	json_set(object, "variant", json_of_text(summary->variant));
	json_set(object, "metric", json_of_text(summary->metric->id));
	json_set(object, "unit", json_of_text(summary->metric->unit));
	json_set(object, "n", json_of_u64(summary->stat.n));
	json_set(object, "median", json_of_real(summary->stat.median));
	json_set(object, "min", json_of_real(summary->stat.min));
	json_set(object, "max", json_of_real(summary->stat.max));
	json_set(object, "q1", json_of_real(summary->stat.q1));
	json_set(object, "q3", json_of_real(summary->stat.q3));
	return object;
}

static json_t *json_of_comparison(const struct result_comparison *comparison)
{
	const struct stat_ratio *ratio = &comparison->ratio;
	json_t *object = json_object();

	json_set(object, "base", json_of_text(comparison->base));
	json_set(object, "other", json_of_text(comparison->other));
	json_set(object, "workload", json_of_text(comparison->workload));
	json_set(object, "variant", json_of_text(comparison->variant));
	json_set(object, "metric", json_of_text(comparison->metric->id));
	json_set(object, "ratio", json_of_real(ratio->ratio));
	json_set(object, "ci_low", ratio->has_interval ? json_of_real(ratio->ci_low) : json_null());
	json_set(object, "ci_high",
		 ratio->has_interval ? json_of_real(ratio->ci_high) : json_null());
	json_set(object, "verdict", json_of_text(stat_verdict_name(ratio->verdict)));
	json_set(object, "method",
		 ratio->has_interval ? json_of_text(stat_method_name(ratio->method)) : json_null());
	json_set(object, "block_s", json_of_u64_or_null(comparison->block_s));
	json_set(object, "n_base", json_of_u64(comparison->n_base));
	json_set(object, "n_other", json_of_u64(comparison->n_other));
	json_set(object, "from", json_string(comparison->from_bare ? "bare" : "probed"));
	json_set(object, "reason", json_of_text(comparison->reason));
	return object;
}

static json_t *json_of_cost(const struct result_cost *cost)
{
	const struct stat_ratio *ratio = &cost->ratio;
	json_t *object = json_object();

	json_set(object, "label", json_of_text(cost->label));
	json_set(object, "workload", json_of_text(cost->workload));
	json_set(object, "variant", json_of_text(cost->variant));
	json_set(object, "n_probed", json_of_u64(cost->n_probed));
	json_set(object, "n_bare", json_of_u64(cost->n_bare));
	json_set(object, "probed_ns", json_of_real(cost->probed_ns));
	json_set(object, "bare_ns", json_of_real(cost->bare_ns));
	json_set(object, "ratio", json_of_real(ratio->ratio));
	json_set(object, "ci_low", ratio->has_interval ? json_of_real(ratio->ci_low) : json_null());
	json_set(object, "ci_high",
		 ratio->has_interval ? json_of_real(ratio->ci_high) : json_null());
	json_set(object, "verdict", json_of_text(stat_verdict_name(ratio->verdict)));
	return object;
}

static json_t *json_of_failures(const struct recording *recording)
{
	json_t *failures = json_array();

	for (size_t i = 0; i < recording->failures.n; i++) {
		const struct capture_failure *failure = &recording->failures.items[i];
		json_t *object = json_object();

		json_set(object, "label", json_of_text(failure->label));
		json_set(object, "workload", json_of_text(failure->workload));
		json_set(object, "reason", json_of_text(failure->reason));
		json_array_append_new(failures, object);
	}
	return failures;
}

static json_t *json_of_remarks(const struct recording *recording)
{
	json_t *all = json_array();

	for (size_t i = 0; i < recording->remarks.n; i++) {
		const struct capture_remark *remark = &recording->remarks.items[i];
		json_t *object = json_object();

		json_set(object, "workload", json_of_text(remark->workload));
		json_set(object, "text", json_of_text(remark->text));
		json_array_append_new(all, object);
	}
	return all;
}

static json_t *json_of_bare(const struct recording *recording)
{
	json_t *all = json_array();

	for (size_t i = 0; i < recording->bare.n; i++) {
		const struct capture_bare *bare = &recording->bare.items[i];
		json_t *object = json_object();

		json_set(object, "label", json_of_text(bare->label));
		json_set(object, "workload", json_of_text(bare->workload));
		json_set(object, "variant", json_of_text(bare->variant));
		json_set(object, "repeat", json_of_u64(bare->repeat));
		json_set(object, "outer_ns", json_of_u64(bare->outer_ns));
		json_set(object, "operations",
			 bare->operations ? json_of_u64(bare->operations) : json_null());
		json_array_append_new(all, object);
	}
	return all;
}

static json_t *json_of_claims(const struct recording *recording)
{
	json_t *all = json_array();

	for (size_t i = 0; i < recording->claims.n; i++) {
		const struct claim *claim = &recording->claims.items[i];
		json_t *object = json_object();

		json_set(object, "source", json_of_text(claim->source));
		json_set(object, "what", json_of_text(claim->what));
		json_set(object, "label", json_of_text(claim->label));
		json_set(object, "base", json_of_text(claim->base));
		json_set(object, "workload", json_of_text(claim->workload));
		json_set(object, "variant", json_of_text(claim->variant));
		json_set(object, "metric", json_of_text(claim->metric));
		json_set(object, "value", json_of_real(claim->value));
		json_set(object, "low", json_of_real(claim->low));
		json_set(object, "high", json_of_real(claim->high));
		json_set(object, "window_ns", json_of_u64_or_null(claim->window_ns));
		json_set(object, "text", json_of_text(claim->text));
		json_array_append_new(all, object);
	}
	return all;
}

static json_t *json_of_excess(const struct excess *excess)
{
	json_t *object = json_object();

	json_set(object, "over", json_boolean(excess->over));
	json_set(object, "option", json_of_text(excess->option));
	json_set(object, "label", json_of_text(excess->key.label));
	json_set(object, "workload", json_of_text(excess->key.workload));
	json_set(object, "variant", json_of_text(excess->key.variant));
	json_set(object, "metric", json_of_text(excess->metric ? excess->metric->id : NULL));
	json_set(object, "value", json_of_real(excess->value));
	json_set(object, "allowed", json_of_real(excess->allowed));
	json_set(object, "text", json_of_text(excess->text));
	return object;
}

static json_t *json_of_excesses(const struct excesses *excesses)
{
	json_t *all = json_array();

	for (size_t i = 0; excesses && i < excesses->all.n; i++)
		json_array_append_new(all, json_of_excess(&excesses->all.items[i]));
	return all;
}

static void put_runs(struct json_out *to, const struct result *result)
{
	json_open(to, "runs", '[');
	for (size_t i = 0; i < result->runs.n; i++)
		put_run(to, &result->runs.items[i], &result->whys.items[i], &result->stacks.items[i],
			result->recording->tool.arch);
	json_close(to, ']');
}

static void put_figures(struct json_out *to, const struct result *result)
{
	json_open(to, "summary", '[');
	for (size_t i = 0; i < result->summaries.n; i++)
		json_put(to, NULL, json_of_summary(&result->summaries.items[i]));
	json_close(to, ']');
	json_open(to, "comparisons", '[');
	for (size_t i = 0; i < result->comparisons.n; i++)
		json_put(to, NULL, json_of_comparison(&result->comparisons.items[i]));
	json_close(to, ']');
	json_open(to, "probe_cost", '[');
	for (size_t i = 0; i < result->costs.n; i++)
		json_put(to, NULL, json_of_cost(&result->costs.items[i]));
	json_close(to, ']');
}

int json_render(FILE *out, const struct result *result, const struct report *report,
		const struct render_style *style, struct diag *diag)
{
	struct json_out to = {.out = out};

	(void)style;
	json_open(&to, NULL, '{');
	json_put(&to, "schema", json_string(JSON_SCHEMA_NAME));
	json_put(&to, "trusted", json_boolean(result->trusted));
	json_put(&to, "excesses", json_of_excesses(report->excesses));
	json_put(&to, "tool", json_of_tool(&result->recording->tool));
	json_put(&to, "seed", json_of_u64(result->recording->seed));
	json_put(&to, "failures", json_of_failures(result->recording));
	json_put(&to, "remarks", json_of_remarks(result->recording));
	put_runs(&to, result);
	json_put(&to, "bare", json_of_bare(result->recording));
	json_put(&to, "claims", json_of_claims(result->recording));
	put_figures(&to, result);
	json_close(&to, '}');
	return render_finish(out, diag);
}
