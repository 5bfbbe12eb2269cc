/* Lists of CPUs as people and the kernel write them: "0,2-3". */
#include "base/cpulist.h"

#include <string.h>

#include "base/strbuf.h"

/* Moves *p behind the digits. -EINVAL: no digit; -ERANGE: not a possible CPU. */
static int cpulist_number(const char **p, unsigned *ret_cpu)
{
	unsigned cpu = 0;

	if (**p < '0' || **p > '9')
		return -EINVAL;
	for (; **p >= '0' && **p <= '9'; ++*p) {
		cpu = cpu * 10 + (**p - '0');
		if (cpu >= CPULIST_MAX)
			return -ERANGE;
	}
	*ret_cpu = cpu;
	return 0;
}

static int cpulist_error(struct diag *diag, int err, const char *text)
{
	int n = (int)strcspn(text, "\n");

	if (err == -ERANGE)
		return diag_set(diag, err, "CPU list '%.*s' names a CPU beyond %d", n, text,
				CPULIST_MAX - 1);
	diag_set(diag, err, "'%.*s' is not a list of CPUs", n, text);
	return diag_hint(diag, err, "like 0 or 0,2-3");
}

int cpulist_parse(struct cpulist *ret_list, const char *text, struct diag *diag)
{
	struct cpulist list = {};
	const char *p = text;

	while (*p && *p != '\n') {
		unsigned first = 0, last;
		int err = cpulist_number(&p, &first);

		last = first;
		if (!err && *p == '-') {
			p++;
			err = cpulist_number(&p, &last);
		}
		if (!err && (last < first || (*p == ',' && (!p[1] || p[1] == '\n')) ||
			     (*p && *p != ',' && *p != '\n')))
			err = -EINVAL;
		if (err)
			return cpulist_error(diag, err, text);
		for (unsigned cpu = first; cpu <= last; cpu++)
			cpulist_add(&list, cpu);
		if (*p == ',')
			p++;
	}
	if (*p == '\n' && p[1])
		return cpulist_error(diag, -EINVAL, text);
	*ret_list = list;
	return 0;
}

void cpulist_add(struct cpulist *list, unsigned cpu)
{
	if (cpu < CPULIST_MAX)
		list->bits[cpu / 64] |= 1ULL << (cpu % 64);
}

bool cpulist_has(const struct cpulist *list, unsigned cpu)
{
	return cpu < CPULIST_MAX && (list->bits[cpu / 64] >> (cpu % 64) & 1);
}

size_t cpulist_count(const struct cpulist *list)
{
	size_t n = 0;

	for (size_t i = 0; i < CPULIST_MAX / 64; i++)
		n += __builtin_popcountll(list->bits[i]);
	return n;
}

unsigned cpulist_next(const struct cpulist *list, unsigned from)
{
	while (from < CPULIST_MAX && !cpulist_has(list, from))
		from++;
	return from < CPULIST_MAX ? from : CPULIST_MAX;
}

char *cpulist_format(const struct cpulist *list)
{
	struct strbuf out = {};
	unsigned first = cpulist_next(list, 0);

	while (first < CPULIST_MAX) {
		unsigned last = first;

		while (cpulist_has(list, last + 1))
			last++;
		strbuf_printf(&out, out.n ? ",%u" : "%u", first);
		if (last > first)
			strbuf_printf(&out, "-%u", last);
		first = cpulist_next(list, last + 1);
	}
	return strbuf_take(&out);
}
