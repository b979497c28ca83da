/* See torch_ranks.h. */
#include "session/torch_ranks.h"

void stet_session_torch_take_ranks(struct stet_torch *t, const struct stet_run_digest *d)
{
    for (size_t i = 0; i < t->process_count; i++)
        for (size_t k = 0; t->processes[i].rank < 0 && k < d->process_count; k++)
            if (d->processes[k].pid == t->processes[i].pid)
                t->processes[i].rank = d->processes[k].rank;
}
