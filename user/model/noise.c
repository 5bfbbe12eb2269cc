/* Was a window quiet enough to be believed? */
#include "model/noise.h"

#include <math.h>

#include "base/strbuf.h"
#include "base/units.h"

__attribute__((format(printf, 2, 3))) static void say(struct strbuf *text, const char *fmt, ...)
{
	va_list args;

	if (text->n)
		strbuf_add(text, "; ");
	va_start(args, fmt);
	strbuf_vprintf(text, fmt, args);
	va_end(args);
}

/* A share that is not known (NaN) is above no limit. Where the window was too short for others' share,
 * that of steal is made of a few ticks at most, and says as little. */
char *noise_disturbance(const struct capture_noise *noise)
{
	struct strbuf text = {0};
	char ns[UNITS_TEXT_BYTES];

	if (noise->used_other_share > NOISE_OTHERS_LIMIT)
		say(&text, "others used %.3g %% of its CPUs (limit %g %%)",
		    noise->used_other_share * 100, NOISE_OTHERS_LIMIT * 100);
	if (noise->steal_share > NOISE_STEAL_LIMIT && !isnan(noise->used_other_share))
		say(&text, "the hypervisor took %.3g %% of the CPUs (limit %g %%)",
		    noise->steal_share * 100, NOISE_STEAL_LIMIT * 100);
	if (noise->throttled_ns)
		say(&text, "the CPU limit of its cgroup held it back for %s",
		    units_format_duration(ns, (double)noise->throttled_ns));
	if (noise->suspended_ns)
		say(&text, "the machine slept for %s",
		    units_format_duration(ns, (double)noise->suspended_ns));
	return text.n ? strbuf_take(&text) : NULL;
}
