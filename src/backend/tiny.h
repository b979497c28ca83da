/* Tile programs of few elements, in loops, and reductions of what they compute. There the loads and
 * stores around the instructions take longer than the instructions; but while a plan runs, no
 * address changes. So everything is prepared once a run, as calls of kernels with their addresses,
 * and a turn of the loop makes only these calls. */
#ifndef STET_BACKEND_TINY_H
#define STET_BACKEND_TINY_H

#include "backend/tile.h"

enum { STET_TINY_ELEMENTS = 256 };

struct stet_tiny_call {
    stet_tile_fn run;
    void *d;
    const void *a, *b, *c;
    size_t n;
};

struct stet_reduce;

struct stet_tiny {
    const struct stet_tile_prog *prog;
    uint32_t elements;
    uint32_t first;                   /* of its buffers, in the table of refs */
    const struct stet_reduce *reduce; /* what is done with the result; NULL: it is stored */
    uint32_t most_calls;              /* room for this many */
    uint64_t offset;                  /* of its calls, behind a count of them; then its constants */
    struct stet_tiny *next;
};

/* Can a program of this many elements be one? */
bool stet_tiny_fits(const struct stet_tile_prog *p, uint64_t elements);
bool stet_tiny_reduces(const struct stet_reduce *r);
/* Bytes of calls and constants, and of registers, which all programs share. */
uint64_t stet_tiny_size(struct stet_tiny *s);
uint64_t stet_tiny_registers(const struct stet_tiny *s);
/* Writes the calls to `memory` + s->offset. */
void stet_tiny_prepare(const struct stet_tiny *s, char *memory, char *registers,
                       void *const *slots);

static inline void stet_tiny_run(const struct stet_tiny *s, const char *memory)
{
    const struct stet_tiny_call *call = (const void *)(memory + s->offset + 64);
    uint64_t count;

    memcpy(&count, memory + s->offset, sizeof count);
    for (uint64_t i = 0; i < count; i++)
        call[i].run(call[i].d, call[i].a, call[i].b, call[i].c, call[i].n);
}

#endif
