/* Which capabilities this process holds, and until when. */
#ifndef WAKEWHY_CMD_PRIVILEGES_H
#define WAKEWHY_CMD_PRIVILEGES_H

/* What capabilities are for; a command names what it still has before it. */
enum privilege_use {
	PRIVILEGES_PROBES = 1 << 0,    /* the probes run, and are read */
	PRIVILEGES_LOAD = 1 << 1,      /* others may be loaded later */
	PRIVILEGES_PROCESSES = 1 << 2, /* other users' /proc files, programs and perf maps are read */
	PRIVILEGES_LAUNCH = 1 << 3,    /* programs are started as another user, ended and cleared up */
	PRIVILEGES_FILES = 1 << 4,     /* results are put where another user's directory is */
};

/* At the start, before anything else: whatever was given to us by way of ambient or inheritable
 * capabilities is not handed on to what we start. A program that we start as root gets root's all the
 * same, for exec gives them. */
void privileges_begin(void);

/* For good: keeps of the permitted capabilities those that `uses` (PRIVILEGES_… or-ed) need, and drops
 * the others. Where root starts programs the others are only not effective any more: see there. Never adds any, and
 * dropping cannot be refused. */
void privileges_keep(unsigned uses);

#endif
