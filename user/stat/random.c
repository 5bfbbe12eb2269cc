/* Random numbers that the same seed repeats on any machine. */
#include "stat/internal.h"

static uint64_t random_splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

void stat_random_seed(struct stat_random *ret_random, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		ret_random->s[i] = random_splitmix(&seed);
}

static uint64_t random_rotate(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

static uint64_t random_next(struct stat_random *random)
{
	uint64_t *s = random->s, result = random_rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = random_rotate(s[3], 45);
	return result;
}

size_t stat_random_below(struct stat_random *random, size_t n)
{
	return (size_t)((unsigned __int128)random_next(random) * n >> 64);
}
