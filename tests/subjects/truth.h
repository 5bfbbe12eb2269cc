/* What a subject says about itself: its own counts and the kernel's, as one line of JSON.
 *
 * Every subject takes these options before its own arguments:
 *	--truth FILE	where the line is written at the end; without it nothing is read of the
 *kernel
 *	--ready FD	"ready PID\n" is written there once the subject stands before its pattern
 *	--go FD		the subject then waits until a byte or the end of file arrives there
 *	--stay 1	once the line is written, the same two again before the end (subjects that
 *			have one thread only)
 * so that a test attaches first and lets the pattern begin afterwards, without sleeping for luck.
 *
 *	{"pid":812,"cpu_ns":…,"nvcsw":…,"nivcsw":…,"said":{"sleeps":500},
 *	 "threads":[{"tid":812,"role":"main","count":500,"nvcsw":…,"nivcsw":…,"cpu_ns":…,
 *		     "schedstat_oncpu_ns":…,"schedstat_runq_ns":…,"schedstat_slices":…}]}
 *
 * A thread that was there when main() began has what the kernel had counted for it until then under
 * "before": what preceded its exec is in its later figures too.
 *
 * cpu_ns of the process is getrusage's user and system time, of a thread CLOCK_THREAD_CPUTIME_ID.
 * The figures of a thread are those at the call of truth_thread(): what it does after that (exit)
 *is in wakewhy's figures only.
 */
#ifndef WAKEWHY_SUBJECTS_TRUTH_H
#define WAKEWHY_SUBJECTS_TRUTH_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TRUTH_THREADS 16384
#define TRUTH_SAID    16

struct truth_thread {
	const char *role;
	pid_t tid;
	uint64_t count;
	uint64_t cpu_ns;
	long nvcsw, nivcsw;
	unsigned long long oncpu_ns, runq_ns, slices;
};

struct truth {
	struct truth_thread before; /* of the thread that called truth_new() */
	const char *path;
	int ready_fd, go_fd;
	bool stay;
	size_t n_said;
	struct {
		const char *name;
		long long value;
	} said[TRUTH_SAID];
	atomic_size_t n_threads;
	struct truth_thread threads[TRUTH_THREADS];
};

static inline _Noreturn void truth_die(const char *what)
{
	fprintf(stderr, "subject: %s: %s\n", what, strerror(errno));
	exit(99);
}

static inline uint64_t truth_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static inline void truth_schedstat(struct truth_thread *thread)
{
	char text[128] = "";
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0)
		sscanf(text, "%llu %llu %llu", &thread->oncpu_ns, &thread->runq_ns,
		       &thread->slices);
	close(fd);
}

/* The kernel's figures of the calling thread. */
static inline void truth_figures(struct truth_thread *thread)
{
	struct rusage usage;

	thread->tid = (pid_t)syscall(SYS_gettid);
	truth_schedstat(thread);
	getrusage(RUSAGE_THREAD, &usage);
	thread->nvcsw = usage.ru_nvcsw;
	thread->nivcsw = usage.ru_nivcsw;
	thread->cpu_ns = truth_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* Takes the options above out of argv; what remains is argv[1] to argv[*argc - 1]. */
static inline struct truth *truth_new(int *argc, char **argv)
{
	struct truth *truth = calloc(1, sizeof(*truth));
	int i;

	if (!truth)
		truth_die("memory");
	truth->ready_fd = truth->go_fd = -1;
	for (i = 1; i + 1 < *argc; i += 2) {
		if (!strcmp(argv[i], "--truth"))
			truth->path = argv[i + 1];
		else if (!strcmp(argv[i], "--ready"))
			truth->ready_fd = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--go"))
			truth->go_fd = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--stay"))
			truth->stay = atoi(argv[i + 1]);
		else
			break;
	}
	memmove(argv + 1, argv + i, (size_t)(*argc - i + 1) * sizeof(*argv));
	*argc -= i - 1;
	if (truth->path)
		truth_figures(&truth->before);
	return truth;
}

/* Says that the subject is ready and waits until it may begin. Without the options: no call at all.
 */
static inline void truth_ready(struct truth *truth)
{
	char byte;

	if (truth->ready_fd >= 0)
		dprintf(truth->ready_fd, "ready %d\n", (int)getpid());
	while (truth->go_fd >= 0 && read(truth->go_fd, &byte, 1) < 0 && errno == EINTR)
		;
}

static inline void truth_sleep_ns(uint64_t ns)
{
	struct timespec left = {(time_t)(ns / 1000000000ULL), (long)(ns % 1000000000ULL)};

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

/* Some CPU time: about n cycles. */
static inline void truth_work(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		__asm__ volatile("" : : "r"(i));
}

/* The numbered argument as a number, or what stands for a missing one. */
static inline uint64_t truth_number(int argc, char **argv, int i, uint64_t otherwise)
{
	return i < argc ? strtoull(argv[i], NULL, 0) : otherwise;
}

/* Notes the calling thread's figures, as its last act: no lock, so that noting never sleeps. */
static inline void truth_thread(struct truth *truth, const char *role, uint64_t count)
{
	size_t i = atomic_fetch_add(&truth->n_threads, 1);
	struct truth_thread *thread = &truth->threads[i];

	if (i >= TRUTH_THREADS)
		abort();
	thread->role = role;
	thread->count = count;
	if (truth->path)
		truth_figures(thread);
}

static inline void truth_say(struct truth *truth, const char *name, long long value)
{
	if (truth->n_said == TRUTH_SAID)
		abort();
	truth->said[truth->n_said].name = name;
	truth->said[truth->n_said++].value = value;
}

static inline uint64_t truth_timeval_ns(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000ULL + (uint64_t)time.tv_usec * 1000ULL;
}

static inline void truth_write_figures(const struct truth_thread *t, FILE *out)
{
	fprintf(out,
		"\"nvcsw\":%ld,\"nivcsw\":%ld,\"cpu_ns\":%llu,\"schedstat_oncpu_ns\":%llu,"
		"\"schedstat_runq_ns\":%llu,\"schedstat_slices\":%llu",
		t->nvcsw, t->nivcsw, (unsigned long long)t->cpu_ns, t->oncpu_ns, t->runq_ns,
		t->slices);
}

static inline void truth_write_threads(const struct truth *truth, FILE *out)
{
	static const struct truth_thread nothing;

	for (size_t i = 0; i < truth->n_threads; i++) {
		const struct truth_thread *t = &truth->threads[i];

		fprintf(out, "%s{\"tid\":%d,\"role\":\"%s\",\"count\":%llu,", i ? "," : "", t->tid,
			t->role, (unsigned long long)t->count);
		truth_write_figures(t, out);
		fputs(",\"before\":{", out);
		truth_write_figures(t->tid == truth->before.tid ? &truth->before : &nothing, out);
		fputs("}}", out);
	}
}

/* Writes the line. Call it from one thread, when the others have ended or stand still. */
static inline void truth_write(struct truth *truth)
{
	struct rusage usage;
	FILE *out;

	if (!truth->path)
		return;
	getrusage(RUSAGE_SELF, &usage);
	out = fopen(truth->path, "we");
	if (!out)
		truth_die(truth->path);
	fprintf(out, "{\"pid\":%d,\"cpu_ns\":%llu,\"nvcsw\":%ld,\"nivcsw\":%ld,\"said\":{",
		(int)getpid(),
		(unsigned long long)(truth_timeval_ns(usage.ru_utime) +
				     truth_timeval_ns(usage.ru_stime)),
		usage.ru_nvcsw, usage.ru_nivcsw);
	for (size_t i = 0; i < truth->n_said; i++)
		fprintf(out, "%s\"%s\":%lld", i ? "," : "", truth->said[i].name,
			truth->said[i].value);
	fputs("},\"threads\":[", out);
	truth_write_threads(truth, out);
	fputs("]}\n", out);
	if (fclose(out))
		truth_die(truth->path);
}

/* With --stay: stands asleep once more, so that a test can read the kernel's figures at leisure. */
static inline void truth_stay(struct truth *truth)
{
	if (truth->stay)
		truth_ready(truth);
}

/* Pins the calling thread to the n-th CPU that it may use (counted round). Returns that CPU. */
static inline int truth_pin(unsigned int n)
{
	cpu_set_t allowed, one;
	int cpu, seen = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		truth_die("sched_getaffinity");
	n %= (unsigned int)CPU_COUNT(&allowed);
	for (cpu = 0; !CPU_ISSET(cpu, &allowed) || seen++ < (int)n; cpu++)
		;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		truth_die("sched_setaffinity");
	return cpu;
}

static inline pthread_t truth_start(void *(*body)(void *), void *argument)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	errno = pthread_create(&thread, &attributes, body, argument);
	if (errno)
		truth_die("pthread_create");
	pthread_attr_destroy(&attributes);
	return thread;
}

#endif
