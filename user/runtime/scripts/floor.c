/* The floor of startup and idle: the same workloads in plain C, the least that a program can do. */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* Reads a request to the empty line at its end, at most as much as the buffer holds. */
static void read_request(int client)
{
	char buffer[8192];
	size_t n = 0;

	while (n < sizeof(buffer) - 1) {
		ssize_t got = read(client, buffer + n, sizeof(buffer) - 1 - n);

		if (got <= 0)
			return;
		n += (size_t)got;
		buffer[n] = '\0';
		if (strstr(buffer, "\r\n\r\n"))
			return;
	}
}

__attribute__((noreturn)) static void serve(int server)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
				     "Content-Length: 4\r\nConnection: close\r\n\r\nhola";

	for (;;) {
		int client = accept4(server, NULL, NULL, SOCK_CLOEXEC);

		if (client < 0)
			continue; /* it went away before we came */
		read_request(client);
		if (write(client, answer, sizeof(answer) - 1) < 0)
			perror("write");
		close(client);
	}
}

static int idle(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t bytes = sizeof(address);
	char line[32];
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (server < 0)
		return fail("socket");
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server, (struct sockaddr *)&address, sizeof(address)) || listen(server, 128) ||
	    getsockname(server, (struct sockaddr *)&address, &bytes))
		return fail("listen");
	signal(SIGPIPE, SIG_IGN);
	snprintf(line, sizeof(line), "port %u\n", (unsigned)ntohs(address.sin_port));
	if (say(line))
		return 1;
	serve(server);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "startup"))
		return say("hello\n");
	if (argc == 2 && !strcmp(argv[1], "idle"))
		return idle();
	fprintf(stderr, "usage: floor startup|idle\n");
	return 2;
}
