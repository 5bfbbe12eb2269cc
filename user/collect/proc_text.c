/* What /proc says of a thread: parsers of its texts. */
#include "collect/proc_text.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#define KERNEL_THREAD_FLAG 0x00200000U /* PF_KTHREAD in field 9 of stat */

/* A whole number at *text, which is moved behind it. False: there is none, or it does not fit. */
static bool take_number(const char **text, uint64_t *ret_number)
{
	const char *p = *text + strspn(*text, " \t");
	uint64_t number = 0;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*p - '0'), &number))
			return false;
	*text = p;
	*ret_number = number;
	return true;
}

static bool skip_fields(const char **text, unsigned n)
{
	while (n--) {
		*text += strspn(*text, " ");
		if (!**text)
			return false;
		*text += strcspn(*text, " ");
	}
	return true;
}

/* Fields from the third on, behind the name; their numbers are those of proc(5). */
static bool parse_fields(const char *p, struct proc_stat *stat)
{
	uint64_t ppid, flags;

	p += strspn(p, " ");
	stat->state = *p;
	if (!*p || p[1] != ' ')
		return false;
	p++;
	if (!take_number(&p, &ppid) || ppid > INT_MAX)				/* 4 */
		return false;
	stat->ppid = (pid_t)ppid;
	if (!skip_fields(&p, 4) || !take_number(&p, &flags))			/* 9 */
		return false;
	stat->kernel_thread = flags & KERNEL_THREAD_FLAG;
	if (!take_number(&p, &stat->minor_faults) || !skip_fields(&p, 1))	/* 10 */
		return false;
	if (!take_number(&p, &stat->major_faults) || !skip_fields(&p, 9))	/* 12 */
		return false;
	return take_number(&p, &stat->start_ticks);				/* 22 */
}

int proc_parse_stat(const char *text, struct proc_stat *ret_stat)
{
	/* The name may hold anything, parentheses and newlines too: it ends at the last one. */
	const char *begin = strchr(text, '('), *end = strrchr(text, ')');
	struct proc_stat stat = {};
	size_t n;

	if (!begin || !end || end < begin || !parse_fields(end + 1, &stat))
		return -EINVAL;
	n = (size_t)(end - begin - 1);
	memcpy(stat.comm, begin + 1, n < sizeof(stat.comm) ? n : sizeof(stat.comm) - 1);
	*ret_stat = stat;
	return 0;
}

int proc_parse_schedstat(const char *text, struct proc_figures *figures)
{
	uint64_t oncpu_ns, runq_ns, runs;

	if (!take_number(&text, &oncpu_ns) || !take_number(&text, &runq_ns) ||
	    !take_number(&text, &runs))
		return -EINVAL;
	figures->oncpu_ns = oncpu_ns;
	figures->runq_ns = runq_ns;
	figures->runs = runs;
	return 0;
}

/* The number of the line that begins with `name`. The kernel escapes newlines in Name, the one line whose
 * text somebody else chooses. */
static bool number_of_line(const char *text, const char *name, uint64_t *ret_number)
{
	size_t n = strlen(name);

	while (*text) {
		const char *value = text + n;

		if (!strncmp(text, name, n))
			return take_number(&value, ret_number);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return false;
}

int proc_parse_status(const char *text, struct proc_figures *figures)
{
	uint64_t voluntary, preempted;

	if (!number_of_line(text, "voluntary_ctxt_switches:", &voluntary) ||
	    !number_of_line(text, "nonvoluntary_ctxt_switches:", &preempted))
		return -EINVAL;
	figures->voluntary = voluntary;
	figures->preempted = preempted;
	return 0;
}

const char *proc_next_id(const char *text, pid_t *ret_id)
{
	uint64_t id;

	if (!take_number(&text, &id) || !id || id > INT_MAX)
		return NULL;
	*ret_id = (pid_t)id;
	return text;
}

pid_t proc_id_of_name(const char *name)
{
	pid_t id;
	const char *end = *name == ' ' || *name == '\t' ? NULL : proc_next_id(name, &id);

	return end && !*end ? id : 0;
}
