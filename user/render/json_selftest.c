/* The result of `selftest` as JSON, schema wakewhy-selftest/1 (docs/selftest.md). */
#include <math.h>

#include "render/formats.h"
#include "render/json.h"
#include "report/selftest.h"

static json_t *json_of_tool(const struct capture_tool *tool)
{
	json_t *object = json_object();

	json_set(object, "version", json_of_text(tool->version));
	json_set(object, "kernel", json_of_text(tool->kernel));
	json_set(object, "arch", json_of_text(tool->arch));
	json_set(object, "cpus", json_of_u64(tool->cpus));
	json_set(object, "started", json_of_text(tool->started));
	return object;
}

static json_t *json_of_check(const struct selftest_check *check)
{
	json_t *object = json_object();

	json_set(object, "subject", json_of_text(check->subject));
	json_set(object, "figure", json_of_text(check->figure));
	json_set(object, "unit", json_of_text(check->unit == SELFTEST_NS ? "ns" : "1"));
	json_set(object, "expected_low", json_of_real(check->low));
	json_set(object, "expected_high", json_of_real(check->high));
	json_set(object, "measured", json_of_real(check->measured));
	json_set(object, "ok", json_boolean(selftest_check_ok(check)));
	return object;
}

int render_selftest_json(FILE *out, const struct selftest_result *result, struct diag *diag)
{
	json_t *root = json_object(), *checks = json_array(), *doubts = json_array();

	for (size_t i = 0; i < result->checks.n; i++)
		json_array_append_new(checks, json_of_check(&result->checks.items[i]));
	for (size_t i = 0; i < result->doubts.n; i++)
		json_array_append_new(doubts, json_of_text(result->doubts.items[i]));
	json_set(root, "schema", json_string("wakewhy-selftest/1"));
	json_set(root, "ok", json_boolean(selftest_ok(result)));
	json_set(root, "tool", json_of_tool(result->tool));
	json_set(root, "took_ns", json_of_u64(result->took_ns));
	json_set(root, "wrong", json_of_u64(selftest_wrong(result)));
	json_set(root, "left_out", json_of_u64(result->left_out));
	json_set(root, "doubts", doubts);
	json_set(root, "checks", checks);
	json_write(root, out, JSON_INDENT(2));
	json_decref(root);
	return render_finish(out, diag);
}
