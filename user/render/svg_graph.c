/* Who wakes whom: wakers on the left, wakees on the right, a band for each link between them.
 *
 * Every link has a port of its own at either end, a line of text high, so no two labels can meet.
 * A thread that wakes and is woken stands on both sides. */
#include <math.h>
#include <stdlib.h>

#include "render/svg.h"

#define GRAPH_TOP  28.0 /* heads of the two columns */
#define GRAPH_PORT 22.0
#define GRAPH_GAP  10.0 /* between two nodes */
/* Per cent of the width: wakers' names, a bar for each, bands, their figures, a bar, wakees' names.
 */
#define GRAPH_LEFT   29.0
#define GRAPH_BANDS  31.0
#define GRAPH_FIGURE 50.0
#define GRAPH_RIGHT  68.0
#define GRAPH_NAMES  70.0
#define GRAPH_TEXT   62.0 /* pixels of a link's text on a wide screen, beside its figure */
#define GRAPH_SHARE  0.29 /* of the width, for names on either side */
#define GRAPH_THICK  10.0 /* the heaviest band, pixels */

/* One side of the graph. */
struct side {
	size_t *order;	 /* nodes that have a link here, from the top */
	double *rank;	 /* by node: what the order goes by */
	double *top;	 /* by node */
	size_t *n_links; /* by node */
	size_t n;
	double height;
};

struct graph {
	const struct chart *chart;
	struct side from, to;
	double *from_y, *to_y; /* by link: middle of its ports; NaN: a stray one */
	double heaviest;
};

static bool graph_is_link(const struct chart *chart, const struct chart_link *link)
{
	return link->from < chart->nodes.n && link->to < chart->nodes.n;
}

/* ---- placing ------------------------------------------------------------------------------------
 */

static void side_init(struct side *side, size_t n_nodes)
{
	side->order = mem_calloc(n_nodes, sizeof(*side->order));
	side->rank = mem_calloc(n_nodes, sizeof(*side->rank));
	side->top = mem_calloc(n_nodes, sizeof(*side->top));
	side->n_links = mem_calloc(n_nodes, sizeof(*side->n_links));
}

static void side_free_members(struct side *side)
{
	free(side->order);
	free(side->rank);
	free(side->top);
	free(side->n_links);
}

/* Sets the nodes below one another, by falling rank; those of one rank keep their order. */
static void side_place(struct side *side, size_t n_nodes)
{
	double y = GRAPH_TOP;

	side->n = 0;
	for (size_t i = 0; i < n_nodes; i++) {
		size_t at = side->n;

		if (!side->n_links[i])
			continue;
		for (; at && side->rank[side->order[at - 1]] < side->rank[i]; at--)
			side->order[at] = side->order[at - 1];
		side->order[at] = i;
		side->n++;
	}
	for (size_t i = 0; i < side->n; i++) {
		side->top[side->order[i]] = y;
		y += GRAPH_PORT * (double)side->n_links[side->order[i]] + GRAPH_GAP;
	}
	side->height = y;
}

/* Ports of a node in the order of the links' other ends, so that bands of one node do not cross. */
static void graph_place_ports(const struct chart *chart, const struct side *side, bool at_from,
			      const double *other_y, double *ret_y)
{
	for (size_t i = 0; i < chart->links.n; i++) {
		const struct chart_link *link = &chart->links.items[i];
		size_t node = at_from ? link->from : link->to, above = 0;

		ret_y[i] = NAN;
		if (!graph_is_link(chart, link))
			continue;
		for (size_t j = 0; j < chart->links.n; j++) {
			const struct chart_link *peer = &chart->links.items[j];

			if (!graph_is_link(chart, peer) || j == i ||
			    (at_from ? peer->from : peer->to) != node)
				continue;
			above += other_y[j] < other_y[i] || (!(other_y[j] > other_y[i]) && j < i);
		}
		ret_y[i] = side->top[node] + GRAPH_PORT * ((double)above + 0.5);
	}
}

/* Wakers by what they wake in all; wakees by the height of who wakes them. */
static void graph_place(struct graph *graph)
{
	const struct chart *chart = graph->chart;
	size_t n = chart->nodes.n;

	for (size_t i = 0; i < chart->links.n; i++) {
		const struct chart_link *link = &chart->links.items[i];

		if (!graph_is_link(chart, link))
			continue;
		graph->from.n_links[link->from]++;
		graph->to.n_links[link->to]++;
		if (!isfinite(link->weight))
			continue;
		graph->from.rank[link->from] += link->weight;
		graph->heaviest = fmax(graph->heaviest, link->weight);
	}
	side_place(&graph->from, n);
	for (size_t i = 0; i < chart->links.n; i++) {
		const struct chart_link *link = &chart->links.items[i];

		if (graph_is_link(chart, link))
			graph->to.rank[link->to] -=
				graph->from.top[link->from] / (double)graph->to.n_links[link->to];
	}
	side_place(&graph->to, n);
	for (size_t i = 0; i < chart->links.n; i++)
		graph->to_y[i] = graph_is_link(chart, &chart->links.items[i])
					 ? graph->to.top[chart->links.items[i].to]
					 : NAN;
	graph_place_ports(chart, &graph->from, true, graph->to_y, graph->from_y);
	graph_place_ports(chart, &graph->to, false, graph->from_y, graph->to_y);
}

static void graph_init(struct graph *graph, const struct chart *chart)
{
	*graph = (struct graph){.chart = chart};
	side_init(&graph->from, chart->nodes.n);
	side_init(&graph->to, chart->nodes.n);
	graph->from_y = mem_calloc(chart->links.n, sizeof(*graph->from_y));
	graph->to_y = mem_calloc(chart->links.n, sizeof(*graph->to_y));
	graph_place(graph);
}

static void graph_free_members(struct graph *graph)
{
	side_free_members(&graph->from);
	side_free_members(&graph->to);
	free(graph->from_y);
	free(graph->to_y);
}

static double graph_height(const struct chart *chart)
{
	struct graph graph;
	double height;

	graph_init(&graph, chart);
	height = fmax(graph.from.height, graph.to.height);
	graph_free_members(&graph);
	return height;
}

/* ---- drawing ------------------------------------------------------------------------------------
 */

/* A colour for each waker. */
static size_t graph_colour(const struct graph *graph, size_t node)
{
	for (size_t i = 0; i < graph->from.n; i++) {
		if (graph->from.order[i] == node)
			return i % SVG_COLOURS;
	}
	return 0;
}

static void graph_draw_bands(const struct svg *svg, const struct graph *graph)
{
	static const double begin = SVG_UNITS(GRAPH_BANDS), end = SVG_UNITS(GRAPH_FIGURE);

	svg_begin_field(svg, fmax(graph->from.height, graph->to.height));
	for (size_t i = 0; i < svg->chart->links.n; i++) {
		const struct chart_link *link = &svg->chart->links.items[i];
		double share = graph->heaviest > 0 ? link->weight / graph->heaviest : 0;

		if (isnan(graph->from_y[i]))
			continue;
		fprintf(svg->out,
			"<path class=\"s%zu band\" stroke-width=\"%.3g\" "
			"d=\"M%g %.5gC%g %.5g %g %.5g %g %.5g\"/>\n",
			graph_colour(graph, link->from),
			1.5 + (GRAPH_THICK - 1.5) * (share > 0 ? fmin(share, 1) : 0), begin,
			graph->from_y[i], (begin + end) / 2, graph->from_y[i], (begin + end) / 2,
			graph->to_y[i], end, graph->to_y[i]);
	}
	svg_end_field(svg);
}

static void graph_draw_nodes(const struct svg *svg, const struct side *side, bool at_from)
{
	for (size_t i = 0; i < side->n; i++) {
		size_t node = side->order[i];
		double height = GRAPH_PORT * (double)side->n_links[node], top = side->top[node];
		struct svg_spot spot = {
			.x = at_from ? GRAPH_LEFT : GRAPH_NAMES,
			.y = top + height / 2 + 4,
			.anchor = at_from ? "end" : "start",
			.narrow = SVG_NARROW * GRAPH_SHARE,
			.wide = SVG_WIDE * GRAPH_SHARE,
		};

		fprintf(svg->out,
			"<rect class=\"sum f\" x=\"%g%%\" y=\"%.5g\" width=\"1%%\" "
			"height=\"%.5g\"/>\n",
			at_from ? GRAPH_BANDS - 1.5 : GRAPH_RIGHT, top + 2, height - 4);
		svg_text(svg->out, &spot, svg->chart->nodes.items[node]);
	}
}

/* Between a band and its wakee, where ports keep figures apart; where the screen is wide enough,
 * what the wakes are by before them. */
static void graph_draw_figures(const struct svg *svg, const struct graph *graph)
{
	for (size_t i = 0; i < svg->chart->links.n; i++) {
		const struct chart_link *link = &svg->chart->links.items[i];
		struct svg_spot figure = {.x = GRAPH_RIGHT, .dx = -4, .anchor = "end"};
		struct svg_spot text = {
			.x = GRAPH_FIGURE,
			.dx = 5,
			.classes = "ax wid",
			.narrow = GRAPH_TEXT,
			.wide = GRAPH_TEXT,
		};
		char number[64];

		if (isnan(graph->to_y[i]))
			continue;
		figure.y = text.y = graph->to_y[i] + 4;
		svg_number(number, &svg->chart->y, link->weight);
		svg_text(svg->out, &figure, number);
		if (link->text && *link->text)
			svg_text(svg->out, &text, link->text);
	}
}

static void graph_draw_head(const struct svg *svg, double x, double dx, const char *anchor,
			    const char *text)
{
	struct svg_spot spot = {
		x, dx, 14, anchor, "ax", SVG_NARROW * GRAPH_SHARE, SVG_WIDE * GRAPH_SHARE};

	svg_text(svg->out, &spot, text);
}

static void graph_draw(struct svg *svg)
{
	struct graph graph;

	graph_init(&graph, svg->chart);
	graph_draw_head(svg, GRAPH_LEFT, 0, "end", "waker");
	graph_draw_head(svg, GRAPH_NAMES, 0, "start", "wakee");
	graph_draw_head(svg, GRAPH_RIGHT, -4, "end", svg->chart->y.title);
	graph_draw_bands(svg, &graph);
	graph_draw_nodes(svg, &graph.from, true);
	graph_draw_nodes(svg, &graph.to, false);
	graph_draw_figures(svg, &graph);
	graph_free_members(&graph);
}

const struct svg_kind svg_graph = {
	graph_height,
	graph_draw,
	"Wakers on the left, wakees on the right, a band for each link, its width by how often.",
};
