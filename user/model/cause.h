/* The table that turns evidence into causes: a row for each, in order; the first that matches. */
#ifndef WAKEWHY_MODEL_CAUSE_H
#define WAKEWHY_MODEL_CAUSE_H

#include "base/strbuf.h"
#include "model/capture.h"

/* The evidence of one wake, with names where there are any. */
struct cause_evidence {
	const struct wk_cause *cause;
	const char *sleep_call; /* name of the call the thread slept in; "" for none */
	const char *wake_call;	/* name of the call the waker was in; "" for none */
	const char *name;	/* of the timer's function, the device or the waker; safe to print */
	const char *waker;	/* label of a waker that is followed; "" else */
	bool same_process;	/* the waker that is followed belongs to the same process */
	uint64_t timeout_ns;	/* asked for, on average; 0: none */
};

struct cause_rule {
	const char *id;	     /* as JSON spells it: "timeout" */
	const char *example; /* how it reads, for `list causes` */
	const char *evidence; /* what it is found from, for `list causes` */
	bool is_wake;	     /* false: a start, or what ran before */
	bool (*matches)(const struct cause_evidence *e);
	void (*describe)(struct strbuf *text, const struct cause_evidence *e);
	/* How the wake reached the thread: "futex", "epoll", "write" …; "" for none. Static. */
	const char *(*mechanism)(const struct cause_evidence *e);
};

extern const struct cause_rule cause_rules[]; /* ended by id NULL; the last row matches all */
const struct cause_rule *cause_rule_of(const struct cause_evidence *e);

#endif
