/* Who wakes whom: edges between threads, hand-off loops, herds. */
#include "model/handoff.h"

#include <stdlib.h>

#define LOOP_ROUNDS_MIN	 16
#define LOOP_PER_OUTSIDE 10   /* hand-offs for each wake from outside the loop */
#define HERD_SHARE_MIN	 0.2  /* of all that it wakes: less is chance */
#define EDGE_SHARE_MIN	 0.05 /* of what wakes the thread: less is not what keeps it going */

void handoff_edges(struct why *why)
{
	for (size_t i = 0; i < why->causes.n; i++) {
		const struct why_cause *cause = &why->causes.items[i];
		struct why_edge *edge = NULL;

		if (!cause->waker || !cause->wakeups)
			continue;
		for (size_t j = 0; j < why->edges.n && !edge; j++)
			if (why->edges.items[j].from == cause->waker &&
			    why->edges.items[j].to == cause->thread &&
			    why->edges.items[j].mechanism == cause->mechanism)
				edge = &why->edges.items[j];
		if (!edge) {
			edge = vec_push(&why->edges);
			edge->from = cause->waker;
			edge->to = cause->thread;
			edge->mechanism = cause->mechanism;
		}
		edge->wakeups += cause->wakeups;
	}
}

/* ---- strongly connected threads
 * ------------------------------------------------------------------ */

/* The graph of the edges that matter, threads by their place in run->threads. */
struct graph {
	size_t n;
	const struct run *run;
	bool *used;	   /* by edge */
	size_t *component; /* by thread */
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
	for (size_t i = 0; i < why->edges.n; i++) {
		const struct why_edge *edge = &why->edges.items[i];
		double all = (double)edge->to->seen->t.count.wakeups;

		graph->used[i] = edge->from != edge->to && edge->wakeups >= LOOP_ROUNDS_MIN / 4 &&
				 (double)edge->wakeups >= EDGE_SHARE_MIN * all;
	}
}

/* Marks all that can be reached from `from` along (or against) the edges. */
static void graph_reach(const struct graph *graph, const struct why *why, size_t from, bool against,
			bool *ret_reached)
{
	size_t *stack = mem_calloc(graph->n + 1, sizeof(size_t)), depth = 0;

	ret_reached[from] = true;
	stack[depth++] = from;
	while (depth) {
		size_t at = stack[--depth];

		for (size_t i = 0; i < why->edges.n; i++) {
			const struct why_edge *edge = &why->edges.items[i];
			size_t a = place(graph->run, against ? edge->to : edge->from);
			size_t b = place(graph->run, against ? edge->from : edge->to);

			if (!graph->used[i] || a != at || ret_reached[b])
				continue;
			ret_reached[b] = true;
			stack[depth++] = b;
		}
	}
	free(stack);
}

/* Threads that reach each other share a component; those alone have 0. Only threads with an edge
 * are looked at, so the cost follows the number of edges. */
static void graph_components(struct graph *graph, const struct why *why)
{
	for (size_t e = 0; e < why->edges.n; e++) {
		size_t at = place(graph->run, why->edges.items[e].from), members = 0;
		bool *there, *back;

		if (!graph->used[e] || graph->component[at])
			continue;
		there = mem_calloc(graph->n, sizeof(bool));
		back = mem_calloc(graph->n, sizeof(bool));
		graph_reach(graph, why, at, false, there);
		graph_reach(graph, why, at, true, back);
		for (size_t i = 0; i < graph->n; i++)
			members += there[i] && back[i];
		if (members > 1) {
			graph->components++;
			for (size_t i = 0; i < graph->n; i++)
				if (there[i] && back[i])
					graph->component[i] = graph->components;
		}
		free(there);
		free(back);
	}
}

/* Wakeups of a thread by members of its component. */
static uint64_t inside_wakeups(const struct graph *graph, const struct why *why, size_t thread)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < why->edges.n; i++)
		if (graph->used[i] && place(graph->run, why->edges.items[i].to) == thread &&
		    graph->component[place(graph->run, why->edges.items[i].from)] ==
			    graph->component[thread])
			sum += why->edges.items[i].wakeups;
	return sum;
}

static void loop_cost(struct why_loop *loop, const struct why *why, const struct graph *graph,
		      size_t component)
{
	double rounds = (double)loop->rounds;

	for (size_t i = 0; i < why->causes.n; i++) {
		const struct why_cause *cause = &why->causes.items[i];

		if (!cause->waker ||
		    graph->component[place(graph->run, cause->thread)] != component ||
		    graph->component[place(graph->run, cause->waker)] != component)
			continue;
		loop->oncpu_ns += (double)cause->oncpu_ns / rounds;
		loop->runq_ns += (double)cause->runq_ns / rounds;
		loop->wakeups += (double)cause->wakeups / rounds;
	}
	for (size_t i = 0; i < loop->threads.n; i++)
		loop->syscalls += (double)loop->threads.items[i]->seen->t.count.syscalls / rounds;
}

static void loop_add(struct why *why, const struct graph *graph, size_t component)
{
	uint64_t inside = 0, all = 0, most = 0;
	const struct run *run = graph->run;
	struct why_loop loop = {};
	size_t hub = 0;

	for (size_t i = 0; i < graph->n; i++) {
		uint64_t wakeups;

		if (graph->component[i] != component)
			continue;
		wakeups = inside_wakeups(graph, why, i);
		inside += wakeups;
		all += run->threads.items[i].seen->t.count.wakeups;
		if (wakeups > most) {
			most = wakeups;
			hub = i;
		}
	}
	if (most < LOOP_ROUNDS_MIN || inside < LOOP_PER_OUTSIDE * (all > inside ? all - inside : 1))
		return;
	loop.rounds = most;
	loop.rounds_per_s = run->window_ns ? (double)most / ((double)run->window_ns / 1e9) : 0;
	*vec_push(&loop.threads) = &run->threads.items[hub];
	for (size_t i = 0; i < graph->n; i++)
		if (graph->component[i] == component && i != hub)
			*vec_push(&loop.threads) = &run->threads.items[i];
	loop_cost(&loop, why, graph, component);
	*vec_push(&why->loops) = loop;
}

void handoff_loops(struct why *why, const struct run *run)
{
	struct graph graph = {};

	graph_init(&graph, why, run);
	graph_components(&graph, why);
	for (size_t c = 1; c <= graph.components; c++)
		loop_add(why, &graph, c);
	free(graph.used);
	free(graph.component);
}

static uint64_t woken_by(const struct why *why, const struct run_thread *waker)
{
	uint64_t wakeups = 0;

	for (size_t i = 0; i < why->edges.n; i++)
		if (why->edges.items[i].from == waker)
			wakeups += why->edges.items[i].wakeups;
	return wakeups;
}

void handoff_herds(struct why *why, const struct run *run)
{
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
		if (herds < 2 ||
		    (double)woken < HERD_SHARE_MIN * (double)woken_by(why, &run->threads.items[i]))
			continue;
		herd = vec_push(&why->herds);
		herd->waker = &run->threads.items[i];
		herd->herds = herds;
		herd->threads = (double)woken / (double)herds;
		herd->most = most;
	}
}
