/* What the kernel side says through the ring: images, and requests to read dead slots. */
#include <string.h>

#include "collect/internal.h"
#include "collect/proc.h"

#include "wakewhy.skel.h"

static void image_add(struct collector *c, const struct wk_event_exec *e)
{
	struct capture_image *image = vec_push(&c->images);

	image->pid = e->pid;
	image->ppid = e->ppid;
	image->start_ns = e->start_ns;
	image->exec_ns = e->event.time_ns;
	image->group = e->group;
	memcpy(image->comm, e->comm, WK_COMM_BYTES);
	if (!e->argv_bytes || e->argv_bytes > sizeof(e->argv))
		return;
	image->argv = mem_calloc(1, e->argv_bytes);
	memcpy(image->argv, e->argv, e->argv_bytes);
	image->argv[e->argv_bytes - 1] = '\0'; /* it may have been cut */
	image->argv_bytes = e->argv_bytes;
	image->argv_cut = e->argv_cut;
}

int collect_event(void *collector, void *data, size_t bytes)
{
	struct collector *c = collector;
	const struct wk_event *event = data;

	if (bytes < sizeof(*event))
		return 0;
	if (event->type == WK_EVENT_RECYCLE)
		c->recycle = true;
	else if (event->type == WK_EVENT_EXEC && bytes >= sizeof(struct wk_event_exec))
		image_add(c, data);
	return 0;
}

int collector_fd(const struct collector *c)
{
	return c->proc ? c->proc->timer_fd : ring_buffer__epoll_fd(c->events);
}

void collector_look(struct collector *c)
{
	if (c->proc)
		collect_proc_look(c);
}

int collector_service(struct collector *c, bool *ret_empty, struct diag *diag)
{
	int n;

	if (c->proc) {
		collect_proc_service(c);
		*ret_empty = !c->proc->alive;
		return 0;
	}
	collect_stacks_service(c);
	n = ring_buffer__consume(c->events);
	if (n < 0)
		return diag_set(diag, n, "cannot read the event ring: %s", strerror(-n));
	if (c->recycle) {
		c->recycle = false;
		collect_harvest(c);
		collect_dead_causes_take(c);
	}
	*ret_empty = collector_alive(c) == 0;
	return 0;
}
