/* Sleeps below a chain of calls that it tells first: its own pid and tid, and for each known frame, innermost
 * first, "call ADDRESS" (where the call returns to) or "exact ADDRESS" (an instruction that a signal interrupted).
 * Then "ready".
 *
 *   unwound sleep       outer, middle and inner, nanosleep
 *   unwound cond        the same in a thread, pthread_cond_wait
 *   unwound signal      middle runs into an invalid instruction, whose handler sleeps
 *   unwound jit         middle calls code made at run time, which calls inner
 *   unwound deep N      N recursions of 1024 bytes and more between middle and inner
 *
 * Compiled in many ways by the unit tests of unwinding. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOTED_MAX 8

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
/* After a call: it is no tail call. */
#define STAY	 __asm__ volatile("" ::: "memory")

static struct {
	const char *how;
	const void *address;
} noted[NOTED_MAX];
static int n_noted;

static const char *mode;
static int recursions;
static volatile int asleep = 1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void note(const char *how, const void *address)
{
	noted[n_noted].how = how;
	noted[n_noted++].address = address;
}

static void tell(void)
{
	printf("%d %ld\n", getpid(), syscall(SYS_gettid));
	while (n_noted) {
		n_noted--;
		printf("%s %lx\n", noted[n_noted].how, (unsigned long)noted[n_noted].address);
	}
	printf("ready\n");
	fflush(stdout);
}

static NOINLINE void inner(void)
{
	static const struct timespec day = {.tv_sec = 86400};

	note("call", __builtin_return_address(0));
	tell();
	if (!strcmp(mode, "cond")) {
		pthread_mutex_lock(&mutex);
		while (asleep)
			pthread_cond_wait(&cond, &mutex);
	}
	while (asleep)
		nanosleep(&day, NULL);
}

static NOINLINE void deep(int n)
{
	char room[1024];

	__asm__ volatile("" ::"r"(room) : "memory");
	if (n)
		deep(n - 1);
	else
		inner();
	__asm__ volatile("" ::"r"(room) : "memory");
}

static void handler(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;

	(void)signal;
	(void)info;
#if defined(__x86_64__)
	note("exact", (void *)interrupted->uc_mcontext.gregs[REG_RIP]);
#else
	note("exact", (void *)interrupted->uc_mcontext.pc);
#endif
	inner();
	STAY;
}

static void make_signal(void)
{
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};

	sigaction(SIGILL, &action, NULL);
}

/* Its frame pointer is all that tells where its caller is. */
static void *make_code(void)
{
#if defined(__x86_64__)
	/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	const size_t returns = 6;
#else
	/* stp x29,x30,[sp,#-16]!; mov x29,sp; blr x0; ldp x29,x30,[sp],#16; ret */
	static const uint32_t code[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
	const size_t returns = 12;
#endif
	uint8_t *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		abort();
	memcpy(made, code, sizeof(code));
	__builtin___clear_cache((char *)made, (char *)made + sizeof(code));
	printf("code %zx\n", (size_t)made + returns);
	return made;
}

static NOINLINE void middle(void)
{
	note("call", __builtin_return_address(0));
	if (!strcmp(mode, "signal")) {
		make_signal();
		__builtin_trap();
	} else if (!strcmp(mode, "jit")) {
		void (*made)(void (*)(void)) = (void (*)(void (*)(void)))make_code();

		made(inner);
	} else if (!strcmp(mode, "deep")) {
		deep(recursions);
	} else {
		inner();
	}
	STAY;
}

static NOINLINE void outer(void)
{
	note("call", __builtin_return_address(0));
	middle();
	STAY;
}

static void *thread(void *arg)
{
	outer();
	STAY;
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t other;

	if (argc < 2)
		return 2;
	mode = argv[1];
	recursions = argc > 2 ? atoi(argv[2]) : 0;
	if (!strcmp(mode, "cond") && !pthread_create(&other, NULL, thread, NULL))
		pthread_join(other, NULL);
	outer();
	STAY;
	return 0;
}
