/* Shardy's language: shardings over named axes of a mesh. Attributes of the dialect are printed
 * first, so that they and the text that XLA's round trip puts into frontend attributes are read by
 * the same code. */
#include "backend/sharding.h"

#include "program/ops.h"
#include "program/print.h"

/* "name" in quotes. */
static bool read_name(struct stet_sharding_text *t, struct stet_view *out)
{
    const char *from;

    if (!stet_sharding_skip(t, "\""))
        return false;
    for (from = t->at; t->at < t->end && *t->at != '"'; t->at++)
        ;
    *out = stet_view_of(from, (size_t)(t->at - from));
    return stet_sharding_skip(t, "\"");
}

/* ---- meshes ---- */

/* Devices are at these positions of the mesh; without a list, in their own order. */
static enum stet_rc place_devices(struct stet_sharding_reader *r, struct stet_mesh *m,
                                  struct stet_sharding_text *t)
{
    uint32_t *position = STET_NEW_ARRAY(r->arena, uint32_t, r->lanes), count = r->lanes;
    int64_t *ids = STET_NEW_ARRAY(r->arena, int64_t, r->lanes), total = 1;
    bool listed = stet_sharding_skip(t, ",") && stet_sharding_skip(t, "device_ids=[");

    if (!position || !ids)
        return stet_fail(r->err, STET_NO_MEMORY, "out of memory for a mesh");
    for (uint32_t i = 0; i < m->axis_count; i++) {
        if (m->sizes[i] < 1 || total > r->lanes / m->sizes[i])
            return stet_fail(r->err, STET_BAD_INPUT, "mesh @%.*s has more devices than the program",
                             STET_FMT(m->name));
        total *= m->sizes[i];
    }
    for (uint32_t i = 0; i < r->lanes; i++)
        ids[i] = i;
    if (listed && !stet_sharding_numbers(t, ids, r->lanes, &count))
        return stet_fail(r->err, STET_BAD_INPUT, "mesh @%.*s has a wrong list of devices",
                         STET_FMT(m->name));
    if (m->axis_count && (total != r->lanes || count != r->lanes))
        return stet_fail(r->err, STET_BAD_INPUT,
                         "mesh @%.*s has %lld devices, but the program has %u", STET_FMT(m->name),
                         (long long)total, r->lanes);
    for (uint32_t i = 0; i < r->lanes; i++)
        position[i] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (ids[i] >= r->lanes || position[ids[i]] != UINT32_MAX)
            return stet_fail(r->err, STET_BAD_INPUT,
                             "mesh @%.*s names device %lld, which is out of range or twice in it",
                             STET_FMT(m->name), (long long)ids[i]);
        position[ids[i]] = i;
    }
    m->maximal = listed && !m->axis_count;
    m->position = position;
    return STET_OK;
}

/* From "<[" on: ["x"=4, "y"=2], device_ids=[…] */
static enum stet_rc read_mesh(struct stet_sharding_reader *r, struct stet_sharding_text *t,
                              struct stet_view name, struct stet_mesh **out)
{
    struct stet_mesh *m = STET_NEW(r->arena, struct stet_mesh);

    if (!m)
        return stet_fail(r->err, STET_NO_MEMORY, "out of memory for a mesh");
    *m = (struct stet_mesh){.name = name};
    if (!stet_sharding_skip(t, "<") || !stet_sharding_skip(t, "["))
        return stet_fail(r->err, STET_BAD_INPUT, "mesh @%.*s cannot be read", STET_FMT(name));
    while (!stet_sharding_skip(t, "]")) {
        if (m->axis_count == STET_MAX_AXES || !read_name(t, &m->axes[m->axis_count]) ||
            !stet_sharding_skip(t, "=") || !stet_sharding_number(t, &m->sizes[m->axis_count]))
            return stet_fail(r->err, STET_BAD_INPUT, "mesh @%.*s cannot be read", STET_FMT(name));
        m->axis_count++;
        stet_sharding_skip(t, ",");
    }
    *out = m;
    return place_devices(r, m, t);
}

static enum stet_rc add_mesh(struct stet_sharding_reader *r, struct stet_sharding_text *t,
                             struct stet_view name)
{
    struct stet_mesh *m = NULL;
    enum stet_rc rc = read_mesh(r, t, name, &m);

    if (rc == STET_OK) {
        m->next = r->meshes;
        r->meshes = m;
    }
    return rc;
}

static enum stet_rc mesh_op(struct stet_sharding_reader *r, const struct stet_op *op)
{
    const struct stet_attr *a = stet_op_attr(op, "mesh");
    struct stet_buf text = STET_BUF_INIT;
    struct stet_sharding_text t;
    struct stet_view kept;
    enum stet_rc rc;

    if (!a)
        return STET_OK;
    stet_print_attr(&text, a);
    kept = stet_arena_copy(r->arena, stet_buf_as_view(&text));
    stet_buf_release(&text);
    if (!kept.ptr)
        return stet_fail(r->err, STET_NO_MEMORY, "out of memory for a mesh");
    t = (struct stet_sharding_text){kept.ptr, kept.ptr + kept.len};
    stet_sharding_skip(&t, "#sdy.mesh");
    rc = add_mesh(r, &t, stet_op_symbol(op));
    return rc;
}

/* {mesh = #sdy.mesh<["x"=4]>, other = …} */
static enum stet_rc meshes_in_text(struct stet_sharding_reader *r, struct stet_view text)
{
    struct stet_sharding_text t = {text.ptr, text.ptr + text.len};

    stet_sharding_skip(&t, "{");
    while (t.at < t.end && *t.at != '}') {
        const char *from = t.at;
        enum stet_rc rc;

        while (t.at < t.end && *t.at != ' ' && *t.at != '=')
            t.at++;
        if (t.at == t.end)
            break;
        {
            struct stet_view name = stet_view_of(from, (size_t)(t.at - from));

            if (!stet_sharding_skip(&t, "=") || !stet_sharding_skip(&t, "#sdy.mesh"))
                return stet_fail(r->err, STET_BAD_INPUT, "xla.sdy.meshes cannot be read");
            rc = add_mesh(r, &t, name);
        }
        if (rc != STET_OK)
            return rc;
        while (t.at < t.end && *t.at != '>')
            t.at++;
        stet_sharding_skip(&t, ">");
        stet_sharding_skip(&t, ",");
        stet_sharding_skip(&t, "");
    }
    return STET_OK;
}

enum stet_rc stet_sharding_meshes(struct stet_sharding_reader *r, const struct stet_op *module)
{
    const struct stet_attr *attrs = stet_op_attr(module, "mhlo.frontend_attributes");
    const struct stet_attr *text = attrs ? stet_attr_field(attrs, "xla.sdy.meshes") : NULL;
    const struct stet_block *b;
    enum stet_rc rc = STET_OK;

    if (text && text->kind == STET_ATTR_STRING)
        rc = meshes_in_text(r, stet_attr_text(text));
    if (!module->region_count || !stet_op_region(module, 0)->block_count)
        return rc;
    b = stet_op_region(module, 0)->blocks[0];
    for (uint32_t i = 0; i < b->op_count && rc == STET_OK; i++) {
        if (b->ops[i]->known == STET_SDY_MESH)
            rc = mesh_op(r, b->ops[i]);
    }
    return rc;
}

/* ---- shardings ---- */

/* One axis, or the part of it that "x":(2)4 names: the axis has 2 parts before and 4 here. */
struct part {
    uint32_t axis;
    int64_t before, size;
};

static const struct stet_mesh *mesh_named(const struct stet_sharding_reader *r,
                                          struct stet_view name)
{
    const struct stet_mesh *m = r->meshes;

    while (m && !stet_view_eq(m->name, name))
        m = m->next;
    return m;
}

static bool read_part(struct stet_sharding_text *t, const struct stet_mesh *m, struct part *out,
                      struct stet_view *name)
{
    if (!read_name(t, name))
        return false;
    for (out->axis = 0; out->axis < m->axis_count; out->axis++) {
        if (stet_view_eq(m->axes[out->axis], *name))
            break;
    }
    if (out->axis == m->axis_count)
        return false;
    out->before = 1;
    out->size = m->sizes[out->axis];
    if (!stet_sharding_skip(t, ":"))
        return true;
    return stet_sharding_skip(t, "(") && stet_sharding_number(t, &out->before) &&
           stet_sharding_skip(t, ")") && stet_sharding_number(t, &out->size) && out->before > 0 &&
           out->size > 0 && m->sizes[out->axis] % (out->before * out->size) == 0;
}

/* Which of its `size` parts of the axis the device is in. */
static uint32_t coordinate(const struct stet_mesh *m, uint32_t lane, const struct part *p)
{
    int64_t at = m->position[lane];

    for (uint32_t i = m->axis_count; i-- > p->axis + 1;)
        at /= m->sizes[i];
    at %= m->sizes[p->axis];
    return (uint32_t)(at / (m->sizes[p->axis] / (p->before * p->size)) % p->size);
}

static bool is_manual(struct stet_view manual, struct stet_view name)
{
    char quoted[128];

    if (!manual.len)
        return true;
    if (name.len + 3 > sizeof quoted)
        return false;
    quoted[0] = '"';
    memcpy(quoted + 1, name.ptr, name.len);
    memcpy(quoted + 1 + name.len, "\"", 2);
    return stet_view_contains(manual, quoted);
}

/* {"x", "y":(1)2, ?}p0 cuts dimension `d`. */
static bool read_dimension(struct stet_sharding_reader *r, struct stet_sharding_text *t,
                           const struct stet_mesh *m, struct stet_view manual, uint32_t d,
                           struct stet_sharding *out)
{
    uint32_t *tile = (uint32_t *)(uintptr_t)out->tile;
    int64_t ignored;

    if (!stet_sharding_skip(t, "{"))
        return false;
    out->tiles[d] = 1;
    while (!stet_sharding_skip(t, "}")) {
        struct stet_view name;
        struct part p;

        if (!stet_sharding_skip(t, "?")) {
            if (!read_part(t, m, &p, &name))
                return false;
            if (is_manual(manual, name)) {
                if (out->tiles[d] > r->lanes / p.size)
                    return false;
                out->tiles[d] *= p.size;
                for (uint32_t lane = 0; lane < r->lanes; lane++)
                    tile[lane] = tile[lane] * (uint32_t)p.size + coordinate(m, lane, &p);
            }
        }
        stet_sharding_skip(t, ",");
        if (t->at >= t->end)
            return false;
    }
    return !stet_sharding_skip(t, "p") || stet_sharding_number(t, &ignored);
}

/* Inside of a manual region, lanes that differ along other axes have arrays of their own. */
static enum stet_rc find_groups(struct stet_sharding_reader *r, const struct stet_mesh *m,
                                struct stet_view manual, struct stet_sharding *out)
{
    uint32_t *group = STET_NEW_ARRAY(r->arena, uint32_t, r->lanes);

    if (!group)
        return stet_fail(r->err, STET_NO_MEMORY, "out of memory for a sharding");
    for (uint32_t i = 0; i < m->axis_count; i++) {
        struct part whole = {i, 1, m->sizes[i]};

        for (uint32_t lane = 0; lane < r->lanes && !is_manual(manual, m->axes[i]); lane++)
            group[lane] = group[lane] * (uint32_t)m->sizes[i] + coordinate(m, lane, &whole);
    }
    out->group = group;
    return STET_OK;
}

/* unreduced={"x", "y"}: lanes along these axes have summands. */
static bool read_unreduced(struct stet_sharding_reader *r, struct stet_sharding_text *t,
                           const struct stet_mesh *m, struct stet_view manual,
                           struct stet_sharding *out)
{
    uint32_t *share = STET_NEW_ARRAY(r->arena, uint32_t, r->lanes);
    int64_t shares = 1;

    if (!share || !stet_sharding_skip(t, "{"))
        return false;
    while (!stet_sharding_skip(t, "}")) {
        struct stet_view name;
        struct part p;

        if (!read_part(t, m, &p, &name) || shares > r->lanes / p.size)
            return false;
        for (uint32_t lane = 0; lane < r->lanes && is_manual(manual, name); lane++)
            share[lane] = share[lane] * (uint32_t)p.size + coordinate(m, lane, &p);
        shares *= is_manual(manual, name) ? p.size : 1;
        stet_sharding_skip(t, ",");
    }
    out->shares = shares > 1 ? (uint32_t)shares : 0;
    out->share = shares > 1 ? share : NULL;
    return stet_sharding_tiles(out) * shares <= r->lanes;
}

/* Moves behind `word`; false if it does not occur. */
static bool find(struct stet_sharding_text *t, const char *word)
{
    size_t n = strlen(word);

    while ((size_t)(t->end - t->at) >= n && memcmp(t->at, word, n) != 0)
        t->at++;
    return stet_sharding_skip(t, word);
}

static enum stet_rc unreadable(struct stet_sharding_reader *r, struct stet_view text)
{
    return stet_fail(r->err, STET_BAD_INPUT, "sharding %.*s cannot be read",
                     text.len > 120 ? 120 : (int)text.len, text.ptr);
}

static enum stet_rc read_sdy(struct stet_sharding_reader *r, struct stet_view text,
                             struct stet_view manual, uint32_t rank, struct stet_sharding *out)
{
    struct stet_sharding_text t = {text.ptr, text.ptr + text.len};
    const struct stet_mesh *m = NULL;
    struct stet_mesh *own = NULL;
    enum stet_rc rc = stet_sharding_whole(r, rank, out);
    uint32_t d = 0;

    stet_sharding_skip(&t, "#sdy.sharding");
    if (rc != STET_OK || !stet_sharding_skip(&t, "<"))
        return rc != STET_OK ? rc : unreadable(r, text);
    if (stet_sharding_skip(&t, "@")) {
        const char *from = t.at;

        while (t.at < t.end && *t.at != ',' && *t.at != '>')
            t.at++;
        m = mesh_named(r, stet_view_of(from, (size_t)(t.at - from)));
    } else if (stet_sharding_skip(&t, "mesh")) {
        rc = read_mesh(r, &t, STET_VIEW("inline"), &own);
        if (rc != STET_OK)
            return rc;
        m = own;
        stet_sharding_skip(&t, "]");
        if (!stet_sharding_skip(&t, ">"))
            return unreadable(r, text);
    }
    if (!m)
        return stet_fail(r->err, STET_BAD_INPUT, "sharding %.*s names a mesh that does not exist",
                         text.len > 80 ? 80 : (int)text.len, text.ptr);
    if (m->maximal)
        return stet_fail(r->err, STET_UNSUPPORTED,
                         "sharding %.*s puts an array on one of several devices",
                         text.len > 80 ? 80 : (int)text.len, text.ptr);
    if (!stet_sharding_skip(&t, ",") || !stet_sharding_skip(&t, "["))
        return unreadable(r, text);
    while (!stet_sharding_skip(&t, "]")) {
        if (d >= rank || !read_dimension(r, &t, m, manual, d, out))
            return unreadable(r, text);
        d++;
        stet_sharding_skip(&t, ",");
    }
    if (d != rank)
        return unreadable(r, text);
    if (stet_sharding_tiles(out) > r->lanes)
        return unreadable(r, text);
    if (find(&t, "unreduced=") && !read_unreduced(r, &t, m, manual, out))
        return unreadable(r, text);
    return manual.len ? find_groups(r, m, manual, out) : STET_OK;
}

enum stet_rc stet_sharding_read(struct stet_sharding_reader *r, struct stet_view text,
                                struct stet_view manual, uint32_t rank, struct stet_sharding *out)
{
    if (stet_view_starts(text, "#sdy.") || stet_view_starts(text, "<"))
        return read_sdy(r, text, manual, rank, out);
    return stet_sharding_read_hlo(r, text, rank, out);
}

/* <[<@mesh, [{"x"}]>, <@mesh, []>]>: the depth of angle brackets separates the values. */
struct stet_view stet_sharding_of_value(struct stet_view list, uint32_t i)
{
    size_t from = 0;
    int depth = 0;

    for (size_t at = 0; at < list.len; at++) {
        char c = list.ptr[at];

        if (c == '<' && ++depth == 2)
            from = at;
        if (c == '>' && depth-- == 2 && i-- == 0)
            return stet_view_of(list.ptr + from, at + 1 - from);
    }
    return (struct stet_view){0};
}
