/* empty: attaches the programs of empty.bpf.c, prints "ready", keeps them until its standard input
 * ends. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench/empty.skel.h"

int main(void)
{
	struct empty_bpf *skeleton = empty_bpf__open_and_load();
	int err = skeleton ? empty_bpf__attach(skeleton) : -errno;
	char byte;

	if (err) {
		fprintf(stderr, "empty: cannot attach: %s\n", strerror(-err));
		empty_bpf__destroy(skeleton);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	empty_bpf__destroy(skeleton);
	return 0;
}
