/* Finds the environment settings that would have saved compiles without an edit. */
#ifndef STET_INGEST_TORCH_PLAN_H
#define STET_INGEST_TORCH_PLAN_H

#include "ingest/why.h"

struct stet_torch_setting {
    enum stet_torch_knob knob;
    struct stet_view source; /* L['x'] of the two that take sources, else empty */
    uint32_t compiles;       /* that it should save */
    uint64_t cost_us;
    uint32_t compile; /* the first of them, or STET_TORCH_NONE */
    uint32_t broken;  /* the first graph break of its kind, or STET_TORCH_NONE */
    bool collides;    /* another function has a source of that name */
};

enum { STET_PLAN_MOST = 64 };

struct stet_torch_plan {
    struct stet_torch_setting items[STET_PLAN_MOST];
    size_t count;
};

void stet_torch_plan(struct stet_torch *t, struct stet_torch_plan *plan);
/* NAME=value for one setting with all its sources; false if the plan does not have it. `script`
 * names the PGO key. */
bool stet_torch_plan_line(const struct stet_torch_plan *plan, enum stet_torch_knob knob,
                          const char *script, struct stet_buf *out);

#endif
