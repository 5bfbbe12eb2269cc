/* chain → code made at run time, named jit_sleeper by a perf map → jit_callee, which sleeps. The code keeps a
 * frame pointer and nothing else tells how to unwind it. With WAKEWHY_NO_MAP in the environment no
 * map is written. */
#include "call.h"
#include "known.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE_AT 64 /* in its page: not the beginning, so that both must be right */

/* void f(uint64_t ns, void callee(uint64_t)) { callee(ns); } */
#if defined(__x86_64__)
static const unsigned char code[] = {
	0x55,		  /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp,%rbp */
	0xff, 0xd6,	  /* call *%rsi */
	0x5d,		  /* pop %rbp */
	0xc3,		  /* ret */
};
#elif defined(__aarch64__)
static const unsigned int code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xd63f0020, /* blr x1 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#else
#error "no code for this architecture"
#endif

typedef void jit_function(uint64_t ns, void (*callee)(uint64_t));

static jit_function *jitted;

jit_function *jit_find(void);
void jit_callee(uint64_t ns);

KNOWN void jit_callee(uint64_t ns)
{
	call_sleep(ns);
	KNOWN_END();
}

static void map_write(const char *at)
{
	char path[64];
	FILE *out;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	unlink(path); /* of an earlier process with our number */
	out = fopen(path, "wex");
	if (!out || fprintf(out, "%lx %zx jit_sleeper\n", (unsigned long)at, sizeof(code)) < 0 ||
	    fclose(out)) {
		perror(path);
		exit(99);
	}
}

static void code_make(void)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		abort();
	memcpy(page + CODE_AT, code, sizeof(code));
	if (mprotect(page, bytes, PROT_READ | PROT_EXEC))
		abort();
	__builtin___clear_cache(page, page + bytes);
	*(void **)&jitted = page + CODE_AT;
	if (!getenv("WAKEWHY_NO_MAP"))
		map_write(page + CODE_AT);
}

/* In a function of its own, so that chain makes its call at one place. */
KNOWN jit_function *jit_find(void)
{
	if (!jitted)
		code_make();
	return jitted;
}

KNOWN void chain(uint64_t ns)
{
	jit_find()(ns, jit_callee);
	KNOWN_END();
}
