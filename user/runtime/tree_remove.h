/* Removes a directory and all in it, by descriptors. */
#ifndef WAKEWHY_RUNTIME_TREE_REMOVE_H
#define WAKEWHY_RUNTIME_TREE_REMOVE_H

/* Removes the directory `name` of the directory parent_fd. Follows no link, enters no mount. Goes on
 * after a failure; returns the first one as -errno, -ENOENT when there was no such directory. */
int tree_remove(int parent_fd, const char *name);

#endif
