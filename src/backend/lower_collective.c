/* Lowering: collectives. All lanes are there, so each is made of ordinary nodes: sums in the order
 * of the group, copies, slices. */
#include "backend/lower.h"

/* The lanes that a lane meets, itself included; none if it takes no part. */
struct group {
    uint32_t *lanes;
    uint32_t count;
};

/* ---- groups ---- */

/* Element `i` of a dense tensor of integers. */
static int64_t element(const struct stet_attr *a, uint32_t width, uint64_t i)
{
    const char *at = stet_attr_bytes(a).ptr + (a->splat ? 0 : i * width);
    int64_t v = 0;

    memcpy(&v, at, width);
    return width == 4 ? (int32_t)v : v;
}

/* A matrix of integers, as groups and pairs are written. */
static enum stet_rc matrix(struct stet_lower *l, const char *name, const struct stet_attr **out,
                           uint32_t *width, uint32_t *rows, uint32_t *columns)
{
    const struct stet_attr *a = stet_op_attr(l->op, name);
    const struct stet_type *t = a ? stet_attr_type(a) : NULL;
    uint64_t count;

    *rows = *columns = 0;
    *out = a;
    if (a && a->kind == STET_ATTR_ARRAY && !a->count)
        return STET_OK;
    if (!a || a->kind != STET_ATTR_DENSE)
        return stet_lower_fail(l, a ? STET_UNSUPPORTED : STET_BAD_INPUT,
                               a ? "%s is not a list of devices" : "%s is missing", name);
    CHECK(t && t->element && t->rank == 2 && stet_type_elements(t, &count) && count <= 1 << 20,
          "%s is not a matrix", name);
    *width = stet_type_storage_bits(t->element) / 8;
    CHECK((*width == 4 || *width == 8) &&
              stet_attr_bytes(a).len >= (a->splat ? count > 0 : count) * *width,
          "%s is not a matrix of integers", name);
    *rows = (uint32_t)t->dims[0];
    *columns = (uint32_t)t->dims[1];
    return STET_OK;
}

/* Every lane is a group of its own, or all are one. */
static enum stet_rc plain_groups(struct stet_lower *l, struct group *of, bool together)
{
    uint32_t *all = STET_NEW_ARRAY(l->arena, uint32_t, l->lanes);

    if (!all)
        return stet_lower_memory(l);
    for (uint32_t lane = 0; lane < l->lanes; lane++) {
        all[lane] = lane;
        of[lane] = together ? (struct group){all, l->lanes} : (struct group){&all[lane], 1};
    }
    return STET_OK;
}

/* What the numbers in groups are. Of replicas and partitions there is one of one kind, so they are
 * lanes or all the same. */
enum numbering { LANES, ALONE, TOGETHER };

static enum numbering numbering(struct stet_lower *l, bool reduces)
{
    const struct stet_attr *handle = stet_op_attr(l->op, "channel_handle");
    const struct stet_attr *id = handle ? stet_attr_field(handle, "handle") : NULL;
    bool channel = id && stet_attr_int(id) > 0;

    if (stet_op_attr(l->op, "use_global_device_ids"))
        return LANES;
    if (!channel) /* among replicas */
        return l->on.replicas > 1 ? LANES : ALONE;
    if (!reduces) /* among partitions */
        return l->on.partitions > 1 ? LANES : ALONE;
    return l->on.replicas > 1 ? LANES : TOGETHER; /* replicas with all their partitions */
}

static enum stet_rc read_groups(struct stet_lower *l, bool reduces, struct group **out)
{
    enum numbering how = numbering(l, reduces);
    uint32_t rows, columns, width = 8, *lanes;
    const struct stet_attr *a;
    struct group *of = STET_NEW_ARRAY(l->arena, struct group, l->lanes);

    if (!of)
        return stet_lower_memory(l);
    *out = of;
    TRY(matrix(l, "replica_groups", &a, &width, &rows, &columns));
    if (how != LANES)
        return plain_groups(l, of, how == TOGETHER);
    if (!rows || !columns)
        return plain_groups(l, of, true);
    if (!(lanes = STET_NEW_ARRAY(l->arena, uint32_t, (size_t)rows * columns)))
        return stet_lower_memory(l);
    for (uint32_t r = 0; r < rows; r++) {
        struct group g = {lanes + (size_t)r * columns, 0};

        for (uint32_t c = 0; c < columns; c++) {
            int64_t id = element(a, width, (uint64_t)r * columns + c);

            if (id == -1) /* fills short groups */
                continue;
            CHECK(id >= 0 && id < l->lanes, "replica_groups names device %lld of %u", (long long)id,
                  l->lanes);
            CHECK(!of[id].count, "replica_groups names device %lld twice", (long long)id);
            of[id].count = 1;
            g.lanes[g.count++] = (uint32_t)id;
        }
        for (uint32_t i = 0; i < g.count; i++)
            of[g.lanes[i]] = g;
    }
    return STET_OK;
}

static uint32_t place_in(const struct group *g, uint32_t lane)
{
    uint32_t i = 0;

    while (g->lanes[i] != lane)
        i++;
    return i;
}

/* ---- shared ---- */

/* On one device a collective returns its operand; the result's type shows if more were meant. */
static enum stet_rc alone(struct stet_lower *l)
{
    struct stet_gval *a;

    if (l->lanes > 1)
        return stet_lower_fail(l, STET_UNSUPPORTED,
                               "a collective inside a computation of one device");
    CHECK(l->op->operand_count >= l->op->result_count, "an operand is missing");
    for (uint32_t i = 0; i < l->op->result_count; i++) {
        struct stet_shape s;

        OPERAND(a, i);
        TRY(stet_lower_shape(l, i, &s));
        if (!stet_shape_eq(&s, &a->shape))
            return stet_lower_fail(l, STET_UNSUPPORTED, "a collective over several devices");
        TRY(stet_lower_out(l, i, a));
    }
    return STET_OK;
}

/* One result of a collective in all lanes: `in` are the operand's values, `of` the groups. */
struct meeting {
    struct group *of;
    struct stet_gval **in, **out;
    int64_t dim, other; /* dimensions, as the operation names them */
    int op;             /* tile operation of a reduction */
    struct stet_shape shape;
};

typedef enum stet_rc meet(struct stet_lower *l, struct meeting *m, uint32_t lane);

static enum stet_rc meet_all(struct stet_lower *l, struct meeting *m, meet *one)
{
    m->in = stet_lower_new_lanes(l);
    m->out = stet_lower_new_lanes(l);
    if (!m->in || !m->out)
        return stet_lower_memory(l);
    CHECK(l->op->operand_count == l->op->result_count, "operands and results do not fit");
    for (uint32_t i = 0; i < l->op->result_count; i++) {
        TRY(stet_lower_in_lanes(l, i, m->in));
        TRY(stet_lower_shape(l, i, &m->shape));
        for (uint32_t lane = 0; lane < l->lanes; lane++) {
            CHECK(m->of[lane].count, "replica_groups lacks device %u", lane);
            TRY(one(l, m, lane));
            if (!m->out[lane])
                return l->err->rc ? l->err->rc : stet_lower_memory(l);
        }
        TRY(stet_lower_out_lanes(l, i, m->out));
    }
    return STET_OK;
}

/* `dim` of `s` is in range, and as long as `size`. */
static bool dim_is(const struct stet_shape *s, int64_t dim, int64_t size)
{
    return dim >= 0 && dim < s->rank && s->dims[dim] == size;
}

/* `parts` one after the other along `dim`. */
static struct stet_gval *concatenate(struct stet_lower *l, struct stet_gval **parts, uint32_t count,
                                     int64_t dim, const struct stet_shape *s)
{
    int64_t *starts = STET_NEW_ARRAY(l->arena, int64_t, (size_t)count * s->rank + 1), at = 0;

    if (count == 1)
        return parts[0];
    if (!starts) {
        stet_lower_memory(l);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        starts[(size_t)i * s->rank + (size_t)dim] = at;
        at += parts[i]->shape.dims[dim];
    }
    return stet_lower_paste(l, parts, starts, count, s);
}

/* Part `i` of `count` equal ones along `dim`. */
static struct stet_gval *slice(struct stet_lower *l, struct stet_gval *v, int64_t dim, uint32_t i,
                               uint32_t count)
{
    int64_t dims[STET_MAX_RANK], start[STET_MAX_RANK] = {0};
    struct stet_shape s;

    memcpy(dims, v->shape.dims, sizeof dims);
    dims[dim] /= count;
    start[dim] = i * dims[dim];
    stet_shape_set(&s, v->shape.dtype, dims, v->shape.rank);
    return stet_lower_part(l, v, start, &s);
}

/* ---- reductions ---- */

static enum stet_rc reduction_op(struct stet_lower *l, int *op)
{
    struct stet_gval *first;
    struct stet_body *body;
    enum stet_dtype types[2];
    enum stet_rc rc;

    OPERAND(first, 0);
    CHECK(l->op->region_count == 1, "one computation is needed");
    types[0] = types[1] = first->shape.dtype;
    l->single = true;
    rc = stet_lower_body(l, stet_op_region(l->op, 0), types, 2, types, 1, &body);
    l->single = false;
    if (rc != STET_OK)
        return rc;
    for (uint32_t i = 1; i < l->op->operand_count; i++) {
        struct stet_gval *v;

        OPERAND(v, i);
        CHECK(v->shape.dtype == types[0], "operands of different types");
    }
    if (body->simple < 0)
        return stet_lower_fail(l, STET_UNSUPPORTED,
                               "a reduction between devices that is not one operation");
    *op = body->simple;
    return STET_OK;
}

/* The group's values in its order, reduced; the same value for all of the group. */
static struct stet_gval *reduced(struct stet_lower *l, const struct meeting *m, uint32_t lane)
{
    const struct group *g = &m->of[lane];
    struct stet_gval *sum = m->in[g->lanes[0]];

    for (uint32_t i = 1; i < g->count && sum; i++)
        sum = stet_graph_ew(l, m->op, sum->shape.dtype, sum, m->in[g->lanes[i]], NULL);
    return sum;
}

/* The lane of the same group that comes first; what it got can be shared. */
static uint32_t first_of(const struct meeting *m, uint32_t lane)
{
    uint32_t first = lane;

    for (uint32_t i = 0; i < m->of[lane].count; i++)
        first = m->of[lane].lanes[i] < first ? m->of[lane].lanes[i] : first;
    return first;
}

static enum stet_rc all_reduce(struct stet_lower *l, struct meeting *m, uint32_t lane)
{
    uint32_t first = first_of(m, lane);

    m->out[lane] = first < lane ? m->out[first] : reduced(l, m, lane);
    return STET_OK;
}

enum stet_rc stet_lower_all_reduce(struct stet_lower *l, int arg)
{
    struct meeting m = {0};

    (void)arg;
    if (l->single)
        return alone(l);
    TRY(read_groups(l, true, &m.of));
    TRY(reduction_op(l, &m.op));
    return meet_all(l, &m, all_reduce);
}

/* `m->in` of the group's first lane is replaced by the sum when it is met first. */
static enum stet_rc reduce_scatter(struct stet_lower *l, struct meeting *m, uint32_t lane)
{
    const struct group *g = &m->of[lane];
    struct stet_gval *sum = reduced(l, m, lane);

    if (!sum)
        return STET_OK;
    CHECK(dim_is(&sum->shape, m->dim, m->shape.rank > m->dim ? m->shape.dims[m->dim] * g->count : 0),
          "scatter_dimension does not fit");
    m->out[lane] = slice(l, sum, m->dim, place_in(g, lane), g->count);
    return STET_OK;
}

enum stet_rc stet_lower_reduce_scatter(struct stet_lower *l, int arg)
{
    struct meeting m = {.dim = stet_lower_int(l, "scatter_dimension", -1)};

    (void)arg;
    if (l->single)
        return alone(l);
    CHECK(m.dim >= 0 && m.dim < STET_MAX_RANK, "scatter_dimension is out of range");
    TRY(read_groups(l, true, &m.of));
    TRY(reduction_op(l, &m.op));
    return meet_all(l, &m, reduce_scatter);
}

/* ---- moves ---- */

static enum stet_rc all_gather(struct stet_lower *l, struct meeting *m, uint32_t lane)
{
    const struct group *g = &m->of[lane];
    struct stet_gval **parts = STET_NEW_ARRAY(l->arena, struct stet_gval *, g->count);
    uint32_t first = first_of(m, lane);

    if (!parts)
        return stet_lower_memory(l);
    if (first < lane) {
        m->out[lane] = m->out[first];
        return STET_OK;
    }
    for (uint32_t i = 0; i < g->count; i++) {
        parts[i] = m->in[g->lanes[i]];
        CHECK(m->dim < parts[i]->shape.rank && parts[i]->shape.rank == m->shape.rank &&
                  m->shape.dims[m->dim] == parts[i]->shape.dims[m->dim] * g->count,
              "all_gather_dim does not fit");
    }
    m->out[lane] = concatenate(l, parts, g->count, m->dim, &m->shape);
    return STET_OK;
}

enum stet_rc stet_lower_all_gather(struct stet_lower *l, int arg)
{
    struct meeting m = {.dim = stet_lower_int(l, "all_gather_dim", -1)};

    (void)arg;
    if (l->single)
        return alone(l);
    CHECK(m.dim >= 0 && m.dim < STET_MAX_RANK, "all_gather_dim is out of range");
    TRY(read_groups(l, true, &m.of));
    return meet_all(l, &m, all_gather);
}

static enum stet_rc all_to_all(struct stet_lower *l, struct meeting *m, uint32_t lane)
{
    const struct group *g = &m->of[lane];
    const struct stet_shape *s = &m->in[lane]->shape;
    struct stet_gval **parts = STET_NEW_ARRAY(l->arena, struct stet_gval *, g->count);

    if (!parts)
        return stet_lower_memory(l);
    CHECK(m->dim < s->rank && m->other < s->rank && s->dims[m->dim] % g->count == 0 &&
              m->shape.rank == s->rank,
          "split_dimension or concat_dimension does not fit");
    for (uint32_t i = 0; i < g->count; i++) {
        parts[i] = slice(l, m->in[g->lanes[i]], m->dim, place_in(g, lane), g->count);
        if (!parts[i])
            return STET_OK;
    }
    for (uint32_t d = 0; d < s->rank; d++) {
        int64_t size = parts[0]->shape.dims[d] * ((int64_t)d == m->other ? g->count : 1);

        CHECK(m->shape.dims[d] == size, "dimension %u does not fit", d);
    }
    m->out[lane] = concatenate(l, parts, g->count, m->other, &m->shape);
    return STET_OK;
}

enum stet_rc stet_lower_all_to_all(struct stet_lower *l, int arg)
{
    struct meeting m = {.dim = stet_lower_int(l, "split_dimension", -1),
                        .other = stet_lower_int(l, "concat_dimension", -1)};
    int64_t count = stet_lower_int(l, "split_count", -1);

    (void)arg;
    if (l->single)
        return alone(l);
    CHECK(m.dim >= 0 && m.other >= 0, "split_dimension or concat_dimension is missing");
    TRY(read_groups(l, false, &m.of));
    for (uint32_t lane = 0; lane < l->lanes; lane++)
        CHECK(m.of[lane].count == count, "split_count is %lld for a group of %u", (long long)count,
              m.of[lane].count);
    return meet_all(l, &m, all_to_all);
}

static struct stet_gval *zeros(struct stet_lower *l, const struct stet_shape *s)
{
    static const uint64_t zero[2];

    return s->elements ? stet_graph_splat(l, s, zero) : NULL;
}

/* Where each lane's value comes from; UINT32_MAX: it gets zeros. */
static enum stet_rc from_lanes(struct stet_lower *l, const uint32_t *from)
{
    struct stet_gval **in = stet_lower_new_lanes(l), **out = stet_lower_new_lanes(l);

    if (!in || !out)
        return stet_lower_memory(l);
    CHECK(l->op->operand_count == l->op->result_count, "operands and results do not fit");
    for (uint32_t i = 0; i < l->op->result_count; i++) {
        TRY(stet_lower_in_lanes(l, i, in));
        for (uint32_t lane = 0; lane < l->lanes; lane++) {
            out[lane] = from[lane] != UINT32_MAX      ? in[from[lane]]
                        : in[lane]->shape.elements ? zeros(l, &in[lane]->shape)
                                                   : in[lane];
            if (!out[lane])
                return stet_lower_memory(l);
        }
        TRY(stet_lower_out_lanes(l, i, out));
    }
    return STET_OK;
}

enum stet_rc stet_lower_collective_permute(struct stet_lower *l, int arg)
{
    uint32_t rows, columns, width = 8, *from;
    const struct stet_attr *a;
    enum numbering how;

    (void)arg;
    if (l->single)
        return alone(l);
    how = numbering(l, false);
    if (!(from = STET_NEW_ARRAY(l->arena, uint32_t, l->lanes)))
        return stet_lower_memory(l);
    TRY(matrix(l, "source_target_pairs", &a, &width, &rows, &columns));
    CHECK(!rows || columns == 2, "source_target_pairs is not a list of pairs");
    for (uint32_t lane = 0; lane < l->lanes; lane++)
        from[lane] = how == LANES || !rows ? UINT32_MAX : lane;
    for (uint32_t r = 0; r < rows && how == LANES; r++) {
        int64_t source = element(a, width, 2 * (uint64_t)r);
        int64_t target = element(a, width, 2 * (uint64_t)r + 1);

        CHECK(source >= 0 && source < l->lanes && target >= 0 && target < l->lanes,
              "source_target_pairs names device %lld or %lld of %u", (long long)source,
              (long long)target, l->lanes);
        CHECK(from[target] == UINT32_MAX, "source_target_pairs has target %lld twice",
              (long long)target);
        from[target] = (uint32_t)source;
    }
    return from_lanes(l, from);
}

enum stet_rc stet_lower_collective_broadcast(struct stet_lower *l, int arg)
{
    struct group *of;
    uint32_t *from;

    (void)arg;
    if (l->single)
        return alone(l);
    if (!(from = STET_NEW_ARRAY(l->arena, uint32_t, l->lanes)))
        return stet_lower_memory(l);
    TRY(read_groups(l, false, &of));
    for (uint32_t lane = 0; lane < l->lanes; lane++)
        from[lane] = of[lane].count ? of[lane].lanes[0] : UINT32_MAX;
    return from_lanes(l, from);
}
