/* Chooses runs by age, and deletes a run with its rows in the ledger. */
#include "ledger/prune.h"

#include "base/fs.h"

bool stet_ledger_run_is_old(const struct stet_run *run, uint64_t days, uint64_t now_ns)
{
    const uint64_t day = 86400u * (uint64_t)1000000000u;
    uint64_t last = run->ended_ns ? run->ended_ns : run->started_ns;

    /* compared in days, because a large number of days overflows in nanoseconds */
    return last <= now_ns && (now_ns - last) / day >= days &&
           (run->ended_ns || !stet_ledger_run_is_alive(run));
}

bool stet_ledger_run_delete(const struct stet_run *run, struct stet_ledger *l)
{
    bool gone = stet_fs_remove_tree(run->folder) == 0;

    if (l)
        stet_ledger_forget(l, run->id, NULL);
    return gone;
}
