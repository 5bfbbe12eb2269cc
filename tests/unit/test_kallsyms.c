/* Names of the kernel's functions. */
#include "unit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sym/kallsyms.h"

static struct kallsyms *read_text(const char *text)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	struct kallsyms *kallsyms;

	assert_non_null(in);
	kallsyms = kallsyms_read(in);
	fclose(in);
	return kallsyms;
}

/* name NULL: none. */
static void check(const struct kallsyms *kallsyms, uint64_t address, const char *name,
		  uint64_t into)
{
	uint64_t got = 0;
	const char *found = kallsyms_find(kallsyms, address, &got);

	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
	assert_int_equal(got, into);
}

static const char usual[] = "0000000000000000 A fixed_percpu_data\n"
			    "0000000000002000 a cpu_debug\n"
			    "ffffffff81000000 T _stext\n"
			    "ffffffff81000000 T startup_64\n"
			    "ffffffff81000040 t __pi_memcpy\n"
			    "ffffffff81000040 W __memcpy\n"
			    "ffffffff81000100 t local_one\n"
			    "ffffffff81000100 T global_one\n"
			    "ffffffff81200000 t behind_a_gap\n"
			    "ffffffff81200200 T _etext\n"
			    "ffffffff81200300 D some_data\n"
			    "ffffffff83000000 t after_boot\n"
			    "ffffffffc0100000 t nf_hook\t[nf_tables]\n"
			    "ffffffffc0100080 d nf_data\t[nf_tables]\n"
			    "ffffffffc0000000 t init_one\t[virtio_net]\n"
			    "ffffffffc0200000 t bpf_prog_6deef7357e7b4530\t[bpf]\n";

static void functions_are_found(void **state)
{
	struct kallsyms *kallsyms = read_text(usual);

	(void)state;
	check(kallsyms, 0xffffffff81000000, "startup_64", 0);
	check(kallsyms, 0xffffffff8100003f, "startup_64", 0x3f);
	check(kallsyms, 0xffffffff81000050, "__memcpy", 0x10);
	check(kallsyms, 0xffffffff81000101, "global_one", 1);
	check(kallsyms, 0xffffffff812001ff, "behind_a_gap", 0x1ff);
	check(kallsyms, 0xffffffff83000010, "after_boot", 0x10);
	check(kallsyms, 0xffffffffc0100010, "nf_hook [nf_tables]", 0x10);
	check(kallsyms, 0xffffffffc0000000, "init_one [virtio_net]", 0);
	check(kallsyms, 0xffffffffc0200fff, "bpf_prog_6deef7357e7b4530 [bpf]", 0xfff);
	kallsyms_free(kallsyms);
	kallsyms_free(NULL);
}

static void what_is_no_code_has_no_name(void **state)
{
	struct kallsyms *kallsyms = read_text(usual);

	(void)state;
	check(kallsyms, 0, NULL, 0);
	check(kallsyms, 0x2001, NULL, 0);
	check(kallsyms, 0x7ffff7a00000, NULL, 0);
	check(kallsyms, 0xffffffff80ffffff, NULL, 0);
	check(kallsyms, 0xffffffff81100100, NULL, 0); /* 1 MB behind global_one */
	check(kallsyms, 0xffffffff81200200, NULL, 0); /* _etext */
	check(kallsyms, 0xffffffff81200310, NULL, 0); /* some_data */
	check(kallsyms, 0xffffffffc0100080, NULL, 0); /* nf_data */
	check(kallsyms, UINT64_MAX, NULL, 0);
	kallsyms_free(kallsyms);
}

static void hidden_addresses_name_nothing(void **state)
{
	struct kallsyms *kallsyms = read_text("0000000000000000 T _text\n0000000000000000 t one\n");

	(void)state;
	check(kallsyms, 0, NULL, 0);
	check(kallsyms, 0xffffffff81000000, NULL, 0);
	kallsyms_free(kallsyms);
}

static void malformed_lines_are_left_out(void **state)
{
	struct kallsyms *kallsyms = read_text("\n"
					      "1000\n"
					      "1000 T\n"
					      "1000 T \n"
					      "xyz T no_address\n"
					      "11112222333344445 T too_large\n"
					      "1000 T two words\n"
					      "1000 T name\tno_bracket\n"
					      "1000  T two_spaces\n"
					      "1100 T good\n"
					      "1200 T last_without_end");

	(void)state;
	check(kallsyms, 0x1010, NULL, 0);
	check(kallsyms, 0x1110, "good", 0x10);
	check(kallsyms, 0x1200, "last_without_end", 0);
	check(kallsyms, 0x1111222233334444, NULL, 0);
	kallsyms_free(kallsyms);
}

static void nothing_is_read_from_nothing(void **state)
{
	FILE *in = fopen("/dev/null", "re");
	struct kallsyms *kallsyms = kallsyms_read(in);

	(void)state;
	fclose(in);
	check(kallsyms, 1, NULL, 0);
	kallsyms_free(kallsyms);
}

/* The kernel's own list, read by sscanf: each text symbol's address finds a name that it has. */
static void this_kernel_resolves(void **state)
{
	FILE *proc = fopen("/proc/kallsyms", "re"), *in = tmpfile();
	struct kallsyms *kallsyms;
	char line[1024], name[600], module[300], last[904] = "";
	uint64_t address, last_address = 0, into, checked = 0, same = 0;
	char type;

	(void)state;
	assert_true(proc && in);
	/* Once: others load and unload programs meanwhile. */
	while (fgets(line, sizeof(line), proc))
		fputs(line, in);
	fclose(proc);
	rewind(in);
	kallsyms = kallsyms_read(in);
	rewind(in);
	while (fgets(line, sizeof(line), in)) {
		int n = sscanf(line, "%" SCNx64 " %c %599s %299s", &address, &type, name, module);
		const char *found = kallsyms_find(kallsyms, address, &into);

		if (n < 3 || !address || !strchr("tTwW", type) || !strcmp(name, "_etext"))
			continue;
		assert_non_null(found);
		assert_int_equal(into, 0);
		snprintf(last, sizeof(last), n == 4 ? "%s %s" : "%s", name, module);
		same += !strcmp(found, last);
		checked += address != last_address;
		last_address = address;
	}
	fclose(in);
	kallsyms_free(kallsyms);
	if (!checked)
		skip(); /* addresses are hidden from us */
	/* One name of each address is the one that is found. */
	assert_true(checked > 10000 && same + 1 >= checked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_found),
		cmocka_unit_test(what_is_no_code_has_no_name),
		cmocka_unit_test(hidden_addresses_name_nothing),
		cmocka_unit_test(malformed_lines_are_left_out),
		cmocka_unit_test(nothing_is_read_from_nothing),
		cmocka_unit_test(this_kernel_resolves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
