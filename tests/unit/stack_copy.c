/* Copies of the stacks of sleeping threads, by ptrace. */
#include "tests/unit/stack_copy.h"

#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define AWAIT_MS 20000

static int open_of(int flags, const char *fmt, pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), fmt, pid, tid);
	return open(path, flags | O_CLOEXEC);
}

static void take_registers(struct stack_copy *copy, pid_t tid)
{
	struct user_regs_struct user;
	struct iovec iov = {.iov_base = &user, .iov_len = sizeof(user)};

	assert_int_equal(ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &iov), 0);
#if defined(__x86_64__)
	const uint64_t regs[17] = {user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi,
				   user.rbp, user.rsp, user.r8,	 user.r9,  user.r10, user.r11,
				   user.r12, user.r13, user.r14, user.r15, user.rip};

	memcpy(copy->regs, regs, sizeof(regs));
#else
	memcpy(copy->regs, user.regs, sizeof(user.regs));
	copy->regs[31] = user.sp;
	copy->regs[32] = user.pc;
#endif
}

void stack_copy_take(struct stack_copy *ret_copy, pid_t pid, pid_t tid, size_t max)
{
	int status, memory;
	ssize_t n;

	*ret_copy = (struct stack_copy){.memory = mem_zalloc(max)};
	assert_int_equal(ptrace(PTRACE_SEIZE, tid, 0, 0), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, tid, 0, 0), 0);
	assert_int_equal(waitpid(tid, &status, __WALL), tid);
	take_registers(ret_copy, tid);
	memory = open_of(O_RDONLY, "/proc/%d/mem", pid, tid);
	assert_true(memory >= 0);
#if defined(__x86_64__)
	n = pread(memory, ret_copy->memory, max, (off_t)ret_copy->regs[7]);
#else
	n = pread(memory, ret_copy->memory, max, (off_t)ret_copy->regs[31]);
#endif
	assert_true(n >= 0);
	ret_copy->bytes = (size_t)n;
	close(memory);
	assert_int_equal(ptrace(PTRACE_DETACH, tid, 0, 0), 0);
}

void stack_copy_free_members(struct stack_copy *copy)
{
	free(copy->memory);
	*copy = (struct stack_copy){};
}

void stack_copy_add_mappings(struct unwinder *unwinder, pid_t pid)
{
	int fd = open_of(O_RDONLY, "/proc/%d/maps", pid, 0);
	FILE *maps = fdopen(fd, "r");
	char line[5000];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		unsigned long start, end, offset, inode;
		char mode[8], path[4097] = "", link[128];
		struct unwind_mapping mapping;

		sscanf(line, "%lx-%lx %7s %lx %*s %lu %4096[^\n]", &start, &end, mode, &offset,
		       &inode, path);
		if (mode[2] != 'x')
			continue;
		snprintf(link, sizeof(link), "/proc/%d/map_files/%lx-%lx", pid, start, end);
		mapping = (struct unwind_mapping){
			.start = start,
			.end = end,
			.file_offset = offset,
			.name = path,
			.fd = inode ? open(link, O_RDONLY | O_CLOEXEC) : -1,
		};
		unwinder_add(unwinder, &mapping);
		if (mapping.fd >= 0)
			close(mapping.fd);
	}
	fclose(maps);
}

void stack_copy_await(pid_t pid, pid_t tid, long call)
{
	for (int i = 0; i < AWAIT_MS; i++) {
		int fd = open_of(O_RDONLY, "/proc/%d/task/%d/syscall", pid, tid);
		char text[256] = "";
		ssize_t n = read(fd, text, sizeof(text) - 1);

		close(fd);
		if (n > 0 && strncmp(text, "running", 7) != 0 && atol(text) == call)
			return;
		poll(NULL, 0, 1);
	}
	fail_msg("thread %d never slept in system call %ld", tid, call);
}

size_t stack_copy_unwind(struct unwinder *unwinder, const struct stack_copy *copy, uint64_t *ret_frames,
			 bool *ret_truncated)
{
	struct unwind_state state = {
		.regs = copy->regs,
		.memory = copy->memory,
		.bytes = copy->bytes,
	};

	return unwinder_run(unwinder, &state, ret_frames, UNWIND_FRAMES, ret_truncated);
}
