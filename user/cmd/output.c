/* Where results go: opened before anything is measured, complete or not there afterwards. */
#include "cmd/output.h"

#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/stream.h"
#include "base/strbuf.h"
#include "cmd/budget.h"
#include "cmd/checked.h"
#include "cmd/cmd.h"
#include "cmd/output_file.h"
#include "report/report.h"

/* Rows of a thread table before "… and N more"; -v shows all. */
#define MAX_THREADS 20

struct output {
	const char *name; /* for messages */
	const struct format *format;
	struct output_file *file; /* NULL: stream_fd */
	int stream_fd;
};

struct outputs {
	VEC(struct output) all;
	struct budget *budget; /* that results are held against; NULL: none */
	bool verbose, all_frames;
};

/* Whether the locale writes something else than UTF-8. One that is named and not installed is taken
 * by its name: small containers have none, while the terminal is somebody else's. */
static bool locale_is_ascii(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	const char *codeset = "";
	bool ascii;

	for (size_t i = 0; i < 3 && !*codeset; i++) {
		const char *value = getenv(variables[i]);

		codeset = value ? value : "";
	}
	if (locale)
		codeset = nl_langinfo_l(CODESET, locale);
	ascii = !strcasestr(codeset, "UTF-8") && !strcasestr(codeset, "UTF8");
	if (locale)
		freelocale(locale);
	return ascii;
}

struct render_style output_style(int fd)
{
	const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
	struct render_style style = {.ascii = locale_is_ascii()};
	struct winsize size;

	if (!isatty(fd))
		return style;
	style.colour = term && strcmp(term, "dumb") && !(no_colour && *no_colour);
	if (!ioctl(fd, TIOCGWINSZ, &size))
		style.width = size.ws_col;
	return style;
}

/* Whoever read the other end of the pipe has had enough: that is no error of ours to talk about. */
static bool reader_gone(int fd)
{
	struct pollfd pollfd = {.fd = fd};

	return poll(&pollfd, 1, 0) == 1 && pollfd.revents & POLLERR;
}

int output_finish(FILE *out, const char *name)
{
	int err = stream_finish(out);

	if (!err)
		return EXIT_DONE;
	if (err != -EPIPE && !reader_gone(fileno(out)))
		log_error("cannot write %s: %s", name, strerror(-err));
	return EXIT_FAILED;
}

/* ---- opening ----------------------------------------------------------------------------------- */

/* None: the name of a file that says none, or nothing was asked for. */
static bool is_of_report(const struct format *format)
{
	return !format || !strcmp(format->name, "text") || !strcmp(format->name, "markdown") ||
	       !strcmp(format->name, "json");
}

bool outputs_of_report(const struct options *options)
{
	bool fine = is_of_report(options->format);

	for (size_t i = 0; i < options->outputs.n; i++)
		fine &= is_of_report(format_of_file(options->outputs.items[i]));
	return fine;
}

static const struct format *default_format(const struct options *options)
{
	return options->format ? options->format : format_find("text");
}

static int add_stream(struct outputs *outputs, int fd, const char *name, const struct format *format,
		      struct diag *diag)
{
	struct output *output;

	if (format->binary && isatty(fd)) {
		diag_set(diag, -EINVAL, "%s is not for a terminal", format->name);
		return diag_hint(diag, -EINVAL, "write it to a file: -o FILE.%s", format->extension);
	}
	output = vec_push(&outputs->all);
	*output = (struct output){.name = name, .format = format, .stream_fd = fd};
	return 0;
}

static int no_format_of(const char *path, struct diag *diag)
{
	struct strbuf names = {};

	for (const struct format *format = formats; format->name; format++)
		if (!strchr(format->extension, '.'))
			strbuf_printf(&names, "%s.%s", names.n ? " " : "", format->extension);
	diag_set(diag, -EINVAL, "the name '%s' does not say which format it is to have", path);
	diag_hint(diag, -EINVAL, "end it with one of %s, or say -f NAME; '-' is standard output",
		  strbuf_text(&names));
	strbuf_free_members(&names);
	return -EINVAL;
}

static int add_file(struct outputs *outputs, const char *path, const struct options *options,
		    struct diag *diag)
{
	const struct format *format = format_for(path, options->format);
	struct output_file *file;
	struct output *output;
	int err;

	if (!format)
		return no_format_of(path, diag);
	for (size_t i = 0; i < outputs->all.n; i++)
		if (!strcmp(outputs->all.items[i].name, path))
			return diag_set(diag, -EINVAL, "-o '%s' is given twice", path);
	err = output_file_begin(&file, path, diag);
	if (err)
		/* -EINVAL is for usage alone. */
		return err == -EINVAL ? -EIO : err;
	output = vec_push(&outputs->all);
	*output = (struct output){.name = path, .format = format, .file = file, .stream_fd = -1};
	return 0;
}

static int open_all(struct outputs *outputs, const struct options *options, bool to_stderr,
		    struct diag *diag)
{
	bool to_stdout = !to_stderr && !(options->quiet && options->outputs.n);
	int err = 0;

	for (size_t i = 0; i < options->outputs.n && !err; i++) {
		if (!strcmp(options->outputs.items[i], "-"))
			to_stdout = true;
		else
			err = add_file(outputs, options->outputs.items[i], options, diag);
	}
	if (!err && to_stdout)
		err = add_stream(outputs, STDOUT_FILENO, "standard output", default_format(options), diag);
	if (!err && to_stderr && !options->outputs.n)
		err = add_stream(outputs, STDERR_FILENO, "standard error", default_format(options), diag);
	return err;
}

int outputs_open(struct outputs **ret_outputs, const struct options *options, bool to_stderr,
		 struct diag *diag)
{
	struct outputs *outputs = mem_zalloc(sizeof(*outputs));
	int err = budget_open(&outputs->budget, options, diag);

	if (!err)
		err = open_all(outputs, options, to_stderr, diag);
	if (err) {
		outputs_free(outputs);
		return err;
	}
	outputs->verbose = options->verbose;
	outputs->all_frames = options->all_frames;
	*ret_outputs = outputs;
	return 0;
}

/* ---- writing ----------------------------------------------------------------------------------- */

static int write_file(struct output *output, output_render *render, const void *what)
{
	struct render_style style = {};
	struct diag diag = {};
	int err;

	err = render(output_file_stream(output->file), output->format, &style, what, &diag);
	/* Where the stream failed, completing it knows the reason (no space left). */
	if (!err || ferror(output_file_stream(output->file)))
		err = output_file_complete(output->file, &diag);
	if (!err)
		return EXIT_DONE;
	log_diag(&diag);
	return EXIT_FAILED;
}

static int write_stream(struct output *output, output_render *render, const void *what)
{
	struct render_style style = output_style(output->stream_fd);
	struct diag diag = {};
	int error, err;
	FILE *stream = checked_open(output->stream_fd, &error);

	if (!stream) {
		log_error("cannot write %s: %s", output->name, strerror(errno));
		return EXIT_FAILED;
	}
	err = render(stream, output->format, &style, what, &diag);
	fclose(stream);
	if (!err && !error)
		return EXIT_DONE;
	if (!error)
		log_diag(&diag);
	else if (error != EPIPE)
		log_error("cannot write %s: %s", output->name, strerror(error));
	return EXIT_FAILED;
}

int outputs_write(struct outputs *outputs, output_render *render, const void *what)
{
	int status = EXIT_DONE;

	for (size_t i = 0; i < outputs->all.n; i++) {
		struct output *output = &outputs->all.items[i];
		int written = output->file ? write_file(output, render, what)
					   : write_stream(output, render, what);

		if (written)
			status = written;
	}
	return status;
}

size_t outputs_max_threads(const struct outputs *outputs)
{
	return outputs->verbose ? 0 : MAX_THREADS;
}

/* A result with its report. */
struct published {
	struct result result;
	struct report report;
};

static int render_published(FILE *out, const struct format *format,
			    const struct render_style *style, const void *what, struct diag *diag)
{
	const struct published *published = what;

	return format->render(out, &published->result, &published->report, style, diag);
}

int outputs_publish(struct outputs *outputs, const struct recording *recording)
{
	struct excesses excesses;
	struct report_options options = {.max_threads = outputs_max_threads(outputs),
					 .all_frames = outputs->all_frames,
					 .excesses = &excesses};
	struct published published = {};
	int status;

	result_init(&published.result, recording);
	budget_judge(outputs->budget, &published.result, &excesses);
	report_build(&published.report, &published.result, &options);
	status = outputs_write(outputs, render_published, &published);
	if (!status && !published.result.trusted)
		status = EXIT_NOT_TRUSTED;
	if (!status && excesses_any_over(&excesses))
		status = EXIT_BUDGET;
	budget_tell(&excesses);
	excesses_free_members(&excesses);
	report_free_members(&published.report);
	result_free_members(&published.result);
	return status;
}

void outputs_free(struct outputs *outputs)
{
	if (!outputs)
		return;
	for (size_t i = 0; i < outputs->all.n; i++)
		output_file_free(outputs->all.items[i].file);
	free(outputs->all.items);
	budget_free(outputs->budget);
	free(outputs);
}
