/* Names of system calls: against this machine's headers, and numbers known from the kernel. */
#include "unit.h"

#include <string.h>
#include <sys/syscall.h>

#include "bpf/abi.h"
#include "sym/syscall_names.h"

static void numbers_of_both_architectures(void **state)
{
	/* arch/x86/entry/syscalls/syscall_64.tbl and scripts/syscall.tbl of Linux 6.18. */
	static const struct {
		const char *name;
		int x86_64, arm64;
	} calls[] = {
		{"read", 0, 63},	  {"futex", 202, 98},	      {"epoll_wait", 232, -1},
		{"epoll_pwait", 281, 22}, {"epoll_pwait2", 441, 441}, {"newfstatat", 262, 79},
		{"fstat", 5, 80},	  {"mmap", 9, 222},	      {"clone3", 435, 435},
		{"execve", 59, 221},	  {"io_setup", 206, 0},	      {"uprobe", 336, -1},
		{"mseal", 462, 462},	  {"file_setattr", 469, 469}, {"fcntl", 72, 25},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		assert_int_equal(syscall_number("x86-64", calls[i].name), calls[i].x86_64);
		assert_int_equal(syscall_number("arm64", calls[i].name), calls[i].arm64);
	}
}

static void names_and_numbers_are_each_others_inverse(void **state)
{
	static const char *const arches[] = {"x86-64", "arm64"};

	(void)state;
	for (size_t a = 0; a < 2; a++) {
		size_t n = 0;

		for (uint32_t nr = 0; nr < WK_SYSCALLS; nr++) {
			const char *name = syscall_name(arches[a], nr);

			if (!name)
				continue;
			assert_int_equal(syscall_number(arches[a], name), nr);
			assert_null(strstr(name, "NR"));
			n++;
		}
		assert_true(n > 320);
	}
}

static void newer_numbers_are_shared(void **state)
{
	(void)state;
	for (uint32_t nr = 424; nr <= 469; nr++) {
		assert_non_null(syscall_name("x86-64", nr));
		assert_string_equal(syscall_name("x86-64", nr), syscall_name("arm64", nr));
	}
}

static void unknown_is_null(void **state)
{
	(void)state;
	assert_null(syscall_name("x86-64", 400));
	assert_null(syscall_name("x86-64", 470));
	assert_null(syscall_name("arm64", 244));
	assert_null(syscall_name("arm64", UINT32_MAX));
	assert_null(syscall_name("riscv", 0));
	assert_null(syscall_name("", 0));
	assert_null(syscall_name(NULL, 0));
	assert_int_equal(syscall_number("x86-64", "no_such_call"), -1);
	assert_int_equal(syscall_number("vax", "read"), -1);
}

/* The compiler's own headers know the architecture that this test is built for. */
static void this_machine_agrees(void **state)
{
#ifdef __x86_64__
	const char *arch = "x86-64";
#else
	const char *arch = "arm64";
#endif

	(void)state;
	assert_int_equal(syscall_number(arch, "write"), SYS_write);
	assert_int_equal(syscall_number(arch, "openat"), SYS_openat);
	assert_int_equal(syscall_number(arch, "sched_yield"), SYS_sched_yield);
	assert_int_equal(syscall_number(arch, "exit_group"), SYS_exit_group);
	assert_int_equal(syscall_number(arch, "getppid"), SYS_getppid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_both_architectures),
		cmocka_unit_test(names_and_numbers_are_each_others_inverse),
		cmocka_unit_test(newer_numbers_are_shared),
		cmocka_unit_test(unknown_is_null),
		cmocka_unit_test(this_machine_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
