/* Follows a run from another process, while it goes on or afterwards. `stet top` and `stet metrics`
 * open it, poll it and close it. It owns the live part, the pulse and torch.compile's model. */
#ifndef STET_MONITOR_ATTACH_H
#define STET_MONITOR_ATTACH_H

#include "ingest/trace_files.h"
#include "ledger/run_folder.h"
#include "monitor/pulse.h"

enum { STET_ATTACH_LOGS = 256 };

struct stet_monitor_attach {
    char id[64];
    char *folder;
    struct stet_arena arena; /* owns the texts of `run` */
    struct stet_run run;     /* the present contents of run.json */
    bool running;
    struct stet_pulse *pulse;
    struct stet_live *live;
    struct stet_torch torch;
    struct stet_torch_files *files;
    uint64_t logs[STET_ATTACH_LOGS]; /* hashes of the names of logs in a folder of the user's own */
    size_t log_count;
    bool over; /* everything was read */
};

/* `name` is a run's id, a prefix of it, its folder, or the id of one of its processes. NULL,
 * "newest" or "latest" means the newest run that is running (first those started in this folder),
 * otherwise the newest run. If other runs belong to the same job, all of them are followed. */
enum stet_rc stet_monitor_attach_open(struct stet_monitor_attach *a, const char *name,
                                      struct stet_err *err);
/* The same for the run of this id, without the other runs of its job. */
enum stet_rc stet_monitor_attach_alone(struct stet_monitor_attach *a, const char *id,
                                       struct stet_err *err);
void stet_monitor_attach_close(struct stet_monitor_attach *a);
/* Reads what is new. True when more may follow. */
bool stet_monitor_attach_poll(struct stet_monitor_attach *a);

#endif
