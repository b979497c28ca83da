/* How an array is cut into tiles, and which device has which tile.
 *
 * Frameworks write shardings in two languages: Shardy's, over named axes of a mesh
 * (#sdy.sharding<@mesh, [{"x"}, {}]>), and XLA's (devices=[2,1,4]<=[8] last_tile_dim_replicate).
 * Both become the same thing here. */
#ifndef STET_BACKEND_SHARDING_H
#define STET_BACKEND_SHARDING_H

#include "backend/tensor.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "program/program.h"

/* A device of a program is a lane: its number among the program's replicas and partitions. */
struct stet_sharding {
    uint32_t rank;
    int64_t tiles[STET_MAX_RANK]; /* along each dimension */
    const uint32_t *tile;         /* of each lane: row-major among the tiles */
    /* Of each lane: tiles of one group belong to one array. NULL: all do. */
    const uint32_t *group;
    /* An array that is not reduced yet: each tile is the sum of `shares` lanes' (0: of one's), and
     * `share` is the number of each lane's. */
    uint32_t shares;
    const uint32_t *share;
};

enum { STET_MAX_AXES = 16 };

struct stet_mesh {
    struct stet_view name;
    uint32_t axis_count;
    struct stet_view axes[STET_MAX_AXES];
    int64_t sizes[STET_MAX_AXES];
    bool maximal;             /* one device has everything; no axes */
    const uint32_t *position; /* of each lane, row-major over the axes */
    struct stet_mesh *next;
};

struct stet_sharding_reader {
    struct stet_arena *arena;
    struct stet_err *err;
    uint32_t lanes;
    struct stet_mesh *meshes;
};

/* Everything whole on every lane. */
enum stet_rc stet_sharding_whole(struct stet_sharding_reader *r, uint32_t rank,
                                 struct stet_sharding *out);
/* `text` is in either language. Axes that `manual`, a list of quoted names, lacks are left out if
 * it is not empty. */
enum stet_rc stet_sharding_read(struct stet_sharding_reader *r, struct stet_view text,
                                struct stet_view manual, uint32_t rank, struct stet_sharding *out);
/* Only XLA's language. */
enum stet_rc stet_sharding_read_hlo(struct stet_sharding_reader *r, struct stet_view text,
                                    uint32_t rank, struct stet_sharding *out);
/* Number `i` of a #sdy.sharding_per_value; empty if there is none. */
struct stet_view stet_sharding_of_value(struct stet_view list, uint32_t i);
/* Finds the meshes of a module: sdy.mesh operations, or their text in its attributes. */
enum stet_rc stet_sharding_meshes(struct stet_sharding_reader *r, const struct stet_op *module);

/* The number of tiles; 1 if it is whole. */
int64_t stet_sharding_tiles(const struct stet_sharding *s);
bool stet_sharding_eq(const struct stet_sharding *a, const struct stet_sharding *b, uint32_t lanes);
/* The shape of a tile; an error if a dimension cannot be divided. */
enum stet_rc stet_sharding_tile_shape(struct stet_sharding_reader *r, const struct stet_sharding *s,
                                      const struct stet_shape *whole, struct stet_shape *out);
/* Where a tile starts in the whole array, in elements. */
void stet_sharding_start(const struct stet_sharding *s, const struct stet_shape *tile,
                         uint32_t number, int64_t *start);
/* OpSharding of xla_data.proto. */
void stet_sharding_write(struct stet_buf *out, const struct stet_sharding *s, uint32_t lanes);

/* ---- shared by the readers ---- */

struct stet_sharding_text {
    const char *at, *end;
};

bool stet_sharding_skip(struct stet_sharding_text *t, const char *word);
bool stet_sharding_number(struct stet_sharding_text *t, int64_t *out);
/* "1,2,3" up to what is not a number; false if there are more than `most`. */
bool stet_sharding_numbers(struct stet_sharding_text *t, int64_t *out, uint32_t most,
                           uint32_t *count);

#endif
