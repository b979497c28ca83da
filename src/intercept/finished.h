/* Which programs of several processes have finished on the device, so that a job that hangs shows
 * which of them it waits for. Only programs that run on the devices of several processes of a job
 * are watched, through the events that the framework asks the plugin for; other executions pay one
 * comparison. The counts go to the journal (record `finished`), and `stet ranks` prints them. */
#ifndef STET_INTERCEPT_FINISHED_H
#define STET_INTERCEPT_FINISHED_H

#include "intercept/plugin.h"
#include "journal/write.h"

/* This process is one of several whose devices a program may run on. */
extern atomic_bool stet_finished_on;

static inline bool stet_finished_is_on(void)
{
    return atomic_load_explicit(&stet_finished_on, memory_order_relaxed);
}

/* Executes through `run`, and watches the execution if program `id` is one of several processes. */
PJRT_Error *stet_finished_execute(struct stet_plugin *p, PJRT_LoadedExecutable_Execute_Args *args,
                                  uint32_t id,
                                  PJRT_Error *(*run)(struct stet_plugin *p,
                                                     PJRT_LoadedExecutable_Execute_Args *args));
/* On the writer thread: writes the counts if they have changed. */
bool stet_finished_write(struct stet_journal *j);

#endif
