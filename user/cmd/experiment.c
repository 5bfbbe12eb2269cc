/* A workload on several runtimes: what startup, idle, hash, serve and study share. */
#include "cmd/experiment.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/log.h"
#include "cmd/bout.h"
#include "cmd/cmd.h"
#include "cmd/signals.h"

/* ---- failures ---------------------------------------------------------------------------------- */

/* A job speaks of itself as "hash node ended …"; who it is is said already. */
static const char *without_subject(const char *reason, const char *workload, const char *label)
{
	size_t n_workload = strlen(workload), n_label = strlen(label);

	if (!strncmp(reason, workload, n_workload) && reason[n_workload] == ' ' &&
	    !strncmp(reason + n_workload + 1, label, n_label) &&
	    reason[n_workload + 1 + n_label] == ' ')
		return reason + n_workload + 1 + n_label + 1;
	return reason;
}

static void record_failure(struct experiment *experiment, const char *label, const char *variant,
			   const char *reason)
{
	struct capture_failure *failure = vec_push(&experiment->session.recording.failures);

	failure->label = mem_strdup(label);
	failure->workload = mem_strdup(workload_name(experiment->workload));
	reason = without_subject(reason, failure->workload, label);
	failure->reason = variant ? mem_printf("%s: %s", variant, reason) : mem_strdup(reason);
	progress_clear(experiment->session.progress);
	log_error("%s %s%s%s: %s", failure->workload, label, variant ? " " : "", variant ? variant : "",
		  reason);
	experiment->status = EXIT_FAILED;
}

static void record_diag(struct experiment *experiment, const char *label, const char *variant,
			const struct diag *diag)
{
	char *reason = *diag->hint ? mem_printf("%s; %s", diag->what, diag->hint)
				   : mem_strdup(diag->what);

	record_failure(experiment, label, variant, reason);
	free(reason);
}

void experiment_failed(struct experiment *experiment, const struct contestant *contestant,
		       const char *variant, const struct diag *diag)
{
	record_diag(experiment, contestant->runtime.label, variant, diag);
}

bool experiment_stopped(const struct experiment *experiment)
{
	(void)experiment;
	return *signals_stop() > 0;
}

void experiment_interrupted(struct experiment *experiment, const struct contestant *contestant,
			    const char *variant, uint32_t done, uint32_t wanted)
{
	char *reason = mem_printf("interrupted after %u of %u runs", done, wanted);

	record_failure(experiment, contestant->runtime.label, variant, reason);
	free(reason);
}

/* ---- runtimes ---------------------------------------------------------------------------------- */

static bool label_taken(const struct experiment *experiment, const char *label)
{
	for (size_t i = 0; i < experiment->contestants.n; i++)
		if (!strcmp(experiment->contestants.items[i].runtime.label, label))
			return true;
	return false;
}

/* A runtime that is not there is the runtime's failure; text that names none is wrong usage. */
static int add_runtime(struct experiment *experiment, const char *text,
		       int (*parse)(struct runtime *, const char *, struct diag *))
{
	const struct command_usage *usage = experiment->session.usage;
	struct runtime runtime = {};
	struct diag diag = {};
	int err = parse(&runtime, text, &diag);

	if (err == -EINVAL)
		return options_usage_error(usage, "%s%s%s", diag.what, *diag.hint ? "; " : "",
					   diag.hint);
	if (err) {
		record_diag(experiment, text, NULL, &diag);
		return EXIT_DONE;
	}
	if (label_taken(experiment, runtime.label)) {
		int status = options_usage_error(usage, "two runtimes are called '%s', give one another "
						 "label: LABEL=%s", runtime.label, text);

		runtime_free_members(&runtime);
		return status;
	}
	vec_push(&experiment->contestants)->runtime = runtime;
	return EXIT_DONE;
}

static int add_runtimes(struct experiment *experiment)
{
	const struct options *options = &experiment->session.options;
	int status = EXIT_DONE;

	if (!options->n_operands && !options->commands.n)
		return options_usage_error(experiment->session.usage,
					   "which runtimes? name some, such as: bun node floor");
	for (size_t i = 0; i < options->n_operands && !status; i++)
		status = add_runtime(experiment, options->operands[i], runtime_parse);
	for (size_t i = 0; i < options->commands.n && !status; i++)
		status = add_runtime(experiment, options->commands.items[i], runtime_parse_command);
	return status;
}

/* Asks each for its version; those that cannot be run are out. */
static void probe_runtimes(struct experiment *experiment)
{
	for (size_t i = 0; i < experiment->contestants.n; i++) {
		struct contestant *contestant = &experiment->contestants.items[i];
		struct diag diag = {};

		if (experiment_stopped(experiment))
			return;
		if (!runtime_probe(&contestant->runtime, experiment->session.options.user, &diag))
			continue;
		experiment_failed(experiment, contestant, NULL, &diag);
		contestant->out = true;
	}
}

bool experiment_begin(struct experiment *ret_experiment, const struct command_usage *usage,
		      enum workload workload, int argc, char **argv, int *ret_status)
{
	struct experiment *experiment = ret_experiment;
	int status;

	*experiment = (struct experiment){.workload = workload, .collector_for = WORKLOAD_MAX};
	if (!session_begin(&experiment->session, usage, argc, argv, false, ret_status))
		return false;
	status = add_runtimes(experiment);
	if (!status)
		return true;
	*ret_status = status;
	return false;
}

static int open_collector(struct experiment *experiment, enum workload workload,
			  const struct collect_options *collect)
{
	struct collect_options options = *collect;
	int status;

	progress_clear(experiment->session.progress);
	status = session_open_collector(&experiment->session, &options);
	experiment->collector_for = status ? WORKLOAD_MAX : workload;
	return status;
}

int experiment_open(struct experiment *experiment, enum workload workload,
		    const struct collect_options *collect)
{
	struct session *session = &experiment->session;
	struct diag diag = {};
	int status;

	experiment->workload = workload;
	if (experiment->shop)
		return EXIT_DONE;
	status = open_collector(experiment, workload, collect);
	if (status)
		return status;
	probe_runtimes(experiment);
	if (workshop_create(&experiment->shop, session->options.user, &diag))
		return session_fail(session, &diag);
	session->progress = progress_new(session->options.quiet);
	return EXIT_DONE;
}

int experiment_switch(struct experiment *experiment, enum workload workload,
		      const struct collect_options *collect)
{
	struct session *session = &experiment->session;

	experiment->workload = workload;
	if (experiment->collector_for == workload)
		return EXIT_DONE;
	collector_free(session->collector);
	session->collector = NULL;
	return open_collector(experiment, workload, collect);
}

uint64_t experiment_seed(struct experiment *experiment)
{
	uint64_t *seed = &experiment->session.recording.seed;
	uint32_t drawn = 0;

	if (!*seed)
		*seed = experiment->session.options.seed;
	/* 32 bits: short enough to be typed again. */
	while (!*seed) {
		if (getrandom(&drawn, sizeof(drawn), 0) != sizeof(drawn))
			drawn = (uint32_t)session_now_ns();
		*seed = drawn;
	}
	return *seed;
}

/* ---- a job ------------------------------------------------------------------------------------- */

/* Stacks come all the time, and have to be read before there is no room for more. Whatever is wrong with the
 * collector is told when the window is closed. */
static void serve_collector(void *collector)
{
	struct diag diag = {};
	bool empty;

	collector_service(collector, &empty, &diag);
}

int experiment_start(struct experiment *experiment, const struct bout *bout, uint32_t group,
		     const struct job_options *options, struct job **ret_job, struct diag *diag)
{
	struct session *session = &experiment->session;
	struct job_options job_options = *options;
	struct job *job;
	int err;

	if (!bout->bare && session->takes_stacks)
		job_options.beside = (struct deadline_beside){
			.fd = collector_fd(session->collector),
			.serve = serve_collector,
			.context = session->collector,
		};
	job_options.workload = experiment->workload;
	job_options.user = experiment->session.options.user;
	if (!job_options.cpus)
		job_options.cpus = experiment->session.options.cpus;
	err = job_prepare(&job, experiment->shop, &bout->contestant->runtime, &job_options, diag);
	if (err)
		return err;
	if (!bout->bare)
		err = collector_add_gated(experiment->session.collector, job_pid(job), group, diag);
	if (!err)
		err = job_release(job, diag);
	if (err) {
		job_end(job);
		return err;
	}
	*ret_job = job;
	return 0;
}

static void describe_runtime(struct capture_runtime *to, const struct runtime *from)
{
	to->present = true;
	to->family = mem_strdup(from->family ? from->family->name : "command");
	to->version = mem_strdup(from->version ? from->version : "");
	to->path = mem_strdup(from->command ? from->command : from->path ? from->path : "");
	to->size_bytes = from->size_bytes;
}

int experiment_take(struct experiment *experiment, const struct bout *bout, uint32_t group,
		    struct capture **ret_capture, struct diag *diag)
{
	struct capture capture = {};
	int err = collector_take(experiment->session.collector, group, &capture, diag);

	if (err)
		return err;
	capture.label = mem_strdup(bout->contestant->runtime.label);
	capture.workload = mem_strdup(workload_name(experiment->workload));
	capture.variant = bout->variant ? mem_strdup(bout->variant) : NULL;
	capture.repeat = bout->repeat;
	describe_runtime(&capture.runtime, &bout->contestant->runtime);
	*ret_capture = vec_push(&experiment->session.recording.runs);
	**ret_capture = capture;
	return 0;
}

void experiment_take_bare(struct experiment *experiment, const struct bout *bout, uint64_t outer_ns,
			  uint64_t operations)
{
	struct capture_bare *bare = vec_push(&experiment->session.recording.bare);

	bare->label = mem_strdup(bout->contestant->runtime.label);
	bare->workload = mem_strdup(workload_name(experiment->workload));
	bare->variant = bout->variant ? mem_strdup(bout->variant) : NULL;
	bare->repeat = bout->repeat;
	bare->outer_ns = outer_ns;
	bare->operations = operations;
}

void experiment_await_empty(struct experiment *experiment, uint64_t limit_ns)
{
	struct session *session = &experiment->session;
	uint64_t deadline_ns = session_now_ns() + limit_ns;
	struct diag diag = {};
	int events = 0;

	while (collector_alive(session->collector) && events >= 0 &&
	       !(events & (SESSION_TIME | SESSION_SIGNAL)))
		events = session_wait(session, -1, deadline_ns, &diag);
}

/* ---- the end ----------------------------------------------------------------------------------- */

int experiment_publish(struct experiment *experiment)
{
	int published;

	workshop_remove(experiment->shop);
	experiment->shop = NULL;
	published = session_publish(&experiment->session);
	return experiment->status ? experiment->status : published;
}

void experiment_end(struct experiment *experiment)
{
	workshop_remove(experiment->shop);
	for (size_t i = 0; i < experiment->contestants.n; i++)
		runtime_free_members(&experiment->contestants.items[i].runtime);
	free(experiment->contestants.items);
	placement_free_members(&experiment->placement);
	session_end(&experiment->session);
	*experiment = (struct experiment){};
}

int experiment_main(const struct command_usage *usage, enum workload workload, experiment_plan *plan,
		    experiment_play *play, int argc, char **argv)
{
	struct experiment experiment;
	struct schedule schedule = {};
	int status;

	if (experiment_begin(&experiment, usage, workload, argc, argv, &status)) {
		status = plan(&experiment, &schedule);
		if (!status) {
			play(&experiment, &schedule);
			status = experiment_publish(&experiment);
		}
	}
	schedule_free_members(&schedule);
	experiment_end(&experiment);
	return status;
}
