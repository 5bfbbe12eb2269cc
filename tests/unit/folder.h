/* A folder with made-up files, in place of /sys, /proc and others. */
#ifndef WAKEWHY_TESTS_FOLDER_H
#define WAKEWHY_TESTS_FOLDER_H

struct folder {
	char root[64];
	char sys[80], proc[80]; /* below it; they are there once something has been put into them */
};

void folder_make(struct folder *ret_folder);
void folder_remove(const struct folder *folder);
/* Writes a file below the root, with the folders that lead to it. */
void folder_put(const struct folder *folder, const char *name, const char *text);

#endif
