/* Messages for people on standard error. The level is the program's one global: main sets it. */
#ifndef WAKEWHY_BASE_LOG_H
#define WAKEWHY_BASE_LOG_H

#include "base/diag.h"

enum log_level {
	LOG_LEVEL_QUIET,   /* errors alone */
	LOG_LEVEL_NORMAL,  /* and warnings and information */
	LOG_LEVEL_VERBOSE, /* and debugging */
};

void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* One line each, "wakewhy: " before it, written at once. Bytes that a terminal could act on are
 * shown as escapes. errno is kept. For cmd/, collect/ and runtime/ only: the rooms that are pure
 * return a struct diag. */
__attribute__((format(printf, 1, 2))) void log_error(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_warn(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_info(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void log_debug(const char *fmt, ...);
/* A diag as an error: what, and on a second line the hint where there is one. */
void log_diag(const struct diag *diag);

#endif
