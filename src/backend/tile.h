/* Tile programs: elementwise work on a tensor, a tile of up to a few thousand elements at a time,
 * so that everything between the loads and the stores stays in the first-level cache.
 *
 * A program has a line of elements as its domain. Each load maps the line to its own memory (with
 * any strides, so broadcasts, transposes, slices and reversals cost a load, not a copy). Registers
 * hold one tile each in a compute type: floats of 4 to 16 bits are f32 rounded after every
 * operation, integers of 2 and 4 bits are bytes. The same programs run the bodies of reduce,
 * scatter and sort. */
#ifndef STET_BACKEND_TILE_H
#define STET_BACKEND_TILE_H

#include "backend/tile_kernel.h"
#include "base/arena.h"

enum {
    STET_TILE_REGS = 256,
    STET_TILE_BYTES = 64 * 1024, /* of all registers together */
    STET_TILE_MOST = 1024,       /* elements */
};

/* Dimensions of the line and the stride of memory along each, in elements. */
struct stet_tile_view {
    uint32_t rank;
    int64_t offset;
    int64_t dims[STET_MAX_RANK];
    int64_t strides[STET_MAX_RANK];
};

enum stet_load_kind {
    STET_LOAD_LINE,  /* memory is the line */
    STET_LOAD_SPLAT, /* one element of memory, loaded once */
    STET_LOAD_CONST, /* bits in `value`, loaded once */
    STET_LOAD_VIEW,  /* through `map` */
    STET_LOAD_IOTA,  /* (position / divide) % modulus */
    STET_LOAD_ARG,   /* the caller sets the register */
};

struct stet_tile_load {
    enum stet_load_kind kind;
    enum stet_dtype dtype; /* in memory */
    uint16_t reg;
    uint16_t raw; /* register for the bytes as in memory, when they are converted; else reg */
    uint32_t slot;
    stet_tile_fn widen; /* NULL: memory and register agree */
    unsigned char value[16];
    const struct stet_tile_view *map;
    int64_t divide, modulus;
};

struct stet_tile_ins {
    stet_tile_fn fn;
    uint16_t d, a, b, c;
};

struct stet_tile_store {
    uint16_t reg;
    bool direct; /* the register is the memory */
    uint32_t slot;
    enum stet_dtype dtype;
    stet_tile_fn narrow;
};

struct stet_tile_prog {
    struct stet_tile_load *loads;
    struct stet_tile_ins *ins;
    struct stet_tile_store *stores;
    uint32_t load_count, ins_count, store_count;
    uint32_t regs;
    uint32_t tile;                       /* elements of one tile */
    uint32_t reg_offset[STET_TILE_REGS]; /* into the state's memory */
    uint8_t reg_bytes[STET_TILE_REGS];   /* of an element */
};

struct stet_tile_state {
    char *regs[STET_TILE_REGS];
    _Alignas(64) char memory[STET_TILE_BYTES];
};

/* The type in which an element of `t` is computed. */
enum stet_dtype stet_tile_ctype(enum stet_dtype t);

/* Called before the first tile: assigns memory to registers and loads what never changes (`n`: the
 * longest tile to come). */
void stet_tile_begin(const struct stet_tile_prog *p, struct stet_tile_state *s, void *const *slots,
                     size_t n);
/* The elements [start, start + n) of the line; n <= p->tile. */
void stet_tile_eval(const struct stet_tile_prog *p, struct stet_tile_state *s, void *const *slots,
                    uint64_t start, size_t n);
/* Runs only the instructions: the caller has set the registers of STET_LOAD_ARG. */
void stet_tile_apply(const struct stet_tile_prog *p, struct stet_tile_state *s, size_t n);

/* n elements of `bytes` each from base through the map, beginning at position `start` of the line.
 */
void stet_tile_view_gather(void *d, const void *base, const struct stet_tile_view *m, size_t bytes,
                           uint64_t start, size_t n);
/* Merges adjacent dimensions that step together, and drops those of size 1. */
void stet_tile_view_simplify(struct stet_tile_view *m);
/* A splat of one element into n. */
void stet_tile_fill(void *d, const void *value, size_t bytes, size_t n);

#endif
