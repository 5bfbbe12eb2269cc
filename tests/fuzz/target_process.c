/* A process as /proc shows it: its stat and its status. */
#include "tests/fuzz/fuzz.h"

/* How the two are read is its own file's alone. */
#include "user/collect/process_look.c"

/* The order of the pieces of an input. */
static const char *const names[] = {"stat", "status"};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const char *folder = fuzz_folder(names, sizeof(names) / sizeof(*names), bytes, n);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct process_look look;
	uint64_t start_ns = 7;

	FUZZ_CHECK(fd >= 0);
	if (read_start(fd, &start_ns))
		FUZZ_CHECK(lived_at(fd, UINT64_MAX));
	else
		FUZZ_CHECK(start_ns == 7 && !lived_at(fd, UINT64_MAX));
	process_look(fd, &look);
	FUZZ_CHECK(look.known || (!look.euid && !look.inner_pid));
	/* There is no ns/mnt and no root in it. */
	FUZZ_CHECK(!look.root_is_ours);
	close(fd);
	return 0;
}
