/* The result of `selftest`: what is right, and the report about it. */
#include "report/selftest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/number.h"

void selftest_add(struct selftest_result *result, const char *subject, const char *figure,
		  enum selftest_unit unit, double measured, double low, double high)
{
	*vec_push(&result->checks) = (struct selftest_check){
		.subject = mem_strdup(subject),
		.figure = mem_strdup(figure),
		.unit = unit,
		.low = low,
		.high = high,
		.measured = measured,
	};
}

bool selftest_check_ok(const struct selftest_check *check)
{
	return check->measured >= check->low && check->measured <= check->high;
}

size_t selftest_wrong(const struct selftest_result *result)
{
	size_t wrong = 0;

	for (size_t i = 0; i < result->checks.n; i++)
		wrong += !selftest_check_ok(&result->checks.items[i]);
	return wrong;
}

bool selftest_ok(const struct selftest_result *result)
{
	return result->checks.n && !result->doubts.n && !selftest_wrong(result);
}

/* ---- the report -------------------------------------------------------------------------------- */

static char *text_of(double value, enum selftest_unit unit)
{
	char number[NUMBER_BYTES], duration[UNITS_TEXT_BYTES];

	if (unit == SELFTEST_NS && isfinite(value))
		return mem_strdup(units_format_duration(duration, value));
	return mem_strdup(number_real(number, value, 0));
}

static char *text_of_expected(const struct selftest_check *check)
{
	char *low = text_of(check->low, check->unit), *high = text_of(check->high, check->unit);
	char *text = check->low == check->high ? mem_strdup(low) : mem_printf("%s to %s", low, high);

	free(low);
	free(high);
	return text;
}

static void add_check(struct table *table, const struct selftest_check *check, bool first)
{
	struct row *row = table_add_row(table);
	char *expected = text_of_expected(check), *measured = text_of(check->measured, check->unit);

	row_add_text(row, first ? check->subject : "");
	row_add_text(row, check->figure);
	row_add_text(row, expected);
	row_add_text(row, measured);
	row_add_text(row, selftest_check_ok(check) ? "ok" : "WRONG");
	free(expected);
	free(measured);
}

static void add_verdict(struct report *report, const struct selftest_result *result)
{
	char took[UNITS_TEXT_BYTES];
	size_t n = result->checks.n, wrong = selftest_wrong(result);

	units_format_duration(took, (double)result->took_ns);
	for (size_t i = 0; i < result->doubts.n; i++)
		report_add_note(report, NOTE_WARNING, "the run itself: %s", result->doubts.items[i]);
	if (result->left_out)
		report_add_note(report, NOTE_TEXT,
				"left out: %zu periods, because this machine was too busy for one to be kept",
				result->left_out);
	if (selftest_ok(result))
		report_add_note(report, NOTE_TRUST_OK, "all %zu figures are right on this kernel (%s)", n,
				took);
	else if (wrong || !n)
		report_add_note(report, NOTE_WARNING,
				"%zu of %zu figures %s wrong: do not trust wakewhy on this kernel, and please "
				"report it with what 'wakewhy selftest -f json' prints",
				wrong, n, wrong == 1 ? "is" : "are");
	else
		report_add_note(report, NOTE_WARNING,
				"all %zu figures are right, but the run itself is not to be trusted", n);
}

void selftest_build(struct report *ret_report, const struct selftest_result *result)
{
	const struct capture_tool *tool = result->tool;
	struct table *table;

	report_add_heading(ret_report, "selftest · %u CPUs · Linux %s · %s", tool->cpus, tool->kernel,
			   tool->arch);
	table = report_add_table(ret_report, NULL);
	table_add_column(table, "subject", true);
	table_add_column(table, "figure", true);
	table_add_column(table, "expected", false);
	table_add_column(table, "measured", false);
	table_add_column(table, "", true);
	for (size_t i = 0; i < result->checks.n; i++) {
		const struct selftest_check *check = &result->checks.items[i];
		bool first = !i || strcmp(check->subject, check[-1].subject) != 0;

		add_check(table, check, first);
	}
	add_verdict(ret_report, result);
}

void selftest_free_members(struct selftest_result *result)
{
	for (size_t i = 0; i < result->checks.n; i++) {
		free(result->checks.items[i].subject);
		free(result->checks.items[i].figure);
	}
	for (size_t i = 0; i < result->doubts.n; i++)
		free(result->doubts.items[i]);
	free(result->checks.items);
	free(result->doubts.items);
	*result = (struct selftest_result){};
}
