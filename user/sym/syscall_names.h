/* Names and numbers of system calls, up to Linux 6.18. */
#ifndef WAKEWHY_SYM_SYSCALL_NAMES_H
#define WAKEWHY_SYM_SYSCALL_NAMES_H

#include <stdint.h>

/* arch as recordings spell it: "x86-64" or "arm64". */

/* NULL: no such architecture, or no call of that number that is known. */
const char *syscall_name(const char *arch, uint32_t nr);
/* -1: no such architecture, or no call of that name. */
int syscall_number(const char *arch, const char *name);

#endif
