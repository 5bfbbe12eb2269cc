/* Names of the kernel's frames, and which of them are the probe's own. */
#include "collect/kernel_names.h"

#include <string.h>

/* Frames without a name that may stand on top: a program's that was loaded since names were read. */
#define UNKNOWN_FIRST 2

bool kernel_names_is_probe(const char *name)
{
	static const char *const begins[] = {
		"bpf_prog_",	  "bpf_trace_run",	  "bpf_trampoline_",
		"bpf_get_stack",  "__bpf_get_stack",	  "__bpf_trace_",
		"__traceiter_",	  "__bpf_prog_",	  "bpf_dispatcher_",
		"trace_call_bpf", "perf_trace_",	  "get_perf_callchain",
		"perf_callchain", "stack_trace_save",	  "__SCT__tp_func_",
		"perf_event_",	  "bpf_overflow_handler", "__perf_event_",
		"perf_swevent_",  "bpf_stackid",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* Only those on top: a BPF program of somebody else's may well stand further down, as a trampoline
 * around the function that sleeps. */
size_t kernel_names_probe_frames(const char *const *names, size_t n)
{
	size_t probe = 0;

	for (size_t i = 0; i < n; i++) {
		if (kernel_names_is_probe(names[i]))
			probe = i + 1;
		else if (names[i][0] || probe || i >= UNKNOWN_FIRST)
			break;
	}
	return probe;
}
