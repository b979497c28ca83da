/* Writes OpSharding and meshes as XLA's text (hlo_sharding.cc, named_sharding.cc). */
#include "decode/hlo/hlo_proto.h"

enum { REPLICATED, MAXIMAL, TUPLE, OTHER, MANUAL, UNKNOWN, UNREDUCED };

static const char *type_name(int64_t type)
{
    switch (type) {
    case REPLICATED:
        return "replicated";
    case MAXIMAL:
        return "maximal";
    case MANUAL:
        return "manual";
    case UNKNOWN:
        return "unknown";
    case UNREDUCED:
        return "unreduced";
    default:
        return "error_type.";
    }
}

/* ---- meshes and named shardings ---- */

struct mesh {
    struct stet_view names[64];
    int64_t sizes[64];
    uint32_t count;
    struct stet_ints devices;
};

static void read_axis(struct stet_hlo_reader *r, const struct stet_proto *in,
                      const struct stet_proto_field *f, struct mesh *mesh)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_proto_field g;

    if (mesh->count == 64) {
        stet_proto_fail(&r->fault, STET_LIMIT, f->offset, "a mesh of more than 64 axes");
        return;
    }
    mesh->names[mesh->count] = (struct stet_view){0};
    mesh->sizes[mesh->count] = 0;
    while (stet_proto_next(&m, &g))
        if (g.number == STET_HLO_MESH_AXIS_NAME)
            mesh->names[mesh->count] = stet_proto_text(&r->fault, &g);
        else if (g.number == STET_HLO_MESH_AXIS_SIZE)
            mesh->sizes[mesh->count] = stet_proto_int(&r->fault, &g);
    mesh->count++;
}

static void print_iota(struct stet_hlo_reader *r, const struct stet_proto *in,
                       const struct stet_proto_field *f)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_ints dims = {0}, perm = {0};
    struct stet_proto_field g;

    while (stet_proto_next(&m, &g))
        if (g.number == STET_HLO_MESH_IOTA_RESHAPE_DIMS)
            stet_proto_ints(&r->fault, &g, r->b.a, &dims);
        else if (g.number == STET_HLO_MESH_IOTA_TRANSPOSE_PERM)
            stet_proto_ints(&r->fault, &g, r->b.a, &perm);
    stet_decode_hlo_join(&r->scratch, ", device_ids=(", &dims, "");
    stet_decode_hlo_join(&r->scratch, "T(", &perm, "))");
}

/* mesh['x'=2,'y'=4], with device ids if they are not 0, 1, 2… */
static void print_mesh(struct stet_hlo_reader *r, const struct stet_proto *in,
                       const struct stet_proto_field *f, struct mesh *mesh)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_proto_field g;

    *mesh = (struct mesh){.count = 0};
    while (stet_proto_next(&m, &g))
        if (g.number == STET_HLO_MESH_AXES)
            read_axis(r, &m, &g, mesh);
        else if (g.number == STET_HLO_MESH_DEVICE_IDS)
            stet_proto_ints(&r->fault, &g, r->b.a, &mesh->devices);
    stet_buf_str(&r->scratch, "mesh[");
    for (uint32_t i = 0; i < mesh->count; i++)
        stet_buf_printf(&r->scratch, "%s'%.*s'=%lld", i ? "," : "", STET_FMT(mesh->names[i]),
                        (long long)mesh->sizes[i]);
    stet_buf_char(&r->scratch, ']');
    if (mesh->devices.count)
        stet_decode_hlo_join(&r->scratch, ", device_ids=(", &mesh->devices, ")");
    m = stet_proto_sub(in, f);
    while (stet_proto_next(&m, &g))
        if (g.number == STET_HLO_MESH_IOTA_TRANSFORM)
            print_iota(r, &m, &g);
}

static void print_axis(struct stet_hlo_reader *r, const struct stet_proto *in,
                       const struct stet_proto_field *f, const struct mesh *mesh)
{
    struct stet_proto m = stet_proto_sub(in, f), sub;
    struct stet_proto_field g, h;
    int64_t axis = 0, pre = 0, size = 0;
    bool part = false;

    while (stet_proto_next(&m, &g)) {
        if (g.number == STET_HLO_AXIS_MESH_AXIS_INDEX)
            axis = stet_proto_int(&r->fault, &g);
        if (g.number != STET_HLO_AXIS_SUB_AXIS_INFO)
            continue;
        part = true;
        sub = stet_proto_sub(&m, &g);
        while (stet_proto_next(&sub, &h))
            *(h.number == STET_HLO_SUB_AXIS_PRE_SIZE ? &pre : &size) =
                stet_proto_int(&r->fault, &h);
    }
    if (axis < 0 || axis >= mesh->count) {
        stet_proto_fail(&r->fault, STET_BAD_INPUT, f->offset, "no such mesh axis");
        return;
    }
    stet_buf_printf(&r->scratch, "'%.*s'", STET_FMT(mesh->names[axis]));
    if (part)
        stet_buf_printf(&r->scratch, ":(%lld)%lld", (long long)pre, (long long)size);
}

/* The axes in fields `number` of the message. */
static uint32_t print_axes(struct stet_hlo_reader *r, const struct stet_proto *in,
                           const struct stet_proto_field *f, uint32_t number,
                           const struct mesh *mesh, const char *open, const char *between)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_proto_field g;
    uint32_t n = 0;

    while (stet_proto_next(&m, &g)) {
        if (g.number != number)
            continue;
        stet_buf_str(&r->scratch, n++ ? between : open);
        print_axis(r, &m, &g, mesh);
    }
    return n;
}

static void print_dimension(struct stet_hlo_reader *r, const struct stet_proto *in,
                            const struct stet_proto_field *f, const struct mesh *mesh)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_proto_field g;
    bool closed = false;
    uint32_t axes;

    while (stet_proto_next(&m, &g))
        if (g.number == STET_HLO_NAMED_DIM_IS_CLOSED)
            closed = stet_proto_uint(&r->fault, &g) != 0;
    stet_buf_char(&r->scratch, '{');
    axes = print_axes(r, in, f, STET_HLO_NAMED_DIM_AXES, mesh, "", ", ");
    stet_buf_str(&r->scratch, closed ? "}" : axes ? ", ?}" : "?}");
}

static void print_named(struct stet_hlo_reader *r, const struct stet_proto *in,
                        const struct stet_proto_field *f)
{
    static const struct {
        uint32_t number;
        const char *open;
    } kinds[] = {{STET_HLO_NAMED_REPLICATED_AXES, ", replicated={"},
                 {STET_HLO_NAMED_UNREDUCED_AXES, ", unreduced={"},
                 {STET_HLO_NAMED_MANUAL_AXES, ", manual={"}};
    struct stet_proto m = stet_proto_sub(in, f);
    struct mesh mesh = {.count = 0};
    struct stet_proto_field g;
    uint32_t n = 0;

    while (stet_proto_next(&m, &g))
        n += g.number >= STET_HLO_NAMED_DIM_SHARDINGS && g.number != STET_HLO_NAMED_METADATA;
    stet_buf_str(&r->scratch, n ? "{" : "{replicated}");
    if (!n)
        return;
    n = 0;
    m = stet_proto_sub(in, f);
    while (stet_proto_next(&m, &g))
        if (g.number == STET_HLO_NAMED_MESH)
            print_mesh(r, &m, &g, &mesh);
    stet_buf_str(&r->scratch, ", [");
    m = stet_proto_sub(in, f);
    while (stet_proto_next(&m, &g))
        if (g.number == STET_HLO_NAMED_DIM_SHARDINGS) {
            stet_buf_str(&r->scratch, n++ ? ", " : "");
            print_dimension(r, &m, &g, &mesh);
        }
    stet_buf_char(&r->scratch, ']');
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (print_axes(r, in, f, kinds[i].number, &mesh, kinds[i].open, ", "))
            stet_buf_char(&r->scratch, '}');
    stet_buf_char(&r->scratch, '}');
}

void stet_decode_hlo_mesh_groups(struct stet_hlo_reader *r, const struct stet_proto *in,
                                 const struct stet_proto_field *f)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct mesh mesh = {.count = 0};
    struct stet_proto_field g;

    while (stet_proto_next(&m, &g))
        if (g.number == STET_HLO_MESH_GROUPS_MESH)
            print_mesh(r, &m, &g, &mesh);
    stet_buf_str(&r->scratch, " {");
    print_axes(r, in, f, STET_HLO_MESH_GROUPS_AXES, &mesh, "", ",");
    stet_buf_char(&r->scratch, '}');
}

/* ---- tilings ---- */

struct sharding {
    int64_t type, group, group_like;
    struct stet_ints tile_dims, devices, last_dims, reshape, perm;
    bool replicate_last, grouped;
};

static void print_tiles(struct stet_buf *out, const struct sharding *s)
{
    stet_decode_hlo_join(out, "{devices=[", &s->tile_dims, "]");
    if (s->reshape.count) {
        stet_decode_hlo_join(out, "<=[", &s->reshape, "]");
        if (s->reshape.count > 1)
            stet_decode_hlo_join(out, "T(", &s->perm, ")");
    } else {
        stet_decode_hlo_join(out, "", &s->devices, "");
    }
    if (s->replicate_last)
        stet_buf_str(out, " last_tile_dim_replicate");
    if (s->last_dims.count) {
        stet_buf_str(out, " last_tile_dims={");
        for (uint32_t i = 0; i < s->last_dims.count; i++)
            stet_buf_printf(out, "%s%s", i ? ", " : "", type_name(s->last_dims.at[i]));
        stet_buf_char(out, '}');
    }
}

static void print_sharding(struct stet_hlo_reader *r, const struct stet_proto *in,
                           const struct stet_proto_field *f);

static void print_tuple(struct stet_hlo_reader *r, const struct stet_proto *in,
                        const struct stet_proto_field *f)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_proto_field g;
    uint32_t n = 0;

    stet_buf_char(&r->scratch, '{');
    while (stet_proto_next(&m, &g)) {
        if (g.number != STET_HLO_SHARDING_TUPLE_SHARDINGS)
            continue;
        if (n && n % 5 == 0)
            stet_buf_printf(&r->scratch, ", /*index=%u*/", n);
        else if (n)
            stet_buf_str(&r->scratch, ", ");
        n++;
        print_sharding(r, &m, &g);
    }
    stet_buf_char(&r->scratch, '}');
}

/* True if it is a named sharding and was printed. */
static bool read_sharding(struct stet_hlo_reader *r, const struct stet_proto *in,
                          const struct stet_proto_field *f, struct sharding *s)
{
    struct stet_proto m = stet_proto_sub(in, f);
    struct stet_proto_field g;

    while (stet_proto_next(&m, &g))
        switch (g.number) {
        case STET_HLO_SHARDING_TYPE:
            s->type = stet_proto_int(&r->fault, &g);
            break;
        case STET_HLO_SHARDING_TILE_ASSIGNMENT_DIMENSIONS:
            stet_proto_ints(&r->fault, &g, r->b.a, &s->tile_dims);
            break;
        case STET_HLO_SHARDING_TILE_ASSIGNMENT_DEVICES:
            stet_proto_ints(&r->fault, &g, r->b.a, &s->devices);
            break;
        case STET_HLO_SHARDING_REPLICATE_ON_LAST_TILE_DIM:
            s->replicate_last = stet_proto_uint(&r->fault, &g) != 0;
            break;
        case STET_HLO_SHARDING_LAST_TILE_DIMS:
            stet_proto_ints(&r->fault, &g, r->b.a, &s->last_dims);
            break;
        case STET_HLO_SHARDING_IOTA_RESHAPE_DIMS:
            stet_proto_ints(&r->fault, &g, r->b.a, &s->reshape);
            break;
        case STET_HLO_SHARDING_IOTA_TRANSPOSE_PERM:
            stet_proto_ints(&r->fault, &g, r->b.a, &s->perm);
            break;
        case STET_HLO_SHARDING_IS_SHARD_GROUP:
            s->grouped = stet_proto_uint(&r->fault, &g) != 0;
            break;
        case STET_HLO_SHARDING_SHARD_GROUP_ID:
            s->group = stet_proto_int(&r->fault, &g);
            break;
        case STET_HLO_SHARDING_SHARD_GROUP_TYPE:
            s->group_like = stet_proto_int(&r->fault, &g);
            break;
        case STET_HLO_SHARDING_NAMED_SHARDING:
            print_named(r, &m, &g);
            return true;
        }
    return false;
}

static void print_sharding(struct stet_hlo_reader *r, const struct stet_proto *in,
                           const struct stet_proto_field *f)
{
    struct sharding s = {.type = REPLICATED};

    if (read_sharding(r, in, f, &s))
        return;
    if (s.type == TUPLE) {
        print_tuple(r, in, f);
        return;
    }
    if (s.type == OTHER)
        print_tiles(&r->scratch, &s);
    else if (s.type == MAXIMAL)
        stet_buf_printf(&r->scratch, "{maximal device=%lld",
                        s.devices.count ? (long long)s.devices.at[0] : 0);
    else
        stet_buf_printf(&r->scratch, "{%s", type_name(s.type));
    if (s.grouped)
        stet_buf_printf(&r->scratch, " shard_%s %lld", s.group_like ? "like" : "as",
                        (long long)s.group);
    stet_buf_char(&r->scratch, '}');
}

const struct stet_attr *stet_decode_hlo_sharding(struct stet_hlo_reader *r,
                                                 const struct stet_proto *in,
                                                 const struct stet_proto_field *f)
{
    r->scratch.len = 0;
    print_sharding(r, in, f);
    return stet_decode_hlo_new_string(r->b.a, stet_decode_hlo_keep(r));
}
