/* Tails of the beta, Student's and the normal distribution. */
#include <math.h>

#include "stat/internal.h"

/* The continued fraction of I_x(a, b) (DLMF 8.17.22) by Lentz's method; converges fast for
 * x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	double value;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	value = d;
	for (int m = 1; m <= 10000; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		value *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		value *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return value;
}

static double gamma_log(double x)
{
	int sign;

	return lgamma_r(x, &sign); /* lgamma alone writes a global */
}

double stat_beta(double x, double a, double b)
{
	double front;

	if (!(x > 0))
		return 0;
	if (x >= 1)
		return 1;
	front = exp(gamma_log(a + b) - gamma_log(a) - gamma_log(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double stat_beta_quantile(double p, double a, double b)
{
	double low = 0, high = 1;

	/* The function rises with x: halving finds every digit there is. */
	for (int i = 0; i < 200 && high - low > 0; i++) {
		double middle = low + (high - low) / 2;

		if (middle <= low || middle >= high)
			break;
		if (stat_beta(middle, a, b) < p)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}

double stat_student_975(double freedom)
{
	/* Two-sided tail: P(|T| > t) = I_x(freedom / 2, 1/2) at x = freedom / (freedom + t²). */
	double x = stat_beta_quantile(0.05, freedom / 2, 0.5);

	return sqrt(freedom * (1 - x) / x);
}

double stat_normal(double z)
{
	return 0.5 * erfc(-z / sqrt(2));
}
