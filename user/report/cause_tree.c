/* Causes as trees: what began a chain, and below it what it led to. */
#include "report/cause_tree.h"

#include <stdlib.h>

#define NOBODY SIZE_MAX

/* A row on its way to its place. Nodes of a root stand in the order in which they were placed: each
 * behind its parent. */
struct node {
	struct tree_row row;
	size_t parent; /* NOBODY: a root */
	size_t causes; /* with all below it */
	bool is_small;
};

struct forest {
	const struct cause_sums *sums;
	double least_share;
	size_t max_roots;
	VEC(struct node) nodes;
};

/* ---- placing --------------------------------------------------------------------------------- */

static size_t node_add(struct forest *forest, const struct tree_row *row, size_t parent)
{
	struct node *node = vec_push(&forest->nodes);

	node->row = *row;
	node->row.depth = parent == NOBODY ? 0 : forest->nodes.items[parent].row.depth + 1;
	node->row.all_wakeups = row->wakeups;
	node->row.all_oncpu_ns = row->oncpu_ns;
	node->parent = parent;
	node->causes = row->kind == TREE_CAUSE;
	return forest->nodes.n - 1;
}

static struct tree_row row_of_charge(const struct charge_sum *charge)
{
	return (struct tree_row){
		.kind = TREE_CAUSE,
		.cause = charge->cause,
		.wakeups = (double)charge->wakeups,
		.oncpu_ns = (double)charge->oncpu_ns,
		.futile = (double)charge->futile,
	};
}

/* The charges of one root that wait for their place. */
struct chain {
	const struct charge_sum *charges;
	size_t n, left;
	bool *placed;
};

static void chain_place(struct forest *forest, struct chain *chain, size_t i, size_t parent)
{
	struct tree_row row = row_of_charge(&chain->charges[i]);

	node_add(forest, &row, parent);
	chain->placed[i] = true;
	chain->left--;
}

/* Places all that threads of placed rows have woken, breadth first: whoever is nearest to the root
 * gets it. Rows from `at` on are looked at. */
static void chain_follow(struct forest *forest, struct chain *chain, size_t at)
{
	const struct cause_sums *sums = forest->sums;

	for (; at < forest->nodes.n && chain->left; at++) {
		const struct tree_row *row = &forest->nodes.items[at].row;
		size_t family;

		if (row->kind != TREE_CAUSE)
			continue;
		family = sums->causes.items[row->cause].family;
		for (size_t i = 0; i < chain->n; i++)
			if (!chain->placed[i] &&
			    sums->causes.items[chain->charges[i].cause].waker_family == family)
				chain_place(forest, chain, i, at);
	}
}

static bool chain_has_waker(const struct forest *forest, const struct chain *chain, size_t i)
{
	const struct cause_sums *sums = forest->sums;
	size_t waker = sums->causes.items[chain->charges[i].cause].waker_family;

	for (size_t j = 0; waker != SIZE_MAX && j < chain->n; j++)
		if (j != i && sums->causes.items[chain->charges[j].cause].family == waker)
			return true;
	return false;
}

/* Below the root: first what nobody in the chain woke with what follows from it, then what is left,
 * which wakes itself in a circle. In a loop all is such a circle. */
static void chain_place_below(struct forest *forest, struct chain *chain, size_t root)
{
	bool is_loop = forest->nodes.items[root].row.kind == TREE_LOOP;

	chain_follow(forest, chain, root);
	for (int pass = is_loop; pass < 2; pass++)
		for (size_t i = 0; i < chain->n; i++) {
			if (chain->placed[i] || (!pass && chain_has_waker(forest, chain, i)))
				continue;
			chain_place(forest, chain, i, root);
			if (!is_loop)
				chain_follow(forest, chain, forest->nodes.n - 1);
		}
}

static void forest_add_root(struct forest *forest, const struct charge_sum *charges, size_t n)
{
	static const enum tree_kind kinds[] = {
		[ROOT_CAUSE] = TREE_CAUSE,
		[ROOT_LOOP] = TREE_LOOP,
		[ROOT_EARLIER] = TREE_EARLIER,
	};
	struct chain chain = {.charges = charges, .n = n, .left = n};
	struct tree_row row = {.kind = kinds[charges->kind], .loop = charges->root};
	size_t root;

	chain.placed = mem_calloc(n, sizeof(*chain.placed));
	if (row.kind == TREE_CAUSE)
		row.cause = charges->root;
	for (size_t i = 0; row.kind == TREE_CAUSE && i < n; i++) {
		if (charges[i].cause != charges->root)
			continue;
		row = row_of_charge(&charges[i]);
		chain.placed[i] = true;
		chain.left--;
	}
	root = node_add(forest, &row, NOBODY);
	chain_place_below(forest, &chain, root);
	free(chain.placed);
}

static void forest_plant(struct forest *forest)
{
	const struct cause_sums *sums = forest->sums;
	size_t first = 0;

	for (size_t i = 1; i <= sums->charges.n; i++) {
		const struct charge_sum *a = &sums->charges.items[first];

		if (i < sums->charges.n && a[i - first].kind == a->kind &&
		    a[i - first].root == a->root)
			continue;
		forest_add_root(forest, a, i - first);
		first = i;
	}
}

/* ---- sums and folding ------------------------------------------------------------------------ */

static bool forest_is_small(const struct forest *forest, const struct tree_row *row)
{
	return row->all_wakeups < forest->least_share * (double)forest->sums->wakeups &&
	       row->all_oncpu_ns < forest->least_share * (double)forest->sums->oncpu_ns;
}

static void forest_add_up(struct forest *forest)
{
	for (size_t i = forest->nodes.n; i-- > 0;) {
		struct node *node = &forest->nodes.items[i];

		node->is_small = forest_is_small(forest, &node->row);
		if (node->parent == NOBODY)
			continue;
		forest->nodes.items[node->parent].row.all_wakeups += node->row.all_wakeups;
		forest->nodes.items[node->parent].row.all_oncpu_ns += node->row.all_oncpu_ns;
		forest->nodes.items[node->parent].causes += node->causes;
	}
}

/* A node and its number, to be sorted: siblings side by side, the dearest first. */
struct place {
	const struct node *node;
	size_t number;
};

static int place_order(const void *a, const void *b)
{
	const struct node *x = ((const struct place *)a)->node;
	const struct node *y = ((const struct place *)b)->node;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->is_small != y->is_small)
		return x->is_small ? 1 : -1;
	if (x->row.all_oncpu_ns != y->row.all_oncpu_ns)
		return x->row.all_oncpu_ns > y->row.all_oncpu_ns ? -1 : 1;
	if (x->row.all_wakeups != y->row.all_wakeups)
		return x->row.all_wakeups > y->row.all_wakeups ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Futile wakes of a subtree are not added up on the way: a rest does not tell them. */
static struct tree_row row_of_rest(const struct place *places, size_t n)
{
	struct tree_row rest = {.kind = TREE_REST, .depth = places->node->row.depth};

	for (size_t i = 0; i < n; i++) {
		rest.n_rest += places[i].node->causes;
		rest.all_wakeups += places[i].node->row.all_wakeups;
		rest.all_oncpu_ns += places[i].node->row.all_oncpu_ns;
	}
	rest.wakeups = rest.all_wakeups;
	rest.oncpu_ns = rest.all_oncpu_ns;
	return rest;
}

/* What is still to be written: the siblings from..until-1, the next one first. */
struct level {
	size_t next, until, rest;
};

/* How many of the siblings get rows; the others are a rest. A rest of one is no rest,
 * but for chains without a beginning: all of them are one node. */
static size_t level_keeps(const struct forest *forest, const struct place *siblings, size_t n)
{
	size_t keep = 0;

	while (keep < n && !siblings[keep].node->is_small)
		keep++;
	if (siblings->node->parent == NOBODY && forest->max_roots && keep > forest->max_roots)
		keep = forest->max_roots;
	if (n - keep != 1 || siblings[keep].node->row.kind == TREE_EARLIER)
		return keep;
	return n;
}

static struct level level_of(const struct forest *forest, const struct place *places, size_t parent)
{
	struct level level = {0};
	size_t low = 0, high = forest->nodes.n;

	while (low < high) { /* the first one whose parent is not below */
		size_t middle = low + (high - low) / 2;

		if (places[middle].node->parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	level.next = level.until = low;
	while (level.until < forest->nodes.n && places[level.until].node->parent == parent)
		level.until++;
	level.rest = level.next;
	if (level.next < level.until)
		level.rest += level_keeps(forest, places + level.next, level.until - level.next);
	return level;
}

static void forest_write(const struct forest *forest, struct cause_tree *tree)
{
	struct place *places = mem_calloc(forest->nodes.n + 1, sizeof(*places));
	VEC(struct level) open = {0};

	for (size_t i = 0; i < forest->nodes.n; i++)
		places[i] = (struct place){&forest->nodes.items[i], i};
	qsort(places, forest->nodes.n, sizeof(*places), place_order);
	*vec_push(&open) = level_of(forest, places, NOBODY);
	while (open.n) {
		struct level *level = &open.items[open.n - 1];

		if (level->next < level->rest) {
			const struct place *place = &places[level->next++];

			*vec_push(&tree->rows) = place->node->row;
			*vec_push(&open) = level_of(forest, places, place->number);
			continue;
		}
		if (level->rest < level->until)
			*vec_push(&tree->rows) =
				row_of_rest(places + level->rest, level->until - level->rest);
		open.n--;
	}
	free(open.items);
	free(places);
}

void cause_tree_init(struct cause_tree *ret_tree, const struct cause_sums *sums, double least_share,
		     size_t max_roots)
{
	struct forest forest = {.sums = sums, .least_share = least_share, .max_roots = max_roots};

	*ret_tree = (struct cause_tree){0};
	forest_plant(&forest);
	forest_add_up(&forest);
	forest_write(&forest, ret_tree);
	free(forest.nodes.items);
}

void cause_tree_free_members(struct cause_tree *tree)
{
	if (!tree)
		return;
	free(tree->rows.items);
	*tree = (struct cause_tree){0};
}
