/* What one group wakes for that another does not: the causes of both side by side. */
#include "report/difference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- matching -------------------------------------------------------------------------------- */

/* What is known while causes find their counterparts. */
struct matching {
	struct difference *d;
	size_t *other_of; /* of each cause of base; SIZE_MAX: none */
	bool *taken;	  /* of each cause of other */
};

/* The cause of other that is alike and not taken yet, in the same words if there is one; SIZE_MAX:
 * none. */
static size_t matching_find(const struct matching *m, const struct cause_sum *cause,
			    enum cause_likeness likeness)
{
	const struct difference *d = m->d;
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < d->other.causes.n; i++) {
		const struct cause_sum *like = &d->other.causes.items[i];

		if (m->taken[i] || !cause_sum_like(&d->base, cause, &d->other, like, likeness))
			continue;
		if (!strcmp(cause->text, like->text))
			return i;
		if (found == SIZE_MAX)
			found = i;
	}
	return found;
}

/* What is most alike finds its counterpart first. */
static void matching_run(struct matching *m)
{
	struct difference *d = m->d;

	for (size_t i = 0; i < d->base.causes.n; i++)
		m->other_of[i] = SIZE_MAX;
	for (int likeness = CAUSE_SAME; likeness <= CAUSE_TIMED; likeness++)
		for (size_t i = 0; i < d->base.causes.n; i++) {
			size_t found;

			if (m->other_of[i] != SIZE_MAX)
				continue;
			found = matching_find(m, &d->base.causes.items[i],
					      (enum cause_likeness)likeness);
			m->other_of[i] = found;
			if (found != SIZE_MAX)
				m->taken[found] = true;
		}
}

static void difference_add(struct difference *d, const struct cause_sum *base,
			   const struct cause_sum *other)
{
	struct difference_row *row = vec_push(&d->rows);

	row->base = base;
	row->other = other;
	if (base) {
		row->base_wakeups = (double)base->wakeups;
		row->base_oncpu_ns = (double)base->oncpu_ns;
	}
	if (other) {
		row->other_wakeups = (double)other->wakeups;
		row->other_oncpu_ns = (double)other->oncpu_ns;
	}
}

/* What is in the totals and in no cause, so that the rows add up to the totals whatever was lost.
 */
static void difference_add_rest(struct difference *d)
{
	struct difference_row rest = {
		.base_wakeups = (double)d->base.wakeups,
		.base_oncpu_ns = (double)d->base.oncpu_ns,
		.other_wakeups = (double)d->other.wakeups,
		.other_oncpu_ns = (double)d->other.oncpu_ns,
	};

	for (size_t i = 0; i < d->rows.n; i++) {
		rest.base_wakeups -= d->rows.items[i].base_wakeups;
		rest.base_oncpu_ns -= d->rows.items[i].base_oncpu_ns;
		rest.other_wakeups -= d->rows.items[i].other_wakeups;
		rest.other_oncpu_ns -= d->rows.items[i].other_oncpu_ns;
	}
	if (rest.base_wakeups != 0 || rest.base_oncpu_ns != 0 || rest.other_wakeups != 0 ||
	    rest.other_oncpu_ns != 0)
		*vec_push(&d->rows) = rest;
}

static void difference_match(struct difference *d)
{
	struct matching m = {.d = d};

	m.other_of = mem_calloc(d->base.causes.n + 1, sizeof(*m.other_of));
	m.taken = mem_calloc(d->other.causes.n + 1, sizeof(*m.taken));
	matching_run(&m);
	for (size_t i = 0; i < d->base.causes.n; i++)
		difference_add(d, &d->base.causes.items[i],
			       m.other_of[i] == SIZE_MAX ? NULL
							 : &d->other.causes.items[m.other_of[i]]);
	for (size_t i = 0; i < d->other.causes.n; i++)
		if (!m.taken[i])
			difference_add(d, NULL, &d->other.causes.items[i]);
	free(m.other_of);
	free(m.taken);
	difference_add_rest(d);
}

/* ---- figures --------------------------------------------------------------------------------- */

static double difference_divided(double amount, const struct cause_unit *unit)
{
	return unit->divisor > 0 ? amount / unit->divisor : 0;
}

struct difference_figure difference_figure(const struct difference *d,
					   const struct difference_row *row, bool by_cpu)
{
	struct difference_figure figure;

	if (by_cpu) {
		figure.base = row ? row->base_oncpu_ns : (double)d->base.oncpu_ns;
		figure.other = row ? row->other_oncpu_ns : (double)d->other.oncpu_ns;
		figure.base *= d->base_unit.cpu_per_ns;
		figure.other *= d->other_unit.cpu_per_ns;
	} else {
		figure.base = row ? row->base_wakeups : (double)d->base.wakeups;
		figure.other = row ? row->other_wakeups : (double)d->other.wakeups;
	}
	figure.base = difference_divided(figure.base, &d->base_unit);
	figure.other = difference_divided(figure.other, &d->other_unit);
	return figure;
}

double difference_share(const struct difference *d, const struct difference_row *row, bool by_cpu)
{
	struct difference_figure part = difference_figure(d, row, by_cpu);
	struct difference_figure all = difference_figure(d, NULL, by_cpu);

	return all.other != all.base ? (part.other - part.base) / (all.other - all.base) : NAN;
}

static const char *difference_comm(const struct cause_sums *sums, const struct cause_sum *cause)
{
	return sums->families.items[cause->family].comm;
}

char *difference_label(const struct difference *d, const struct difference_row *row)
{
	if (!row->other && !row->base)
		return mem_strdup("(not explained)");
	if (row->other && row->base &&
	    strcmp(difference_comm(&d->base, row->base), difference_comm(&d->other, row->other)) !=
		    0)
		return mem_printf("%s → %s", row->base->label, row->other->label);
	return mem_strdup(row->other ? row->other->label : row->base->label);
}

char *difference_text(const struct difference_row *row)
{
	if (!row->other && !row->base)
		return mem_strdup("");
	if (row->other && row->base && strcmp(row->base->rule->id, row->other->rule->id) != 0)
		return mem_printf("%s → %s", row->base->text, row->other->text);
	return mem_strdup(row->other ? row->other->text : row->base->text);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* A row with the size of its difference, to be sorted. */
struct sized {
	struct difference_row row;
	double size, small_size;
	size_t number;
};

static int sized_order(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	if (x->small_size != y->small_size)
		return x->small_size > y->small_size ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static void difference_sort(struct difference *d)
{
	struct sized *sized = mem_calloc(d->rows.n + 1, sizeof(*sized));

	for (size_t i = 0; i < d->rows.n; i++) {
		const struct difference_row *row = &d->rows.items[i];
		struct difference_figure first = difference_figure(d, row, d->by_cpu);
		struct difference_figure second = difference_figure(d, row, !d->by_cpu);

		sized[i] = (struct sized){*row, fabs(first.other - first.base),
					  fabs(second.other - second.base), i};
	}
	qsort(sized, d->rows.n, sizeof(*sized), sized_order);
	for (size_t i = 0; i < d->rows.n; i++)
		d->rows.items[i] = sized[i].row;
	free(sized);
}

void difference_init(struct difference *ret_difference, const char *workload_or_null,
		     const struct group *base, const struct group *other)
{
	const char *workload = workload_or_null ? workload_or_null : "attach";
	struct difference d = {
		.by_cpu = !strcmp(workload, "run") || !strcmp(workload, "startup"),
	};

	cause_sums_init(&d.base, base);
	cause_sums_init(&d.other, other);
	d.base_unit = cause_unit_of(workload, &d.base);
	d.other_unit = cause_unit_of(workload, &d.other);
	if (d.base.n_runs != d.other.n_runs && d.by_cpu) {
		/* One of them is a mean: both are told as such. */
		d.base_unit.each = d.other_unit.each = " a run";
		d.base_unit.wakeups_decimals = d.other_unit.wakeups_decimals = 1;
	}
	difference_match(&d);
	difference_sort(&d);
	*ret_difference = d;
}

void difference_free_members(struct difference *d)
{
	if (!d)
		return;
	cause_sums_free_members(&d->base);
	cause_sums_free_members(&d->other);
	free(d->rows.items);
	*d = (struct difference){0};
}
