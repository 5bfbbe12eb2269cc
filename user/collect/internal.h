/* The collector as the files of this room share it. */
#ifndef WAKEWHY_COLLECT_INTERNAL_H
#define WAKEWHY_COLLECT_INTERNAL_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/config.h"
#include "collect/cgroup.h"
#include "collect/collect.h"
#include "collect/machine.h"
#include "base/place_index.h"
#include "collect/stackbook.h"

struct wakewhy_bpf;
struct proc_watch;
struct ring_buffer;

/* The clock of a CPU that takes samples. */
struct collect_sampler {
	struct bpf_link *link; /* owns the descriptor */
	int fd;
};

/* What threads carried in their current second when their slots were read, and the histograms of their
 * spans: filled when the books are closed. */
struct collect_group {
	VEC(struct wk_second) carried;
	struct wk_spans spans;
};

/* What is read once when the window opens and once when it closes. */
struct collect_edge {
	uint64_t wakeups; /* of this process */
	uint64_t oncpu_ns;
	char *stat; /* text of /proc/stat, or NULL */
	uint64_t throttled_ns; /* by the limits of cgroups, since ever */
	uint64_t suspended_ns; /* that the machine has been asleep, since it was started */
	VEC(struct capture_probe) probes;
};

/* A process of ours that works for the measurement: see collector_exclude(). */
struct collect_helper {
	pid_t pid;
	struct cpulist cpus; /* that it may run on */
	uint64_t before_ns, after_ns; /* CPU time at both edges */
	bool known;		      /* both could be read */
};

/* A cause as the kernel side numbered it, and as it is numbered when the books are closed. */
struct collect_renumbered {
	uint32_t from, to;
};

/* What was taken out of the kernel side before the books were closed, see dead_causes.c. */
struct collect_dead {
	VEC(struct capture_cause) causes; /* numbers, and those of charges, as the kernel side has them */
	VEC(struct wk_charge) charges;
	uint32_t *numbers; /* of the causes that are or will be there, by place; NULL: none was taken out */
	size_t threads;	   /* so many of collector->threads have been looked at */
	VEC(struct collect_renumbered) renumbered; /* by `from` */
};

struct collector {
	struct wakewhy_bpf *skel; /* NULL with COLLECT_PROC, */
	struct proc_watch *proc;  /* and this NULL without */
	struct collect_options options;
	struct wk_config cfg;
	struct wk_thread *slots; /* the threads map */
	size_t *slots_mapped; /* so many bytes of them can be read now */
	struct wk_second *seconds;
	size_t seconds_bytes;
	struct ring_buffer *events; /* and stacks, where they are wanted */
	int stats_fd; /* keeps the timing of probes on; -1: off */
	bool recycle; /* dead slots wait to be read */
	/* Threads whose slots have been given back, until their group is taken. */
	VEC(struct capture_thread) threads; /* without calls where their table was lost or there is none */
	VEC(struct capture_image) images;
	uint64_t lost[WK_LOST_MAX]; /* on this side */
	struct collect_group *groups; /* cfg.groups of them */
	struct collect_edge before, after;
	bool closed;  /* the window */
	bool paused;  /* the probes are detached */
	/* Slots whose live threads have been read when the books were closed: the probes go on writing
	 * to them until they are detached. */
	bool *settled_slots;
	bool settled; /* the books are closed: each group may be taken */
	/* Read when the books are closed: of all groups. */
	VEC(struct capture_cause) causes;
	VEC(struct wk_charge) charges; /* by number; [0] is not used */
	VEC(struct wk_wake_event) timeline;
	struct collect_dead dead;
	struct ring_buffer *timeline_ring; /* NULL: no timeline */
	struct stackbook *book; /* NULL: neither stacks nor samples */
	VEC(struct collect_sampler) samplers;
	VEC(struct stack_counted) stack_counts; /* read when the books are closed: of all groups */
	/* Wakes and samples with copies, as they come; those of equal stacks are one. */
	VEC(struct stack_counted) copy_counts;
	struct place_index copy_places;
	struct cpulist cpus; /* that the followed threads may run on, all together */
	struct cgroup_limits limits; /* of their processes */
	VEC(struct collect_helper) helpers;
};

#define COLLECT_DEFAULT_THREADS 16384
#define COLLECT_DEFAULT_SECONDS 4096

/* edge.c */
void collect_edge_read(struct collector *collector, struct collect_edge *ret_edge);
void collect_edge_free_members(struct collect_edge *edge);

/* noise.c: where the workload may run and who helps, at each edge of the window; what else went on. */
void collect_noise_begin(struct collector *collector);
void collect_noise_end(struct collector *collector);
void collect_noise_take(const struct collector *collector, uint64_t window_ns,
			struct capture_noise *ret_noise);
void collect_noise_forget(struct collector *collector);

/* follow.c: one pass of the task iterator. Hands what the kernel side writes to `reader`, which may be
 * NULL, in whole struct wk_task; *ret_followed may be NULL. */
typedef void collect_reader(struct collector *collector, const struct wk_task *task);
int collect_pass(struct collector *collector, const struct wk_seed *seed, collect_reader *reader,
		 uint32_t *ret_followed, struct diag *diag);

/* follow.c: the command line of a live process, as /proc shows it. */
void collect_image_read_argv(struct capture_image *image);

/* events.c: handler of the ring buffer. */
int collect_event(void *collector, void *data, size_t bytes);

/* priority.c: nobody waits long for a CPU that this process needs, which is seldom and short; without it, where hundreds of
 * threads want one, dead threads are read too late, and their slots run out. Its children have the usual priority.
 * Nothing happens where that is not allowed, or another priority was chosen for wakewhy. */
void collect_priority_raise(void);

/* harvest.c: moves what dead threads left into collector->threads and gives their slots back. */
void collect_harvest(struct collector *collector);
/* Closes the books: all followed threads are in collector->threads afterwards. */
int collect_settle(struct collector *collector, struct diag *diag);
/* calls.c: what the kernel side must know of each system call. */
void collect_calls_fill(struct wk_call *ret_calls);

/* why.c: causes, charges and the timeline. */
void collect_why_read(struct collector *collector);
void collect_why_take(const struct collector *collector, struct capture *capture);
void collect_why_forget(struct collector *collector);
/* Empties the kernel side's maps for the next window. */
void collect_why_reset(struct collector *collector);
int collect_wake_event(void *collector, void *data, size_t bytes);

/* The buckets of a histogram that are not empty. */
void collect_intervals(struct capture_cause *cause, const struct wk_hist *hist);

/* map_entries.c: handed n entries of a hash map, keys and values side by side, as the map has them. */
typedef void collect_entries_reader(struct collector *collector, const void *keys, const void *values, uint32_t n);
/* Hands on what is in a hash map. 0, or -errno: then some are missing. */
int collect_hash_read(struct collector *collector, const struct bpf_map *map, collect_entries_reader *reader);
void collect_hash_empty(const struct bpf_map *map);
/* How many of an array's entries are in use, `next` being the first that never was. */
uint32_t collect_used(uint32_t next, uint32_t entries);
/* Reads the first n entries of an array map. What cannot be read is left as it is. */
void collect_array_read(const struct bpf_map *map, uint32_t n, void *items);
/* Makes them all zero. */
void collect_array_clear(const struct bpf_map *map, uint32_t n);
/* Takes everything out of a queue of numbers. */
void collect_queue_drain(const struct bpf_map *queue);

/* dead_causes.c: takes out the causes of threads that have died, if room gets short: in a long window thousands of
 * processes come and go. */
void collect_dead_causes_take(struct collector *collector);
/* The number of the cause in that place of the map; 0: none is in it. */
uint32_t collect_cause_number(const struct collector *collector, uint32_t place, const struct wk_cause *cause);
/* When the books are closed: adds the dead ones, and numbers all causes from 1 as they come. */
void collect_causes_renumber(struct collector *collector);
/* What a cause that the kernel side numbered so is called from then on; 0: it is not known. */
uint32_t collect_cause_renumbered(const struct collector *collector, uint32_t number);
void collect_dead_forget(struct collector *collector);

/* stacks.c: before loading: which maps and programs there will be. */
int collect_stacks_prepare(struct collector *collector, struct diag *diag);
/* After loading: the book, the ring and the clocks, which stand still. Nothing where none is wanted; so do all
 * below. */
int collect_stacks_open(struct collector *collector, struct diag *diag);
void collect_stacks_free(struct collector *collector);
/* Mappings that have come; the ring is drained with the events. */
void collect_stacks_service(struct collector *collector);
/* A process that lives already, and all such that are followed. */
void collect_stacks_seed(struct collector *collector, pid_t pid);
void collect_stacks_seed_all(struct collector *collector);
void collect_samples_enable(const struct collector *collector, bool on);
/* After collect_why_read(), whose causes it needs. */
int collect_stacks_read(struct collector *collector, struct diag *diag);
/* After collect_why_take(), with what was lost: the book adds to that. */
void collect_stacks_take(struct collector *collector, struct capture *capture);
void collect_stacks_forget(struct collector *collector);
void collect_stacks_reset(struct collector *collector);

/* spans.c: adds what the CPUs counted for each group to its histograms / empties the map. */
int collect_spans_read(struct collector *collector, struct diag *diag);
void collect_spans_reset(struct collector *collector);

/* Drops all that was collected; the probes go on. */
void collect_forget(struct collector *collector);

/* Slots that have been in use: the first so many of the threads map. They can be read afterwards: pages
 * of the map are resident from the moment they are mapped, so no more are mapped than are used. */
uint32_t collect_slots_used(const struct collector *collector);

#endif
