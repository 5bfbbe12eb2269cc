/* What the fuzz targets share: input as text, stream or files, and properties that must hold.
 *
 * A target is a file target_NAME.c with the one function LLVMFuzzerTestOneInput. It is linked with libFuzzer,
 * which makes inputs up, or with replay.c, which reads those of corpus/NAME again. */
#ifndef WAKEWHY_TESTS_FUZZ_H
#define WAKEWHY_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* A property of the code: the process aborts where it does not hold, and both mains keep the input. */
#define FUZZ_CHECK(holds)                                                                          \
	do {                                                                                       \
		if (!(holds))                                                                      \
			fuzz_fail(__FILE__, __LINE__, #holds);                                     \
	} while (0)
_Noreturn void fuzz_fail(const char *file, int line, const char *what);

/* What the code under test prints goes nowhere from now on; the sanitizers' words are still seen. */
void fuzz_be_quiet(void);

/* A copy of exactly n bytes and NUL, so that a read beyond is seen. The caller frees. */
char *fuzz_text(const uint8_t *bytes, size_t n);
/* The bytes as a stream to be read; the caller closes it. */
FILE *fuzz_stream(const uint8_t *bytes, size_t n);
/* Replaces what is in the file of that path. */
void fuzz_put(const char *path, const uint8_t *bytes, size_t n);

/* Input that is several files: pieces with the byte RS (1E) between. The piece at i becomes the file names[i]
 * below a folder that is made at the first call and removed at the end of the process; a piece that is
 * empty or missing is a file that is not there. In every piece the byte SUB (1A) stands for the folder's path.
 * Returns the path. */
const char *fuzz_folder(const char *const *names, size_t n_names, const uint8_t *bytes, size_t n);

/* Whether a terminal could do nothing with the text but show it: text_safe changes nothing but the ends
 * of lines. */
bool fuzz_is_safe(const char *text, size_t n);

#endif
