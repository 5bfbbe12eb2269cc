/* Mangled names as people write them. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "sym/elf.h"

static void known_answers(void **state)
{
	static const struct {
		const char *name, *plain;
	} cases[] = {
		{"", ""},
		{"main", "main"},
		{"_start", "_start"},
		{"_Z", "_Z"},
		{"_R", "_R"},
		{"_ZN", "_ZN"},
		{"_ZN3foo3barEv", "foo::bar()"},
		{"_ZN3foo3barEv.cold", "foo::bar() [clone .cold]"},
		{"_Znwm", "operator new(unsigned long)"},
		{"_Z3addii", "add(int, int)"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi",
		 "std::vector<int, std::allocator<int> >::push_back(int const&)"},
		/* Rust: the older spelling with its hash, and v0 (from the compiler's documentation). */
		{"_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"},
		{"_ZN60_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..Drop$GT$4drop"
		 "17h0123456789abcdefE",
		 "<alloc::vec::Vec<T> as core::ops::Drop>::drop"},
		{"_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function"},
		{"_RNvMsr_NtCs3ssYzQotkvD_3std4pathNtB5_7PathBuf3new",
		 "<std::path::PathBuf>::new"},
		/* Versions, as linkers write them into .symtab. */
		{"memcpy@@GLIBC_2.14", "memcpy"},
		{"memcpy@GLIBC_2.2.5", "memcpy"},
		{"_Znwm@@GLIBCXX_3.4", "operator new(unsigned long)"},
		{"name@plt", "name@plt"},
		{"@GLIBC_2.2.5", "@GLIBC_2.2.5"},
		{"bar@V1 x", "bar@V1 x"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *plain = symbol_demangle(cases[i].name);

		assert_string_equal(plain, cases[i].plain);
		free(plain);
	}
}

/* pair<pair<…>, pair<…>>: each level names the one before twice, in six letters. */
static char *doubled(int levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct strbuf name = {};

	strbuf_add(&name, "_Z1fSt4pairIiiE");
	for (int i = 0; i < levels; i++)
		strbuf_printf(&name, "S_IS%c_S%c_E", digits[i], digits[i]);
	return strbuf_take(&name);
}

static void names_without_end_stay_as_they_are(void **state)
{
	char *name = doubled(3), *plain = symbol_demangle(name), *long_name;

	(void)state;
	/* The pattern is one that is understood while it is short. */
	assert_memory_equal(plain, "f(std::pair<int, int>, ", 23);
	free(plain);
	free(name);
	name = doubled(30);
	plain = symbol_demangle(name);
	assert_string_equal(plain, name);
	free(plain);
	free(name);
	long_name = mem_zalloc(1000001);
	memset(long_name, 'P', 1000000);
	memcpy(long_name, "_Z1f", 4);
	plain = symbol_demangle(long_name);
	assert_string_equal(plain, long_name);
	free(plain);
	/* Deep, but short enough to be tried: must come back. */
	long_name[4000] = '\0';
	plain = symbol_demangle(long_name);
	assert_true(*plain);
	free(plain);
	free(long_name);
}

static size_t compare_with(const char *command)
{
	char *line = NULL;
	size_t cap = 0, n = 0;
	FILE *in = popen(command, "r");

	assert_non_null(in);
	while (getline(&line, &cap, in) > 0) {
		char *tab = strchr(line, '\t'), *plain;

		assert_non_null(tab);
		*tab++ = '\0';
		tab[strcspn(tab, "\n")] = '\0';
		plain = symbol_demangle(line);
		assert_string_equal(plain, tab);
		free(plain);
		n++;
	}
	free(line);
	assert_int_equal(pclose(in), 0);
	return n;
}

/* All names of the C++ library, beside c++filt. */
static void cppfilt_agrees(void **state)
{
	(void)state;
	assert_true(compare_with("set -e; d=$(mktemp -d); trap 'rm -r $d' EXIT; "
				 "nm -D \"$(gcc -print-file-name=libstdc++.so.6)\" | awk '{ print $NF }' | "
				 "sed 's/@.*//' | sort -u > $d/names; "
				 "c++filt -i < $d/names > $d/plain; paste $d/names $d/plain") > 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_answers),
		cmocka_unit_test(names_without_end_stay_as_they_are),
		cmocka_unit_test(cppfilt_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
