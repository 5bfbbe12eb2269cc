/* Functions that a stack must show: each is a frame of its own, under the name that is written here, and
 * whatever calls one does something afterwards, so that no call is a jump. */
#ifndef WAKEWHY_SUBJECTS_KNOWN_H
#define WAKEWHY_SUBJECTS_KNOWN_H

#ifdef __clang__
#define KNOWN __attribute__((noinline, used))
#else
#define KNOWN __attribute__((noipa, used)) /* neither inlined nor cloned nor folded */
#endif

/* Behind a call, as the last thing of a function: keeps the frame until the call has returned. */
#define KNOWN_END() __asm__ volatile("" : : : "memory")

#endif
