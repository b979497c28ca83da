/* Texts by number, each once: what a page repeats ten thousand times it holds once. */
#ifndef STET_REPORT_NAMES_H
#define STET_REPORT_NAMES_H

#include "base/arena.h"

#define STET_NO_NAME UINT32_MAX

struct stet_names {
    struct stet_arena arena;
    struct stet_view *items;
    uint32_t *slots; /* number + 1; a power of two of them */
    uint32_t count, room;
    bool failed; /* sticky */
};

void stet_names_init(struct stet_names *n, size_t cap);
void stet_names_release(struct stet_names *n);
/* Its number, given when new; STET_NO_NAME when memory is short. */
uint32_t stet_names_add(struct stet_names *n, struct stet_view text);
/* STET_NO_NAME when it is not there. */
uint32_t stet_names_find(const struct stet_names *n, struct stet_view text);

#endif
