/* Where separate debug files are installed. */
#ifndef WAKEWHY_COLLECT_DEBUG_FILES_H
#define WAKEWHY_COLLECT_DEBUG_FILES_H

#include <sys/types.h>

/* Context of debug_files_open: of which file. */
struct debug_files {
	const char *path; /* as the process saw it */
	pid_t pid;	  /* of a process whose root it may be in too; 0: none */
};

/* An elf_debug_opener: looks where gdb does, in our own root first, for what lies there has been installed
 * by this machine's owner. Whoever reads the file checks that it belongs. */
int debug_files_open(void *context, const char *build_id, const char *link_name);

#endif
