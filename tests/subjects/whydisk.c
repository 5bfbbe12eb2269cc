/* whydisk FILE COUNT HOW: reads COUNT blocks of FILE from the disk: "direct" past the page cache,
 * "dropped" after its pages were dropped from it.
 *
 * Known answer: COUNT uninterruptible sleeps in pread64, each ended by the disk. Status 77: this
 * file system has no such way. */
#include "truth.h"

#define BLOCK_BYTES 4096

int main(int argc, char **argv)
{
	struct truth *truth = truth_new(&argc, argv);
	uint64_t count = truth_number(argc, argv, 2, 50);
	bool direct = argc > 3 && !strcmp(argv[3], "direct");
	void *block;
	int fd;

	if (argc < 3 || posix_memalign(&block, BLOCK_BYTES, BLOCK_BYTES))
		return 2;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0));
	if (fd < 0)
		return 77;
	/* No read-ahead: each block is a request of its own. */
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	if (!direct)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	truth_ready(truth);
	for (uint64_t i = 0; i < count; i++)
		if (pread(fd, block, BLOCK_BYTES, (off_t)(i * BLOCK_BYTES * 16)) != BLOCK_BYTES)
			return 77;
	truth_thread(truth, "reader", count);
	truth_write(truth);
	free(block);
	return 0;
}
