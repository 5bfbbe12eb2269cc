/* Causes, charges and the timeline of a run in a recording, nothing in them believed. */
#include "record/decode_why.h"

#include "record/bounds.h"
#include "record/table.h"

static int check_serials(const struct field_reader *reader, const struct capture *capture)
{
	for (size_t i = 0; i < capture->threads.n; i++)
		if (capture->threads.items[i].t.serial > NUMBER_MAX)
			return field_refuse(reader, "a thread has a serial above %u", NUMBER_MAX);
	return 0;
}

/* Numbers of causes rise from 1: what refers to them finds them by halving. A context that is not
 * known stays as it is, for the table of causes has a row for anything. */
static int decode_causes(const struct field_reader *reader, const json_t *json,
			 struct capture *capture)
{
	struct table_reader table;
	uint32_t before = 0;
	int err = table_open(&table, reader, cause_fields, json, "causes");

	for (size_t i = 0; !err && i < table_rows(&table); i++) {
		struct capture_cause *cause = vec_push(&capture->causes);

		err = table_row(&table, i, cause);
		if (!err && (cause->number <= before || cause->number > NUMBER_MAX))
			err = field_refuse(reader, "the numbers of causes do not rise from 1 to %u",
					   NUMBER_MAX);
		before = cause->number;
	}
	table_close(&table);
	return err;
}

static void take_interval(void *to, uint64_t bucket, uint64_t count)
{
	struct capture_cause *cause = to;
	struct capture_interval *interval = vec_push(&cause->intervals);

	interval->bucket = (uint32_t)bucket;
	interval->count = (uint32_t)count;
}

static int decode_intervals(const struct field_reader *reader, const json_t *all,
			    struct capture *capture)
{
	int err = 0;

	if (!all)
		return 0;
	if (!json_is_array(all) || json_array_size(all) != capture->causes.n)
		return field_refuse(reader, "intervals are not listed for each cause");
	for (size_t i = 0; !err && i < capture->causes.n; i++)
		err = pairs_decode(reader, json_array_get(all, i), "intervals of a cause",
				   WK_HIST_BUCKETS - 1, UINT32_MAX, take_interval,
				   &capture->causes.items[i]);
	return err;
}

bool why_has_cause(const struct capture *capture, uint32_t number)
{
	size_t low = 0, high = capture->causes.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (capture->causes.items[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < capture->causes.n && capture->causes.items[low].number == number;
}

/* The root may be the cause of a thread that belongs to another run of the same window. */
static int decode_charges(const struct field_reader *reader, const json_t *json,
			  struct capture *capture)
{
	struct table_reader table;
	int err = table_open(&table, reader, charge_fields, json, "charges");

	for (size_t i = 0; !err && i < table_rows(&table); i++) {
		struct wk_charge *charge = vec_push(&capture->charges);

		err = table_row(&table, i, charge);
		if (!err && !why_has_cause(capture, charge->cause))
			err = field_refuse(reader, "a charge is for cause %u, which is not there",
					   charge->cause);
	}
	table_close(&table);
	return err;
}

/* CPUs that write at once may have written in either order: it is kept, so that a recording says
 * what the live run said. */
static int decode_timeline(const struct field_reader *reader, const json_t *json,
			   struct capture *capture)
{
	struct table_reader table;
	int err = table_open(&table, reader, wake_fields, json, "timeline");

	for (size_t i = 0; !err && i < table_rows(&table); i++) {
		struct wk_wake_event *wake = vec_push(&capture->timeline);

		err = table_row(&table, i, wake);
		if (!err && !why_has_cause(capture, wake->cause))
			err = field_refuse(reader, "a wake has cause %u, which is not there",
					   wake->cause);
	}
	table_close(&table);
	return err;
}

int why_decode(const struct field_reader *reader, const json_t *run, struct capture *capture)
{
	int err = check_serials(reader, capture);

	if (!err)
		err = decode_causes(reader, json_object_get(run, "causes"), capture);
	if (!err)
		err = decode_intervals(reader, json_object_get(run, "intervals"), capture);
	if (!err)
		err = decode_charges(reader, json_object_get(run, "charges"), capture);
	if (!err)
		err = decode_timeline(reader, json_object_get(run, "timeline"), capture);
	return err;
}
