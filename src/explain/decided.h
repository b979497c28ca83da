/* The line to edit: what differs between the two compiles of a finding is followed to the line that
 * decided it. The values show what differs (an argument, a variable, a field, a number inside), and
 * the source leads from there, through what was observed, to the line. */
#ifndef STET_EXPLAIN_DECIDED_H
#define STET_EXPLAIN_DECIDED_H

#include "explain/history.h"

/* Sets `source` and `source_sure` of the finding. False when no line was found. */
bool stet_explain_decided(struct stet_history *h, struct stet_finding *f);
/* The same from a line that assigned, passed or took the array whose size changed. */
bool stet_explain_decided_at(struct stet_history *h, struct stet_finding *f,
                             const struct stet_place *at);

/* The same from a value that moved. */
bool stet_explain_decided_moved(struct stet_history *h, struct stet_finding *f,
                                const struct stet_moved *m);
/* Does a line that reads nothing back decide the size of the argument that changed? */
bool stet_explain_sized_without_read(struct stet_history *h, struct stet_finding *f);

#endif
