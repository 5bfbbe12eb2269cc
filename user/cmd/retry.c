/* A window that others disturbed is measured again. */
#include "cmd/schedule.h"

static void drop_last(struct recording *recording)
{
	capture_free_members(&recording->runs.items[--recording->runs.n]);
}

int retry_play(struct experiment *experiment, const struct schedule *schedule, const struct bout *bout,
	       struct diag *diag)
{
	struct recording *recording = &experiment->session.recording;
	bool may_retry = schedule->kind->may_retry && !bout->bare && !bout->warm_up;
	int err = schedule->kind->play(experiment, bout, diag);

	for (uint32_t left = schedule->retries; !err && may_retry; left--) {
		size_t last = recording->runs.n - 1;

		if (!recording->runs.items[last].disturbed || !left ||
		    experiment_stopped(experiment))
			return 0;
		err = schedule->kind->play(experiment, bout, diag);
		/* What is disturbed and whole is worth more than what a signal has cut. */
		if (err && experiment_stopped(experiment))
			return 0;
		if (!err && recording->runs.items[last + 1].partial) {
			drop_last(recording);
			return 0;
		}
		if (!err)
			recording->runs.items[last].replaced = true;
	}
	return err;
}
