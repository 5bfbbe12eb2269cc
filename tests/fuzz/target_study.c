/* What a study's directory keeps: its plan and a recording of one bout, [PLAN, RECORDING]. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "record/decode.h"
#include "tests/fuzz/fuzz.h"

/* Which recording belongs to which plan is its own file's alone. */
#include "user/cmd/store.c"

/* "" of what is not there. */
static char *dumped(const json_t *from)
{
	char *text = from ? json_dumps(from, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	return text ? text : mem_strdup("");
}

static bool read_plan(const json_t *from, struct plan *ret_plan)
{
	char *text = dumped(from);
	FILE *in = fuzz_stream((const uint8_t *)text, strlen(text));
	struct diag diag = {};
	int err = plan_read(in, "study.json", ret_plan, &diag);

	FUZZ_CHECK(!err || *diag.what);
	fclose(in);
	free(text);
	return !err;
}

/* A recording is taken under the one name that it has in this study, and under no other. */
static void check(const struct store *store, const struct recording *recording)
{
	char *name = name_of_kept(store, recording);
	struct diag diag = {};

	if (check_kept(store, name ? name : "idle-0-x-0.wkw", recording, &diag)) {
		FUZZ_CHECK(*diag.what);
	} else {
		FUZZ_CHECK(name && recording->runs.n + recording->bare.n > 0);
		FUZZ_CHECK(!strcmp(recording->tool.version, store->plan.tool));
		FUZZ_CHECK(check_kept(store, "another", recording, &diag));
	}
	free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	json_t *root = json_loadb((const char *)bytes, n, JSON_ALLOW_NUL, NULL);
	struct store store = {.fd = -1, .path = (char *)"study"};
	struct recording recording;
	struct diag diag = {};

	if (read_plan(json_array_get(root, 0), &store.plan)) {
		char *text = dumped(json_array_get(root, 1));

		if (!recording_decode(text, strlen(text), "x.wkw", &recording, &diag)) {
			check(&store, &recording);
			recording_free_members(&recording);
		}
		plan_free_members(&store.plan);
		free(text);
	}
	json_decref(root);
	return 0;
}
