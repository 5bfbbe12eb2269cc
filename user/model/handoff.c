/* Who wakes whom: edges between threads, hand-off loops, herds. */
#include "model/handoff.h"

#include <stdlib.h>

#include "base/place_index.h"

#define LOOP_ROUNDS_MIN	 16
#define LOOP_PER_OUTSIDE 10   /* hand-offs for each wake from outside the loop */
#define HERD_SHARE_MIN	 0.2  /* of all that it wakes: less is chance */
#define EDGE_SHARE_MIN	 0.05 /* of what wakes the thread: less is not what keeps it going */

static bool edge_equal(const void *why, uint32_t place, const void *wanted)
{
	const struct why_edge *x = &((const struct why *)why)->edges.items[place], *y = wanted;

	return x->from == y->from && x->to == y->to && x->mechanism == y->mechanism;
}

void handoff_edges(struct why *why)
{
	struct place_index index = {};

	for (size_t i = 0; i < why->causes.n; i++) {
		const struct why_cause *cause = &why->causes.items[i];
		struct why_edge edge = {
			.from = cause->waker, .to = cause->thread, .mechanism = cause->mechanism};
		const uint64_t key[] = {(uintptr_t)edge.from, (uintptr_t)edge.to,
					(uintptr_t)edge.mechanism};
		uint64_t hash = place_hash(&index, key, sizeof(key));
		uint32_t at;

		if (!cause->waker || !cause->wakeups)
			continue;
		at = place_index_find(&index, hash, edge_equal, why, &edge);
		if (at == PLACE_NONE) {
			at = (uint32_t)why->edges.n;
			*vec_push(&why->edges) = edge;
			place_index_add(&index, hash, at);
		}
		why->edges.items[at].wakeups += cause->wakeups;
	}
	place_index_clear(&index);
}

/* ---- strongly connected threads -------------------------------------------------------------- */

/* The graph of the edges that matter, threads by their place in run->threads. */
struct graph {
	size_t n;
	const struct run *run;
	size_t *first, *to; /* thread i wakes to[first[i]] … to[first[i + 1] - 1] */
	bool *used;	   /* by edge */
	size_t *component; /* by thread; 0: it reaches nobody who reaches it */
	size_t components;
};

static size_t place(const struct run *run, const struct run_thread *thread)
{
	return (size_t)(thread - run->threads.items);
}

static void graph_init(struct graph *graph, const struct why *why, const struct run *run)
{
	graph->n = run->threads.n;
	graph->run = run;
	graph->used = mem_calloc(why->edges.n + 1, sizeof(bool));
	graph->component = mem_calloc(graph->n + 1, sizeof(size_t));
	/* Counted one place too far, so that filling them in leaves each at its place. */
	graph->first = mem_calloc(graph->n + 2, sizeof(size_t));
	graph->to = mem_calloc(why->edges.n + 1, sizeof(size_t));
	for (size_t i = 0; i < why->edges.n; i++) {
		const struct why_edge *edge = &why->edges.items[i];
		double all = (double)edge->to->seen->t.count.wakeups;

		graph->used[i] = edge->from != edge->to && edge->wakeups >= LOOP_ROUNDS_MIN / 4 &&
				 (double)edge->wakeups >= EDGE_SHARE_MIN * all;
		if (graph->used[i])
			graph->first[place(run, edge->from) + 2]++;
	}
	for (size_t i = 2; i < graph->n + 2; i++)
		graph->first[i] += graph->first[i - 1];
	for (size_t i = 0; i < why->edges.n; i++)
		if (graph->used[i])
			graph->to[graph->first[place(run, why->edges.items[i].from) + 1]++] =
				place(run, why->edges.items[i].to);
}

static void graph_free_members(struct graph *graph)
{
	free(graph->used);
	free(graph->component);
	free(graph->first);
	free(graph->to);
}

/* A walk over the graph, each edge once (R. Tarjan, "Depth-first search and linear graph algorithms",
 * 1972), with a stack of its own: chains may be as long as there are threads. */
struct walk {
	size_t *order;	/* by thread: when it was come to, from 1; 0: not yet */
	size_t *low;	/* by thread: the earliest that it reaches and that is still open */
	size_t *next;	/* by thread: the next edge to go along */
	size_t *root;	/* by thread: of its component, plus 1; 0: still open */
	size_t *path;	/* from where the walk began to where it is */
	size_t *open;	/* threads whose component is not known yet */
	size_t n_path, n_open, come;
};

static void walk_enter(struct walk *walk, const struct graph *graph, size_t thread)
{
	walk->order[thread] = walk->low[thread] = ++walk->come;
	walk->next[thread] = graph->first[thread];
	walk->path[walk->n_path++] = thread;
	walk->open[walk->n_open++] = thread;
}

static void walk_leave(struct walk *walk, size_t thread)
{
	size_t member;

	walk->n_path--;
	if (walk->n_path) {
		size_t before = walk->path[walk->n_path - 1];

		if (walk->low[thread] < walk->low[before])
			walk->low[before] = walk->low[thread];
	}
	if (walk->low[thread] != walk->order[thread])
		return;
	do {
		member = walk->open[--walk->n_open];
		walk->root[member] = thread + 1;
	} while (member != thread);
}

static void walk_from(struct walk *walk, const struct graph *graph, size_t start)
{
	walk_enter(walk, graph, start);
	while (walk->n_path) {
		size_t at = walk->path[walk->n_path - 1], to;

		if (walk->next[at] == graph->first[at + 1]) {
			walk_leave(walk, at);
			continue;
		}
		to = graph->to[walk->next[at]++];
		if (!walk->order[to])
			walk_enter(walk, graph, to);
		else if (!walk->root[to] && walk->order[to] < walk->low[at])
			walk->low[at] = walk->order[to];
	}
}

/* Threads that reach each other share a component, numbered as their edges come; those alone have 0. */
static void graph_components(struct graph *graph, const struct why *why)
{
	size_t *memory = mem_calloc(graph->n + 1, 8 * sizeof(size_t)), *at = memory;
	size_t *members, *number;
	struct walk walk = {};

	walk.order = at;
	walk.low = at += graph->n;
	walk.next = at += graph->n;
	walk.root = at += graph->n;
	walk.path = at += graph->n;
	walk.open = at += graph->n;
	members = at += graph->n; /* by root */
	number = at + graph->n;
	for (size_t i = 0; i < graph->n; i++)
		if (!walk.order[i])
			walk_from(&walk, graph, i);
	for (size_t i = 0; i < graph->n; i++)
		members[walk.root[i] - 1]++;
	for (size_t e = 0; e < why->edges.n; e++) {
		size_t root = walk.root[place(graph->run, why->edges.items[e].from)] - 1;

		if (graph->used[e] && members[root] > 1 && !number[root])
			number[root] = ++graph->components;
	}
	for (size_t i = 0; i < graph->n; i++)
		graph->component[i] = number[walk.root[i] - 1];
	free(memory);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* What is known of a component while the threads are gone through. */
struct component {
	uint64_t inside, all, most; /* wakeups: by its own threads, of all, of the hub by its own */
	size_t hub;
	struct why_loop loop;
};

/* Wakeups of each thread by members of its component. The caller frees. */
static uint64_t *inside_wakeups(const struct graph *graph, const struct why *why)
{
	uint64_t *inside = mem_calloc(graph->n + 1, sizeof(*inside));

	for (size_t i = 0; i < why->edges.n; i++) {
		size_t to = place(graph->run, why->edges.items[i].to);

		if (graph->used[i] && graph->component[to] &&
		    graph->component[place(graph->run, why->edges.items[i].from)] ==
			    graph->component[to])
			inside[to] += why->edges.items[i].wakeups;
	}
	return inside;
}

static void components_measure(struct component *components, const struct graph *graph,
			       const struct why *why)
{
	const struct run_thread *threads = graph->run->threads.items;
	uint64_t *inside = inside_wakeups(graph, why);

	for (size_t i = 0; i < graph->n; i++) {
		struct component *c = &components[graph->component[i]];

		c->inside += inside[i];
		c->all += threads[i].seen->t.count.wakeups;
		if (inside[i] > c->most) {
			c->most = inside[i];
			c->hub = i;
		}
	}
	free(inside);
}

static bool component_is_loop(const struct component *c)
{
	uint64_t outside = c->all > c->inside ? c->all - c->inside : 1;

	return c->most >= LOOP_ROUNDS_MIN && c->inside >= LOOP_PER_OUTSIDE * outside;
}

static void loop_add_thread(struct why_loop *loop, const struct run_thread *thread)
{
	*vec_push(&loop->threads) = thread;
	loop->syscalls += (double)thread->seen->t.count.syscalls / (double)loop->rounds;
}

/* The hub first. */
static void loops_add_threads(struct component *components, const struct graph *graph)
{
	const struct run *run = graph->run;

	for (size_t i = 1; i <= graph->components; i++) {
		struct component *c = &components[i];

		if (!component_is_loop(c))
			continue;
		c->loop.rounds = c->most;
		c->loop.rounds_per_s =
			run->window_ns ? (double)c->most / ((double)run->window_ns / 1e9) : 0;
		loop_add_thread(&c->loop, &run->threads.items[c->hub]);
	}
	for (size_t i = 0; i < graph->n; i++) {
		struct component *c = &components[graph->component[i]];

		if (graph->component[i] && c->loop.rounds && i != c->hub)
			loop_add_thread(&c->loop, &run->threads.items[i]);
	}
}

static void loops_add_costs(struct component *components, const struct graph *graph,
			    const struct why *why)
{
	for (size_t i = 0; i < why->causes.n; i++) {
		const struct why_cause *cause = &why->causes.items[i];
		size_t component = graph->component[place(graph->run, cause->thread)];
		struct why_loop *loop = &components[component].loop;

		if (!component || !loop->rounds || !cause->waker ||
		    graph->component[place(graph->run, cause->waker)] != component)
			continue;
		loop->oncpu_ns += (double)cause->oncpu_ns / (double)loop->rounds;
		loop->runq_ns += (double)cause->runq_ns / (double)loop->rounds;
		loop->wakeups += (double)cause->wakeups / (double)loop->rounds;
	}
}

void handoff_loops(struct why *why, const struct run *run)
{
	struct component *components;
	struct graph graph = {};

	graph_init(&graph, why, run);
	graph_components(&graph, why);
	components = mem_calloc(graph.components + 1, sizeof(*components));
	components_measure(components, &graph, why);
	loops_add_threads(components, &graph);
	loops_add_costs(components, &graph, why);
	for (size_t i = 1; i <= graph.components; i++)
		if (components[i].loop.rounds)
			*vec_push(&why->loops) = components[i].loop;
	free(components);
	graph_free_members(&graph);
}

/* How many wakeups each thread gave. The caller frees. */
static uint64_t *wakeups_given(const struct why *why, const struct run *run)
{
	uint64_t *given = mem_calloc(run->threads.n + 1, sizeof(*given));

	for (size_t i = 0; i < why->edges.n; i++)
		given[place(run, why->edges.items[i].from)] += why->edges.items[i].wakeups;
	return given;
}

void handoff_herds(struct why *why, const struct run *run)
{
	uint64_t *given = wakeups_given(why, run);

	for (size_t i = 0; i < run->threads.n; i++) {
		const struct wk_thread *t = &run->threads.items[i].seen->t;
		uint64_t herds = t->herds, woken = t->herd_woken;
		uint32_t most = t->herd_max;
		struct why_herd *herd;

		/* The last burst was still open when the window closed. */
		if (t->burst > 2) {
			herds++;
			woken += t->burst;
			most = t->burst > most ? t->burst : most;
		}
		if (herds < 2 || (double)woken < HERD_SHARE_MIN * (double)given[i])
			continue;
		herd = vec_push(&why->herds);
		herd->waker = &run->threads.items[i];
		herd->herds = herds;
		herd->threads = (double)woken / (double)herds;
		herd->most = most;
	}
	free(given);
}
