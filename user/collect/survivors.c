/* Who of the followed is still alive, by process. */
#include "collect/internal.h"

static bool seen_before(const pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

size_t collector_survivors(const struct collector *c, pid_t *ret_pids, size_t max)
{
	uint32_t used = collect_slots_used(c);
	size_t n = 0;

	for (uint32_t i = 0; i < used && n < max; i++) {
		const struct wk_thread *t = &c->slots[i];
		uint32_t state = __atomic_load_n(&t->state, __ATOMIC_ACQUIRE);

		if (state == WK_STATE_NONE || state == WK_STATE_DEAD ||
		    seen_before(ret_pids, n, (pid_t)t->pid))
			continue;
		ret_pids[n++] = (pid_t)t->pid;
	}
	return n;
}
