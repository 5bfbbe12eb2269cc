/* stackdump [-kuca] [-l PER_S] [-z HZ] [-d SECONDS] [-t TIMES] -p PID: what the kernel side hands out.
 *
 * Follows a process with the collector as wakewhy has it, but with a book of its own that writes down what it is
 * given. Copies are numbered as they come. One line each on standard output, numbers in decimal, addresses in hexadecimal:
 *	ready
 *	stack ID PID TIME_NS COPIED_BYTES k ADDRESS... u ADDRESS...
 *	regs ID REGISTER...		(the copied ones, of the stack before)
 *	copies COUNT IDS		(how many copies, and up to which of the collector's own ids)
 *	count WHAT SLEEPER WAKER COUNT SLEEP_NS
 *	cause NUMBER SERIAL WAKEUPS CONTEXT WAKER
 *	thread SERIAL PID TID ONCPU_NS COMM
 *	lost NAME COUNT
 *	collector WAKEUPS ONCPU_NS OPEN_NS
 * The window is open from "ready" until the duration is over or a line comes on standard input. With -t
 * it is opened and closed so many times, with a reset in between; each time ends with "end". */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "collect/collect.h"
#include "collect/stackbook.h"

/* What was handed in, kept until the window is over: writing must not disturb it. */
struct stackbook {
	FILE *out;
	char *text;
	size_t bytes;
	uint32_t copies;
	VEC(uint32_t) copy_of_id; /* the last one; 0: none */
};

/* The next copy has its id: here each gets a number of its own. */
static uint32_t copy_add(struct stackbook *book, uint32_t id)
{
	uint32_t place = id & ~WK_STACK_COPIED;

	while (book->copy_of_id.n <= place)
		*vec_push(&book->copy_of_id) = 0;
	book->copy_of_id.items[place] = WK_STACK_COPIED | ++book->copies;
	return book->copy_of_id.items[place];
}

int stackbook_open(struct stackbook **ret_book, struct diag *diag)
{
	(void)diag;
	*ret_book = mem_zalloc(sizeof(**ret_book));
	stackbook_reset(*ret_book);
	return 0;
}

void stackbook_free(struct stackbook *book)
{
	if (!book)
		return;
	fclose(book->out);
	free(book->text);
	free(book->copy_of_id.items);
	free(book);
}

int stackbook_fd(const struct stackbook *book)
{
	(void)book;
	return -1;
}

void stackbook_service(struct stackbook *book)
{
	(void)book;
}

void stackbook_seed(struct stackbook *book, pid_t pid)
{
	(void)book;
	(void)pid;
}

void stackbook_add(struct stackbook *book, const struct stack_taken *taken)
{
	uint32_t id = taken->id & WK_STACK_COPIED ? copy_add(book, taken->id) : taken->id;
	FILE *out = book->out;

	fprintf(out, "stack %u %u %llu %zu k", id, taken->pid, (unsigned long long)taken->time_ns,
	       taken->memory_bytes);
	for (size_t i = 0; i < taken->n_kernel; i++)
		fprintf(out, " %llx", (unsigned long long)taken->kernel[i]);
	fputs(" u", out);
	for (size_t i = 0; i < taken->n_user; i++)
		fprintf(out, " %llx", (unsigned long long)taken->user[i]);
	putc('\n', out);
	if (!taken->regs)
		return;
	fprintf(out, "regs %u", id);
	for (size_t i = 0; i < WK_STACK_REGS; i++)
		fprintf(out, " %llx", (unsigned long long)taken->regs[i]);
	putc('\n', out);
}

uint32_t stackbook_keep(const struct stackbook *book, uint32_t id)
{
	uint32_t place = id & ~WK_STACK_COPIED;

	if (!(id & WK_STACK_COPIED))
		return id;
	return place < book->copy_of_id.n ? book->copy_of_id.items[place] : 0;
}

void stackbook_take(struct stackbook *book, const struct stack_counted *counted, size_t n,
		    struct capture *capture)
{
	(void)capture;
	fflush(book->out);
	fwrite(book->text, 1, book->bytes, stdout);
	printf("copies %u %zu\n", book->copies, book->copy_of_id.n);
	for (size_t i = 0; i < n; i++)
		printf("count %u %u %u %llu %llu\n", counted[i].key.what, counted[i].key.sleeper,
		       counted[i].key.waker, (unsigned long long)counted[i].count.count,
		       (unsigned long long)counted[i].count.sleep_ns);
}

void stackbook_reset(struct stackbook *book)
{
	if (book->out)
		fclose(book->out);
	free(book->text);
	free(book->copy_of_id.items);
	memset(&book->copy_of_id, 0, sizeof(book->copy_of_id));
	book->copies = 0;
	book->out = open_memstream(&book->text, &book->bytes);
	if (!book->out)
		mem_out();
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static void capture_print(const struct capture *capture, uint64_t open_ns)
{
	for (size_t i = 0; i < capture->causes.n; i++) {
		const struct capture_cause *cause = &capture->causes.items[i];

		printf("cause %u %u %llu %u %u\n", cause->number, cause->c.key.serial,
		       (unsigned long long)cause->c.wakeups, cause->c.key.context,
		       cause->c.key.waker);
	}
	for (size_t i = 0; i < capture->threads.n; i++) {
		const struct wk_thread *t = &capture->threads.items[i].t;

		printf("thread %u %u %u %llu %s\n", t->serial, t->pid, t->tid,
		       (unsigned long long)t->count.oncpu_ns, t->comm);
	}
	for (int i = 0; i < WK_LOST_MAX; i++)
		if (capture->lost[i])
			printf("lost %s %llu\n", capture_lost_name(i),
			       (unsigned long long)capture->lost[i]);
	printf("collector %llu %llu %llu\n", (unsigned long long)capture->observer_wakeups,
	       (unsigned long long)capture->observer_oncpu_ns, (unsigned long long)open_ns);
}

/* Serves the collector until the time is over, the followed are gone, or somebody says so. */
static int window_serve(struct collector *collector, uint64_t end_ns, struct diag *diag)
{
	struct pollfd fds[] = {
		{.fd = collector_fd(collector), .events = POLLIN},
		{.fd = STDIN_FILENO, .events = POLLIN},
	};
	bool empty = false;
	int err = 0;

	while (!err && !empty && !fds[1].revents && now_ns() < end_ns) {
		poll(fds, 2, (end_ns - now_ns()) / 1000000 + 1);
		if (fds[0].revents)
			err = collector_service(collector, &empty, diag);
	}
	return err;
}

static int measure(struct collector *collector, double seconds, uint64_t open_ns, struct diag *diag)
{
	struct capture capture = {0};
	uint64_t begin_ns;
	int err = collector_seed(collector, diag);

	if (err)
		return err;
	begin_ns = collector_open_window(collector, 0);
	puts("ready");
	fflush(stdout);
	err = window_serve(collector, begin_ns + seconds * 1e9, diag);
	err = err ? err : collector_take(collector, 0, &capture, diag);
	if (!err)
		capture_print(&capture, open_ns);
	capture_free_members(&capture);
	return err;
}

static int options_parse(int argc, char **argv, struct collect_options *o, pid_t *pid,
			 double *seconds, int *times)
{
	int c;

	while ((c = getopt(argc, argv, "kucal:z:p:d:t:")) != -1) {
		switch (c) {
		case 'k': o->stacks |= WK_STACKS_KERNEL; break;
		case 'u': o->stacks |= WK_STACKS_USER; break;
		case 'c': o->stacks |= WK_STACKS_COPY; break;
		case 'a': o->all = true; break;
		case 'l': o->stacks_per_s = atoi(optarg); break;
		case 'z': o->sample_hz = atoi(optarg); break;
		case 'p': *pid = atoi(optarg); break;
		case 'd': *seconds = atof(optarg); break;
		case 't': *times = atoi(optarg); break;
		default: return -1;
		}
	}
	return *pid || o->all ? 0 : -1;
}

int main(int argc, char **argv)
{
	pid_t pid = 0;
	struct collect_options options = {.follow = true, .pids = &pid};
	struct collector *collector;
	double seconds = 3600;
	struct diag diag = {0};
	uint64_t begin_ns;
	int times = 1, err;

	if (options_parse(argc, argv, &options, &pid, &seconds, &times)) {
		fputs("usage: stackdump [-kuca] [-l PER_S] [-z HZ] [-d S] [-t TIMES] -p PID\n", stderr);
		return 2;
	}
	options.n_pids = pid != 0;
	begin_ns = now_ns();
	err = collector_open(&collector, &options, &diag);
	if (!err) {
		uint64_t open_ns = now_ns() - begin_ns;

		for (int i = 0; i < times && !err; i++) {
			err = measure(collector, seconds, open_ns, &diag);
			err = err ? err : collector_reset(collector, &diag);
			puts("end");
		}
		collector_free(collector);
	}
	if (err)
		log_diag(&diag);
	return err ? 1 : 0;
}
