/* What the files that make up a schedule share: schedule.c knows it, until.c says when it is enough,
 * play.c plays it, retry.c one bout of it. */
#ifndef WAKEWHY_CMD_SCHEDULE_H
#define WAKEWHY_CMD_SCHEDULE_H

#include "cmd/bout.h"

/* How long the bouts that are missing to `runs` rounds are going to take, ns. */
uint64_t schedule_left_ns(const struct experiment *experiment, const struct schedule *schedule,
			  uint32_t runs);
/* After so many rounds: how many there should be, as far as can be told now. No more than there were
 * when the worst known ratio is known well enough; never more than max_runs. */
uint32_t until_rounds(const struct schedule *schedule, uint32_t rounds);
/* Says in the recording when that was not reached: after so many rounds. */
void until_tell(struct experiment *experiment, const struct schedule *schedule, uint32_t rounds);

/* kind->play; and again where the window was disturbed, as often as the schedule allows. What is
 * measured again stays in the recording, marked as replaced. */
int retry_play(struct experiment *experiment, const struct schedule *schedule, const struct bout *bout,
	       struct diag *diag);

#endif
