/* The floor of hash: SHA-256 of a short text to hex by libcrypto, which is loaded when it is there:
 * VARIANT ops N | VARIANT ns N. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT	   "Hello world!!!"
#define WARM_UP_NS 200000000ULL
#define SLICE_NS   5000000ULL /* between two looks at the clock */

/* Of libcrypto's own header: opaque types, and functions that are the same in 1.1 and 3. */
struct crypto {
	void *(*md_ctx_new)(void);
	const void *(*sha256)(void);
	int (*digest_init)(void *ctx, const void *type, void *engine);
	int (*digest_update)(void *ctx, const void *data, size_t bytes);
	int (*digest_final)(void *ctx, unsigned char *digest, unsigned *bytes);
	int (*digest)(const void *data, size_t n, unsigned char *digest, unsigned *bytes,
		      const void *type, void *engine);
	const void *type;
	void *ctx;
};

struct state {
	struct crypto crypto;
	char last[65];	/* digest in hex */
	unsigned fold;	/* over every digest, so that none is dead code */
	bool failed;
};

typedef void batch_fn(struct state *state, uint64_t n);

static void say(const char *text)
{
	size_t n = strlen(text);

	if (write(STDOUT_FILENO, text, n) != (ssize_t)n)
		exit(1);
}

static bool load(struct crypto *crypto)
{
	void *library = dlopen("libcrypto.so.3", RTLD_NOW);

	if (!library)
		library = dlopen("libcrypto.so.1.1", RTLD_NOW);
	if (!library)
		return false;
	*(void **)&crypto->md_ctx_new = dlsym(library, "EVP_MD_CTX_new");
	*(void **)&crypto->sha256 = dlsym(library, "EVP_sha256");
	*(void **)&crypto->digest_init = dlsym(library, "EVP_DigestInit_ex");
	*(void **)&crypto->digest_update = dlsym(library, "EVP_DigestUpdate");
	*(void **)&crypto->digest_final = dlsym(library, "EVP_DigestFinal_ex");
	*(void **)&crypto->digest = dlsym(library, "EVP_Digest");
	if (!crypto->md_ctx_new || !crypto->sha256 || !crypto->digest_init ||
	    !crypto->digest_update || !crypto->digest_final || !crypto->digest)
		return false;
	crypto->type = crypto->sha256();
	crypto->ctx = crypto->md_ctx_new();
	return crypto->type && crypto->ctx;
}

static void keep(struct state *state, const unsigned char digest[static 32], uint64_t i)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t at = 0; at < 32; at++) {
		state->last[2 * at] = digits[digest[at] >> 4];
		state->last[2 * at + 1] = digits[digest[at] & 15];
	}
	state->fold ^= (unsigned char)state->last[i & 63];
}

static void sync_batch(struct state *state, uint64_t n)
{
	struct crypto *c = &state->crypto;
	unsigned char digest[64];

	for (uint64_t i = 0; i < n; i++) {
		if (!c->digest_init(c->ctx, c->type, NULL) ||
		    !c->digest_update(c->ctx, TEXT, sizeof(TEXT) - 1) ||
		    !c->digest_final(c->ctx, digest, NULL))
			state->failed = true;
		keep(state, digest, i);
	}
}

static void oneshot_batch(struct state *state, uint64_t n)
{
	struct crypto *c = &state->crypto;
	unsigned char digest[64];

	for (uint64_t i = 0; i < n; i++) {
		if (!c->digest(TEXT, sizeof(TEXT) - 1, digest, NULL, c->type, NULL))
			state->failed = true;
		keep(state, digest, i);
	}
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

/* Until ns have passed; returns how many. The size of a batch follows the pace, so that the looks at
 * the clock cost nothing that could be measured. */
static uint64_t run_for_ns(batch_fn *batch, struct state *state, uint64_t ns)
{
	uint64_t start = now_ns(), done = 0, elapsed = 0, size = 100;

	while (elapsed < ns) {
		uint64_t left;

		batch(state, size);
		done += size;
		elapsed = now_ns() - start;
		left = elapsed < ns ? ns - elapsed : 0;
		size = (uint64_t)((double)done / (double)(elapsed ? elapsed : 1) *
				  (double)(left < SLICE_NS ? left : SLICE_NS));
		if (!size)
			size = 1;
	}
	return done;
}

/* Byte by byte: a line, or the end of input. */
static void read_line(char line[static 16])
{
	size_t n = 0;
	char byte;

	while (read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n')
		if (n < 15)
			line[n++] = byte;
	line[n] = '\0';
}

static int run(batch_fn *batch, const char *unit, uint64_t limit)
{
	struct state state = {0};
	char line[128];

	if (!load(&state.crypto)) {
		say("unsupported no libcrypto.so.3 or libcrypto.so.1.1\n");
		return 0;
	}
	run_for_ns(batch, &state, WARM_UP_NS);
	say("ready\n");
	read_line(line);
	if (strcmp(line, "go"))
		return 0;
	if (!strcmp(unit, "ops"))
		batch(&state, limit);
	else
		limit = run_for_ns(batch, &state, limit);
	if (state.failed || state.fold > 255) {
		fprintf(stderr, "libcrypto failed\n");
		return 1;
	}
	snprintf(line, sizeof(line), "done %llu %s\n", (unsigned long long)limit, state.last);
	say(line);
	read_line(line);
	return 0;
}

int main(int argc, char **argv)
{
	batch_fn *batch;

	if (argc != 4) {
		fprintf(stderr, "usage: floor-hash sync|oneshot ops|ns N\n");
		return 2;
	}
	batch = !strcmp(argv[1], "sync")      ? sync_batch
		: !strcmp(argv[1], "oneshot") ? oneshot_batch
					      : NULL;
	if (!batch) {
		say("unsupported no such variant\n");
		return 0;
	}
	return run(batch, argv[2], strtoull(argv[3], NULL, 10));
}
