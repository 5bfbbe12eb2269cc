/* A command of wakewhy: a row in main.c, a file in cmd/. */
#ifndef WAKEWHY_CMD_CMD_H
#define WAKEWHY_CMD_CMD_H

/* argv[0] is the command's own name. Returns the exit status of wakewhy. */
typedef int cmd_main(int argc, char **argv);

cmd_main cmd_run, cmd_attach, cmd_startup, cmd_idle, cmd_hash, cmd_serve, cmd_study, cmd_report,
	cmd_diff, cmd_list, cmd_doctor, cmd_selftest;

enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_BUDGET = 3,
	EXIT_NOT_SUPPORTED = 4,
	EXIT_NOT_TRUSTED = 5,
};

#endif
