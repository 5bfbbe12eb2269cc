/* The floor of startup, idle and serve: the same workloads in plain C, the least that a program can do. */
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define CLIENTS_MAX 65536 /* descriptors */
#define EVENTS_MAX  256
#define BACKLOG	    4096

static int say(const char *text)
{
	size_t n = strlen(text);

	return write(STDOUT_FILENO, text, n) == (ssize_t)n ? 0 : 1;
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* A connection: what has come of its next request. */
struct client {
	size_t n;
	char text[4088];
};

static int compare_word(const char *text, const char *word)
{
	return strncasecmp(text, word, strlen(word));
}

/* Does the client, in this request, ask for the end of the connection after the answer? Each line of
 * the request has its end. */
static int wants_close(const char *request)
{
	const char *line = strstr(request, "\r\n");

	if (line - request >= 8 && !memcmp(line - 8, "HTTP/1.0", 8))
		return 1;
	for (; line; line = strstr(line + 2, "\r\n"))
		if (!compare_word(line + 2, "connection: close"))
			return 1;
	return 0;
}

/* Answers the requests that have come whole. 0: the connection goes on. */
static int answer(int fd, struct client *client)
{
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
				   "Content-Length: 4\r\n\r\nhola";
	char *end;

	while ((end = strstr(client->text, "\r\n\r\n"))) {
		char *next = end + 4;
		int last;

		end[2] = '\0';
		last = wants_close(client->text);
		/* Who does not read his answers gets no more of them. */
		if (write(fd, text, sizeof(text) - 1) != sizeof(text) - 1 || last)
			return 1;
		client->n -= (size_t)(next - client->text);
		memmove(client->text, next, client->n + 1);
	}
	return client->n == sizeof(client->text) - 1; /* a request without an end */
}

/* Reads what has come and answers it; closes what has ended. */
static void attend(int fd, struct client *client)
{
	ssize_t n = read(fd, client->text + client->n, sizeof(client->text) - 1 - client->n);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		client->n += (size_t)n;
		client->text[client->n] = '\0';
		if (strlen(client->text) == client->n && !answer(fd, client))
			return;
	}
	close(fd);
}

static void welcome(int poll, int server, struct client *clients)
{
	for (;;) {
		int fd = accept4(server, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

		if (fd < 0)
			return;
		if (fd >= CLIENTS_MAX || epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event)) {
			close(fd);
			continue;
		}
		clients[fd].n = 0;
	}
}

/* Pages of clients that never come are never touched. */
static int serve(int server)
{
	struct client *clients = mmap(NULL, CLIENTS_MAX * sizeof(*clients), PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct epoll_event events[EVENTS_MAX], event = {.events = EPOLLIN, .data.fd = server};
	int poll = epoll_create1(EPOLL_CLOEXEC);

	if (clients == MAP_FAILED || poll < 0 || epoll_ctl(poll, EPOLL_CTL_ADD, server, &event))
		return fail("epoll");
	for (;;) {
		int n = epoll_wait(poll, events, EVENTS_MAX, -1);

		for (int i = 0; i < n; i++) {
			int fd = events[i].data.fd;

			if (fd == server)
				welcome(poll, server, clients);
			else
				attend(fd, &clients[fd]);
		}
	}
}

static int listen_and_serve(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t bytes = sizeof(address);
	char line[32];
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (server < 0)
		return fail("socket");
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server, (struct sockaddr *)&address, sizeof(address)) || listen(server, BACKLOG) ||
	    getsockname(server, (struct sockaddr *)&address, &bytes))
		return fail("listen");
	signal(SIGPIPE, SIG_IGN);
	snprintf(line, sizeof(line), "port %u\n", (unsigned)ntohs(address.sin_port));
	if (say(line))
		return 1;
	return serve(server);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "startup"))
		return say("hello\n");
	if (argc == 2 && (!strcmp(argv[1], "idle") || !strcmp(argv[1], "serve")))
		return listen_and_serve();
	fprintf(stderr, "usage: floor startup|idle|serve\n");
	return 2;
}
