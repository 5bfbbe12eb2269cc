/* Causes as trees: what began a chain, and below it what it led to.
 *
 *	bun              timerfd through epoll        depth 0
 *	  └ HeapHelper   futex wake by bun            depth 1
 */
#ifndef WAKEWHY_REPORT_CAUSE_TREE_H
#define WAKEWHY_REPORT_CAUSE_TREE_H

#include "report/cause_sums.h"

enum tree_kind {
	TREE_CAUSE,
	TREE_LOOP,    /* threads that hand work to and fro; their wakes are below it */
	TREE_EARLIER, /* chains that began before the window, or nobody knows where */
	TREE_REST,    /* several that are too small for rows of their own */
};

struct tree_row {
	enum tree_kind kind;
	int depth;
	size_t cause;			  /* TREE_CAUSE: in sums->causes */
	size_t loop;			  /* TREE_LOOP: in sums->loops */
	size_t n_rest;			  /* TREE_REST: causes in it */
	double wakeups, oncpu_ns, futile; /* of its own, of TREE_REST all together */
	double all_wakeups, all_oncpu_ns; /* with all that is below it */
};

struct cause_tree {
	VEC(struct tree_row) rows; /* roots by cost, each with its chain behind it */
};

/* What has less than least_share of the wakeups and of the on-CPU time, with all below it, goes
 * into a rest, unless it would be alone there; so do roots beyond max_roots (0: no limit). All rows
 * together are all that was charged. */
void cause_tree_init(struct cause_tree *ret_tree, const struct cause_sums *sums, double least_share,
		     size_t max_roots);
void cause_tree_free_members(struct cause_tree *tree);

#endif
