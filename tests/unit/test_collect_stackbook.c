/* Stacks of real processes, that live, have gone, or are somebody else by now. */
#include "tests/unit/unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/book_driver.h"
#include "tests/unit/folder.h"

/* ---- files ------------------------------------------------------------------------------------- */

static void one_that_ends_at_once_is_known(void **state)
{
	struct stackbook *book = book_open(true);
	char *program = book_program();
	struct book_subject subject;
	struct capture capture;
	struct book_spot spot;

	(void)state;
	book_subject_start(&subject, program, BOOK_HERE, NULL);
	spot = book_subject_spot(&subject);
	book_subject_end(&subject);
	book_add(book, 1, &spot);
	book_take(book, 1, &capture);
	book_expect(&capture, 1, "book_here", program);
	assert_int_equal(book_frame(&capture, 1, 0)->into, 1);
	assert_true(strlen(capture.modules.items[0].build_id) >= 16);
	assert_false(book_stack(&capture, 1)->truncated);
	capture_free_members(&capture);
	stackbook_free(book);
	free(program);
}

static void one_that_lived_before_is_read_from_proc(void **state)
{
	char *program = book_program();
	struct book_subject subject;
	struct stackbook *book;
	struct capture capture;
	struct book_spot spot;

	(void)state;
	book_subject_start(&subject, program, BOOK_WAIT, NULL);
	spot = book_subject_spot(&subject);
	book = book_open(false);
	book_add(book, 1, &spot); /* at first sight */
	book_take(book, 1, &capture);
	book_expect(&capture, 1, "book_here", program);
	capture_free_members(&capture);
	stackbook_free(book);

	book = book_open(false);
	stackbook_seed(book, subject.pid); /* before it ends */
	book_subject_end(&subject);
	book_add(book, 1, &spot);
	book_take(book, 1, &capture);
	book_expect(&capture, 1, "book_here", program);
	capture_free_members(&capture);
	stackbook_free(book);
	free(program);
}

static void a_library_that_is_loaded_later_is_known(void **state)
{
	struct stackbook *book = book_open(true);
	const struct capture_frame *frame;
	char *program = book_program();
	struct book_subject subject;
	struct capture capture;
	struct book_spot spot;
	const char *path;

	(void)state;
	book_subject_start(&subject, program, BOOK_DLOPEN, NULL);
	spot = book_subject_spot(&subject);
	book_add(book, 1, &spot);
	book_subject_end(&subject);
	book_take(book, 1, &capture);
	frame = book_frame(&capture, 1, 0);
	path = capture.modules.items[frame->module].path;
	assert_non_null(strstr(path, "/" BOOK_LIBRARY));
	assert_non_null(strstr(frame->name, BOOK_FUNCTION));
	assert_int_equal(frame->into, 0);
	capture_free_members(&capture);
	stackbook_free(book);
	free(program);
}

/* One id, one program after the other: the time decides which one an address was of. */
static void an_exec_begins_anew(void **state)
{
	struct stackbook *book = book_open(true);
	char *program = book_program(), *other;
	struct book_spot first, second, wrong;
	struct book_subject subject;
	struct capture capture;
	struct folder folder;

	(void)state;
	folder_make(&folder);
	other = book_program_copy(folder.root, "other");
	book_subject_start(&subject, program, BOOK_CHAIN, other);
	first = book_subject_spot(&subject);
	second = book_subject_spot(&subject);
	book_subject_end(&subject);
	assert_int_equal(first.pid, second.pid);
	wrong = second; /* where the other program was, before it was executed */
	wrong.time_ns = first.time_ns;
	book_add(book, 1, &first);
	book_add(book, 2, &second);
	book_add(book, 3, &wrong);
	book_take(book, 3, &capture);
	book_expect(&capture, 1, "book_here", program);
	book_expect(&capture, 2, "book_here", other);
	assert_null(book_stack(&capture, 3));
	capture_free_members(&capture);
	stackbook_free(book);
	folder_remove(&folder);
	free(other);
	free(program);
}

static void a_fork_has_what_its_parent_had(void **state)
{
	char *program = book_program();
	struct book_subject subject, before;
	struct stackbook *book;
	struct capture capture;
	struct book_spot spot;

	(void)state;
	book_subject_start(&before, program, BOOK_WAIT, NULL);
	book_subject_spot(&before);
	book = book_open(true);
	book_subject_start(&subject, program, BOOK_FORK, NULL);
	spot = book_subject_spot(&subject);
	assert_int_not_equal(spot.pid, subject.pid);
	book_subject_end(&subject);
	book_subject_end(&before);
	book_add(book, 1, &spot);
	book_take(book, 1, &capture);
	book_expect(&capture, 1, "book_here", program);
	assert_int_equal(book_stack(&capture, 1)->pid, spot.pid);
	capture_free_members(&capture);
	stackbook_free(book);
	free(program);
}

static void a_deleted_file_is_opened_through_its_mapping(void **state)
{
	struct stackbook *book = book_open(true);
	struct book_subject subject;
	struct capture capture;
	struct book_spot spot;
	struct folder folder;
	char *program;

	(void)state;
	folder_make(&folder);
	program = book_program_copy(folder.root, "gone");
	book_subject_start(&subject, program, BOOK_WAIT, NULL);
	spot = book_subject_spot(&subject);
	assert_int_equal(unlink(program), 0);
	book_add(book, 1, &spot);
	book_subject_end(&subject);
	book_take(book, 1, &capture);
	book_expect(&capture, 1, "book_here", program);
	capture_free_members(&capture);
	stackbook_free(book);
	folder_remove(&folder);
	free(program);
}

/* Gone before it was looked for: its path and offset are all that is known, and another file of that
 * name is not taken for it. */
static void a_file_that_was_replaced_is_not_believed(void **state)
{
	struct stackbook *book = book_open(true);
	const struct capture_frame *frame;
	struct book_subject subject;
	struct capture capture;
	struct book_spot spot;
	struct folder folder;
	char *program, *again;

	(void)state;
	folder_make(&folder);
	program = book_program_copy(folder.root, "program");
	book_subject_start(&subject, program, BOOK_HERE, NULL);
	spot = book_subject_spot(&subject);
	book_subject_end(&subject);
	assert_int_equal(unlink(program), 0);
	again = book_program_copy(folder.root, "program");
	book_add(book, 1, &spot);
	book_take(book, 1, &capture);
	frame = book_frame(&capture, 1, 0);
	assert_int_equal(frame->kind, FRAME_FILE);
	assert_string_equal(frame->name, "");
	assert_string_equal(capture.modules.items[frame->module].path, program);
	assert_string_equal(capture.modules.items[frame->module].build_id, "");
	capture_free_members(&capture);
	stackbook_free(book);
	folder_remove(&folder);
	free(again);
	free(program);
}

static void what_is_not_mapped_is_dropped(void **state)
{
	struct stackbook *book = book_open(false);
	struct book_spot spot = {.pid = (uint32_t)getpid(), .time_ns = UINT64_MAX - 1};
	uint64_t user[] = {(uint64_t)(uintptr_t)book_open, 0, 0x10,
			   (uint64_t)(uintptr_t)what_is_not_mapped_is_dropped + 1, ~0ULL};
	struct stack_taken taken = {
		.id = 1, .pid = spot.pid, .time_ns = spot.time_ns, .user = user, .n_user = 5};
	struct capture capture;

	(void)state;
	stackbook_add(book, &taken);
	spot.address = 0x10; /* all of it */
	book_add(book, 2, &spot);
	spot.pid = 0x7ffffffe; /* nobody */
	book_add(book, 3, &spot);
	book_take(book, 3, &capture);
	assert_int_equal(book_stack(&capture, 1)->frames.n, 2);
	assert_true(book_stack(&capture, 1)->truncated);
	/* A caller's address is that of the instruction behind its call. */
	assert_string_equal(book_frame(&capture, 1, 1)->name, "what_is_not_mapped_is_dropped");
	assert_int_equal(book_frame(&capture, 1, 1)->into, 0);
	assert_null(book_stack(&capture, 2 + 3));
	capture_free_members(&capture);
	stackbook_free(book);
}

static void the_vdso_has_names(void **state)
{
	struct stackbook *book = book_open(false);
	struct book_spot spot = {.pid = (uint32_t)getpid(), .time_ns = UINT64_MAX - 1};
	char line[512], name[256] = "";
	FILE *in = fopen("/proc/self/maps", "re");
	struct capture capture;
	unsigned long start;

	(void)state;
	assert_non_null(in);
	while (fgets(line, sizeof(line), in))
		if (strstr(line, "[vdso]") && sscanf(line, "%lx", &start) == 1)
			spot.address = start;
	fclose(in);
	if (!spot.address) {
		stackbook_free(book);
		skip();
	}
	/* Some function lies behind the tables. */
	for (uint32_t i = 0; i < 64; i++, spot.address += 0x40)
		book_add(book, i + 1, &spot);
	book_take(book, 64, &capture);
	for (size_t i = 0; i < capture.frames.n; i++) {
		assert_int_equal(capture.frames.items[i].kind, FRAME_FILE);
		if (strstr(capture.frames.items[i].name, "vdso") || strstr(capture.frames.items[i].name, "clock"))
			snprintf(name, sizeof(name), "%s", capture.frames.items[i].name);
	}
	assert_string_equal(capture.modules.items[0].path, "[vdso]");
	assert_true(name[0]);
	capture_free_members(&capture);
	stackbook_free(book);
}

/* ---- copies ------------------------------------------------------------------------------------ */

struct copy {
	uint64_t regs[WK_STACK_REGS];
	uint8_t memory[WK_STACK_COPY_BYTES];
	size_t bytes;
};

static void copy_registers(pid_t pid, uint64_t *regs)
{
#ifdef __x86_64__
	struct user_regs_struct {
		uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi, orig_rax,
			rip, cs, eflags, rsp, ss, fs_base, gs_base, ds, es, fs, gs;
	} r;
	struct iovec out = {&r, sizeof(r)};

	assert_int_equal(ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &out), 0);
	memcpy(regs,
	       (uint64_t[]){r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp, r.r8, r.r9, r.r10,
			    r.r11, r.r12, r.r13, r.r14, r.r15, r.rip},
	       17 * sizeof(*regs));
#else
	struct iovec out = {regs, WK_STACK_REGS * sizeof(*regs)}; /* x0 to x30, sp, pc, as in DWARF */

	assert_int_equal(ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &out), 0);
#endif
}

static uint64_t stack_pointer(const uint64_t *regs)
{
#ifdef __x86_64__
	return regs[7];
#else
	return regs[31];
#endif
}

static bool sleeps(pid_t pid)
{
	char path[64], line[256], state = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	in = fopen(path, "re");
	assert_non_null(in);
	assert_non_null(fgets(line, sizeof(line), in));
	fclose(in);
	assert_int_equal(sscanf(strrchr(line, ')') + 1, " %c", &state), 1);
	return state == 'S';
}

/* What the kernel side copies of a thread that has fallen asleep. */
static void copy_stack(pid_t pid, struct copy *ret_copy)
{
	struct iovec to = {ret_copy->memory, sizeof(ret_copy->memory)}, from;
	ssize_t n;
	int status;

	while (!sleeps(pid))
		sched_yield();
	memset(ret_copy->regs, 0, sizeof(ret_copy->regs));
	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	copy_registers(pid, ret_copy->regs);
	from = (struct iovec){(void *)(uintptr_t)stack_pointer(ret_copy->regs), sizeof(ret_copy->memory)};
	n = process_vm_readv(pid, &to, 1, &from, 1, 0);
	for (size_t bytes = 4096; n <= 0 && bytes >= 512; bytes /= 2) { /* the stack's end is near */
		from.iov_len = bytes;
		n = process_vm_readv(pid, &to, 1, &from, 1, 0);
	}
	assert_true(n > 0);
	ret_copy->bytes = (size_t)n;
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
}

static void expect_callers(const struct capture *capture, uint64_t wakeups)
{
	const char *const wanted[] = {"book_inner", "book_middle", "book_outer", "main"};
	const struct capture_stack *stack = book_stack(capture, wakeups);
	size_t found = 0;

	assert_non_null(stack);
	for (size_t i = 0; i < stack->frames.n && found < 4; i++)
		found += !strcmp(capture->frames.items[stack->frames.items[i]].name, wanted[found]);
	assert_int_equal(found, 4);
	assert_false(stack->truncated);
}

static void a_copied_stack_is_unwound(void **state)
{
	struct stackbook *book = book_open(false);
	char *program = book_program();
	struct book_subject subject;
	struct stack_taken taken;
	struct capture capture;
	struct book_spot spot;
	struct copy copy;

	(void)state;
	book_subject_start(&subject, program, BOOK_SLEEP, NULL);
	spot = book_subject_spot(&subject);
	copy_stack(subject.pid, &copy);
	taken = (struct stack_taken){.id = 1,
				     .pid = spot.pid,
				     .time_ns = spot.time_ns,
				     .regs = copy.regs,
				     .memory = copy.memory,
				     .memory_bytes = copy.bytes};
	stackbook_add(book, &taken);
	kill(subject.pid, SIGKILL);
	waitpid(subject.pid, NULL, 0);
	/* Each copy has an id of its own, and equal ones are one stack. */
	taken.id = 3;
	stackbook_add(book, &taken);
	memset(copy.regs, 0, sizeof(copy.regs));
	taken.id = 4;
	stackbook_add(book, &taken);
	book_take(book, 4, &capture);
	expect_callers(&capture, 1 + 3);
	assert_null(book_stack(&capture, 2 + 4));
	assert_int_equal(capture.stacks.n, 1);
	assert_int_equal(capture.wake_stacks.n, 2);
	capture_free_members(&capture);
	stackbook_free(book);
	close(subject.in);
	close(subject.out);
	free(program);
}

/* ---- the kernel's ------------------------------------------------------------------------------ */

/* Address of a symbol; 0: the kernel has none of that name, or shows no addresses. */
static uint64_t kernel_address(const char *name)
{
	FILE *in = fopen("/proc/kallsyms", "re");
	char line[512], found[256], type;
	unsigned long address, result = 0;

	while (in && !result && fgets(line, sizeof(line), in))
		if (sscanf(line, "%lx %c %255s", &address, &type, found) == 3 && !strcmp(found, name))
			result = address;
	if (in)
		fclose(in);
	return result;
}

static void the_probes_own_frames_are_left_out(void **state)
{
	uint64_t kernel[] = {kernel_address("bpf_trace_run4") + 1, kernel_address("__schedule") + 9,
			     kernel_address("schedule") + 9, kernel_address("bpf_trace_run4") + 9};
	struct stack_taken taken = {.id = 1, .time_ns = 1, .kernel = kernel, .n_kernel = 4};
	struct stack_counted counted[] = {
		{.key = {.what = 5, .sleeper = 1}, .count.count = 1},
		{.key = {.what = WK_STACK_SAMPLE | 9, .sleeper = 1}, .count.count = 1},
	};
	struct capture capture = {0};
	struct stackbook *book;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		if (kernel[i] < 10)
			skip();
	book = book_open(false);
	vec_push(&capture.causes)->number = 5;
	vec_push(&capture.threads)->t.serial = 9;
	stackbook_add(book, &taken);
	stackbook_take(book, counted, 2, &capture);
	assert_int_equal(capture.stacks.n, 2);
	assert_int_equal(book_stack(&capture, 1)->kernel, 3);
	assert_int_equal(book_stack(&capture, 1)->frames.n, 3);
	assert_string_equal(book_frame(&capture, 1, 0)->name, "__schedule");
	assert_int_equal(book_frame(&capture, 1, 0)->into, 8);
	assert_string_equal(book_frame(&capture, 1, 1)->name, "schedule");
	/* One further down is not the probe's; a sample may well hit a probe. */
	assert_string_equal(book_frame(&capture, 1, 2)->name, "bpf_trace_run4");
	assert_int_equal(capture.stacks.items[capture.samples.items[0].stack].frames.n, 4);
	capture_free_members(&capture);
	stackbook_free(book);
}

/* ---- rows -------------------------------------------------------------------------------------- */

static void rows_go_to_their_capture_and_equal_ones_are_one(void **state)
{
	uint64_t address = (uint64_t)(uintptr_t)book_open;
	struct book_spot spot = {
		.pid = (uint32_t)getpid(), .time_ns = UINT64_MAX - 1, .address = address};
	struct stack_counted counted[] = {
		{{8, 2, 0}, {1, 10}}, {{7, 1, 2}, {2, 20}}, {{7, 2, 1}, {3, 30}},
		{{7, 0, 0}, {4, 40}}, {{7, 9, 0}, {5, 50}}, {{WK_STACK_SAMPLE | 7, 1, 0}, {6, 0}},
		{{WK_STACK_SAMPLE | 3, 2, 0}, {7, 0}}, {{WK_STACK_SAMPLE | 3, 1, 0}, {8, 0}},
	};
	struct capture one = {0}, two = {0};
	struct stackbook *book = book_open(false);

	(void)state;
	vec_push(&one.causes)->number = 7;
	vec_push(&one.threads)->t.serial = 3;
	vec_push(&two.causes)->number = 8;
	book_add(book, 1, &spot);
	book_add(book, 2, &spot);
	stackbook_take(book, counted, 8, &one);
	stackbook_take(book, counted, 8, &two);
	assert_int_equal(one.wake_stacks.n, 2);
	assert_int_equal(one.wake_stacks.items[0].sleeper, 0);
	assert_int_equal(one.wake_stacks.items[0].waker, 0);
	assert_int_equal(one.wake_stacks.items[0].wakeups, 2 + 3);
	assert_int_equal(one.wake_stacks.items[0].sleep_ns, 20 + 30);
	/* None was taken, or it never came: both are without one. */
	assert_int_equal(one.wake_stacks.items[1].sleeper, STACK_NONE);
	assert_int_equal(one.wake_stacks.items[1].wakeups, 4 + 5);
	assert_int_equal(one.samples.n, 1);
	assert_int_equal(one.samples.items[0].count, 7 + 8);
	assert_int_equal(two.wake_stacks.n, 1);
	assert_int_equal(two.wake_stacks.items[0].cause, 8);
	assert_int_equal(two.stacks.n, 1);
	assert_int_equal(two.samples.n, 0);
	capture_free_members(&one);
	capture_free_members(&two);

	stackbook_reset(book);
	assert_int_equal(stackbook_keep(book, 1), 0);
	book_take(book, 2, &one);
	assert_null(book_stack(&one, 1 + 2));
	capture_free_members(&one);
	stackbook_free(book);
}

static void what_is_kept_outlives_the_id_of_a_copy(void **state)
{
	struct book_spot spot = {.pid = (uint32_t)getpid(),
				 .time_ns = UINT64_MAX - 1,
				 .address = (uint64_t)(uintptr_t)book_open};
	struct stack_counted counted[2] = {
		{.key = {.what = 7}, .count.count = 1},
		{.key = {.what = 7}, .count.count = 2},
	};
	struct stackbook *book = book_open(false);
	struct capture capture = {0};

	(void)state;
	vec_push(&capture.causes)->number = 7;
	book_add(book, 1, &spot);
	assert_int_equal(stackbook_keep(book, 0), 0);
	assert_int_equal(stackbook_keep(book, 2), 0);
	/* Copies have numbers of their own, from 0 on: those of frames are others. */
	assert_int_equal(stackbook_keep(book, WK_STACK_COPIED), 0);
	assert_int_equal(stackbook_keep(book, WK_STACK_COPIED | 1), 0);
	book_add(book, WK_STACK_COPIED, &spot);
	counted[0].key.sleeper = stackbook_keep(book, WK_STACK_COPIED);
	assert_int_not_equal(counted[0].key.sleeper, 0);
	assert_int_equal(counted[0].key.sleeper, stackbook_keep(book, 1));

	spot.address++;
	book_add(book, WK_STACK_COPIED, &spot);
	counted[1].key.sleeper = stackbook_keep(book, WK_STACK_COPIED);
	assert_int_not_equal(counted[1].key.sleeper, counted[0].key.sleeper);
	stackbook_take(book, counted, 2, &capture);
	assert_int_equal(capture.stacks.n, 2);
	assert_int_equal(book_frame(&capture, 1, 0)->offset + 1, book_frame(&capture, 2, 0)->offset);
	capture_free_members(&capture);

	/* A book that is empty again knows nothing of it. */
	stackbook_reset(book);
	capture = (struct capture){0};
	vec_push(&capture.causes)->number = 7;
	stackbook_take(book, counted, 2, &capture);
	assert_null(book_stack(&capture, 1 + 2));
	capture_free_members(&capture);
	stackbook_free(book);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_ends_at_once_is_known),
		cmocka_unit_test(one_that_lived_before_is_read_from_proc),
		cmocka_unit_test(a_library_that_is_loaded_later_is_known),
		cmocka_unit_test(an_exec_begins_anew),
		cmocka_unit_test(a_fork_has_what_its_parent_had),
		cmocka_unit_test(a_deleted_file_is_opened_through_its_mapping),
		cmocka_unit_test(a_file_that_was_replaced_is_not_believed),
		cmocka_unit_test(what_is_not_mapped_is_dropped),
		cmocka_unit_test(the_vdso_has_names),
		cmocka_unit_test(a_copied_stack_is_unwound),
		cmocka_unit_test(the_probes_own_frames_are_left_out),
		cmocka_unit_test(rows_go_to_their_capture_and_equal_ones_are_one),
		cmocka_unit_test(what_is_kept_outlives_the_id_of_a_copy),
	};

	book_subject_main(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
