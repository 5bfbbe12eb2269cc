/* What a mistyped word was probably meant to be. */
#ifndef WAKEWHY_CMD_NEAREST_H
#define WAKEWHY_CMD_NEAREST_H

/* The candidate most like word, or NULL when none is near: one whose beginning word is, else the one
 * with the fewest typing errors (a letter too many, missing, wrong, or two swapped), at most one
 * for each three letters. candidates end with NULL. */
const char *nearest_of(const char *word, const char *const *candidates);

#endif
