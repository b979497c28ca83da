/* Builds tile programs (tile.h) from elementwise nodes. The result is in the plan's arena. */
#ifndef STET_BACKEND_CODEGEN_H
#define STET_BACKEND_CODEGEN_H

#include "backend/graph.h"

enum { STET_CG_INS = 224, STET_CG_SLOTS = 160, STET_GROUP_NODES = 96 };

struct stet_cg_reg {
    uint8_t bytes;
    bool homeless; /* points into another object's memory, so it gets no slot of its own */
    bool pinned;   /* keeps its value from tile to tile, or to the end of one */
    int def, last; /* instructions; -1: before the first */
    uint16_t physical;
};

/* One program that is being built. Values in registers carry `mark`, so a graph can be walked many
 * times. */
struct stet_codegen {
    struct stet_arena *arena;
    uint32_t mark;
    bool full; /* a limit was reached: the program is not usable */
    struct stet_cg_reg regs[STET_TILE_REGS];
    struct stet_tile_load loads[STET_TILE_REGS];
    struct stet_tile_ins ins[STET_CG_INS];
    struct stet_tile_store stores[STET_CG_SLOTS];
    uint32_t reg_count, load_count, ins_count, store_count;
    struct stet_gval *slots[STET_CG_SLOTS]; /* roots, by number; each is a buffer of the step */
    uint32_t slot_count;
};

/* The builder of this planning; programs are built one at a time. */
struct stet_codegen *stet_lower_codegen(struct stet_lower *l);
void stet_backend_cg_begin(struct stet_codegen *g, struct stet_arena *arena, uint32_t mark);
/* The register of an argument that the caller will set. */
uint16_t stet_backend_cg_arg(struct stet_codegen *g, struct stet_gval *v);
/* The register of `v`, which is loaded first if needed. */
uint16_t stet_backend_cg_value(struct stet_codegen *g, struct stet_gval *v);
void stet_backend_cg_node(struct stet_codegen *g, const struct stet_gnode *n);
/* Also stores `v` to its memory; it must be a result of an added node, or a leaf. */
void stet_backend_cg_store(struct stet_codegen *g, struct stet_gval *v);
/* Keeps it readable after the last instruction. */
void stet_backend_cg_keep(struct stet_codegen *g, uint16_t reg);
/* Assigns physical registers and the tile's length; keeps[i] are renamed. False if the program is
 * too large or memory runs out. */
bool stet_backend_cg_finish(struct stet_codegen *g, struct stet_tile_prog *out, uint16_t *keeps,
                            uint32_t keep_count);

#endif
