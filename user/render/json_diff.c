/* The difference of two recordings as JSON, schema wakewhy-diff/1 (docs/json.md). */
#include <math.h>
#include <stdlib.h>

#include "render/formats.h"
#include "render/json.h"
#include "report/diff.h"

static json_t *json_of_side(const struct diff_side *side)
{
	const struct capture_tool *tool = &side->result->recording->tool;
	json_t *object = json_object();

	json_set(object, "file", json_of_text(side->name));
	json_set(object, "version", json_of_text(tool->version));
	json_set(object, "kernel", json_of_text(tool->kernel));
	json_set(object, "arch", json_of_text(tool->arch));
	json_set(object, "cpus", json_of_u64(tool->cpus));
	json_set(object, "started", json_of_text(tool->started));
	json_set(object, "trusted", json_boolean(side->result->trusted));
	return object;
}

static void json_add_pair(json_t *object, const struct diff_pair *pair)
{
	json_set(object, "workload", json_of_text(pair->other_workload));
	json_set(object, "variant", json_of_text(pair->other->variant));
	json_set(object, "base_label", json_of_text(pair->base->label));
	json_set(object, "other_label", json_of_text(pair->other->label));
}

static double per_s(double amount, const struct cause_sums *sums)
{
	return sums->window_ns > 0 ? amount / (sums->window_ns / 1e9) : NAN;
}

static const char *const wakeups_names[4] = {"base_per_s", "other_per_s", "difference_per_s",
					     "share"};
static const char *const cpu_names[4] = {"base_cpu_ns_per_s", "other_cpu_ns_per_s",
					 "difference_cpu_ns_per_s", "cpu_share"};

/* Rates of both sides and how they differ: the first three names. With
 * `all`, the difference of everything, the share too, which is null where there is no difference.
 */
static void json_add_rates(json_t *object, const char *const name[4], double base, double other,
			   const double *all)
{
	json_set(object, name[0], json_of_real(base));
	json_set(object, name[1], json_of_real(other));
	json_set(object, name[2], json_of_real(other - base));
	if (all)
		json_set(object, name[3], json_of_real(*all != 0 ? (other - base) / *all : NAN));
}

static json_t *json_of_total(const struct diff_pair *pair)
{
	const struct cause_sums *base = &pair->difference.base, *other = &pair->difference.other;
	json_t *object = json_object();

	json_add_pair(object, pair);
	json_set(object, "base_runs", json_of_u64(base->n_runs));
	json_set(object, "other_runs", json_of_u64(other->n_runs));
	json_set(object, "base_window_ns", json_of_real(base->window_ns));
	json_set(object, "other_window_ns", json_of_real(other->window_ns));
	json_set(object, "base_operations",
		 json_of_real(base->operations ? base->operations : NAN));
	json_set(object, "other_operations",
		 json_of_real(other->operations ? other->operations : NAN));
	json_add_rates(object, wakeups_names, per_s((double)base->wakeups, base),
		       per_s((double)other->wakeups, other), NULL);
	json_add_rates(object, cpu_names, per_s((double)base->oncpu_ns, base),
		       per_s((double)other->oncpu_ns, other), NULL);
	return object;
}

static json_t *json_of_row(const struct diff_pair *pair, const struct difference_row *row)
{
	const struct cause_sums *base = &pair->difference.base, *other = &pair->difference.other;
	const struct cause_sum *cause = row->other ? row->other : row->base;
	double wakeups = per_s((double)other->wakeups, other) - per_s((double)base->wakeups, base);
	double cpu = per_s((double)other->oncpu_ns, other) - per_s((double)base->oncpu_ns, base);
	char *label = difference_label(&pair->difference, row), *text = difference_text(row);
	json_t *object = json_object();

	json_add_pair(object, pair);
	json_set(object, "thread", json_of_text(label));
	json_set(object, "cause", json_of_text(cause ? cause->rule->id : NULL));
	json_set(object, "mechanism",
		 json_of_text(cause && *cause->mechanism ? cause->mechanism : NULL));
	json_set(object, "text", json_of_text(text));
	json_set(object, "in_base", json_boolean(row->base || !cause));
	json_set(object, "in_other", json_boolean(row->other || !cause));
	json_add_rates(object, wakeups_names, per_s(row->base_wakeups, base),
		       per_s(row->other_wakeups, other), &wakeups);
	json_add_rates(object, cpu_names, per_s(row->base_oncpu_ns, base),
		       per_s(row->other_oncpu_ns, other), &cpu);
	free(label);
	free(text);
	return object;
}

static json_t *json_of_diff(const struct diff *diff)
{
	json_t *root = json_object(), *totals = json_array(), *rows = json_array();
	json_t *remarks = json_array();

	for (size_t i = 0; i < diff->pairs.n; i++) {
		const struct diff_pair *pair = &diff->pairs.items[i];

		json_array_append_new(totals, json_of_total(pair));
		for (size_t j = 0; j < pair->difference.rows.n; j++)
			json_array_append_new(rows,
					      json_of_row(pair, &pair->difference.rows.items[j]));
	}
	for (size_t i = 0; i < diff->remarks.n; i++)
		json_array_append_new(remarks, json_of_text(diff->remarks.items[i]));
	json_set(root, "schema", json_string("wakewhy-diff/1"));
	json_set(root, "trusted",
		 json_boolean(diff->base.result->trusted && diff->other.result->trusted));
	json_set(root, "base", json_of_side(&diff->base));
	json_set(root, "other", json_of_side(&diff->other));
	json_set(root, "totals", totals);
	json_set(root, "rows", rows);
	json_set(root, "remarks", remarks);
	return root;
}

int render_diff_json(FILE *out, const struct diff *diff, struct diag *diag)
{
	json_t *root = json_of_diff(diff);

	json_write(root, out, JSON_INDENT(2));
	json_decref(root);
	return render_finish(out, diag);
}
