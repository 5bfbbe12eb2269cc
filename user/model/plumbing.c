/* Which frames are plumbing: a table of files and of names. */
#include "model/plumbing.h"

#include <string.h>

#include "base/text.h"

enum plumbing_match {
	MATCH_FILE,	   /* base name of the file */
	MATCH_FILE_BEGIN,  /* what it begins with */
	MATCH_NAME,	   /* name of a function in a file, without what compilers and linkers append */
	MATCH_NAME_BEGIN,
	MATCH_SCOPE,	   /* C++, Rust: the name without its return type begins with this */
	MATCH_KERNEL,	   /* name of a function of the kernel */
	MATCH_KERNEL_BEGIN,
	MATCH_JIT,	   /* what a perf map says, up to the end or a space */
};

/* The first row that fits holds: names stand before files, because libc's start of a thread is in the
 * same file as its calls. Names without their file are for programs that are linked statically. */
static const struct plumbing_rule {
	enum plumbing_match match;
	const char *text;
	enum plumbing plumbing;
} rules[] = {
	/* How processes and threads begin: glibc, musl, libstdc++, Rust, Go. */
	{MATCH_NAME, "_start", PLUMBING_START},
	{MATCH_NAME, "_start_c", PLUMBING_START},
	{MATCH_NAME, "_dl_start", PLUMBING_START},
	{MATCH_NAME, "_dl_start_user", PLUMBING_START},
	{MATCH_NAME_BEGIN, "__libc_start_", PLUMBING_START},
	{MATCH_NAME, "libc_start_main_stage2", PLUMBING_START},
	{MATCH_NAME, "generic_start_main", PLUMBING_START},
	{MATCH_NAME, "start_thread", PLUMBING_START},
	{MATCH_NAME, "start_thread_c11", PLUMBING_START},
	{MATCH_NAME, "clone", PLUMBING_START},
	{MATCH_NAME, "__clone", PLUMBING_START},
	{MATCH_NAME, "clone3", PLUMBING_START},
	{MATCH_NAME, "__clone3", PLUMBING_START},
	{MATCH_NAME, "__clone_internal", PLUMBING_START},
	{MATCH_NAME, "execute_native_thread_routine", PLUMBING_START},
	{MATCH_NAME, "__rust_try", PLUMBING_START},
	{MATCH_NAME, "runtime.goexit", PLUMBING_START},
	{MATCH_NAME, "runtime.mstart", PLUMBING_START},
	{MATCH_NAME, "runtime.mstart0", PLUMBING_START},
	{MATCH_NAME, "runtime.mstart1", PLUMBING_START},
	{MATCH_NAME, "runtime.rt0_go", PLUMBING_START},
	{MATCH_NAME, "_rt0_amd64_linux", PLUMBING_START},
	{MATCH_NAME, "_rt0_arm64_linux", PLUMBING_START},
	{MATCH_SCOPE, "std::thread::_Invoker", PLUMBING_START},
	{MATCH_SCOPE, "std::thread::_State_impl", PLUMBING_START},
	{MATCH_SCOPE, "std::thread::Builder::", PLUMBING_START},
	{MATCH_SCOPE, "std::thread::lifecycle::", PLUMBING_START},
	{MATCH_SCOPE, "std::sys::pal::unix::thread::Thread::new", PLUMBING_START},
	{MATCH_SCOPE, "std::sys::thread::unix::Thread::new", PLUMBING_START},
	{MATCH_SCOPE, "std::sys::unix::thread::Thread::new", PLUMBING_START},
	{MATCH_SCOPE, "std::rt::", PLUMBING_START},
	{MATCH_SCOPE, "std::panicking::", PLUMBING_START},
	{MATCH_SCOPE, "std::panic::", PLUMBING_START},
	{MATCH_SCOPE, "std::sys::backtrace::", PLUMBING_START},
	{MATCH_SCOPE, "std::sys_common::backtrace::", PLUMBING_START},
	{MATCH_SCOPE, "std::__invoke", PLUMBING_START},
	{MATCH_SCOPE, "core::ops::function::", PLUMBING_START},
	{MATCH_SCOPE, "alloc::boxed::Box<", PLUMBING_START},

	/* Libraries of languages. */
	{MATCH_SCOPE, "std::", PLUMBING_CALL},
	{MATCH_SCOPE, "core::", PLUMBING_CALL},
	{MATCH_SCOPE, "alloc::", PLUMBING_CALL},
	{MATCH_SCOPE, "__gnu_cxx::", PLUMBING_CALL},
	{MATCH_SCOPE, "__gthread_", PLUMBING_CALL},
	{MATCH_NAME_BEGIN, "runtime.", PLUMBING_CALL},
	{MATCH_NAME_BEGIN, "syscall.", PLUMBING_CALL},
	{MATCH_NAME_BEGIN, "internal/runtime/", PLUMBING_CALL},
	/* How V8 enters code of its own making. */
	{MATCH_NAME, "Builtins_JSEntry", PLUMBING_CALL},
	{MATCH_NAME, "Builtins_JSEntryTrampoline", PLUMBING_CALL},
	{MATCH_NAME, "Builtins_JSRunMicrotasksEntry", PLUMBING_CALL},
	{MATCH_NAME, "Builtins_InterpreterEntryTrampoline", PLUMBING_CALL},
	{MATCH_JIT, "Builtin:JSEntry", PLUMBING_CALL},
	{MATCH_JIT, "Builtin:JSEntryTrampoline", PLUMBING_CALL},
	{MATCH_JIT, "Builtin:JSRunMicrotasksEntry", PLUMBING_CALL},
	{MATCH_JIT, "Builtin:InterpreterEntryTrampoline", PLUMBING_CALL},

	/* libc: its locks and waits, and the calls that threads sleep in. */
	{MATCH_NAME_BEGIN, "pthread_", PLUMBING_CALL},
	{MATCH_NAME_BEGIN, "__pthread_", PLUMBING_CALL},
	{MATCH_NAME_BEGIN, "___pthread_", PLUMBING_CALL},
	{MATCH_NAME_BEGIN, "__GI_", PLUMBING_CALL},
	{MATCH_NAME_BEGIN, "__libc_", PLUMBING_CALL},
	{MATCH_NAME_BEGIN, "__futex_", PLUMBING_CALL},
	{MATCH_NAME, "futex_wait", PLUMBING_CALL},
	{MATCH_NAME, "do_futex_wait", PLUMBING_CALL},
	{MATCH_NAME_BEGIN, "__lll_", PLUMBING_CALL},
	{MATCH_NAME_BEGIN, "__new_sem_", PLUMBING_CALL},
	{MATCH_NAME_BEGIN, "__syscall", PLUMBING_CALL},
	{MATCH_NAME_BEGIN, "__internal_syscall", PLUMBING_CALL},
	{MATCH_NAME_BEGIN, "__vdso_", PLUMBING_CALL},
	{MATCH_NAME, "__timedwait", PLUMBING_CALL},
	{MATCH_NAME, "__timedwait_cp", PLUMBING_CALL},
	{MATCH_NAME, "__wait", PLUMBING_CALL},
	{MATCH_NAME, "syscall", PLUMBING_CALL},
	{MATCH_NAME, "syscall_cancel", PLUMBING_CALL},
	{MATCH_NAME, "sem_wait", PLUMBING_CALL},
	{MATCH_NAME, "sem_timedwait", PLUMBING_CALL},
	{MATCH_NAME, "sem_clockwait", PLUMBING_CALL},
	{MATCH_NAME, "sem_post", PLUMBING_CALL},
	{MATCH_NAME, "sleep", PLUMBING_CALL},
	{MATCH_NAME, "__sleep", PLUMBING_CALL},
	{MATCH_NAME, "usleep", PLUMBING_CALL},
	{MATCH_NAME, "nanosleep", PLUMBING_CALL},
	{MATCH_NAME, "__nanosleep", PLUMBING_CALL},
	{MATCH_NAME, "clock_nanosleep", PLUMBING_CALL},
	{MATCH_NAME, "__clock_nanosleep", PLUMBING_CALL},
	{MATCH_NAME, "__clock_nanosleep_time64", PLUMBING_CALL},
	{MATCH_NAME, "sched_yield", PLUMBING_CALL},
	{MATCH_NAME, "__sched_yield", PLUMBING_CALL},
	{MATCH_NAME, "epoll_wait", PLUMBING_CALL},
	{MATCH_NAME, "__epoll_wait", PLUMBING_CALL},
	{MATCH_NAME, "epoll_pwait", PLUMBING_CALL},
	{MATCH_NAME, "epoll_pwait2", PLUMBING_CALL},
	{MATCH_NAME, "poll", PLUMBING_CALL},
	{MATCH_NAME, "__poll", PLUMBING_CALL},
	{MATCH_NAME, "__poll_chk", PLUMBING_CALL},
	{MATCH_NAME, "ppoll", PLUMBING_CALL},
	{MATCH_NAME, "__ppoll", PLUMBING_CALL},
	{MATCH_NAME, "select", PLUMBING_CALL},
	{MATCH_NAME, "__select", PLUMBING_CALL},
	{MATCH_NAME, "pselect", PLUMBING_CALL},
	{MATCH_NAME, "__pselect", PLUMBING_CALL},
	{MATCH_NAME, "read", PLUMBING_CALL},
	{MATCH_NAME, "__read", PLUMBING_CALL},
	{MATCH_NAME, "readv", PLUMBING_CALL},
	{MATCH_NAME, "pread64", PLUMBING_CALL},
	{MATCH_NAME, "write", PLUMBING_CALL},
	{MATCH_NAME, "__write", PLUMBING_CALL},
	{MATCH_NAME, "writev", PLUMBING_CALL},
	{MATCH_NAME, "pwrite64", PLUMBING_CALL},
	{MATCH_NAME, "recv", PLUMBING_CALL},
	{MATCH_NAME, "recvfrom", PLUMBING_CALL},
	{MATCH_NAME, "recvmsg", PLUMBING_CALL},
	{MATCH_NAME, "send", PLUMBING_CALL},
	{MATCH_NAME, "sendto", PLUMBING_CALL},
	{MATCH_NAME, "sendmsg", PLUMBING_CALL},
	{MATCH_NAME, "accept", PLUMBING_CALL},
	{MATCH_NAME, "accept4", PLUMBING_CALL},
	{MATCH_NAME, "connect", PLUMBING_CALL},
	{MATCH_NAME, "fsync", PLUMBING_CALL},
	{MATCH_NAME, "fdatasync", PLUMBING_CALL},
	{MATCH_NAME, "ioctl", PLUMBING_CALL},
	{MATCH_NAME, "__ioctl", PLUMBING_CALL},
	{MATCH_NAME, "wait4", PLUMBING_CALL},
	{MATCH_NAME, "__wait4", PLUMBING_CALL},
	{MATCH_NAME, "waitid", PLUMBING_CALL},
	{MATCH_NAME, "waitpid", PLUMBING_CALL},
	{MATCH_NAME, "pause", PLUMBING_CALL},
	{MATCH_NAME, "sigsuspend", PLUMBING_CALL},
	{MATCH_NAME, "sigtimedwait", PLUMBING_CALL},
	{MATCH_NAME, "sigwaitinfo", PLUMBING_CALL},
	{MATCH_NAME, "sigwait", PLUMBING_CALL},

	/* Whole files. */
	{MATCH_FILE, "libc.so.6", PLUMBING_CALL},
	{MATCH_FILE_BEGIN, "libc-", PLUMBING_CALL},
	{MATCH_FILE_BEGIN, "libc.musl-", PLUMBING_CALL},
	{MATCH_FILE_BEGIN, "libpthread-", PLUMBING_CALL},
	{MATCH_FILE_BEGIN, "libpthread.so", PLUMBING_CALL},
	{MATCH_FILE_BEGIN, "librt-", PLUMBING_CALL},
	{MATCH_FILE_BEGIN, "librt.so", PLUMBING_CALL},
	{MATCH_FILE_BEGIN, "ld-linux", PLUMBING_CALL},
	{MATCH_FILE_BEGIN, "ld-musl", PLUMBING_CALL},
	{MATCH_FILE_BEGIN, "ld-2.", PLUMBING_CALL},
	{MATCH_FILE, "ld.so", PLUMBING_CALL},
	{MATCH_FILE_BEGIN, "libstdc++.so", PLUMBING_CALL},
	{MATCH_FILE_BEGIN, "libc++.so", PLUMBING_CALL},
	{MATCH_FILE_BEGIN, "libc++abi.so", PLUMBING_CALL},
	{MATCH_FILE_BEGIN, "libgcc_s.so", PLUMBING_CALL},
	{MATCH_FILE, "[vdso]", PLUMBING_CALL},
	{MATCH_FILE, "[vsyscall]", PLUMBING_CALL},

	/* The kernel: what leads into a call, and how its own threads begin. All else of it is a call. */
	{MATCH_KERNEL_BEGIN, "entry_", PLUMBING_START},
	{MATCH_KERNEL_BEGIN, "asm_", PLUMBING_START},
	{MATCH_KERNEL_BEGIN, "do_syscall_64", PLUMBING_START},
	{MATCH_KERNEL_BEGIN, "x64_sys_call", PLUMBING_START},
	{MATCH_KERNEL_BEGIN, "do_int80_", PLUMBING_START},
	{MATCH_KERNEL_BEGIN, "do_fast_syscall_32", PLUMBING_START},
	{MATCH_KERNEL_BEGIN, "__do_fast_syscall_32", PLUMBING_START},
	{MATCH_KERNEL_BEGIN, "el0", PLUMBING_START},
	{MATCH_KERNEL_BEGIN, "do_el0_svc", PLUMBING_START},
	{MATCH_KERNEL_BEGIN, "invoke_syscall", PLUMBING_START},
	{MATCH_KERNEL_BEGIN, "ret_from_fork", PLUMBING_START},
	{MATCH_KERNEL, "kthread", PLUMBING_START},
};

/* Equal but for a symbol's version ("@@GLIBC_2.3.2") and a part's number (".isra.0", ".cold"). */
static bool is_named(const char *name, const char *text)
{
	size_t n = strlen(text);

	return strncmp(name, text, n) == 0 && (!name[n] || name[n] == '@' || name[n] == '.');
}

/* Where a demangled name's scope begins. Those of C++ templates have their return type before it ("void
 * std::__invoke_impl<…>(…)"), some of Rust are inside of brackets ("<alloc::boxed::Box<F> as …>"). */
static const char *scope_of(const char *name)
{
	static const char operator[] = "operator"; /* what follows is its name, spaces and all */
	const size_t operator_bytes = sizeof(operator) - 1;
	const char *scope = name;
	size_t depth = 0;

	for (const char *c = name; *c; c++) {
		if (*c == '(' && !depth && c != scope)
			break;
		if (*c == '<' || *c == '(' || *c == '{' || *c == '[')
			depth++;
		else if ((*c == '>' || *c == ')' || *c == '}' || *c == ']') && depth)
			depth--;
		if (*c != ' ' || depth)
			continue;
		if ((size_t)(c - scope) >= operator_bytes && text_begins(c - operator_bytes, operator))
			break;
		scope = c + 1;
	}
	while (*scope == '<' || *scope == '&')
		scope++;
	return scope;
}

static bool rule_fits(const struct plumbing_rule *rule, const struct capture_frame *frame,
		      const char *name, const char *scope, const char *file)
{
	bool in_file = frame->kind == FRAME_FILE, in_kernel = frame->kind == FRAME_KERNEL;
	size_t n = strlen(rule->text);

	switch (rule->match) {
	case MATCH_FILE:
		return in_file && strcmp(file, rule->text) == 0;
	case MATCH_FILE_BEGIN:
		return in_file && text_begins(file, rule->text);
	case MATCH_NAME:
		return in_file && is_named(name, rule->text);
	case MATCH_NAME_BEGIN:
		return in_file && text_begins(name, rule->text);
	case MATCH_SCOPE:
		return in_file && text_begins(scope, rule->text);
	case MATCH_KERNEL:
		return in_kernel && is_named(name, rule->text);
	case MATCH_KERNEL_BEGIN:
		return in_kernel && text_begins(name, rule->text);
	case MATCH_JIT:
		return frame->kind == FRAME_JIT && text_begins(name, rule->text) &&
		       (!name[n] || name[n] == ' ');
	}
	return false;
}

enum plumbing plumbing_of(const struct capture_frame *frame, const char *file)
{
	const char *name = frame->name ? frame->name : "";
	const char *scope = scope_of(name);

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (rule_fits(&rules[i], frame, name, scope, file))
			return rules[i].plumbing;
	return frame->kind == FRAME_KERNEL ? PLUMBING_CALL : PLUMBING_NONE;
}
