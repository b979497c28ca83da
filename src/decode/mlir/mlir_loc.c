/* Locations in MLIR text: unknown, file ranges, names, call sites, fused ones. */
#include "decode/mlir/mlir_text.h"

static const struct stet_loc *make(struct mlir *p, struct stet_loc l)
{
    struct stet_loc *out = mlir_ok(p) ? stet_build_loc(p->arena, l.kind, l.ends) : NULL;

    p->weight++;
    if (out)
        memcpy(out, &l, stet_loc_size(l.kind, l.ends));
    else
        stet_mlir_no_memory(p);
    return out;
}

static const struct stet_loc *with_parts(struct mlir *p, struct stet_loc l, size_t mark)
{
    l.parts = stet_mlir_pop(p, &p->scratch, mark, sizeof(*l.parts), &l.count);
    return make(p, l);
}

static void part(struct mlir *p)
{
    stet_mlir_push_pointer(p, &p->scratch, stet_mlir_loc(p));
}

/* "file":1:2, with an end "to 3:4" or "to :4" on the same line. */
static const struct stet_loc *file_loc(struct mlir *p, struct stet_view file)
{
    struct stet_loc l = {.kind = STET_LOC_FILE, .text = file};

    l.line = stet_mlir_u32(p);
    if (stet_mlir_accept(p, ":"))
        l.column = stet_mlir_u32(p);
    if (stet_mlir_accept_word(p, "to")) {
        l.ends = true;
        l.end.line = stet_mlir_at(p, ":") ? l.line : stet_mlir_u32(p);
        stet_mlir_expect(p, ":");
        l.end.column = stet_mlir_u32(p);
    }
    return make(p, l);
}

static const struct stet_loc *name_or_file(struct mlir *p)
{
    struct stet_view text = stet_mlir_string(p);
    size_t mark = mlir_mark(&p->scratch);

    if (stet_mlir_accept(p, ":"))
        return file_loc(p, text);
    if (stet_mlir_accept(p, "(")) {
        part(p);
        stet_mlir_expect(p, ")");
    } else {
        stet_mlir_push_pointer(p, &p->scratch, p->unknown);
    }
    return with_parts(p, (struct stet_loc){.kind = STET_LOC_NAME, .text = text}, mark);
}

static const struct stet_loc *call_site(struct mlir *p)
{
    size_t mark = mlir_mark(&p->scratch);

    stet_mlir_expect(p, "(");
    part(p);
    stet_mlir_expect_word(p, "at");
    part(p);
    stet_mlir_expect(p, ")");
    return with_parts(p, (struct stet_loc){.kind = STET_LOC_CALLSITE}, mark);
}

static const struct stet_loc *fused(struct mlir *p)
{
    struct stet_loc l = {.kind = STET_LOC_FUSED};
    size_t mark;
    bool first = true;

    if (stet_mlir_accept(p, "<")) {
        l.metadata = stet_mlir_attr(p);
        stet_mlir_expect(p, ">");
    }
    stet_mlir_expect(p, "[");
    for (mark = mlir_mark(&p->scratch); stet_mlir_more(p, "]", &first);)
        part(p);
    return with_parts(p, l, mark);
}

const struct stet_loc *stet_mlir_loc(struct mlir *p)
{
    const struct stet_loc *l = NULL;
    char c = stet_mlir_peek(p);

    if (!stet_mlir_enter(p))
        return NULL;
    if (c == '#') {
        bool outer = p->in_alias;

        p->in_alias = true; /* only loc(#name) itself may come before the definition */
        l = stet_mlir_loc_alias(p);
        p->in_alias = outer;
    } else if (c == '"') {
        l = name_or_file(p);
    } else if (stet_mlir_accept_word(p, "unknown")) {
        l = p->unknown;
    } else if (stet_mlir_accept_word(p, "callsite")) {
        l = call_site(p);
    } else if (stet_mlir_accept_word(p, "fused")) {
        l = fused(p);
    } else {
        stet_mlir_fail(p, p->at, "expected a location");
    }
    mlir_leave(p);
    return l;
}

const struct stet_loc *stet_mlir_optional_loc(struct mlir *p)
{
    const struct stet_loc *l;

    if (!stet_mlir_accept_word(p, "loc"))
        return NULL;
    stet_mlir_expect(p, "(");
    l = stet_mlir_peek(p) == '#' ? stet_mlir_loc_alias(p) : stet_mlir_loc(p);
    stet_mlir_expect(p, ")");
    return l;
}
