/* Records of mappings: lost ones, and none at all; and which kernel frames are the probe's. */
#include "tests/unit/unit.h"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/kernel_names.h"
#include "tests/unit/book_driver.h"

#define MANY 20000 /* records: more than a CPU's buffer holds */

static void *map_code(void)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(code, MAP_FAILED);
	return code;
}

static void add_own(struct stackbook *book, uint32_t id, const void *address)
{
	struct book_spot spot = {.pid = (uint32_t)getpid(),
				 .time_ns = UINT64_MAX - 1,
				 .address = (uint64_t)(uintptr_t)address};

	book_add(book, id, &spot);
}

/* The mapping's own record is among those that found no room: /proc is read once more. */
static void what_was_lost_is_read_again(void **state)
{
	struct stackbook *book = book_open(true);
	struct capture capture;
	void *code, *last;

	(void)state;
	add_own(book, 1, (const void *)(uintptr_t)map_code); /* all that is mapped by now is known */
	for (int i = 0; i < MANY; i++) {
		code = map_code();
		munmap(code, 4096);
	}
	last = mmap((void *)0x200000000000, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(last, MAP_FAILED);
	add_own(book, 2, last);
	book_take(book, 2, &capture);
	assert_non_null(book_stack(&capture, 1));
	assert_non_null(book_stack(&capture, 2));
	assert_int_equal(book_frame(&capture, 2, 0)->kind, FRAME_JIT);
	munmap(last, 4096);
	capture_free_members(&capture);
	stackbook_free(book);
}

/* Whoever waits is woken for each half of a buffer that is written, and not before. */
static void half_a_buffer_is_told(void **state)
{
	struct stackbook *book = book_open(true);
	struct pollfd wait = {.fd = stackbook_fd(book), .events = POLLIN};

	(void)state;
	stackbook_service(book);
	assert_int_equal(poll(&wait, 1, 0), 0);
	for (int i = 0; i < MANY; i++)
		munmap(map_code(), 4096);
	assert_int_equal(poll(&wait, 1, 10000), 1);
	stackbook_free(book);
}

static size_t probes(const char *a, const char *b, const char *c, const char *d)
{
	const char *names[] = {a, b, c, d};

	return kernel_names_probe_frames(names, 4);
}

static void the_probe_is_on_top_only(void **state)
{
	(void)state;
	assert_int_equal(probes("bpf_prog_a1_handle_switch", "bpf_trace_run4", "__schedule", "schedule"), 2);
	assert_int_equal(probes("bpf_get_stack", "bpf_prog_a1", "__traceiter_sched_waking", "try_to_wake_up"),
			 3);
	assert_int_equal(probes("__schedule", "schedule", "bpf_trampoline_1", "do_nanosleep"), 0);
	assert_int_equal(probes("", "bpf_prog_a1", "__schedule", "bpf_prog_b2"), 2);
	assert_int_equal(probes("", "", "", ""), 0);
	assert_int_equal(probes("bpf_prog_a", "bpf_prog_b", "bpf_prog_c", "bpf_prog_d"), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_lost_is_read_again),
		cmocka_unit_test(half_a_buffer_is_told),
		cmocka_unit_test(the_probe_is_on_top_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
