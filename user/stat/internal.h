/* What the files of stat/ share: the tails of distributions, and random numbers. */
#ifndef WAKEWHY_STAT_INTERNAL_H
#define WAKEWHY_STAT_INTERNAL_H

#include "stat/stat.h"

/* Resamples of a bootstrap. */
#define STAT_RESAMPLES 2000

/* xoshiro256** of Blackman and Vigna (2018), seeded through splitmix64 as they advise. */
struct stat_random {
	uint64_t s[4];
};

void stat_random_seed(struct stat_random *ret_random, uint64_t seed);
/* A whole number from 0 to n - 1; n at least 1. */
size_t stat_random_below(struct stat_random *random, size_t n);

int stat_order(const void *a, const void *b); /* of doubles, for qsort */
/* Two zeros are as large as each other; anything is infinitely larger than zero. */
double stat_divide(double other, double base);
enum stat_verdict stat_judge(double low, double high, double same_within);
/* Sorts the ratios of a bootstrap and cuts off `tail` of them at either end. */
void stat_cut_tails(double *ratios, size_t n, double tail, double *ret_low, double *ret_high);

/* Regularised incomplete beta function I_x(a, b); a, b above 0, x from 0 to 1. */
double stat_beta(double x, double a, double b);
/* x where I_x(a, b) = p. */
double stat_beta_quantile(double p, double a, double b);
/* t beyond which 2.5 % of Student's distribution lie; freedom above 0, need not be whole. */
double stat_student_975(double freedom);
/* Dip that one in 100 samples of n values of a uniform distribution exceeds; n at least 4. */
double stat_dip_limit(size_t n);
/* Share of the normal distribution below z. */
double stat_normal(double z);

#endif
