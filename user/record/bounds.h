/* How much a file that is read may hold, whichever form it has. */
#ifndef WAKEWHY_RECORD_BOUNDS_H
#define WAKEWHY_RECORD_BOUNDS_H

#include "model/capture.h"
#include "record/fields.h"

#define RUNS_MAX   65536 /* and as many without probes */
#define CLAIMS_MAX 1000
/* Labels, each with its workload and variant. What repeats one another is looked for among them all,
 * again and again, so their number must not be somebody else's choice. */
#define LABELS_MAX 2048
/* Of serials and numbers of causes: threads and causes are looked up in arrays by number, and a large one in
 * a small file would ask for much memory. No window comes near. */
#define NUMBER_MAX (1u << 24)

/* -EINVAL with the reason in the diag of reader where runs and those without probes have more labels. */
int bounds_check(const struct field_reader *reader, const struct recording *recording);

#endif
