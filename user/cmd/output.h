/* Where results go: opened before anything is measured, complete or not there afterwards. */
#ifndef WAKEWHY_CMD_OUTPUT_H
#define WAKEWHY_CMD_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/diag.h"
#include "cmd/options.h"
#include "model/capture.h"
#include "render/render.h"

struct outputs;

/* Opens each -o FILE of options (its format by its extension, or by -f where it has none that is
 * known), and the stream that gets a report besides: standard output (not with -q where -o names a
 * file), or standard error with `to_stderr` (run; only where -o is not given). -EINVAL: a name, format or
 * combination is wrong (exit status 2); any other error: the place cannot be written, or the file of
 * --baseline cannot be read (exit status 1). Nothing is left behind on failure. */
int outputs_open(struct outputs **ret_outputs, const struct options *options, bool to_stderr,
		 struct diag *diag);

/* Are all formats that were asked for such as any report has (text, markdown, json)? */
bool outputs_of_report(const struct options *options);

/* Derives result and report from the recording and writes them everywhere. Every file is complete
 * under its name or was not touched. Prints one line for each place that could not be written
 * (none when the reader of a pipe has gone). Returns an exit status: EXIT_DONE, EXIT_FAILED when
 * something could not be written, EXIT_NOT_TRUSTED when all was written and a run cannot be trusted, EXIT_BUDGET
 * when it can and is over what the options allow (a line for each excess is printed). */
int outputs_publish(struct outputs *outputs, const struct recording *recording);

/* Writes `what` to out in that format. 0, or -EIO with the reason in diag. */
typedef int output_render(FILE *out, const struct format *format, const struct render_style *style,
			  const void *what, struct diag *diag);

/* The same for anything that is no recording: calls render for each place. EXIT_DONE or
 * EXIT_FAILED. */
int outputs_write(struct outputs *outputs, output_render *render, const void *what);
/* Rows of long tables that the options ask for; 0: all. */
size_t outputs_max_threads(const struct outputs *outputs);

/* Closes and removes what was not completed; NULL is fine. */
void outputs_free(struct outputs *outputs);

/* How text on this descriptor is to look: colour (a terminal, no NO_COLOR, TERM not dumb),
 * width (0 unless a terminal), ascii (the locale is not UTF-8). */
struct render_style output_style(int fd);

/* Flushes a stream that a command printed to and checks that all of it arrived: EXIT_DONE, or
 * EXIT_FAILED after one line (none when the reader of a pipe has gone). */
int output_finish(FILE *out, const char *name);

#endif
