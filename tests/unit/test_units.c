/* Durations, counts, bytes and times: typed and shown. */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

static void durations_are_read(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{"5", 5000000000},
		{"5s", 5000000000},
		{"0", 0},
		{"500ms", 500000000},
		{"250us", 250000},
		{"250µs", 250000},
		{"250μs", 250000},
		{"17ns", 17},
		{"2m", 120000000000},
		{"2min", 120000000000},
		{"1h", 3600000000000},
		{"1d", 86400000000000},
		{"0.5", 500000000},
		{"1.000000001s", 1000000001},
		{"0.1ms", 100000},
		{"00012", 12000000000},
		{"18446744073709551615ns", UINT64_MAX},
	};
	uint64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(units_parse_duration(good[i].text, &ns, NULL), 0);
		assert_int_equal(ns, good[i].ns);
	}
}

static void bad_durations_are_refused(void **state)
{
	static const char *const bad[] = {"",	 " 5",	"5 s", "-5",	"+5",	 "s",
					  ".5",	 "5.",	"5.s", "5x",	"1e3",	 "0x5",
					  "5sS", "nan", "5,5", "1.5ns", "5\n",	 "inf",
					  "5ks", "--",	"5µ",  "1..5",	"1.2.3s"};
	static const char *const large[] = {"18446744073709551616ns", "18446744074", "213504d",
					    "99999999999999999999999999999999999999"};
	uint64_t ns = 77;
	struct diag diag;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&diag, 0, sizeof(diag));
		assert_int_equal(units_parse_duration(bad[i], &ns, &diag), -EINVAL);
		assert_non_null(strstr(diag.what, "duration"));
	}
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		assert_int_equal(units_parse_duration(large[i], &ns, &diag), -ERANGE);
	assert_int_equal(ns, 77);
}

static void counts_are_read(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t count;
	} cases[] = {
		{"5000000", 0, 5000000},
		{"5M", 0, 5000000},
		{"1.5k", 0, 1500},
		{"1.5K", 0, 1500},
		{"2G", 0, 2000000000},
		{"0", 0, 0},
		{"1.5", -EINVAL, 0},
		{"1.2345k", -EINVAL, 0},
		{"M", -EINVAL, 0},
		{"5m", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"", -EINVAL, 0},
		{"5MM", -EINVAL, 0},
		{"18446744073709551615", 0, UINT64_MAX},
		{"18446744073709551616", -ERANGE, 0},
		{"99999999999G", -ERANGE, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t count = 0;

		assert_int_equal(units_parse_count(cases[i].text, &count, NULL), cases[i].err);
		assert_int_equal(count, cases[i].count);
	}
}

static void durations_are_shown_with_three_digits(void **state)
{
	static const struct {
		double ns;
		const char *text, *plain;
	} cases[] = {
		{0, "0 ns", "0 ns"},
		{-0.0, "0 ns", "0 ns"},
		{1, "1 ns", "1 ns"},
		{0.5, "0.50 ns", "0.5 ns"},
		{81.25, "81.2 ns", "81.2 ns"},
		{812, "812 ns", "812 ns"},
		{999, "999 ns", "999 ns"},
		{999.6, "1.00 µs", "1 µs"},
		{1000, "1.00 µs", "1 µs"},
		{41300, "41.3 µs", "41.3 µs"},
		{99949, "99.9 µs", "99.9 µs"},
		{99960, "100 µs", "100 µs"},
		{999499, "999 µs", "999 µs"},
		{999600, "1.00 ms", "1 ms"},
		{12100000, "12.1 ms", "12.1 ms"},
		{500000000, "500 ms", "500 ms"},
		{3.1e9, "3.10 s", "3.1 s"},
		{20e9, "20.0 s", "20 s"},
		{300e9, "300 s", "300 s"},
		{5400e9, "5400 s", "5400 s"},
		{-12100000, "-12.1 ms", "-12.1 ms"},
		{1e30, "1e+21 s", "1e+21 s"},
	};
	char buf[UNITS_TEXT_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_string_equal(units_format_duration(buf, cases[i].ns), cases[i].text);
		assert_string_equal(units_format_duration_plain(buf, cases[i].ns), cases[i].plain);
	}
	assert_string_equal(units_format_duration(buf, NAN), "—");
	assert_string_equal(units_format_duration_plain(buf, INFINITY), "—");
	units_format_duration(buf, -1.7e308);
	units_format_duration(buf, 4.9e-324);
}

static void bytes_counts_and_times_are_shown(void **state)
{
	char buf[UNITS_TEXT_BYTES];

	(void)state;
	assert_string_equal(units_format_bytes(buf, 0), "0 B");
	assert_string_equal(units_format_bytes(buf, 512), "512 B");
	assert_string_equal(units_format_bytes(buf, 92752752), "92.8 MB");
	assert_string_equal(units_format_bytes(buf, 80761952), "80.8 MB");
	assert_string_equal(units_format_bytes(buf, 16384), "16.4 kB");
	assert_string_equal(units_format_bytes(buf, 1.84e19), "18.4 EB");
	assert_string_equal(units_format_count(buf, 0), "0");
	assert_string_equal(units_format_count(buf, 999), "999");
	assert_string_equal(units_format_count(buf, 1225000), "1,225,000");
	assert_string_equal(units_format_count(buf, UINT64_MAX), "18,446,744,073,709,551,615");
	/* date -u -d @N +%FT%TZ */
	assert_string_equal(units_format_time(buf, 0), "1970-01-01T00:00:00Z");
	assert_string_equal(units_format_time(buf, 1741539845), "2025-03-09T17:04:05Z");
	assert_string_equal(units_format_time(buf, 951782400), "2000-02-29T00:00:00Z");
	assert_string_equal(units_format_time(buf, INT64_MAX), "0000-00-00T00:00:00Z");
	assert_string_equal(units_format_time(buf, INT64_MIN), "0000-00-00T00:00:00Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_read),
		cmocka_unit_test(bad_durations_are_refused),
		cmocka_unit_test(counts_are_read),
		cmocka_unit_test(durations_are_shown_with_three_digits),
		cmocka_unit_test(bytes_counts_and_times_are_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
