/* doctor's section on the machine: what of it makes figures come out wrong, and what mends that. */
#ifndef WAKEWHY_CMD_DOCTOR_MACHINE_H
#define WAKEWHY_CMD_DOCTOR_MACHINE_H

#include "cmd/findings.h"

/* Adds the section and its problems; none of them blocks. Takes half a second, to see how busy it is. */
void doctor_machine(struct findings *findings);

#endif
