/* Looking into a run from another process, while it goes on or afterwards. */
#ifndef STET_MONITOR_ATTACH_H
#define STET_MONITOR_ATTACH_H

#include "ingest/trace_files.h"
#include "ledger/run_folder.h"
#include "monitor/pulse.h"

enum { STET_ATTACH_LOGS = 256 };

struct stet_monitor_attach {
    char id[64];
    char *folder;
    struct stet_arena arena; /* of `run` */
    struct stet_run run;     /* as run.json has it now */
    bool running;
    struct stet_pulse *pulse;
    struct stet_live *live;
    struct stet_torch torch;
    struct stet_torch_files *files;
    uint64_t logs[STET_ATTACH_LOGS]; /* hashes of the names of logs in a folder of the user's own */
    size_t log_count;
    bool over; /* all was read */
};

/* `name`: a run's id, a prefix of it, its folder, or the id of a process of it; NULL, "newest" or
 * "latest": the newest one that runs (first of those started in this folder), else the newest. */
enum stet_rc stet_monitor_attach_open(struct stet_monitor_attach *a, const char *name,
                                      struct stet_err *err);
void stet_monitor_attach_close(struct stet_monitor_attach *a);
/* Reads what is new; true when there may be more later. */
bool stet_monitor_attach_poll(struct stet_monitor_attach *a);

#endif
