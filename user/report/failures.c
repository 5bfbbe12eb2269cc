/* What could not be measured, and why. */
#include "report/part.h"

void failures_build(struct report *report, const struct result *result)
{
	const struct recording *recording = result->recording;

	for (size_t i = 0; i < recording->failures.n; i++) {
		const struct capture_failure *failure = &recording->failures.items[i];

		report_add_note(report, NOTE_WARNING, "not measured: %s of %s: %s",
				failure->workload ? failure->workload : "",
				failure->label ? failure->label : "",
				failure->reason ? failure->reason : "");
	}
}
