/* What a job says: "port N", "ready", "unsupported …", "done N DIGEST", and last words. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

/* The protocol is its own file's alone. */
#include "user/runtime/job_talk.c"

static void take_each(struct job *job, const char *line)
{
	uint64_t operations = 0;
	struct diag diag = {};

	if (take_port(job, line, &diag))
		FUZZ_CHECK(*diag.what && fuzz_is_safe(diag.what, strlen(diag.what)));
	else
		FUZZ_CHECK(job->port > 0 && job->port < 65536);
	diag = (struct diag){};
	if (take_ready(job, line, &diag))
		FUZZ_CHECK(*diag.what);
	else
		FUZZ_CHECK(!strcmp(line, "ready"));
	for (job->hash_ops = 0; job->hash_ops < 10; job->hash_ops += 5) {
		diag = (struct diag){};
		if (take_done(job, line, &operations, &diag))
			FUZZ_CHECK(*diag.what && fuzz_is_safe(diag.what, strlen(diag.what)));
		else
			FUZZ_CHECK(operations > 0 && strstr(line, DIGEST));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct job job = {.workload = WORKLOAD_HASH, .label = "x"};
	char *words = words_last_of((const char *)bytes, n), *line;
	size_t room = n < sizeof(job.line) ? n : sizeof(job.line);

	FUZZ_CHECK(fuzz_is_safe(words, strlen(words)) && !strchr(words, '\n'));
	free(words);
	if (room)
		memcpy(job.line, bytes, room);
	job.line_bytes = room;
	while ((line = take_line(&job))) {
		FUZZ_CHECK(job.line_bytes < room);
		take_each(&job, line);
		free(line);
	}
	return 0;
}
