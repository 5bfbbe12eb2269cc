/* A bar on standard error: what runs now, and the time left.
 *
 *	idle · bun 1.3.14   ████████████▌               41 s left
 */
#ifndef WAKEWHY_CMD_PROGRESS_H
#define WAKEWHY_CMD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress;

/* NULL, which every function accepts and which costs nothing, unless standard error is a terminal
 * that can move its cursor, and not with quiet. */
struct progress *progress_new(bool quiet);
/* What runs now. */
__attribute__((format(printf, 2, 3))) void progress_say(struct progress *progress, const char *fmt,
							...);
/* How far the whole is: done of total, of any unit (total 0: not known, no bar), and the time left
 * (UINT64_MAX: not known). Draws, at most four times a second. */
void progress_update(struct progress *progress, uint64_t done, uint64_t total, uint64_t left_ns);
/* When to call progress_update next while nothing else happens, in ns from now; UINT64_MAX without
 * a bar: no wake-ups of ours then. */
uint64_t progress_interval_ns(const struct progress *progress);
/* Takes the bar off the screen, before anything else is printed there. */
void progress_clear(struct progress *progress);
void progress_free(struct progress *progress); /* clears too */

#endif
