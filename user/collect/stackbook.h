/* The book of stacks: turns what the kernel side took (addresses, copies of stacks) into frames of files,
 * with names, while the processes are there or after they have gone.
 *
 * It notes what each process maps (perf's mmap records, which come with the mapping and survive a process
 * that exits at once; /proc/PID/maps for those that live already), and keeps each copied stack only
 * until it is unwound. */
#ifndef WAKEWHY_COLLECT_STACKBOOK_H
#define WAKEWHY_COLLECT_STACKBOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "model/capture.h"

struct stackbook;

/* A stack as it comes from the ring: wk_stack and what lies behind it, checked for length. Borrowed. */
struct stack_taken {
	uint32_t id;
	uint32_t pid; /* 0: none */
	uint64_t time_ns;
	const uint64_t *kernel; /* addresses, innermost first */
	size_t n_kernel;
	const uint64_t *user; /* by frame pointers */
	size_t n_user;
	const uint64_t *regs;	/* WK_STACK_REGS; NULL: not copied */
	const uint8_t *memory;	/* from the stack pointer upwards */
	size_t memory_bytes;
};

/* One entry of the map `stack_counts`. */
struct stack_counted {
	struct wk_stack_key key;
	struct wk_stack_count count;
};

/* Begins to note mappings of all processes of the machine (a perf event for each CPU, read rarely). -errno with diag
 * where the kernel allows no such events: *ret_book is set all the same, and works with what /proc says. */
int stackbook_open(struct stackbook **ret_book, struct diag *diag);
void stackbook_free(struct stackbook *book); /* NULL is fine */
/* Readable when mappings should be read before they are lost; -1: there is nothing to wait for. */
int stackbook_fd(const struct stackbook *book);
/* Reads the mappings that have come; cheap when there are none. */
void stackbook_service(struct stackbook *book);
/* A process that lives already, or waits at the gate: its mappings, owner and root are read from /proc.
 * What it forks takes them over. */
void stackbook_seed(struct stackbook *book, pid_t pid);
/* Takes a stack in: a copied one is unwound at once, and forgotten as such. */
void stackbook_add(struct stackbook *book, const struct stack_taken *taken);
/* An id for the stack that `id` stands for now, which does so until the book is reset; equal stacks get the same one.
 * A copy's own is soon another's. 0: it has not come, or there was no room for it. */
uint32_t stackbook_keep(const struct stackbook *book, uint32_t id);
/* Fills modules, frames, stacks, wake_stacks and samples of a capture whose threads and causes are set, from
 * those `counted` that belong to it. Rows that come out equal are one. The other groups' may be asked for
 * afterwards. */
void stackbook_take(struct stackbook *book, const struct stack_counted *counted, size_t n,
		    struct capture *capture);
/* Forgets all stacks; mappings stay (the processes may). */
void stackbook_reset(struct stackbook *book);

#endif
