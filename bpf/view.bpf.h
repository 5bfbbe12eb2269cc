/* The window, read once for each event. */
#ifndef WAKEWHY_VIEW_BPF_H
#define WAKEWHY_VIEW_BPF_H

static __always_inline void view_take(struct account_view *ret_view, const struct wk_thread *t)
{
	ret_view->start_ns = window.start_ns;
	ret_view->end_ns = window.end_ns;
	ret_view->series = SERIES_OF(t);
}

static __always_inline int window_is_open(__u64 now_ns)
{
	struct account_view v = {.start_ns = window.start_ns, .end_ns = window.end_ns};

	return account_in_window(now_ns, &v);
}

#endif
