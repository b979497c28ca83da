/* Converts HLO's stack frames and operation metadata to locations. */
#include "decode/hlo/hlo_build.h"

/* Callers beyond this many are dropped: later stages recurse over locations. */
enum { MAX_FRAMES = STET_MAX_DEPTH / 2 };

/* Parts that are NULL are left out. */
static struct stet_loc *new_loc(struct stet_arena *a, enum stet_loc_kind kind,
                                const struct stet_loc *first, const struct stet_loc *second)
{
    struct stet_loc *l = stet_build_loc(a, kind, false);
    uint32_t count = (first ? 1u : 0) + (second ? 1u : 0);
    const struct stet_loc **parts = count ? stet_arena_alloc(a, count, sizeof *parts) : NULL;

    if (!l || (count && !parts))
        return NULL;
    l->parts = parts;
    if (first)
        parts[l->count++] = first;
    if (second)
        parts[l->count++] = second;
    return l;
}

static uint32_t clip(int64_t v)
{
    return v < 0 ? 0 : v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
}

static const struct stet_loc *file_loc(struct stet_arena *a, const struct stet_hlo_frames *f,
                                       int64_t id)
{
    const struct stet_hlo_file_location *at;
    struct stet_loc *l;

    if (id < 1 || (uint64_t)id > f->location_count)
        return NULL;
    at = &f->locations[id - 1];
    l = STET_NEW(a, struct stet_loc);
    if (!l)
        return NULL;
    l->kind = STET_LOC_FILE;
    if (at->file >= 1 && (uint64_t)at->file <= f->file_count)
        l->text = f->files[at->file - 1];
    if (at->function >= 1 && (uint64_t)at->function <= f->function_count)
        l->frame = &f->functions[at->function - 1];
    l->called = l->frame != NULL;
    l->line = clip(at->line);
    l->column = clip(at->column);
    l->ends = true;
    l->end = (struct stet_loc_end){clip(at->end_line), clip(at->end_column)};
    return l;
}

/* A frame's parent comes before it in the table; a parent that does not is left out. */
static const struct stet_loc *frame_loc(struct stet_hlo_build *b, const struct stet_hlo_frames *f,
                                        size_t i, unsigned *depth)
{
    const struct stet_loc *here = file_loc(b->a, f, f->frames[i].location), *parent;
    int64_t up = f->frames[i].parent;

    depth[i] = 1;
    if (!here || up < 1 || (uint64_t)up > i)
        return here;
    parent = b->frames[up - 1];
    if (!parent || depth[up - 1] >= MAX_FRAMES)
        return here;
    depth[i] = depth[up - 1] + 1;
    return new_loc(b->a, STET_LOC_CALLSITE, here, parent);
}

enum stet_rc stet_decode_hlo_build_frames(struct stet_hlo_build *b, const struct stet_hlo_frames *f)
{
    unsigned *depth = STET_NEW_ARRAY(&b->scratch, unsigned, f->frame_count);

    b->frames = stet_arena_alloc(&b->scratch, f->frame_count, sizeof *b->frames);
    b->a->failed |= b->scratch.failed;
    if (!depth || !b->frames)
        return stet_decode_hlo_build_full(b);
    b->frame_count = f->frame_count;
    for (size_t i = 0; i < f->frame_count; i++)
        b->frames[i] = frame_loc(b, f, i, depth);
    return b->a->failed ? stet_decode_hlo_build_full(b) : STET_OK;
}

static void put(struct stet_named_attr *fields, uint32_t *n, const char *name,
                const struct stet_attr *v)
{
    fields[(*n)++] = (struct stet_named_attr){stet_view_str(name), v};
}

/* In the order of XLA's own text (hlo_op_metadata.cc), so that it prints unchanged. */
static const struct stet_attr *metadata_dict(struct stet_arena *a,
                                             const struct stet_hlo_metadata *m)
{
    struct stet_named_attr f[12], *kept;
    uint32_t n = 0;

#define TEXT(name, field)                                                                          \
    if (m->field.len)                                                                              \
    put(f, &n, name, stet_decode_hlo_new_string(a, m->field))
#define NUMBER(name, field)                                                                        \
    if (m->field)                                                                                  \
    put(f, &n, name, stet_decode_hlo_new_int(a, m->field))
    TEXT("op_type", op_type);
    TEXT("op_name", op_name);
    TEXT("source_file", source_file);
    NUMBER("source_line", line);
    NUMBER("source_end_line", end_line);
    NUMBER("source_column", column);
    NUMBER("source_end_column", end_column);
    if (m->profile_type_count)
        put(f, &n, "profile_type",
            stet_decode_hlo_new_ints(a, m->profile_types, m->profile_type_count));
    TEXT("deduplicated_name", deduplicated_name);
    TEXT("scheduling_name", scheduling_name);
    NUMBER("stack_frame_id", frame);
    TEXT("metadata_payload", payload);
#undef TEXT
#undef NUMBER
    kept = stet_arena_raw(a, n, sizeof *kept);
    if (kept)
        memcpy(kept, f, n * sizeof *kept);
    return kept ? stet_decode_hlo_new_record(a, NULL, kept, n) : NULL;
}

static const struct stet_loc *place(struct stet_hlo_build *b, const struct stet_hlo_metadata *m)
{
    struct stet_loc *l;

    if (m->frame >= 1 && (uint64_t)m->frame <= b->frame_count && b->frames[m->frame - 1])
        return b->frames[m->frame - 1];
    if (!m->source_file.len)
        return NULL;
    l = stet_build_loc(b->a, STET_LOC_FILE, m->end_line || m->end_column);
    if (!l)
        return NULL;
    l->text = m->source_file;
    l->line = clip(m->line);
    l->column = clip(m->column);
    if (l->ends)
        l->end = (struct stet_loc_end){clip(m->end_line), clip(m->end_column)};
    return l;
}

/* FUSED<metadata>[place, name]: the name is not a parent of the place, because it would look like
 * the Python function around it. */
const struct stet_loc *stet_decode_hlo_build_metadata(struct stet_hlo_build *b,
                                                      const struct stet_hlo_metadata *m)
{
    const struct stet_loc *where = place(b, m);
    struct stet_loc *name = NULL, *l;

    if (m->op_name.len) {
        name = new_loc(b->a, STET_LOC_NAME, NULL, NULL);
        if (name)
            name->text = m->op_name;
    }
    l = new_loc(b->a, STET_LOC_FUSED, where, name);
    if (l)
        l->metadata = metadata_dict(b->a, m);
    return l;
}
