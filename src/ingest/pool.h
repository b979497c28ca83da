/* Each text once: equal texts have equal pointers. */
#ifndef STET_INGEST_POOL_H
#define STET_INGEST_POOL_H

#include "base/arena.h"

struct stet_pool_slot {
    const char *ptr;
    uint32_t len, hash;
};

struct stet_pool {
    struct stet_arena arena;
    struct stet_pool_slot *slots;
    size_t count, room; /* room is a power of two */
    bool failed;        /* sticky: some text is not there */
};

void stet_pool_init(struct stet_pool *p, size_t cap);
void stet_pool_release(struct stet_pool *p);
/* The pool's own copy, terminated; empty for the empty text, and when memory is short. */
struct stet_view stet_pool_add(struct stet_pool *p, struct stet_view text);

#endif
